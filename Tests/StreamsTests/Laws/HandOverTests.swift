import Foundation
import Races
import StreamsTesting
import Synchronization
import XCTest

@testable import Streams

/// The places at which one thread hands work over to another: two threads meet there again and again, and no work may be
/// lost, doubled or run at the same time. The mutants of these places lose work about once in a thousand rounds, so
/// `.ci/full` and `Tests/Mutation/run` triple the rounds (`NETLAYER_ROUNDS`).
final class HandOverTests: StreamsTestCase {
  /// The events of one subscription, and whether two of them overlapped.
  private final class Counter: Sendable {
    let elements = Atomic<Int>(0)
    let ends = Atomic<Int>(0)
    private let inside = Atomic<Int>(0)
    private let overlaps = Atomic<Int>(0)

    var isSerial: Bool { overlaps.load(ordering: .relaxed) == 0 }
    var count: Int { elements.load(ordering: .sequentiallyConsistent) }
    var endCount: Int { ends.load(ordering: .sequentiallyConsistent) }

    func watch<Element>(_ source: Observable<Element>) -> any Disposable {
      source.subscribe { [self] event in
        if inside.add(1, ordering: .sequentiallyConsistent).oldValue != 0 { overlaps.add(1, ordering: .relaxed) }
        if case .next = event {
          elements.add(1, ordering: .sequentiallyConsistent)
        } else {
          ends.add(1, ordering: .sequentiallyConsistent)
        }
        inside.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
  }

  /// The objects of one round.
  private final class Round<Value: Sendable>: Sendable {
    let held = Held<(value: Value, counter: Counter, subscription: any Disposable)>()

    var value: Value? { held.value?.value }
    var counter: Counter? { held.value?.counter }

    func begin<Element>(_ value: Value, _ source: Observable<Element>) {
      let counter = Counter()
      held.value?.subscription.dispose()
      held.value = (value, counter, counter.watch(source))
    }

    func end() { held.value?.subscription.dispose() }
  }

  func test_law02_drain() {
    let round = Round<AnyObserver<Int>>()
    let failures = failures(
      inRounds: 5000,
      prepare: {
        let observer = Held<AnyObserver<Int>>()
        let counter = Counter()
        round.held.value?.subscription.dispose()
        let subscription = counter.watch(
          Observable<Int>.create { new in
            observer.value = new
            return Disposables.create()
          })
        round.held.value = observer.value.map { ($0, counter, subscription) }
      },
      { for number in 0..<3 { round.value?.onNext(number) } },
      { for number in 0..<3 { round.value?.onNext(number) } },
      check: { round.counter?.count == 6 && round.counter?.isSerial == true })
    XCTAssertEqual(failures, 0)
    round.end()
  }

  func test_law27_trampoline() {
    /// A trampoline, and the steps that it has run.
    final class Steps: Sendable {
      let trampoline = Trampoline()
      let count = Atomic<Int>(0)

      func bounce() { trampoline.bounce { count.add(1, ordering: .relaxed) } }
    }
    let steps = Held<Steps>()
    let failures = failures(
      inRounds: 1500, prepare: { steps.value = Steps() },
      { steps.value.map { steps in for _ in 0..<200 { steps.bounce() } } },
      { steps.value.map { steps in for _ in 0..<200 { steps.bounce() } } },
      check: { steps.value?.count.load(ordering: .relaxed) == 400 })
    XCTAssertEqual(failures, 0)
  }

  func test_law02_subjectWithTwoSenders() {
    for makeSubject in [
      { PublishSubject<Int>() }, { BehaviorSubject(value: 0) }, { ReplaySubject<Int>.create(bufferSize: 2) },
    ] as [@Sendable () -> any SubjectType<Int>] {
      let before = makeSubject() is BehaviorSubject<Int> ? 1 : 0
      let round = Round<any SubjectType<Int>>()
      let failures = failures(
        inRounds: 3500,
        prepare: {
          let subject = makeSubject()
          round.begin(subject, subject.asObservable())
        },
        { for number in 0..<3 { round.value?.onNext(number) } },
        { for number in 0..<3 { round.value?.onNext(number) } },
        check: { round.counter?.count == before + 6 && round.counter?.isSerial == true })
      XCTAssertEqual(failures, 0)
      round.end()
    }
  }

  func test_law25_subjectWithASenderAndAnObserverThatArrives() {
    for makeSubject in [
      { PublishSubject<Int>() }, { BehaviorSubject(value: 0) }, { ReplaySubject<Int>.create(bufferSize: 1) },
    ] as [@Sendable () -> any SubjectType<Int>] {
      let subject = Held<any SubjectType<Int>>()
      let early = Locked<[Int]>([])
      let late = Locked<[Int]>([])
      let subscriptions = (SerialDisposable(), SerialDisposable())
      let failures = failures(
        inRounds: 3500,
        prepare: {
          let new = makeSubject()
          early.withLock { $0.removeAll(keepingCapacity: true) }
          late.withLock { $0.removeAll(keepingCapacity: true) }
          subscriptions.0.disposable = new.asObservable().subscribe(onNext: { number in
            early.withLock { $0.append(number) }
          })
          subject.value = new
        },
        { for number in 1...3 { subject.value?.onNext(number) } },
        {
          guard let subject = subject.value else { return }
          subscriptions.1.disposable = subject.asObservable().subscribe(onNext: { number in
            late.withLock { $0.append(number) }
          })
          subject.onNext(9)
        },
        check: {
          // The late observer misses only what was sent before it arrived.
          let (all, seen) = (early.withLock { $0 }, late.withLock { $0 })
          return all.filter { $0 > 0 }.count == 4 && seen.contains(9) && Array(all.suffix(seen.count)) == seen
        })
      XCTAssertEqual(failures, 0)
      subscriptions.0.dispose()
      subscriptions.1.dispose()
    }
  }

  func test_law25_subjectWithASenderAndAnObserverThatLeaves() {
    let round = Round<PublishSubject<Int>>()
    let leaving = SerialDisposable()
    let failures = failures(
      inRounds: 5000,
      prepare: {
        let subject = PublishSubject<Int>()
        leaving.disposable = subject.subscribe()
        round.begin(subject, subject.asObservable())
      },
      { for number in 0..<3 { round.value?.onNext(number) } },
      {
        leaving.disposable = Disposables.create()
        round.value?.onNext(9)
      },
      check: { round.counter?.count == 4 && round.counter?.isSerial == true })
    XCTAssertEqual(failures, 0)
    round.end()
  }

  func test_law13_mergeWithAStreamThatArrivesWhileAnotherEnds() {
    typealias Subjects = (outer: PublishSubject<Observable<Int>>, inner: PublishSubject<Int>)
    for limit in [1, 2, 3] {
      let round = Round<Subjects>()
      let failures = failures(
        inRounds: 3500,
        prepare: {
          let (outer, inner) = (PublishSubject<Observable<Int>>(), PublishSubject<Int>())
          round.begin((outer, inner), outer.merge(maxConcurrent: limit == 3 ? .max : limit))
          outer.onNext(inner.asObservable())
        },
        {
          for number in 0..<2 { round.value?.outer.onNext(.of(number, number)) }
          round.value?.outer.onCompleted()
        },
        {
          round.value?.inner.onNext(9)
          round.value?.inner.onCompleted()
        },
        check: {
          round.counter?.count == 5 && round.counter?.endCount == 1 && round.counter?.isSerial == true
        })
      XCTAssertEqual(failures, 0, "limit \(limit)")
      round.end()
    }
  }

  /// A source that pauses when the loop has not requested an element, and continues on its own queue.
  private final class Producer: Sendable {
    private let queue = DispatchQueue(label: "producer")
    private let sent = Atomic<Int>(0)

    func elements(_ count: Int) -> Observable<Int> {
      Observable(push: { [self] subscription, next in run(count, subscription, next) })
    }

    private func run(_ count: Int, _ subscription: Subscription, _ next: @escaping Observable<Int>.Next) {
      queue.async { [self] in
        while subscription.takesMore(orCall: { [self] in run(count, subscription, next) }) {
          let number = sent.add(1, ordering: .relaxed).newValue
          subscription.deliver(number, to: next)
          if number == count { return subscription.complete() }
        }
      }
    }
  }

  func test_law30_loopOverAPausingSource() async throws {
    let count = 30_000 * roundFactor
    let last = try await withTimeLimit(.seconds(20)) {
      var last = 0
      for try await number in Producer().elements(count).values {
        guard number == last + 1 else { return last }
        last = number
      }
      return last
    }
    XCTAssertEqual(last, count)
  }
}
