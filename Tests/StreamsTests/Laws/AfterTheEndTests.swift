import Foundation
import Races
import Streams
import StreamsTesting
import Synchronization
import TestSupport
import XCTest

/// Laws 4, 15 and 27, inside the operators: after the end, no closure of the user runs, no stream starts, and nothing is
/// kept.
final class AfterTheEndTests: StreamsTestCase {
  // MARK: No closure runs

  func test_law04_joinsEmitNothingWhenASourceDisposesThem() {
    typealias Joined = @Sendable (Observable<Int>, Observable<Int>, @escaping @Sendable () -> Void) -> Observable<Void>
    let joins: [(name: String, join: Joined)] = [
      ("zip of two", { a, b, note in Observable.zip(a, b) { _, _ in note() } }),
      ("zip of three", { a, b, note in Observable.zip(b, a, b) { _, _, _ in note() } }),
      ("zip of a collection", { a, b, note in Observable.zip([a, b]).map { _ in note() } }),
      ("combineLatest of two", { a, b, note in Observable.combineLatest(a, b) { _, _ in note() } }),
      ("combineLatest of three", { a, b, note in Observable.combineLatest(b, a, b) { _, _, _ in note() } }),
    ]
    for (name, join) in joins {
      for isFirst in [true, false] {
        let (ending, other) = (PublishSubject<Int>(), PublishSubject<Int>())
        let calls = Log<Void>()
        let subscription = SerialDisposable()
        let source = ending.do(onNext: { if $0 == 2 { subscription.dispose() } })
        let (a, b) = isFirst ? (source, other.asObservable()) : (other.asObservable(), source)
        subscription.disposable = join(a, b) { calls.add(()) }.subscribe()
        for source in [other, ending] { source.onNext(1) }
        other.onNext(2)
        let before = calls.count
        XCTAssertGreaterThan(before, 0, name)
        ending.onNext(2)
        XCTAssertEqual(calls.count, before, name)
        XCTAssertTrue(subscription.isDisposed)
      }
    }
  }

  func test_law04_aReplayStopsWhenItsObserverHasEnough() {
    let subject = ReplaySubject<Int>.create(bufferSize: 3)
    for element in 1...3 { subject.onNext(element) }
    let mapped = Log<Int>()
    _ = subject.map { mapped.add($0) }.take(1).subscribe()
    XCTAssertEqual(mapped.all, [1])
  }

  func test_law04_delayedElementsThatAreDueTogetherStopWhenTheObserverHasEnough() {
    let clock = ManualScheduler()
    let subject = PublishSubject<Int>()
    let mapped = Log<Int>()
    let subscription = subject.delay(.seconds(1), scheduler: clock).map { mapped.add($0) }.take(1).subscribe()
    for element in 1...3 { subject.onNext(element) }
    clock.advance(.seconds(1))
    clock.runDue()
    XCTAssertEqual(mapped.all, [1])
    subscription.dispose()
  }

  func test_law04_takeLastStopsWhenItsObserverHasEnough() {
    let mapped = Log<Int>()
    _ = Observable.of(1, 2, 3).takeLast(2).map { mapped.add($0) }.take(1).subscribe()
    XCTAssertEqual(mapped.all, [2])
  }

  func test_law04_aDisposedSingleDeliversNothing() {
    let emit = Locked<(@Sendable (SingleEvent<Int>) -> Void)?>(nil)
    let mapped = Log<Int>()
    let single = Single<Int>.create { observer in
      emit.withLock { $0 = observer }
      return Disposables.create()
    }
    let subscription = single.map { mapped.add($0) }.subscribe()
    subscription.dispose()
    let send = emit.withLock { $0.take() }
    XCTAssertNotNil(send)
    send?(.success(1))
    XCTAssertEqual(mapped.count, 0)
  }

  func test_law22_aTickThatRunsThoughItWasDisposedEmitsNothing() {
    let clock = ManualScheduler(ignoresDispose: true)
    let mapped = Log<Int>()
    let subscription = Observable<Int>.timer(.seconds(1), period: .seconds(1), scheduler: clock)
      .map { mapped.add($0) }.subscribe()
    clock.advance(.seconds(1))
    clock.runDue()
    subscription.dispose()
    clock.advance(.seconds(1))
    clock.runDue()
    XCTAssertEqual(mapped.all, [0])
    XCTAssertEqual(clock.pending, 0, "the late tick armed another")
  }

  // MARK: No stream starts

  func test_law15_noWaitingStreamStartsWhileTheErrorIsDelivered() {
    let (first, second) = (PublishSubject<Int>(), PublishSubject<Int>())
    let started = Log<Int>()
    let third = Observable<Int>.create { _ in
      started.add(3)
      return Disposables.create()
    }
    let errors = Log<Void>()
    let subscription = Observable.of(first.asObservable(), second.asObservable(), third).merge(maxConcurrent: 2)
      .map { _ in throw TestError() }
      .subscribe(onError: { _ in
        errors.add(())
        second.onCompleted()
      })
    first.onNext(1)
    XCTAssertEqual(errors.count, 1)
    XCTAssertEqual(started.count, 0)
    subscription.dispose()
  }

  func test_law15_aSequenceIsAskedForNoStreamAfterTheDisposal() {
    let subscription = SerialDisposable()
    let asked = Log<Int>()
    let first = PublishSubject<Int>()
    let streams = Endless<Observable<Int>> {
      asked.add(asked.count + 1)
      if asked.count == 1 { return first.asObservable() }
      return .create { observer in
        observer.onCompleted()
        // `concat` is still inside its loop.
        subscription.dispose()
        return Disposables.create()
      }
    }
    subscription.disposable = Observable.concat(streams).subscribe()
    first.onCompleted()
    XCTAssertEqual(asked.all, [1, 2])
  }

  func test_law15_aStreamThatStartsDuringTheDisposalIsDisposed() {
    let active = Atomic<Int>(0)
    let inner = Observable<Int>.create { _ in
      active.add(1, ordering: .sequentiallyConsistent)
      return Disposables.create { active.subtract(1, ordering: .sequentiallyConsistent) }
    }
    let outer = Held<PublishSubject<Int>>()
    let subscription = SerialDisposable()
    let failures = failures(
      inRounds: 7000,
      prepare: {
        let subject = PublishSubject<Int>()
        outer.value = subject
        subscription.disposable = subject.flatMap { _ in inner }.subscribe()
      },
      {
        let subject = outer.value
        for number in 0..<12 { subject?.onNext(number) }
      },
      { subscription.disposable = Disposables.create() },
      check: { active.load(ordering: .sequentiallyConsistent) == 0 })
    XCTAssertEqual(failures, 0)
  }

  // MARK: Nothing is kept

  func test_law27_completedInnerStreamsAreReleasedWhileTheOuterContinues() {
    let flattened: [(name: String, apply: @Sendable (Observable<Int>) -> Observable<Int>)] = [
      ("flatMap", { $0.flatMap { Observable.of($0, $0) } }),
      ("concatMap", { $0.concatMap { Observable.of($0, $0) } }),
      ("merge(maxConcurrent:)", { $0.map { Observable.of($0, $0) }.merge(maxConcurrent: 3) }),
      ("flatMapFirst", { $0.flatMapFirst { Observable.of($0, $0) } }),
      ("flatMapLatest", { $0.flatMapLatest { Observable.of($0, $0) } }),
    ]
    for (name, apply) in flattened {
      let outer = PublishSubject<Int>()
      let subscription = apply(outer.asObservable()).subscribe()
      outer.onNext(0)
      let before = Hooks.liveSubscriptionCount
      for number in 1...100 { outer.onNext(number) }
      XCTAssertLessThanOrEqual(Hooks.liveSubscriptionCount, before, name)
      subscription.dispose()
    }
  }

  func test_law27_streamsThatFailedAreReleasedBeforeTheLastReplacementEnds() {
    let last = PublishSubject<Int>()
    @Sendable func attempt(_ left: Int) -> Observable<Int> {
      left == 0 ? last.asObservable() : Observable<Int>.error(TestError()).catchError { _ in attempt(left - 1) }
    }
    let before = Hooks.liveSubscriptionCount
    let subscription = attempt(100).subscribe()
    XCTAssertLessThan(Hooks.liveSubscriptionCount, before + 10)
    subscription.dispose()
  }

  func test_law30_aLoopThatHasEndedKeepsNoElements() async throws {
    let observer = Held<AnyObserver<Numbered>>()
    let released = Log<Int>()
    let source = Observable<Numbered>.create { new in
      observer.value = new
      return Disposables.create()
    }
    var iterator: ObservableValues<Numbered>.AsyncIterator? = source.values.makeAsyncIterator()
    let sending = Task {
      try await eventually("the condition holds") { observer.value != nil }
      for number in 1...3 { observer.value?.onNext(Numbered(number, released)) }
    }
    let number = try await iterator?.next()?.number
    XCTAssertEqual(number, 1)
    try await sending.value
    iterator = nil
    // The source still holds its observer.
    waitUntil("the buffered elements are released") { Set(released.all) == [1, 2, 3] }
    observer.value = nil
  }
}

/// An endless sequence of the results of a closure.
private struct Endless<Element: Sendable>: Sequence, IteratorProtocol, Sendable {
  let make: @Sendable () -> Element

  func next() -> Element? { make() }
}
