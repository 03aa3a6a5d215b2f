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
  func test_optionals() throws {
    XCTAssertEqual(try Observable.from(optional: 1).toBlocking().toArray(), [1])
    XCTAssertEqual(try Observable<Int>.from(optional: nil).toBlocking().toArray(), [])
  }

  func test_law19_repeatElementStopsWithTake() throws {
    XCTAssertEqual(try Observable.repeatElement(1).take(3).toBlocking().toArray(), [1, 1, 1])
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
  func test_law21_timersContinueOnTheMainQueue() {
    let done = expectation(description: "completed")
    let log = Log<Int>()
    // The first item runs inline, before it can be held.
    let subscription = Observable<Int>.timer(.zero, period: .milliseconds(1), scheduler: MainScheduler.instance).take(3)
      .subscribe(onNext: { log.add($0) }, onCompleted: { done.fulfill() })
    wait(for: [done], timeout: 20)
    XCTAssertEqual(log.all, [0, 1, 2])
    subscription.dispose()
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
