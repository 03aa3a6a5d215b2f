import Foundation
import Streams
import StreamsTesting
import XCTest

/// Laws 27 and 28: depth and memory.
final class DepthLawsTests: StreamsTestCase {
  // A tenth in debug builds, whose frames are larger and which take ten times as long.
  #if DEBUG
    private let many = 100_000
  #else
    private let many = 1_000_000
  #endif

  private func count<Element>(_ source: Observable<Element>) throws -> Int {
    try source.reduce(0) { count, _ in count + 1 }.toBlocking().single()
  }

  func test_law27_aMillionElements() throws {
    XCTAssertEqual(try count(Observable.from(0..<many)), many)
    XCTAssertEqual(try count(Observable.range(start: 0, count: many).observeOn(ImmediateScheduler.instance)), many)
  }

  func test_law27_aMillionInners() throws {
    XCTAssertEqual(try count(Observable.from(0..<many).concatMap { Observable.of($0) }), many)
    XCTAssertEqual(try count(Observable.from(0..<many).concatMap { Observable.just($0) }), many)
    XCTAssertEqual(try count(Observable.from(0..<many).flatMap { Observable.of($0) }), many)
    XCTAssertEqual(try count(Observable.concat((0..<many).lazy.map { Observable.of($0) }.eager)), many)
  }

  func test_law27_aMillionRetries() throws {
    let attempts = Log<Void>()
    let source = Observable<Int>.create { [many] observer in
      attempts.add(())
      if attempts.count == many { observer.onNext(1) }
      observer.onError(TestError())
      return Disposables.create()
    }
    XCTAssertEqual(try count(source.retry().take(1)), 1)
  }

  func test_law27_aMillionRecursiveCatchErrors() throws {
    @Sendable func attempt(_ left: Int) -> Observable<Int> {
      left == 0 ? .just(7) : Observable<Int>.error(TestError()).catchError { _ in attempt(left - 1) }
    }
    XCTAssertEqual(try attempt(many).toBlocking().toArray(), [7])
  }

  func test_law27_streamsNestAThousandLevelsDeep() throws {
    @Sendable func nested(_ depth: Int) -> Observable<Int> {
      depth == 0 ? .of(7) : Observable.of(depth).flatMap { nested($0 - 1) }
    }
    XCTAssertEqual(try nested(1000).toBlocking().toArray(), [7])
  }

  func test_law28_theCounterDetectsALeakAndItsRelease() {
    let before = Hooks.liveSubscriptionCount
    let subject = PublishSubject<Int>()
    let subscription = subject.take(5).subscribe()
    XCTAssertGreaterThan(Hooks.liveSubscriptionCount, before)
    subscription.dispose()
    XCTAssertEqual(Hooks.liveSubscriptionCount, before + 1, "the disposable that is kept here")
  }

  func test_law28_aCompletedSourceIsReleasedWhileTheOthersContinue() {
    for completed in 0..<3 {
      let subjects = (0..<3).map { _ in PublishSubject<Int>() }
      let subscription = Observable.combineLatest(subjects).subscribe()
      subjects.forEach { $0.onNext(1) }
      let before = Hooks.liveSubscriptionCount
      subjects[completed].onCompleted()
      XCTAssertLessThan(Hooks.liveSubscriptionCount, before, "source \(completed)")
      subscription.dispose()
    }
  }

  func test_law28_theCounterIsExactWhenOtherThreadsDispose() {
    let before = Hooks.liveSubscriptionCount
    let subjects = (0..<64).map { _ in PublishSubject<Int>() }
    let kept = Locked<[any Disposable]>([])
    onThreads(64) { index in
      let subscriptions = (0..<10).map { _ in subjects[index].subscribe() }
      kept.withLock { $0 += subscriptions }
    }
    XCTAssertEqual(Hooks.liveSubscriptionCount, before + 640)
    onThreads(64) { _ in
      for _ in 0..<10 { kept.withLock { $0.popLast() }?.dispose() }
    }
    XCTAssertEqual(Hooks.liveSubscriptionCount, before)
  }

  func test_law27_recursiveCatchErrorsHoldAtMostOneRound() {
    for delayed in [true, false] {
      let clock = ManualScheduler()
      @Sendable func attempt(_ left: Int) -> Observable<Int> {
        guard left > 0 else { return .just(7) }
        let next = Observable<Int>.error(TestError()).catchError { _ in .deferred { attempt(left - 1) } }
        return delayed ? next.delaySubscription(.seconds(1), scheduler: clock) : next.subscribeOn(clock)
      }
      let elements = Log<Int>()
      let subscription = attempt(1000).subscribe(onNext: { elements.add($0) })
      for _ in 0..<1000 {
        clock.advance(.seconds(1))
        clock.runDue()
        XCTAssertLessThanOrEqual(clock.alive, 1)
      }
      XCTAssertEqual(elements.all, [7])
      subscription.dispose()
    }
  }

  func test_law27_recursiveAndThenHoldsAtMostOneRoundAndNeedsNoStack() {
    let before = Hooks.liveSubscriptionCount
    let most = Locked(0)
    @Sendable func loop(_ left: Int) -> Completable {
      most.withLock { $0 = max($0, Hooks.liveSubscriptionCount - before) }
      return left == 0 ? .empty() : Completable.empty().andThen(.deferred { loop(left - 1) })
    }
    let ended = Log<Bool>()
    let subscription = loop(100_000).subscribe(onCompleted: { ended.add(true) })
    XCTAssertEqual(ended.all, [true])
    XCTAssertLessThan(most.withLock { $0 }, 10)
    subscription.dispose()
  }

  func test_law27_streamsNestOnASmallStackToTheDocumentedDepth() {
    let levels = 40
    @Sendable func page(_ left: Int) -> Observable<Int> {
      Observable.of(left).take(1).flatMap { left -> Observable<Int> in
        left == 1 ? .just(left) : Observable.just(left).concat(page(left - 1))
      }
    }
    let count = Log<Int>()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let subscription = page(levels).subscribe(onNext: { count.add($0) })
      subscription.dispose()
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
    XCTAssertEqual(count.count, levels)
  }
}

extension Sequence where Element: Sendable {
  /// An array, for a source that must be `Sendable`.
  fileprivate var eager: [Element] { Array(self) }
}
