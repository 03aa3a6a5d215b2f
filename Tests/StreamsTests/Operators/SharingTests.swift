import Streams
import StreamsTesting
import XCTest

final class SharingTests: StreamsTestCase {
  func test_publishConnectsOnDemand() {
    let time = TestScheduler()
    let source = time.cold("a-b-c|")
    let shared = source.publish()
    let log = Log<String>()
    let connection = SerialDisposable()
    let bag = DisposeBag()
    time.scheduleAt(0) { shared.subscribe(onNext: { log.add("1\($0)") }).disposed(by: bag) }
    time.scheduleAt(5) { connection.disposable = shared.connect() }
    time.scheduleAt(6) { shared.subscribe(onNext: { log.add("2\($0)") }).disposed(by: bag) }
    time.scheduleAt(8) { connection.dispose() }
    time.start()
    XCTAssertEqual(source.subscriptions, [TestSubscription(5, 8)])
    XCTAssertEqual(log.all, ["1a", "1b", "2b"])
  }

  func test_connectingTwiceSharesOneConnectionUntilItIsDisposed() {
    let count = Log<Int>()
    let shared = Observable<Int>.create { _ in
      count.add(1)
      return Disposables.create { count.add(-1) }
    }.publish()
    let first = shared.connect()
    let second = shared.connect()
    XCTAssertEqual(count.all, [1])
    first.dispose()
    second.dispose()
    XCTAssertEqual(count.all, [1, -1])
    let third = shared.connect()
    first.dispose()
    XCTAssertEqual(count.all, [1, -1, 1], "an old connection does not dispose the next (law 24)")
    third.dispose()
  }

  func test_law24_aStreamWithAKeptSubjectConnectsAgainAfterTheSourceHasEnded() {
    let starts = Log<Void>()
    let shared = Observable<Int>.create { observer in
      starts.add(())
      observer.onCompleted()
      return Disposables.create()
    }.replay(1)
    for count in 1...2 {
      let connection = shared.connect()
      XCTAssertEqual(starts.count, count)
      connection.dispose()
    }
  }

  func test_law24_anObserverThatConnectsWhileAConnectionIsDisposedGetsANewOne() {
    let starts = Log<Void>()
    let again = SerialDisposable()
    let connects = Locked<(@Sendable () -> Void)?>(nil)
    let shared = Observable<Int>.create { _ in
      starts.add(())
      return Disposables.create { connects.withLock { $0.take() }?() }
    }.publish()
    connects.withLock { $0 = { again.disposable = shared.connect() } }
    shared.connect().dispose()
    XCTAssertEqual(starts.count, 2)
    again.dispose()
  }

  func test_theLastCountedObserverEndsAConnectionThatWasMadeByHand() {
    let disposals = Log<Void>()
    let shared = Observable<Int>.create { _ in Disposables.create { disposals.add(()) } }.publish()
    let connection = shared.connect()
    shared.refCount().subscribe().dispose()
    XCTAssertEqual(disposals.count, 1)
    connection.dispose()
  }

  func test_replaySendsTheLastElementsToLateObservers() {
    let source = PublishSubject<Int>()
    for (shared, expected) in [(source.replay(2), [2, 3]), (source.replay(9), [1, 2, 3])] {
      let connection = shared.connect()
      for value in 1...3 { source.onNext(value) }
      let log = Log<Int>()
      let subscription = shared.subscribe(onNext: { log.add($0) })
      XCTAssertEqual(log.all, expected)
      subscription.dispose()
      connection.dispose()
    }
  }

  func test_multicastUsesTheGivenSubject() throws {
    let subject = BehaviorSubject(value: 0)
    let shared = Observable.of(1, 2).multicast(subject)
    let log = Log<Int>()
    let subscription = shared.subscribe(onNext: { log.add($0) })
    let connection = shared.connect()
    XCTAssertEqual(log.all, [0, 1, 2])
    connection.dispose()
    subscription.dispose()
  }

  func test_law24_refCountConnectsWithTheFirstAndDisconnectsWithTheLast() {
    let time = TestScheduler()
    let source = time.hot("abcdefgh|")
    let shared = source.publish().refCount()
    let subscriptions = (0..<3).map { _ in SerialDisposable() }
    for (index, (from, to)) in [(0, 3), (1, 4), (6, 7)].enumerated() {
      time.scheduleAt(from) { subscriptions[index].disposable = shared.subscribe() }
      time.scheduleAt(to) { subscriptions[index].dispose() }
    }
    time.start()
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 4), TestSubscription(6, 7)])
  }

  func test_shareReplayWhileConnectedClearsItsBufferBetweenConnections() {
    let source = PublishSubject<Int>()
    let shared = source.share(replay: 1)
    let log = Log<Int>()
    let first = shared.subscribe()
    source.onNext(1)
    let second = shared.subscribe(onNext: { log.add($0) })
    XCTAssertEqual(log.all, [1])
    first.dispose()
    second.dispose()
    let third = shared.subscribe(onNext: { log.add($0 * 10) })
    XCTAssertEqual(log.all, [1], "nothing is remembered from the connection before")
    third.dispose()
  }

  func test_shareReplayForeverKeepsElementsAndTheTerminalEvent() throws {
    let calls = Log<Int>()
    let shared = Observable<Int>.create { observer in
      calls.add(1)
      observer.onNext(7)
      observer.onCompleted()
      return Disposables.create()
    }.share(replay: 1, scope: .forever)
    XCTAssertEqual(try shared.toBlocking().toArray(), [7])
    XCTAssertEqual(try shared.toBlocking().toArray(), [7])
    XCTAssertEqual(calls.count, 1, "the request is not sent again")
  }

  func test_shareSubscribesAgainAfterTermination() throws {
    let calls = Log<Int>()
    let shared = Observable<Int>.deferred {
      calls.add(1)
      return .just(calls.count)
    }.share(replay: 1)
    XCTAssertEqual(try shared.toBlocking().toArray(), [1])
    XCTAssertEqual(try shared.toBlocking().toArray(), [2])
  }

  func test_errorReachesAllObserversAndTheNextSubscribesAgain() {
    let source = PublishSubject<Int>()
    let shared = source.share()
    let ends = Log<String>()
    let subscriptions = (0..<3).map { _ in shared.subscribe(onError: { ends.add("\($0)") }) }
    source.onError(TestError())
    XCTAssertEqual(ends.count, 3)
    for subscription in subscriptions { subscription.dispose() }
  }

  func test_law24_aFailedShareReplayIsResetBeforeItsObserversRetry() {
    let time = TestScheduler()
    let source = time.cold("-#")
    XCTAssertEqual(time.record(source.share(replay: 1).retry(3)), [.error(3)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 1), TestSubscription(1, 2), TestSubscription(2, 3)])
  }

  func test_law24_aFailedShareIsResetBeforeTheFirstOfSeveralObserversRetries() {
    for replay in [0, 1] {
      let time = TestScheduler()
      let source = time.cold("--#")
      let shared = source.share(replay: replay)
      let other = SerialDisposable()
      time.scheduleAt(1) { other.disposable = shared.subscribe(onError: { _ in }) }
      XCTAssertEqual(time.record(shared.retry(2)), [.error(4)])
      XCTAssertEqual(source.subscriptions, [TestSubscription(0, 2), TestSubscription(2, 4)])
      other.dispose()
    }
  }
}
