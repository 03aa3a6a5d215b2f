import Foundation
import Streams
import StreamsTesting
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

  func test_passesEndsThrough() { checkPassThrough { source, time in source.observeOn(time) } }

  func test_deliversOffTheCallersThread() throws {
    let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "observeOn")
    let onCaller = try Observable.just(ObjectIdentifier(Thread.current)).observeOn(scheduler)
      .map { $0 == ObjectIdentifier(Thread.current) }
      .toBlocking(timeout: .seconds(20)).single()
    XCTAssertFalse(onCaller)
  }

  func test_law20_whatIsQueuedBehindTheEndIsDropped() {
    let scheduler = ManualScheduler()
    let seen = Log<Int>()
    let events = Log<Event<Int>>()
    _ = Observable.of(1, 2, 3).observeOn(scheduler).do(onNext: { seen.add($0) }).take(1).subscribe { events.add($0) }
    scheduler.runDue()
    XCTAssertEqual(events.all, [.next(1), .completed])
    XCTAssertEqual(seen.all, [1])
  }
}
