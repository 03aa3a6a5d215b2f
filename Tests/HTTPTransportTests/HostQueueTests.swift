import NetLayer
import XCTest

@testable import HTTPTransport

final class HostQueueTests: XCTestCase {
  private typealias Queue = HostQueue<String, Int>

  func testAHostRunsItsLimitAndQueuesTheRestInOrder() {
    var queue = Queue(perHost: 2, total: 10) { _ in false }
    let host = queue.lane(for: "a")
    XCTAssertEqual((1...5).map { queue.admit($0, in: host) }, [true, true, false, false, false])
    XCTAssertEqual(queue.finished(host), [3])
    XCTAssertEqual(queue.finished(host), [4])
    XCTAssertEqual(queue.finished(host), [5])
    XCTAssertEqual(queue.finished(host), [])
  }

  func testAnOriginHasOneLane() {
    var queue = Queue(perHost: 2, total: 10) { _ in false }
    XCTAssert(queue.lane(for: "a") === queue.lane(for: "a"))
    XCTAssert(queue.lane(for: "a") !== queue.lane(for: "b"))
  }

  func testTheTotalBlocksOtherHostsAndLetsThemGoFirst() {
    var queue = Queue(perHost: 2, total: 2) { _ in false }
    let a = queue.lane(for: "a")
    let b = queue.lane(for: "b")
    XCTAssertTrue(queue.admit(1, in: a))
    XCTAssertTrue(queue.admit(2, in: a))
    XCTAssertFalse(queue.admit(3, in: a))
    XCTAssertFalse(queue.admit(4, in: b))
    XCTAssertEqual(queue.finished(a), [4])
    XCTAssertEqual(queue.finished(a), [3])
    XCTAssertEqual(queue.finished(b), [])
    XCTAssertEqual(queue.finished(a), [])
    XCTAssertTrue(queue.admit(5, in: b))
  }

  func testThoseThatEndWhileTheyWaitAreNotKept() {
    final class Item {}
    let last = Item()
    var queue = HostQueue<String, Item>(perHost: 1, total: 10) { $0 !== last }
    let host = queue.lane(for: "a")
    XCTAssertTrue(queue.admit(Item(), in: host))
    var ended: [() -> Item?] = []
    for _ in 0..<1000 {
      let item = Item()
      XCTAssertFalse(queue.admit(item, in: host))
      ended.append { [weak item] in item }
      queue.endedWaiting(in: host)
    }
    XCTAssertLessThan(ended.filter { $0() != nil }.count, 64)
    XCTAssertFalse(queue.admit(last, in: host))
    var next: [Item] = []
    repeat { next = queue.finished(host) } while next.first !== last && !next.isEmpty
    XCTAssert(next.first === last)
  }

  func testAMultiplexedHostSharesOneConnection() {
    var queue = Queue(perHost: 2, total: 2, streams: 4) { _ in false }
    let a = queue.lane(for: "a")
    let b = queue.lane(for: "b")
    XCTAssertEqual((1...6).map { queue.admit($0, in: a) }, [true, true, false, false, false, false])
    XCTAssertEqual(queue.finished(a, multiplexed: true), [3, 4, 5])
    XCTAssertTrue(queue.admit(7, in: b))
    XCTAssertFalse(queue.admit(8, in: b))
    XCTAssertEqual(queue.finished(a, multiplexed: true), [6])
  }

  func testTheUrgentGoFirstAndFirstComeFirstServedAmongEquals() {
    var queue = Queue(perHost: 1, total: 10) { _ in false }
    let host = queue.lane(for: "a")
    XCTAssertTrue(queue.admit(0, in: host, priority: .low))
    for (item, priority) in [(1, Request.Priority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
      XCTAssertFalse(queue.admit(item, in: host, priority: priority))
    }
    XCTAssertEqual((0..<5).flatMap { _ in queue.finished(host) }, [3, 5, 2, 4, 1])
  }

  func testTheUrgentGoFirstAmongHostsThatTheTotalBlocks() {
    var queue = Queue(perHost: 2, total: 1) { _ in false }
    let lanes = ["a", "b", "c"].map { queue.lane(for: $0) }
    XCTAssertTrue(queue.admit(0, in: lanes[0]))
    XCTAssertFalse(queue.admit(1, in: lanes[1]))
    XCTAssertFalse(queue.admit(2, in: lanes[2], priority: .high))
    XCTAssertEqual(queue.finished(lanes[0]), [2])
    XCTAssertEqual(queue.finished(lanes[2]), [1])
  }

  func testTheUrgentOfTheSameHostGoBeforeOthersThatTheTotalBlocks() {
    var queue = Queue(perHost: 1, total: 1) { _ in false }
    let (a, b) = (queue.lane(for: "a"), queue.lane(for: "b"))
    XCTAssertTrue(queue.admit(0, in: a))
    XCTAssertFalse(queue.admit(1, in: b))
    XCTAssertFalse(queue.admit(2, in: a, priority: .high))
    XCTAssertFalse(queue.admit(3, in: a))
    XCTAssertEqual(queue.finished(a), [2])
    XCTAssertEqual(queue.finished(a), [1])
    XCTAssertEqual(queue.finished(b), [3])
  }

  func testRemoveAllForgetsWhatWaits() {
    var queue = Queue(perHost: 1, total: 1) { _ in false }
    let host = queue.lane(for: "a")
    for item in 1...3 { _ = queue.admit(item, in: host) }
    queue.removeAll()
    XCTAssertTrue(queue.isAtRest)
    XCTAssertFalse(queue.hasNext)
    XCTAssertTrue(queue.admit(4, in: queue.lane(for: "a")))
  }

  func testThousandsWaitWithoutTrouble() {
    var queue = Queue(perHost: 6, total: 64) { _ in false }
    let host = queue.lane(for: "a")
    var running = (0..<10_000).filter { queue.admit($0, in: host) }
    var finished = 0
    while !running.isEmpty {
      let admitted = queue.finished(host)
      running.removeFirst()
      running += admitted
      finished += 1
      XCTAssertLessThanOrEqual(running.count, 6)
    }
    XCTAssertEqual(finished, 10_000)
  }
}
