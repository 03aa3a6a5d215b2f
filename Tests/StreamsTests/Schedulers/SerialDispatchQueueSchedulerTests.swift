import Dispatch
import Streams
import StreamsTesting
import XCTest

final class SerialDispatchQueueSchedulerTests: StreamsTestCase {
  func test_serialSchedulerStartsNothingWhileAnItemRunsOnAConcurrentQueue() {
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "serial")
    let log = Log<Int>()
    let entered = DispatchSemaphore(value: 0)
    let proceed = DispatchSemaphore(value: 0)
    _ = scheduler.schedule {
      entered.signal()
      proceed.wait()
    }
    entered.wait()
    for index in 0..<50 { _ = scheduler.schedule { log.add(index) } }
    // The concurrent queue starts items in order: once these have run, it has started all earlier ones.
    let markers = Log<Int>()
    for index in 0..<50 { queue.async { markers.add(index) } }
    waitUntil("the queue has run later items") { markers.count == 50 }
    XCTAssertEqual(log.all, [], "while the first item runs")
    proceed.signal()
    waitUntil("all have run") { log.count == 50 }
    XCTAssertEqual(log.all, Array(0..<50))
  }
}
