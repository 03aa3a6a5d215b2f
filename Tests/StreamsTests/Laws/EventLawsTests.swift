import Foundation
import Streams
import StreamsTesting
import Synchronization
import XCTest

/// Laws 1 to 7: events.
final class EventLawsTests: StreamsTestCase {
  func test_law01_nothingFollowsTheFirstTerminalEvent() {
    for ending in [Event<Int>.completed, .error(TestError())] {
      let events = Log<Event<Int>>()
      let source = Observable<Int>.create { observer in
        observer.onNext(1)
        observer.on(ending)
        observer.onNext(2)
        observer.onError(TestError("late"))
        observer.onCompleted()
        return Disposables.create()
      }
      _ = source.subscribe { events.add($0) }
      XCTAssertEqual(events.all, [.next(1), ending])
    }
  }

  func test_law01_oneTerminalEventWhenThreadsRace() {
    for _ in 0..<100 {
      let referee = Referee<Int>()
      let subject = PublishSubject<Int>()
      let subscription = referee.watch(subject)
      onThreads(8) { index in
        subject.onNext(index)
        if index.isMultiple(of: 2) { subject.onCompleted() } else { subject.onError(TestError()) }
      }
      referee.check()
      XCTAssertEqual(referee.ends.count, 1)
      subscription.dispose()
    }
  }

  func test_law01_aFailedSourceEmitsNothingAfterItsReplacementHasStarted() {
    for _ in 0..<500 {
      let observers = Locked<AnyObserver<Int>?>(nil)
      let referee = Referee<Int>()
      let source = Observable<Int>.create { observer in
        observers.withLock { $0 = observer }
        return Disposables.create()
      }
      let subscription = referee.watch(source.catchError { _ in Observable.from(Array(repeating: -1, count: 50)) })
      let observer = observers.withLock { $0.take() }
      onThreads(3) { thread in
        if thread == 0 { return observer?.onError(TestError()) ?? () }
        for value in 0..<20 { observer?.onNext(value) }
      }
      referee.check()
      let all = referee.elements.all
      XCTAssertEqual(all.suffix(50), Array(repeating: -1, count: 50)[...], "\(all)")
      subscription.dispose()
    }
  }

  func test_law02_createSerializesEightThreads() {
    for _ in 0..<100 {
      let observers = Log<AnyObserver<Int>>()
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable<Int>.create { observer in
          observers.add(observer)
          return Disposables.create()
        })
      let observer = observers.all[0]
      onThreads(8) { index in
        for value in 0..<50 { observer.onNext(index * 50 + value) }
      }
      observer.onCompleted()
      referee.check()
      XCTAssertEqual(referee.elements.all.sorted(), Array(0..<400), "nothing is lost and nothing doubled")
      for thread in 0..<8 {
        let own = referee.elements.all.filter { $0 / 50 == thread }
        XCTAssertEqual(own, own.sorted(), "events of one thread keep their order")
      }
      XCTAssertEqual(referee.ends.all, ["completed"])
      subscription.dispose()
    }
  }

  func test_law02_subjectsMergeAndCombineLatestSerializeEightThreads() {
    for _ in 0..<50 {
      let subjects = (0..<8).map { _ in PublishSubject<Int>() }
      let behavior = BehaviorSubject(value: -1)
      let referees = (0..<4).map { _ in Referee<Int>() }
      let subscriptions = CompositeDisposable([
        referees[0].watch(Observable.merge(subjects.map { $0.asObservable() })),
        referees[1].watch(Observable.from(subjects).flatMap { $0.map { $0 + 1 } }),
        referees[2].watch(Observable<Int>.combineLatest(subjects[0], subjects[1]) { $0 + $1 }),
        referees[3].watch(behavior),
      ])
      onThreads(8) { index in
        for value in 0..<20 {
          subjects[index].onNext(value)
          behavior.onNext(value)
        }
        subjects[index].onCompleted()
      }
      behavior.onCompleted()
      for referee in referees {
        referee.check()
        XCTAssertEqual(referee.ends.all, ["completed"])
      }
      XCTAssertEqual(referees[0].elements.count, 160)
      XCTAssertEqual(referees[1].elements.count, 160)
      XCTAssertEqual(referees[3].elements.count, 161)
      subscriptions.dispose()
    }
  }

  func test_law02_terminalEventDoesNotOvertakeValuesOfItsThread() {
    for _ in 0..<100 {
      let subject = PublishSubject<Int>()
      let referee = Referee<Int>()
      let subscription = referee.watch(subject)
      onThreads(2) { index in
        if index == 0 {
          for value in 0..<100 { subject.onNext(value) }
          subject.onCompleted()
        } else {
          for _ in 0..<100 { subject.onNext(-1) }
        }
      }
      referee.check()
      XCTAssertEqual(referee.elements.all.filter { $0 >= 0 }, Array(0..<100))
      subscription.dispose()
    }
  }

  func test_law03_reentrantEmissionIsDeliveredAfterTheCurrentEventInOrder() {
    let subject = PublishSubject<Int>()
    let log = Log<String>()
    let bag = DisposeBag()
    subject.subscribe(onNext: { value in
      log.add("a\(value)>")
      if value < 3 { subject.onNext(value + 1) }
      log.add("<a\(value)")
    }).disposed(by: bag)
    subject.subscribe(onNext: { log.add("b\($0)") }).disposed(by: bag)
    subject.onNext(1)
    XCTAssertEqual(log.all, ["a1>", "<a1", "b1", "a2>", "<a2", "b2", "a3>", "<a3", "b3"])
  }

  func test_law03_reentrantEventReachesTheObserversAtTheTimeOfItsDelivery() {
    let subject = PublishSubject<Int>()
    let late = Log<Int>()
    let bag = DisposeBag()
    subject.subscribe(onNext: { value in
      guard value == 1 else { return }
      subject.onNext(2)
      subject.subscribe(onNext: { late.add($0) }).disposed(by: bag)
    }).disposed(by: bag)
    subject.onNext(1)
    XCTAssertEqual(late.all, [2])
    subject.onCompleted()
  }

  func test_law03_reentrantEmissionIntoCreateNeverDeadlocks() {
    let observers = Locked<AnyObserver<Int>?>(nil)
    let log = Log<Int>()
    let subscription = Observable<Int>.create { observer in
      observers.withLock { $0 = observer }
      return Disposables.create()
    }.subscribe(onNext: { value in
      let observer = observers.withLock { $0 }
      if value < 1000 { observer?.onNext(value + 1) }
      log.add(value)
    })
    observers.withLock { $0 }?.onNext(0)
    observers.withLock { $0 = nil }
    XCTAssertEqual(log.all, Array(0...1000))
    subscription.dispose()
  }

  func test_law04_nothingIsDeliveredAfterDisposeOnTheDeliveringThread() {
    let log = Log<Int>()
    let subscription = SerialDisposable()
    let subject = PublishSubject<Int>()
    subscription.disposable =
      subject
      .map { value -> Int in
        if value == 2 { subscription.dispose() }
        return value
      }
      .subscribe(onNext: { log.add($0) }, onCompleted: { log.add(-1) })
    for value in 1...4 { subject.onNext(value) }
    subject.onCompleted()
    XCTAssertEqual(log.all, [1], "the element during whose mapping it was disposed is not delivered either")
  }

  func test_law04_disposeFromInsideOnNextStopsASynchronousSource() {
    let log = Log<Int>()
    let subscription = SingleAssignmentDisposable()
    let source = Observable.from(1...1_000_000).do(onNext: { log.add($0) })
    // Held until the subscription exists, so that it can be disposed.
    let queue = DispatchQueue(label: "law04", attributes: .initiallyInactive)
    let scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "law04.serial")
    subscription.setDisposable(
      source.subscribeOn(scheduler).subscribe(onNext: { value in
        if value == 3 { subscription.dispose() }
      }))
    queue.activate()
    waitUntil("three have come") { log.count >= 3 }
    waitUntil("it is disposed") { subscription.isDisposed }
    XCTAssertEqual(log.all, [1, 2, 3])
  }

  func test_law05_terminalEventGoesDownstreamBeforeUpstreamIsDisposed() {
    for ending in [Event<Int>.completed, .error(TestError())] {
      let log = Log<String>()
      let source = Observable<Int>.create { observer in
        observer.on(ending)
        return Disposables.create { log.add("upstream disposed") }
      }
      let subscription = source.do(onDispose: { log.add("onDispose") })
        .subscribe(
          onError: { _ in log.add("error") }, onCompleted: { log.add("completed") },
          onDisposed: { log.add("onDisposed") })
      subscription.dispose()
      XCTAssertEqual(log.all.first, ending.isCompleted ? "completed" : "error", "\(ending)")
      XCTAssertEqual(log.all.filter { $0 == "onDispose" }.count, 1, "exactly once")
      XCTAssertEqual(log.all.filter { $0 == "onDisposed" }.count, 1, "exactly once")
      XCTAssertEqual(log.all.filter { $0 == "upstream disposed" }.count, 1, "\(ending)")
    }
  }

  func test_law06_unhandledErrorReachesTheHookWithTheLineOfTheSubscription() {
    let seen = Log<String>()
    let former = Hooks.onUnhandledError
    Hooks.onUnhandledError = { error, file, line in seen.add("\(error) \(file) \(line)") }
    defer { Hooks.onUnhandledError = former }
    let failing = Observable<Int>.error(TestError("x"))
    let line = #line + 1
    _ = failing.subscribe(onNext: { _ in })
    _ = failing.asSingle().subscribe(onSuccess: { _ in })
    _ = failing.subscribe(onNext: { _ in }, onError: { _ in })
    XCTAssertEqual(seen.count, 2, "\(seen.all)")
    XCTAssertTrue(seen.all.allSatisfy { $0.contains("EventLawsTests.swift") && $0.contains("TestError") })
    XCTAssertTrue(seen.all[0].hasSuffix(" \(line)"), seen.all[0])
    XCTAssertTrue(seen.all[1].hasSuffix(" \(line + 1)"), seen.all[1])
  }

  func test_law07_throwingClosureBecomesThisStreamsError() throws {
    let boom = TestError("boom")
    let source = Observable.of(1, 2, 3)
    @Sendable func check(_ value: Int) throws -> Int {
      if value == 2 { throw boom }
      return value
    }
    let streams: [(String, Observable<Int>)] = [
      ("map", source.map(check)),
      ("compactMap", source.compactMap { try check($0) }),
      ("filter", source.filter { try check($0) > 0 }),
      ("flatMap", source.flatMap { Observable.just(try check($0)) }),
      ("concatMap", source.concatMap { Observable.just(try check($0)) }),
      ("scan", source.scan(0) { try check($1) + $0 * 0 }),
      ("reduce", source.reduce(0) { try check($1) + $0 }),
      ("do", source.do(onNext: { _ = try check($0) })),
      ("distinctUntilChanged", source.distinctUntilChanged { try check($0) }),
      ("zip", .zip(source, source) { try check($0) + $1 * 0 }),
      ("combineLatest", .combineLatest(Observable.just(0), source) { try $0 + check($1) }),
      ("deferred", .deferred { throw boom }),
    ]
    for (name, stream) in streams {
      let ends = Log<Event<Int>>()
      _ = stream.subscribe { if $0.isStopEvent { ends.add($0) } }
      XCTAssertEqual(ends.all, [.error(boom)], name)
    }
  }

  func test_law07_errorThrownDownstreamNeverTravelsUpstream() {
    let above = Log<String>()
    let below = Log<String>()
    let throwing: @Sendable (Int) throws -> Int = { _ in throw TestError("below") }
    let source = Observable.of(1, 2).do(
      onError: { _ in above.add("do") }, onCompleted: { above.add("completed") })
    let scopes: [Observable<Int>] = [
      source,
      source.catchError { _ in
        above.add("catchError")
        return .empty()
      },
      source.retry(2),
      source.mapError { error in
        above.add("mapError")
        return error
      },
      source.take(2), source.concat(Observable.just(3)), source.flatMap { Observable.just($0) },
      source.takeUntil(Observable<Int>.never()), source.share(), source.startWith(0).take(3),
      source.observeOn(ImmediateScheduler.instance), source.timeout(.seconds(9), scheduler: TestScheduler()),
    ]
    for stream in scopes {
      _ = stream.map(throwing).subscribe(onError: { below.add("\($0)") })
    }
    XCTAssertEqual(above.all, [])
    XCTAssertEqual(below.count, scopes.count)
  }

  func test_law01_elementsAfterTheTerminalEventAreDroppedEvenIfQueued() {
    for waits in [false, true] {
      let made = Locked<AnyObserver<Int>?>(nil)
      let source = Observable<Int>.create { observer in
        made.withLock { $0 = observer }
        return Disposables.create()
      }
      let log = Log<Int>()
      // The following stream keeps the subscription open, so that only the termination of the source can stop the
      // element.
      let subscription = source.concat(Observable.never()).subscribe(onNext: { element in
        log.add(element)
        guard waits, element == 1 else { return }
        made.withLock { $0 }?.onCompleted()
        made.withLock { $0 }?.onNext(2)
      })
      made.withLock { $0 }?.onNext(1)
      made.withLock { $0 }?.onCompleted()
      made.withLock { $0 }?.onNext(3)
      XCTAssertEqual(log.all, [1])
      subscription.dispose()
      made.withLock { $0 = nil }
    }
  }
}
