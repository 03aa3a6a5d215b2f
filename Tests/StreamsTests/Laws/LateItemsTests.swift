import Dispatch
import Foundation
import Streams
import StreamsTesting
import XCTest

/// Law 22, for every operator that schedules: items left behind, and items that run late.
final class LateItemsTests: StreamsTestCase {
  private typealias Operation = @Sendable (Observable<Int>, ManualScheduler) -> Observable<Int>

  private static let operations: [(name: String, apply: Operation)] = [
    ("buffer", { $0.buffer(timeSpan: .seconds(5), count: 9, scheduler: $1).map(\.count) }),
    ("debounce", { $0.debounce(.seconds(5), scheduler: $1) }),
    ("delay", { $0.delay(.seconds(5), scheduler: $1) }),
    ("delaySubscription", { $0.delaySubscription(.seconds(5), scheduler: $1) }),
    (
      "interval",
      { source, clock in
        .merge(
          source,
          Observable<Int>.interval(.seconds(5), scheduler: clock)
            .takeUntil(source.materialize().filter(\.isStopEvent)))
      }
    ),
    ("observeOn", { $0.observeOn($1) }),
    ("retry(policy)", { $0.retry(RetryPolicy(attempts: 3, scheduler: $1)) }),
    ("sample", { $0.sample(Observable<Int>.interval(.seconds(5), scheduler: $1)) }),
    ("skip(for:)", { $0.skip(for: .seconds(5), scheduler: $1) }),
    ("skipUntil", { $0.skipUntil(Observable<Int>.timer(.seconds(5), scheduler: $1)) }),
    ("subscribeOn", { $0.subscribeOn($1) }),
    ("take(for:)", { $0.take(for: .seconds(5), scheduler: $1) }),
    ("throttle", { $0.throttle(.seconds(5), scheduler: $1) }),
    ("throttle(latest: false)", { $0.throttle(.seconds(5), latest: false, scheduler: $1) }),
    ("timeout", { $0.timeout(.seconds(5), scheduler: $1) }),
    ("timeout(other:)", { $0.timeout(.seconds(5), other: .never(), scheduler: $1) }),
  ]

  func test_law22_disposedStreamsLeaveNoScheduledItem() {
    for (name, apply) in Self.operations {
      for elements in 0...2 {
        let clock = ManualScheduler()
        let source = ReplaySubject<Int>.createUnbounded()
        let subscription = apply(source.asObservable(), clock).subscribe(onError: { _ in })
        for element in 0..<elements { source.onNext(element) }
        subscription.dispose()
        XCTAssertEqual(clock.pending, 0, "of \(name) after \(elements) elements")
      }
    }
  }

  func test_law22_terminatedStreamsLeaveNoScheduledItem() {
    for (name, apply) in Self.operations {
      for ending in [Event<Int>.completed, .error(TestError())] {
        let clock = ManualScheduler()
        let source = ReplaySubject<Int>.createUnbounded()
        let ended = Log<Bool>()
        let subscription = apply(source.asObservable(), clock).subscribe(
          onError: { _ in }, onDisposed: { ended.add(true) })
        source.onNext(1)
        source.onNext(2)
        source.on(ending)
        for _ in 0..<60 where ended.count == 0 {
          clock.advance(.seconds(1))
          clock.runDue()
        }
        XCTAssertEqual(ended.count, 1, "\(name) after \(ending)")
        XCTAssertEqual(clock.pending, 0, "of \(name) after \(ending)")
        subscription.dispose()
      }
    }
  }

  func test_law22_disposedTimerOfADispatchQueueIsReleased() {
    let scheduler = SerialDispatchQueueScheduler(qos: .default)
    weak var timer: (any Disposable)?
    do {
      let item = scheduler.scheduleRelative(.seconds(3600)) {}
      timer = item
      item.dispose()
    }
    waitUntil("the timer is released") { timer == nil }
  }

  func test_law22_debounceIgnoresALateTimer() {
    let clock = ManualScheduler(ignoresDispose: true)
    let source = PublishSubject<Int>()
    let log = Log<Int>()
    let subscription = source.debounce(.seconds(5), scheduler: clock).subscribe(onNext: { log.add($0) })
    source.onNext(1)
    clock.advance(.seconds(3))
    source.onNext(2)
    clock.advance(.seconds(2))
    clock.runDue()
    XCTAssertEqual(log.all, [], "the timer of 1")
    clock.advance(.seconds(3))
    clock.runDue()
    XCTAssertEqual(log.all, [2])
    subscription.dispose()
  }

  func test_debounceAndTimeout_setOneTimerForManyElements() {
    let operations: [(String, Operation)] = [
      ("debounce", { $0.debounce(.seconds(5), scheduler: $1) }),
      ("timeout", { $0.timeout(.seconds(5), scheduler: $1) }),
    ]
    for (name, apply) in operations {
      let clock = ManualScheduler()
      let source = PublishSubject<Int>()
      let log = Log<String>()
      let subscription = apply(source.asObservable(), clock)
        .subscribe(onNext: { log.add("\($0)") }, onError: { _ in log.add("error") })
      for element in 0..<1000 {
        source.onNext(element)
        clock.advance(.milliseconds(4))
      }
      XCTAssertEqual(clock.waits, [.seconds(5)], name)
      clock.advance(.seconds(1))
      clock.runDue()
      XCTAssertEqual(clock.waits, [.seconds(5), .milliseconds(3996)], name)
      clock.advance(.milliseconds(3995))
      clock.runDue()
      XCTAssertEqual(log.all.last, name == "debounce" ? nil : "999", "\(name) is 1 ms early")
      clock.advance(.milliseconds(1))
      clock.runDue()
      XCTAssertEqual(log.all.last, name == "debounce" ? "999" : "error", name)
      XCTAssertEqual(clock.pending, 0, name)
      subscription.dispose()
    }
  }

  func test_law22_throttleIgnoresALateTimer() {
    let clock = ManualScheduler(ignoresDispose: true)
    let source = PublishSubject<Int>()
    let log = Log<Int>()
    let subscription = source.throttle(.seconds(5), scheduler: clock).subscribe(onNext: { log.add($0) })
    source.onNext(1)
    source.onNext(2)
    clock.advance(.seconds(5))
    source.onNext(3)
    source.onNext(4)
    clock.runDue()
    XCTAssertEqual(log.all, [1, 3], "the timer of 2")
    clock.advance(.seconds(5))
    clock.runDue()
    XCTAssertEqual(log.all, [1, 3, 4])
    subscription.dispose()
  }

  func test_law22_aTimerOfThrottleThatIsLateByPeriodsDoesNotShortenTheNext() {
    let clock = ManualScheduler()
    let source = PublishSubject<Int>()
    let log = Log<Int>()
    let subscription = source.throttle(.seconds(5), scheduler: clock).subscribe(onNext: { log.add($0) })
    source.onNext(1)
    source.onNext(2)
    // The period of 1 is over, but its timer has not run.
    clock.advance(.seconds(6))
    source.onNext(3)
    XCTAssertEqual(clock.pending, 0, "the timer of 2")
    source.onNext(4)
    clock.advance(.seconds(4))
    clock.runDue()
    XCTAssertEqual(log.all, [1, 3])
    clock.advance(.seconds(1))
    clock.runDue()
    XCTAssertEqual(log.all, [1, 3, 4])
    subscription.dispose()
  }

  func test_law22_theShiftsOfAnIntervalAccumulate() {
    let clock = ManualScheduler()
    let log = Log<Int>()
    let subscription = Observable<Int>.interval(.seconds(10), scheduler: clock).subscribe(onNext: { log.add($0) })
    // The machine sleeps twice; each time, the interval continues from the end of the sleep.
    for span in [10, 35, 10, 10, 47, 10, 10, 10] {
      clock.advance(.seconds(span))
      clock.runDue()
    }
    XCTAssertEqual(log.all, Array(0..<8))
    // A timer that is late by less than a period does not shift the ticks.
    clock.advance(.seconds(11))
    clock.runDue()
    XCTAssertEqual(clock.waits.suffix(2), [.seconds(10), .seconds(9)])
    subscription.dispose()
  }

  func test_law22_bufferIgnoresALateTimer() {
    let clock = ManualScheduler(ignoresDispose: true)
    let source = PublishSubject<Int>()
    let log = Log<[Int]>()
    let subscription = source.buffer(timeSpan: .seconds(5), count: 2, scheduler: clock).subscribe(
      onNext: { log.add($0) })
    clock.advance(.seconds(3))
    for element in 1...3 { source.onNext(element) }
    clock.advance(.seconds(2))
    clock.runDue()
    XCTAssertEqual(log.all, [[1, 2]])
    subscription.dispose()
    clock.advance(.seconds(5))
    clock.runDue()
  }

  func test_law22_timeoutStopsWatchingWhileAnElementIsHandled() {
    let clock = ManualScheduler()
    let events = Log<Event<Int>>()
    let subscription = Observable.of(1, 2, 3).timeout(.seconds(2), scheduler: clock).subscribe { event in
      events.add(event)
      clock.advance(.seconds(3))
      clock.runDue()
    }
    XCTAssertEqual(events.all, [.next(1), .next(2), .next(3), .completed])
    subscription.dispose()
  }
}
