import Streams
import StreamsTesting
import XCTest

final class CreationTests: OperatorTestCase {
  func test_constantStreams() throws {
    XCTAssertEqual(try Observable.just(1).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable<Int>.empty().toBlocking().toArray(), [])
    XCTAssertThrowsError(try Observable<Int>.error(TestError("x")).toBlocking().toArray()) {
      XCTAssertEqual($0 as? TestError, TestError("x"))
    }
    XCTAssertThrowsError(try Observable<Int>.never().toBlocking(timeout: .milliseconds(5)).toArray()) {
      XCTAssertEqual($0 as? StreamError, .timeout)
    }
  }

  func test_ofAndFromAndRange() throws {
    XCTAssertEqual(try Observable.of(1, 2, 3).toBlocking().toArray(), [1, 2, 3])
    XCTAssertEqual(try Observable.from(Set([4])).toBlocking().toArray(), [4])
    XCTAssertEqual(try Observable.range(start: 3, count: 2).toBlocking().toArray(), [3, 4])
    XCTAssertEqual(try Observable.range(start: 3, count: 0).toBlocking().toArray(), [])
    XCTAssertEqual(try Observable.range(start: 3, count: -5).toBlocking().toArray(), [])
    XCTAssertEqual(try Observable<UInt8>.range(start: 254, count: 9).toBlocking().toArray(), [254, 255])
    XCTAssertEqual(try Observable<UInt8>.range(start: 0, count: 255).toBlocking().toArray().count, 255)
    let current = CurrentThreadScheduler.instance
    XCTAssertEqual(try Observable.range(start: 1, count: 3, scheduler: current).toBlocking().toArray(), [1, 2, 3])
    XCTAssertEqual(try Observable.of(1, 2, scheduler: current).toBlocking().toArray(), [1, 2])
  }

  func test_infiniteSequenceStopsWithTake() throws {
    let powers = Observable.from(AnyPowers()).take(4)
    XCTAssertEqual(try powers.toBlocking().toArray(), [1, 2, 4, 8])
  }

  func test_deferredCallsItsFactoryForEachSubscription() throws {
    let calls = Log<Int>()
    let source = Observable<Int>.deferred {
      calls.add(1)
      return .just(calls.count)
    }
    XCTAssertEqual(try source.toBlocking().single(), 1)
    XCTAssertEqual(try source.toBlocking().single(), 2)
  }

  func test_createDisposesItsResourceOnce() {
    let log = Log<String>()
    let source = Observable<Int>.create { observer in
      observer.onNext(1)
      return Disposables.create { log.add("disposed") }
    }
    let subscription = source.subscribe(onNext: { log.add("\($0)") })
    subscription.dispose()
    subscription.dispose()
    XCTAssertEqual(log.all, ["1", "disposed"])
  }
}

private struct AnyPowers: Sequence, IteratorProtocol, Sendable {
  var power = 1

  mutating func next() -> Int? {
    defer { power *= 2 }
    return power
  }
}

extension CreationTests {
  func test_scheduledJustAndOptionals() throws {
    let time = TestScheduler()
    let log = Log<Int>()
    let subscription = Observable.just(1, scheduler: time).subscribe(onNext: { log.add($0) })
    XCTAssertEqual(log.all, [])
    time.start()
    XCTAssertEqual(log.all, [1])
    subscription.dispose()
    XCTAssertEqual(try Observable.from(optional: 1).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable<Int>.from(optional: nil).toBlocking().toArray(), [])
    let scheduled = ManualScheduler()
    let events = Log<Event<Int>>()
    _ = Observable.from(optional: 1, scheduler: scheduled).subscribe { events.add($0) }
    _ = Observable<Int>.from(optional: nil, scheduler: scheduled).subscribe { events.add($0) }
    XCTAssertEqual(events.all, [], "before the items run")
    scheduled.runDue()
    XCTAssertEqual(events.all, [.next(1), .completed, .completed])
  }

  func test_law19_repeatElementStopsWithTake() throws {
    XCTAssertEqual(try Observable.repeatElement(1).take(3).toBlocking().toArray(), [1, 1, 1])
    let current = CurrentThreadScheduler.instance
    XCTAssertEqual(try Observable.repeatElement(1, scheduler: current).take(2).toBlocking().toArray(), [1, 1])
  }

  func test_usingDisposesItsResourceAfterTheEnd() {
    let log = Log<String>()
    let source = Observable<Int>.using {
      log.add("made")
      return CompositeDisposable([Disposables.create { log.add("disposed") }])
    } observableFactory: { _ in
      .just(1)
    }
    _ = source.subscribe(onNext: { log.add("\($0)") }, onCompleted: { log.add("completed") })
    XCTAssertEqual(log.all, ["made", "1", "completed", "disposed"])
    let failing = Observable<Int>.using { () throws -> CompositeDisposable in
      throw TestError()
    } observableFactory: { _ in
      .just(1)
    }
    XCTAssertThrowsError(try failing.toBlocking().toArray())
  }
}

extension CreationTests {
  func test_law27_scheduledElementsNeedNoStackIfItemsRunInline() throws {
    let immediate = ImmediateScheduler.instance
    let many = Observable.from(0..<1_000_000, scheduler: immediate).reduce(0) { count, _ in count + 1 }
    XCTAssertEqual(try many.toBlocking().single(), 1_000_000)
    let repeated = Observable.repeatElement(1, scheduler: immediate).take(100_000).reduce(0, accumulator: { $0 + $1 })
    XCTAssertEqual(try repeated.toBlocking().single(), 100_000)
  }

  func test_scheduledElementsAreDelivered_ifItemsRunBeforeTheirDisposableIsStored() throws {
    let concurrent = ConcurrentDispatchQueueScheduler(qos: .default)
    let many = Observable.from(0..<100_000, scheduler: concurrent).reduce(0) { count, _ in count + 1 }
    XCTAssertEqual(try many.toBlocking(timeout: .seconds(60)).single(), 100_000)
  }

  func test_law21_timersAndScheduledElementsContinueOnTheMainQueue() {
    let done = expectation(description: "both have completed")
    done.expectedFulfillmentCount = 2
    let log = Log<String>()
    let bag = DisposeBag()
    // The first item runs inline, before it can be held.
    Observable.from([1, 2, 3], scheduler: MainScheduler.instance)
      .subscribe(onNext: { log.add("element \($0)") }, onCompleted: { done.fulfill() }).disposed(by: bag)
    Observable<Int>.timer(.zero, period: .milliseconds(1), scheduler: MainScheduler.instance).take(3)
      .subscribe(onNext: { log.add("tick \($0)") }, onCompleted: { done.fulfill() }).disposed(by: bag)
    wait(for: [done], timeout: 20)
    XCTAssertEqual(log.all.filter { $0.hasPrefix("e") }, ["element 1", "element 2", "element 3"])
    XCTAssertEqual(log.all.filter { $0.hasPrefix("t") }, ["tick 0", "tick 1", "tick 2"])
  }

  func test_usingDisposesTheStreamBeforeItsResource() {
    let log = Log<String>()
    let source = Observable<Int>.using {
      CompositeDisposable([Disposables.create { log.add("resource") }])
    } observableFactory: { _ in
      Observable.create { _ in Disposables.create { log.add("stream") } }
    }
    source.subscribe().dispose()
    XCTAssertEqual(log.all, ["stream", "resource"])
  }
}
