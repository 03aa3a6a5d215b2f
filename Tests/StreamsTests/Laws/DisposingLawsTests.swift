import Streams
import StreamsTesting
import Synchronization
import XCTest

/// Laws 8 to 10: disposing.
final class DisposingLawsTests: StreamsTestCase {
  func test_law08_actionRunsOnceUnderRacingThreadsAndIsReleased() {
    for _ in 0..<100 {
      let runs = Atomic<Int>(0)
      var token: Token? = Token()
      weak var weakToken: Token?
      weakToken = token
      let disposable = Disposables.create { [token] in
        _ = token
        runs.add(1, ordering: .relaxed)
      }
      token = nil
      XCTAssertNotNil(weakToken)
      onThreads(8) { _ in disposable.dispose() }
      XCTAssertEqual(runs.load(ordering: .relaxed), 1)
      XCTAssertTrue(disposable.isDisposed)
      XCTAssertNil(weakToken, "the closure is released on the first dispose")
    }
  }

  func test_law08_handlersAreReleasedOnDisposalThoughTheDisposableIsKept() {
    var token: Token? = Token()
    weak var weakToken: Token?
    weakToken = token
    let subject = PublishSubject<Int>()
    let subscription = subject.subscribe(
      onNext: { [token] _ in _ = token }, onError: { [token] _ in _ = token }, onDisposed: { [token] in _ = token })
    token = nil
    XCTAssertNotNil(weakToken)
    subscription.dispose()
    XCTAssertNil(weakToken)
  }

  func test_law09_disposeDuringSynchronousSubscribeDisposesTheLateResource() {
    let disposed = Atomic<Int>(0)
    let source = Observable<Int>.create { observer in
      observer.onNext(1)
      return Disposables.create { disposed.add(1, ordering: .relaxed) }
    }
    _ = source.take(1).subscribe()
    XCTAssertEqual(disposed.load(ordering: .relaxed), 1)
  }

  func test_law09_aResourceThatIsReturnedWhileTheStreamCompletesIsDisposed() {
    let rounds = 5000
    let observer = Locked<AnyObserver<Int>?>(nil)
    let disposals = Atomic<Int>(0)
    onThreads(2) { thread in
      for round in 1...rounds {
        if thread == 0 {
          _ = Observable<Int>.create { new in
            observer.withLock { $0 = new }
            return Disposables.create { disposals.wrappingAdd(1, ordering: .relaxed) }
          }
          .subscribe()
          while disposals.load(ordering: .relaxed) < round, observer.withLock({ $0 != nil }) { sched_yield() }
        } else {
          var taken: AnyObserver<Int>?
          while taken == nil {
            sched_yield()
            taken = observer.withLock { $0.take() }
          }
          taken?.onCompleted()
        }
      }
    }
    XCTAssertEqual(disposals.load(ordering: .relaxed), rounds)
  }

  func test_law10_serialDisposableDisposesPreviousAndLateContent() {
    let log = Log<String>()
    let serial = SerialDisposable()
    serial.disposable = Disposables.create {
      log.add("first")
      // Disposes the same disposable reentrantly: would deadlock if the lock were held.
      XCTAssertFalse(serial.isDisposed)
    }
    serial.disposable = Disposables.create { log.add("second") }
    XCTAssertEqual(log.all, ["first"])
    serial.dispose()
    serial.dispose()
    serial.disposable = Disposables.create { log.add("late") }
    XCTAssertEqual(log.all, ["first", "second", "late"])
  }

  func test_law10_singleAssignmentDisposesALateAssignment() {
    let log = Log<String>()
    let single = SingleAssignmentDisposable()
    single.dispose()
    single.setDisposable(Disposables.create { log.add("late") })
    XCTAssertEqual(log.all, ["late"])
    let other = SingleAssignmentDisposable()
    other.setDisposable(Disposables.create { log.add("set") })
    other.dispose()
    other.dispose()
    XCTAssertEqual(log.all, ["late", "set"])
  }

  func test_law10_compositeDisposesMembersOutsideItsLockAndLateInsertionsImmediately() {
    let log = Log<Int>()
    let composite = CompositeDisposable()
    composite.insert(
      Disposables.create {
        log.add(composite.count)
        composite.insert(Disposables.create { log.add(-1) })
      })
    composite.insert(Disposables.create { log.add(2) })
    composite.dispose()
    XCTAssertEqual(log.all, [0, -1, 2])
    XCTAssertNil(composite.insert(Disposables.create { log.add(3) }))
    XCTAssertEqual(log.all.last, 3)
  }

  func test_law10_finishedMemberLeavesTheComposite() {
    let subject = PublishSubject<Int>()
    let composite = CompositeDisposable()
    composite.insert(subject.subscribe())
    composite.insert(Observable.just(1).subscribe())
    XCTAssertEqual(composite.count, 1, "one has ended before it was inserted")
    subject.onCompleted()
    XCTAssertEqual(composite.count, 0)
  }

  func test_law10_removedMemberIsDisposedOnce() {
    let log = Log<Int>()
    let composite = CompositeDisposable()
    let keys = (0..<5).compactMap { index in composite.insert(Disposables.create { log.add(index) }) }
    composite.remove(for: keys[3])
    composite.remove(for: keys[3])
    XCTAssertEqual(log.all, [3])
    composite.dispose()
    XCTAssertEqual(log.all, [3, 0, 1, 2, 4])
  }

  func test_law10_bagDisposesItsMembersWhenItIsDeallocated() {
    let log = Log<Int>()
    var bag: DisposeBag? = DisposeBag()
    if let bag { Disposables.create { log.add(1) }.disposed(by: bag) }
    XCTAssertEqual(log.all, [])
    bag = nil
    XCTAssertEqual(log.all, [1])
  }

  func test_law10_insertionsRacingWithDisposeAreAllDisposed() {
    for _ in 0..<100 {
      let composite = CompositeDisposable()
      let disposed = Atomic<Int>(0)
      onThreads(8) { index in
        if index == 7 { return composite.dispose() }
        for _ in 0..<20 { composite.insert(Disposables.create { disposed.add(1, ordering: .relaxed) }) }
      }
      XCTAssertEqual(disposed.load(ordering: .relaxed), 140)
    }
  }

  func test_law10_bagsAndCompositesTakeSeveralMembers() {
    let log = Log<Int>()
    func member(_ number: Int) -> any Disposable { Disposables.create { log.add(number) } }
    CompositeDisposable(member(1), member(2)).dispose()
    var bag: DisposeBag? = DisposeBag()
    bag?.insert(member(3), member(4))
    bag?.insert([member(5)])
    XCTAssertEqual(log.all, [1, 2])
    bag = nil
    XCTAssertEqual(log.all, [1, 2, 3, 4, 5])
  }
}
