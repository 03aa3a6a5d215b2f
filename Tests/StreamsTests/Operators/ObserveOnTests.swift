import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

final class ObserveOnTests: OperatorTestCase {
  func test_deliversOnTheScheduler() {
    let time = TestScheduler()
    let log = Log<Int>()
    let subscription = Observable.of(1, 2).observeOn(time).subscribe(onNext: { log.add($0) })
    XCTAssertEqual(log.all, [])
    time.start()
    XCTAssertEqual(log.all, [1, 2])
    subscription.dispose()
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, time in source.observeOn(time) } }

  func test_otherWorkOfTheSchedulerRunsBetweenTheElements() {
    let time = TestScheduler()
    let schedulers: [any SchedulerType] = [
      MainScheduler.instance, SerialDispatchQueueScheduler(qos: .default), time,
    ]
    for scheduler in schedulers {
      let source = PublishSubject<Int>()
      let seen = Log<Int>()
      let between = Log<Int>()
      let all = expectation(description: "\(scheduler)")
      // The scheduler is busy until all elements wait.
      let isReady = DispatchSemaphore(value: 0)
      if scheduler is SerialDispatchQueueScheduler { _ = scheduler.schedule { isReady.wait() } }
      let subscription = source.observeOn(scheduler).subscribe(
        onNext: { element in
          if element == 0 { _ = scheduler.schedule { between.add(seen.count) } }
          seen.add(element)
          // Slower than the producer, and more than 8 ms for 64 elements.
          usleep(200)
        }, onCompleted: { all.fulfill() })
      onThreads(1) { _ in
        for element in 0..<1000 { source.onNext(element) }
        source.onCompleted()
      }
      isReady.signal()
      time.start()
      wait(for: [all], timeout: 20)
      XCTAssertEqual(seen.all, Array(0..<1000))
      XCTAssertEqual(between.count, 1)
      // The time counts from the first 64 elements, and is read after the next ones.
      XCTAssertLessThanOrEqual(between.all.first ?? 1000, 128, "\(scheduler)")
      subscription.dispose()
    }
  }

  func test_elementsThatArriveDuringALongRunAreDelivered() {
    let time = TestScheduler()
    let source = PublishSubject<Int>()
    let seen = Log<Int>()
    let subscription = source.observeOn(time).subscribe(
      onNext: { element in
        if element == 10 { for element in 200..<260 { source.onNext(element) } }
        seen.add(element)
        // So slow that the run ends before the queue is empty.
        usleep(200)
      })
    for element in 0..<200 { source.onNext(element) }
    time.start()
    XCTAssertEqual(seen.all, Array(0..<260))
    subscription.dispose()
  }

  func test_anImmediateSchedulerDeliversEverythingInOneRun() {
    let source = PublishSubject<Int>()
    let seen = Log<Int>()
    let subscription = source.observeOn(ImmediateScheduler.instance).subscribe(
      onNext: { element in
        // Queued by the run that delivers this one.
        if element == 0 { for element in 1..<1000 { source.onNext(element) } }
        seen.add(element)
      })
    source.onNext(0)
    XCTAssertEqual(seen.all, Array(0..<1000))
    subscription.dispose()
  }

  func test_deliversOffTheCallersThread() throws {
    let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "observeOn")
    let onCaller = try Observable.just(ObjectIdentifier(Thread.current)).observeOn(scheduler)
      .map { $0 == ObjectIdentifier(Thread.current) }
      .toBlocking(timeout: .seconds(20)).single()
    XCTAssertFalse(onCaller)
  }

  func test_law20_elementsQueuedAfterTheTerminalEventAreDropped() {
    let scheduler = ManualScheduler()
    let seen = Log<Int>()
    let events = Log<Event<Int>>()
    _ = Observable.of(1, 2, 3).observeOn(scheduler).do(onNext: { seen.add($0) }).take(1).subscribe { events.add($0) }
    scheduler.runDue()
    XCTAssertEqual(events.all, [.next(1), .completed])
    XCTAssertEqual(seen.all, [1])
  }

  func test_law20_aBusyProducerLosesNoElementsAndItsErrorIsLast() {
    let count = 50_000
    for _ in 0..<4 {
      let scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
      let source = PublishSubject<Int>()
      let referee = Referee<Int>()
      let arrived = DispatchSemaphore(value: 0)
      let moved = source.observeOn(scheduler).observeOn(scheduler)
      _ = referee.watch(moved.do(onNext: { if $0 % 1000 == 0 { arrived.signal() } }))
      onThreads(1) { _ in
        for value in 0..<count {
          source.onNext(value)
          // Occasionally lets the run catch up, so that it ends and another is scheduled.
          if value % 1000 == 0 { arrived.wait() }
        }
        source.onError(TestError())
      }
      waitUntil("the error has arrived") { referee.ends.count == 1 }
      referee.check()
      XCTAssertEqual(referee.elements.all, Array(0..<count))
    }
  }

  func test_law20_queuedElementsAreReleasedOnDisposal() {
    for (sent, delivered) in [(3, 0), (3, 2), (1000, 0), (1000, 500)] {
      let scheduler = ManualScheduler()
      let tokens = Locked<[Weak]>([])
      let disposable = SerialDisposable()
      let seen = Log<Int>()
      let source = PublishSubject<Token>()
      disposable.disposable = source.observeOn(scheduler).subscribe(onNext: { _ in
        seen.add(1)
        if seen.count == delivered { disposable.dispose() }
      })
      for _ in 0..<sent {
        let token = Token()
        tokens.withLock { $0.append(Weak(token)) }
        source.onNext(token)
      }
      XCTAssertEqual(tokens.withLock { $0.filter { $0.token != nil }.count }, sent)
      if delivered == 0 { disposable.dispose() } else { scheduler.runDue() }
      XCTAssertEqual(seen.count, delivered)
      XCTAssertEqual(tokens.withLock { $0.filter { $0.token != nil }.count }, 0)
    }
  }

  private struct Weak: @unchecked Sendable {  // safe: weak references are read atomically
    weak var token: Token?

    init(_ token: Token) { self.token = token }
  }

  func test_law27_aLongQueueIsReleasedOnASmallStack() {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      // Created here, so that it is released here.
      let source = PublishSubject<Int>()
      let subscription = source.observeOn(ManualScheduler()).subscribe()
      for number in 0..<500_000 { source.onNext(number) }
      subscription.dispose()
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    XCTAssertEqual(done.wait(timeout: .now() + 60), .success)
  }

  func test_theMemoryOfDeliveredElementsIsFreed() throws {
    let scheduler = TestScheduler()
    let source = PublishSubject<(Int, Int, Int, Int)>()
    let subscription = source.observeOn(scheduler).subscribe()
    func deliver() {
      for number in 0..<20_000 { source.onNext((number, 0, 0, 0)) }
      scheduler.start()
    }
    deliver()
    let growth = residentGrowth { for _ in 0..<40 { deliver() } }
    subscription.dispose()
    guard let growth else { throw XCTSkip("the memory in use is unknown here") }
    XCTAssertLessThan(growth, 12 << 20, "of 26 MB")
  }
}
