import Streams
import StreamsTesting
import Synchronization
import XCTest

/// Laws 24 to 26: sharing.
final class SharingLawsTests: StreamsTestCase {
  func test_law24_concurrentFirstSubscribersMakeOneConnection() {
    for _ in 0..<100 {
      let connections = Atomic<Int>(0)
      let releases = Atomic<Int>(0)
      let shared = Observable<Int>.create { _ in
        connections.add(1, ordering: .relaxed)
        return Disposables.create { releases.add(1, ordering: .relaxed) }
      }.share()
      let subscriptions = Log<any Disposable>()
      onThreads(8) { _ in subscriptions.add(shared.subscribe()) }
      XCTAssertEqual(connections.load(ordering: .relaxed), 1)
      XCTAssertEqual(releases.load(ordering: .relaxed), 0)
      let all = subscriptions.all
      onThreads(8) { all[$0].dispose() }
      XCTAssertEqual(releases.load(ordering: .relaxed), 1)
    }
  }

  func test_law24_connectionIsReleasedWhenTheLastObserverIsDisposed() {
    let time = TestScheduler()
    let source = time.hot("a-b-c-d-e|")
    let shared = source.share()
    let subscriptions = (0..<2).map { _ in SerialDisposable() }
    time.scheduleAt(0) { subscriptions[0].disposable = shared.subscribe() }
    time.scheduleAt(1) { subscriptions[1].disposable = shared.subscribe() }
    time.scheduleAt(3) { subscriptions[0].dispose() }
    time.scheduleAt(5) { subscriptions[1].dispose() }
    time.start()
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 5)])
  }

  func test_law24_anObserverThatHasSeenTheEndNeverReceivesThatConnectionAgain() {
    // Each connection emits its number and ends. After its end, an observer must receive a later number.
    let connections = Atomic<Int>(0)
    let numbers = Observable<Int>.deferred { .just(connections.add(1, ordering: .relaxed).newValue) }
      .concat(Observable.empty())
    let shared = numbers.share(replay: 1)
    let violations = Log<String>()
    onThreads(3) { _ in
      var last = 0
      for _ in 0..<15_000 where violations.count == 0 {
        let received = Log<Int>()
        let ended = Log<Bool>()
        _ = shared.subscribe(onNext: { received.add($0) }, onCompleted: { ended.add(true) })
        // Another thread may still be delivering.
        guard ended.count > 0, let number = received.all.first else { continue }
        if received.count > 1 { violations.add("\(received.all) are of several connections") }
        if number <= last { violations.add("\(number) after the end of \(last)") }
        last = number
      }
    }
    XCTAssertEqual(violations.all, [])
  }

  func test_law24_terminatedConnectionIsNotDisposedByTheNext() {
    let subjects = [PublishSubject<Int>(), PublishSubject<Int>()]
    let next = Atomic<Int>(0)
    let shared = Observable<Int>.deferred {
      subjects[next.add(1, ordering: .relaxed).oldValue].asObservable()
    }.share()
    let log = Log<Int>()
    let first = shared.subscribe(onNext: { log.add($0) })
    subjects[0].onCompleted()
    let second = shared.subscribe(onNext: { log.add($0) })
    first.dispose()
    subjects[1].onNext(7)
    XCTAssertEqual(log.all, [7], "leaving the first connection does not touch the second")
    XCTAssertTrue(subjects[1].hasObservers)
    second.dispose()
    XCTAssertFalse(subjects[1].hasObservers)
  }

  func test_law24_subscribingRacesWithDisposing() {
    for _ in 0..<100 {
      let open = Atomic<Int>(0)
      let shared = Observable<Int>.create { observer in
        open.add(1, ordering: .relaxed)
        observer.onNext(1)
        return Disposables.create { open.subtract(1, ordering: .relaxed) }
      }.share()
      onThreads(8) { _ in for _ in 0..<10 { shared.subscribe().dispose() } }
      XCTAssertEqual(open.load(ordering: .relaxed), 0)
    }
  }

  func test_law25_behaviorSubjectDeliversTheLastValueThenLiveOnesWithoutLossOrDuplicates() {
    for _ in 0..<200 {
      let subject = BehaviorSubject(value: 0)
      let logs = (0..<4).map { _ in Log<Int>() }
      let bag = DisposeBag()
      onThreads(5) { index in
        if index == 4 {
          for value in 1...100 { subject.onNext(value) }
        } else {
          subject.subscribe(onNext: { logs[index].add($0) }).disposed(by: bag)
        }
      }
      for log in logs {
        let all = log.all
        XCTAssertEqual(all, Array((all.first ?? -1)...100), "from the first one on, each value once and in order")
      }
      subject.onCompleted()
    }
  }

  func test_law25_replayIsDeliveredOutsideTheLockAndBeforeLiveValues() {
    let subject = BehaviorSubject(value: 1)
    let log = Log<Int>()
    let subscription = subject.subscribe(onNext: { value in
      if value == 1 { subject.onNext(2) }
      XCTAssertNotNil(try? subject.value(), "would deadlock if the lock were held")
      log.add(value)
    })
    XCTAssertEqual(log.all, [1, 2])
    subscription.dispose()
  }

  func test_law26_aTerminatedSubjectReplaysItsTerminalEventToLateSubscribers() {
    for ending in [Event<Int>.completed, .error(TestError())] {
      let subjects: [any SubjectType<Int>] = [PublishSubject<Int>(), BehaviorSubject(value: 1)]
      for subject in subjects {
        subject.on(ending)
        subject.onNext(9)
        subject.on(.error(StreamError.noElements))
        subject.on(.completed)
        let events = Log<Event<Int>>()
        _ = subject.asObservable().subscribe { events.add($0) }
        XCTAssertEqual(events.all, [ending])
      }
    }
  }

  func test_law24_anObserverThatSubscribesWhileTheLastOneIsDisposedGetsANewConnection() {
    let observers = Locked<[AnyObserver<Int>]>([])
    let log = Log<Int>()
    let late = SerialDisposable()
    let comeBack = Locked<(@Sendable () -> Void)?>(nil)
    let shared = Observable<Int>.create { observer in
      observers.withLock { $0.append(observer) }
      // The source is being released: the last observer has been disposed, and the next one arrives.
      return Disposables.create { comeBack.withLock { $0.take() }?() }
    }.share()
    comeBack.withLock { $0 = { late.disposable = shared.subscribe(onNext: { log.add($0) }) } }
    shared.subscribe().dispose()
    let made = observers.withLock { observers in
      defer { observers = [] }
      return observers
    }
    XCTAssertEqual(made.count, 2)
    made.last?.onNext(7)
    XCTAssertEqual(log.all, [7])
    late.dispose()
  }

  func test_law24_aConnectionAfterTheEndServesThoseWhoSubscribedSince() {
    let starts = Log<Void>()
    let source = Observable<Int>.deferred {
      starts.add(())
      return .just(starts.count)
    }
    let log = Log<String>()
    func subscribe(_ name: String, to shared: ConnectableObservable<Int>) -> any Disposable {
      shared.subscribe(onNext: { log.add("\(name)\($0)") }, onCompleted: { log.add("\(name)|") })
    }
    func rounds(_ shared: ConnectableObservable<Int>) -> [String] {
      let observers = CompositeDisposable()
      for name in ["a", "b", "c"] {
        observers.insert(subscribe(name, to: shared))
        if name == "b" { log.add("connect") }
        if name != "c" { _ = shared.connect() }
      }
      observers.dispose()
      return log.all
    }
    for shared in [source.publish(), source.replay(1)] {
      XCTAssertEqual(rounds(shared).suffix(5).map { $0.filter { !$0.isNumber } }, ["a", "a|", "connect", "b", "b|"])
    }
    XCTAssertEqual(starts.count, 4)
    // A subject of the caller has its terminal event forever, so the second run reaches nobody.
    XCTAssertEqual(
      rounds(source.multicast(PublishSubject())).suffix(5), ["a5", "a|", "b|", "connect", "c|"])
    XCTAssertEqual(starts.count, 6)
  }

  func test_law24_aRetryBehindShareSubscribesBeforeTheFailedSourceIsDisposed_inFrontAfterwards() {
    func events(_ build: (Observable<Int>) -> Observable<Int>) -> [String] {
      let log = Log<String>()
      let observers = Locked<[AnyObserver<Int>]>([])
      let source = Observable<Int>.create { observer in
        let number = observers.withLock { observers in
          observers.append(observer)
          return observers.count
        }
        log.add("subscribe \(number)")
        return Disposables.create { log.add("dispose \(number)") }
      }
      let subscription = build(source).subscribe()
      observers.withLock { $0.first }?.onError(TestError())
      subscription.dispose()
      // They retain the source, which retains this list.
      observers.withLock { $0 = [] }
      return log.all
    }
    XCTAssertEqual(
      events { $0.retry(2).share() }, ["subscribe 1", "dispose 1", "subscribe 2", "dispose 2"])
    XCTAssertEqual(
      events { $0.share().retry(2) }, ["subscribe 1", "subscribe 2", "dispose 1", "dispose 2"])
  }
}
