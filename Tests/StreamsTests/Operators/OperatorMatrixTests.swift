import Streams
import StreamsTesting
import Synchronization
import XCTest

/// The rules for every operator: disposal before, during and after the stream, errors of the source, errors thrown
/// downstream, and reentrant elements.
final class OperatorMatrixTests: StreamsTestCase {
  private typealias Operation = @Sendable (Observable<String>, TestScheduler) -> Observable<String>

  private static let never = Observable<String>.never()

  private static let operations: [(name: String, apply: Operation)] = [
    ("amb", { source, _ in source.amb(never) }),
    (
      "buffer",
      { source, time in
        source.buffer(timeSpan: .seconds(2000), count: 1, scheduler: time).map { $0.joined() }
      }
    ),
    ("catchError", { source, _ in source.catchError { throw $0 } }),
    ("combineLatest", { source, _ in .combineLatest(source, never.startWith("x")) { first, _ in first } }),
    (
      "combineLatest of three",
      { source, _ in
        Observable.combineLatest(source, never.startWith("x"), never.startWith("y")).map { $0.0 }
      }
    ),
    ("combineLatest of many", { source, _ in Observable.combineLatest([source, never.startWith("x")]).map { $0[0] } }),
    ("compactMap", { source, _ in source.compactMap { $0 } }),
    ("concat", { source, _ in source.concat(never) }),
    ("concat of streams", { source, _ in Observable.of(source, never).concat() }),
    ("concatMap", { source, _ in source.concatMap { Observable.of($0) } }),
    ("debug", { source, _ in source.debug(print: { _ in }) }),
    ("debounce", { source, time in source.debounce(.zero, scheduler: time) }),
    ("delay", { source, time in source.delay(.zero, scheduler: time) }),
    ("distinctUntilChanged", { source, _ in source.distinctUntilChanged() }),
    ("do", { source, _ in source.do(onNext: { _ in }, onError: { _ in }, onDispose: {}) }),
    ("enumerated", { source, _ in source.enumerated().map(\.element) }),
    ("filter", { source, _ in source.filter { _ in true } }),
    ("flatMap", { source, _ in source.flatMap { Observable.of($0) } }),
    ("flatMap(just)", { source, _ in source.flatMap { Observable.just($0) } }),
    ("flatMapFirst", { source, _ in source.flatMapFirst { Observable.of($0) } }),
    ("flatMapLatest", { source, _ in source.flatMapLatest { Observable.of($0) } }),
    ("ifEmpty", { source, _ in source.ifEmpty(default: "x") }),
    ("map", { source, _ in source.map { $0 } }),
    ("mapError", { source, _ in source.mapError { $0 } }),
    (
      "materialize",
      { source, _ in
        source.materialize().flatMap { event -> Observable<String> in
          switch event {
          case .next(let element): .just(element)
          case .error(let error): .error(error)
          case .completed: .empty()
          }
        }
      }
    ),
    ("merge", { source, _ in .merge(source, never) }),
    ("merge(maxConcurrent:)", { source, _ in Observable.of(source, never).merge(maxConcurrent: 2) }),
    ("multicast.refCount", { source, _ in source.multicast(PublishSubject()).refCount() }),
    ("observeOn", { source, time in source.observeOn(time) }),
    ("pairwise", { source, _ in source.startWith("x").pairwise().map(\.1) }),
    ("publish.refCount", { source, _ in source.publish().refCount() }),
    ("replay.refCount", { source, _ in source.replay(1).refCount() }),
    ("retry", { source, _ in source.retry(1) }),
    ("retry(policy)", { source, time in source.retry(RetryPolicy(attempts: 1, scheduler: time)) }),
    ("retryWhen", { source, _ in source.retryWhen { $0.flatMap { Observable<Int>.error($0) } } }),
    ("sample", { source, _ in source.sample(source) }),
    ("scan", { source, _ in source.scan("") { $1 } }),
    ("scan(into:)", { source, _ in source.scan(into: "") { $0 = $1 } }),
    ("serialize", { source, _ in source.serialize() }),
    ("share", { source, _ in source.share() }),
    ("share(replay:)", { source, _ in source.share(replay: 1) }),
    ("skip", { source, _ in source.skip(0) }),
    ("skipUntil", { source, _ in source.skipUntil(Observable.just(1)) }),
    ("skipWhile", { source, _ in source.skipWhile { _ in false } }),
    ("startWith", { source, _ in source.startWith("x") }),
    ("subscribeOn", { source, _ in source.subscribeOn(ImmediateScheduler.instance) }),
    ("switchLatest", { source, _ in Observable.of(source).switchLatest() }),
    ("take", { source, _ in source.take(99) }),
    ("take(for:)", { source, time in source.take(for: .seconds(2000), scheduler: time) }),
    ("takeUntil", { source, _ in source.takeUntil(never) }),
    ("takeWhile", { source, _ in source.takeWhile { _ in true } }),
    ("throttle", { source, time in source.throttle(.zero, scheduler: time) }),
    ("timeout", { source, time in source.timeout(.seconds(2000), scheduler: time) }),
    ("withLatestFrom", { source, _ in source.withLatestFrom(never.startWith("x")) { first, _ in first } }),
    ("withUnretained", { source, _ in source.withUnretained(Hook.shared).map(\.1) }),
    ("zip", { source, _ in .zip(source, Observable.repeatElement("x").take(9).concat(never)) { first, _ in first } }),
    (
      "zip of three",
      { source, _ in
        let endless = Observable.repeatElement("x").take(9).concat(never)
        return Observable.zip(source, endless, endless).map { $0.0 }
      }
    ),
  ]

  private final class Hook: Sendable {
    static let shared = Hook()
  }

  func test_disposeDuringTheStreamDisposesTheSource() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let source = time.cold("-a------")
      _ = time.record(disposed: 3, apply(source.asObservable(), time))
      XCTAssertFalse(source.subscriptions.isEmpty, name)
      XCTAssertTrue(
        source.subscriptions.allSatisfy { $0 == TestSubscription(0, 3) }, "\(name): \(source.subscriptions)")
    }
  }

  func test_disposingImmediatelyLeavesNoSubscription() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let source = time.cold("-a--")
      let log = Log<String>()
      apply(source.asObservable(), time).subscribe(onNext: { log.add($0) }).dispose()
      time.advanceTo(100)
      XCTAssertTrue(source.subscriptions.allSatisfy { $0.unsubscribe == 0 }, "\(name): \(source.subscriptions)")
      XCTAssertFalse(log.all.contains("a"), name)
    }
  }

  func test_errorOfTheSourceFailsItImmediatelyAndOnce() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let source = time.cold("-a-#")
      let events = time.record(apply(source.asObservable(), time)).filter(\.value.isStopEvent)
      XCTAssertEqual(events, [.error(3)], name)
      XCTAssertTrue(
        source.subscriptions.allSatisfy { $0 == TestSubscription(0, 3) }, "\(name): \(source.subscriptions)")
    }
  }

  func test_elementsAreForwardedInOrder() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let events = time.record(apply(time.cold("-a-b-c|").asObservable(), time))
      XCTAssertEqual(events.compactMap(\.value.element).filter { $0 != "x" && $0 != "" }, ["a", "b", "c"], name)
    }
  }

  func test_sourceIsDisposedExactlyOnceAfterItsEndAndALateDisposeChangesNothing() {
    for (name, apply) in Self.operations where name != "sample" {
      let time = TestScheduler()
      let disposals = Atomic<Int>(0)
      let ends = Log<Event<String>>()
      let source = Observable<String>.create { observer in
        observer.onNext("a")
        observer.onError(TestError())
        return Disposables.create { disposals.add(1, ordering: .relaxed) }
      }
      let subscription = apply(source, time).subscribe { if $0.isStopEvent { ends.add($0) } }
      time.advanceTo(100)
      XCTAssertEqual(disposals.load(ordering: .relaxed), 1, name)
      subscription.dispose()
      subscription.dispose()
      XCTAssertEqual(disposals.load(ordering: .relaxed), 1, name)
      XCTAssertEqual(ends.all, [.error(TestError())], name)
    }
  }

  func test_law07_errorThrownDownstreamDisposesTheSourceWithoutTravelingUpstream() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let source = time.cold("-a-b-c------")
      let above = Log<String>()
      let watched = source.do(onError: { above.add("\($0)") })
      let events = time.record(
        apply(watched, time).map { element -> String in
          if element == "b" { throw TestError("below") }
          return element
        })
      XCTAssertEqual(events.last, .error(3, TestError("below")), name)
      XCTAssertTrue(source.subscriptions.allSatisfy { $0.unsubscribe == 3 }, "\(name): \(source.subscriptions)")
      XCTAssertEqual(above.all, [], name)
    }
  }

  func test_law03_elementsThatTriggerOthersNeitherOverlapNorDeadlock() {
    for (name, apply) in Self.operations {
      let time = TestScheduler()
      let subject = PublishSubject<String>()
      let log = Log<String>()
      let subscription = apply(subject.asObservable(), time).subscribe(onNext: { element in
        log.add("<\(element)")
        if element == "a" { subject.onNext("b") }
        log.add("\(element)>")
      })
      subject.onNext("a")
      time.advanceTo(100)
      let seen = log.all.filter { !$0.contains("x") }
      XCTAssertEqual(seen, ["<a", "a>", "<b", "b>"], name)
      subscription.dispose()
      XCTAssertFalse(subject.hasObservers, name)
      subject.onCompleted()
    }
  }
}
