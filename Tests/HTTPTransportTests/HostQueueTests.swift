import NetLayer
import XCTest

@testable import HTTPTransport

final class HostQueueTests: XCTestCase {
  private final class Item: HostQueue.Item {
    let number: Int
    var hasEnded = false

    init(_ number: Int) { self.number = number }
  }

  /// A `HostQueue` whose items are numbers.
  private struct Queue {
    private var base: HostQueue

    init(perHost: Int, total: Int, streams: Int = 100) {
      base = HostQueue(perHost: perHost, total: total, streams: streams)
    }

    var isAtRest: Bool { base.isAtRest }
    var hasNext: Bool { base.hasNext }
    mutating func lane(for host: String) -> HostQueue.Lane { base.lane(for: host) }
    mutating func removeAll() { base.removeAll() }
    mutating func admit(_ number: Int, in lane: HostQueue.Lane, priority: Request.Priority = .normal) -> Bool {
      base.admit(Item(number), in: lane, priority: priority)
    }
    mutating func finished(_ lane: HostQueue.Lane, multiplexed: Bool = false) -> [Int] {
      base.finished(lane, multiplexed: multiplexed).compactMap { ($0 as? Item)?.number }
    }
  }

  func test_aHostRunsUpToItsLimitAndQueuesTheRestInOrder() {
    var queue = Queue(perHost: 2, total: 10)
    let host = queue.lane(for: "a")
    XCTAssertEqual((1...5).map { queue.admit($0, in: host) }, [true, true, false, false, false])
    XCTAssertEqual(queue.finished(host), [3])
    XCTAssertEqual(queue.finished(host), [4])
    XCTAssertEqual(queue.finished(host), [5])
    XCTAssertEqual(queue.finished(host), [])
  }

  func test_anOriginHasOneLane() {
    var queue = Queue(perHost: 2, total: 10)
    XCTAssert(queue.lane(for: "a") === queue.lane(for: "a"))
    XCTAssert(queue.lane(for: "a") !== queue.lane(for: "b"))
  }

  func test_hostsBlockedByTheTotalLimitRunFirst() {
    var queue = Queue(perHost: 2, total: 2)
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

  func test_queuedItemsThatEndAreReleased() {
    var queue = HostQueue(perHost: 1, total: 10)
    let host = queue.lane(for: "a")
    XCTAssertTrue(queue.admit(Item(0), in: host))
    var ended: [() -> Item?] = []
    for number in 1...1000 {
      let item = Item(number)
      XCTAssertFalse(queue.admit(item, in: host))
      ended.append { [weak item] in item }
      item.hasEnded = true
      queue.endedWaiting(in: host)
    }
    XCTAssertLessThan(ended.filter { $0() != nil }.count, 64)
    let last = Item(1001)
    XCTAssertFalse(queue.admit(last, in: host))
    XCTAssert(queue.finished(host).first === last)
  }

  func test_aMultiplexedHostSharesOneConnection() {
    var queue = Queue(perHost: 2, total: 2, streams: 4)
    let a = queue.lane(for: "a")
    let b = queue.lane(for: "b")
    XCTAssertEqual((1...6).map { queue.admit($0, in: a) }, [true, true, false, false, false, false])
    XCTAssertEqual(queue.finished(a, multiplexed: true), [3, 4, 5])
    XCTAssertTrue(queue.admit(7, in: b))
    XCTAssertFalse(queue.admit(8, in: b))
    XCTAssertEqual(queue.finished(a, multiplexed: true), [6])
  }

  func test_highPriorityRunsFirst_andEqualPrioritiesRunInOrder() {
    var queue = Queue(perHost: 1, total: 10)
    let host = queue.lane(for: "a")
    XCTAssertTrue(queue.admit(0, in: host, priority: .low))
    for (item, priority) in [(1, Request.Priority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
      XCTAssertFalse(queue.admit(item, in: host, priority: priority))
    }
    XCTAssertEqual((0..<5).flatMap { _ in queue.finished(host) }, [3, 5, 2, 4, 1])
  }

  func test_highPriorityRunsFirst_amongHostsBlockedByTheTotalLimit() {
    var queue = Queue(perHost: 2, total: 1)
    let lanes = ["a", "b", "c"].map { queue.lane(for: $0) }
    XCTAssertTrue(queue.admit(0, in: lanes[0]))
    XCTAssertFalse(queue.admit(1, in: lanes[1]))
    XCTAssertFalse(queue.admit(2, in: lanes[2], priority: .high))
    XCTAssertEqual(queue.finished(lanes[0]), [2])
    XCTAssertEqual(queue.finished(lanes[2]), [1])
  }

  func test_highPriorityOfTheSameHostRunsBeforeHostsBlockedByTheTotalLimit() {
    var queue = Queue(perHost: 1, total: 1)
    let (a, b) = (queue.lane(for: "a"), queue.lane(for: "b"))
    XCTAssertTrue(queue.admit(0, in: a))
    XCTAssertFalse(queue.admit(1, in: b))
    XCTAssertFalse(queue.admit(2, in: a, priority: .high))
    XCTAssertFalse(queue.admit(3, in: a))
    XCTAssertEqual(queue.finished(a), [2])
    XCTAssertEqual(queue.finished(a), [1])
    XCTAssertEqual(queue.finished(b), [3])
  }

  func test_removeAllRemovesQueuedItems() {
    var queue = Queue(perHost: 1, total: 1)
    let host = queue.lane(for: "a")
    for item in 1...3 { _ = queue.admit(item, in: host) }
    queue.removeAll()
    XCTAssertTrue(queue.isAtRest)
    XCTAssertFalse(queue.hasNext)
    XCTAssertTrue(queue.admit(4, in: queue.lane(for: "a")))
  }

  func test_tenThousandItemsAreQueued() {
    var queue = Queue(perHost: 6, total: 64)
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
