import Dispatch
import Foundation
import Streams
import StreamsTesting
import Synchronization
import XCTest

/// Laws 20 to 23: time and threads.
final class TimeLawsTests: StreamsTestCase {
  func test_law20_observeOnKeepsOrderOnAConcurrentScheduler() throws {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    for _ in 0..<100 {
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable.range(start: 0, count: 500).concat(Observable.error(TestError())).observeOn(scheduler))
      waitUntil("it has ended") { referee.ends.count == 1 }
      referee.check()
      XCTAssertEqual(referee.elements.all, Array(0..<500), "the error overtakes nothing")
      subscription.dispose()
    }
  }

  func test_law20_observeOnDropsQueuedElementsAfterDispose() {
    let time = TestScheduler()
    let log = Log<Int>()
    let subscription = Observable.of(1, 2, 3).observeOn(time).subscribe(onNext: { log.add($0) })
    subscription.dispose()
    time.start()
    XCTAssertEqual(log.all, [])
    let stopped = SerialDisposable()
    stopped.disposable = Observable.of(1, 2, 3).observeOn(time).subscribe(onNext: { value in
      log.add(value)
      if value == 2 { stopped.dispose() }
    })
    time.start()
    XCTAssertEqual(log.all, [1, 2])
  }

  func test_law21_mainSchedulerRunsInlineOnlyOnTheEmptyMainQueue() {
    let log = Log<String>()
    let done = expectation(description: "the queued item has run")
    // XCTest runs this on the main thread, which is that of the main queue.
    _ = MainScheduler.instance.schedule { log.add("inline") }
    log.add("after")
    XCTAssertEqual(log.all, ["inline", "after"])
    let queued = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      _ = MainScheduler.instance.schedule { log.add("queued") }
      queued.signal()
    }
    queued.wait()
    _ = MainScheduler.instance.schedule {
      log.add("behind it")
      done.fulfill()
    }
    log.add("not inline")
    wait(for: [done], timeout: 20)
    XCTAssertEqual(log.all, ["inline", "after", "not inline", "queued", "behind it"])
  }

  func test_law21_mainIsTheQueueNotTheThread() async {
    let log = Log<String>()
    let delivered = expectation(description: "delivered")
    let subscription = Observable.just(1).observeOn(MainScheduler.instance).subscribe(onNext: { _ in
      dispatchPrecondition(condition: .onQueue(.main))
      log.add("main")
      delivered.fulfill()
    })
    await fulfillment(of: [delivered], timeout: 20)
    XCTAssertEqual(log.all, ["main"])
    subscription.dispose()
  }

  func test_law22_lateTimerIsIgnoredAndDisposedOnTheTerminalEvent() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(time.cold("a--b--c|").timeout(.seconds(4), scheduler: time)), Marbles.parse("a--b--c|"))
    XCTAssertEqual(time.clock, TestScheduler.disposed, "no timer is left that would move the clock")
    let late = TestScheduler()
    let source = late.cold("a---b-------c|")
    XCTAssertEqual(
      late.record(source.timeout(.seconds(5), scheduler: late)),
      [.next(0, "a"), .next(4, "b"), .error(9, StreamError.timeout)])
    XCTAssertEqual(source.subscriptions, [TestSubscription(0, 9)])
  }

  func test_law22_timerAndIntervalCountOnTheGivenScheduler() {
    let time = TestScheduler()
    XCTAssertEqual(
      time.record(Observable<Int>.timer(.seconds(3), scheduler: time)), [.next(3, 0), .completed(3)])
    let ticking = TestScheduler()
    XCTAssertEqual(
      ticking.record(disposed: 8, Observable<Int>.timer(.seconds(1), period: .seconds(3), scheduler: ticking)),
      [.next(1, 0), .next(4, 1), .next(7, 2)])
    let interval = TestScheduler()
    XCTAssertEqual(
      interval.record(Observable<Int>.interval(.seconds(2), scheduler: interval).take(2)),
      [.next(2, 0), .next(4, 1), .completed(4)])
  }

  func test_law23_fromEmitsInAPlainLoop() {
    let loop = Log<String>()
    _ = Observable.of(1, 2).subscribe(onNext: { loop.add("\($0)") })
    loop.add("returned")
    XCTAssertEqual(loop.all, ["1", "2", "returned"])
  }
}
