import NetLayer
import TestSupport
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
    var hasNext: Bool { mutating get { base.hasNext } }
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

  // MARK: Against a model

  /// A queue that looks at everything each time.
  private struct Model {
    struct Host {
      var running = 0, since = 0
      var isMultiplexed = false
      var waiting: [(item: Item, number: Int, priority: Int)] = []
      var live: [(item: Item, number: Int, priority: Int)] { waiting.filter { !$0.item.hasEnded } }
    }

    let perHost: Int, total: Int, streams: Int, goesByAge: Bool
    var hosts: [Host]
    var numbers = 0, turns = 0

    var running: Int { hosts.reduce(0) { $0 + ($1.isMultiplexed ? min(1, $1.running) : $1.running) } }

    private func isFull(_ host: Host) -> Bool { host.running >= (host.isMultiplexed ? streams : perHost) }

    /// Notes which hosts have become ready, in the order of the changes.
    mutating func change(_ host: Int, _ body: (inout Host) -> Void) {
      let former = hosts[host]
      body(&hosts[host])
      let wasReady = !former.live.isEmpty && !isFull(former) && former.since > 0
      if hosts[host].live.isEmpty || isFull(hosts[host]) {
        hosts[host].since = 0
      } else if !wasReady || former.running < hosts[host].running {
        turns += 1
        hosts[host].since = turns
      }
    }

    /// The host and the item whose turn it is.
    var next: (host: Int, item: Item)? {
      var best: (key: (Int, Int), host: Int, item: Item)?
      for (index, host) in hosts.enumerated() where !host.live.isEmpty && !isFull(host) {
        guard running < total || host.isMultiplexed && host.running > 0 else { continue }
        let urgency = host.live.map(\.priority).max() ?? 0
        guard let first = host.live.first(where: { $0.priority == urgency }) else { continue }
        let key = (-urgency, goesByAge ? first.number : host.since)
        if best.map({ key < $0.key }) ?? true { best = (key, index, first.item) }
      }
      return best.map { ($0.host, $0.item) }
    }
  }

  func test_randomOrders_areThoseOfAQueueThatLooksAtEverything() {
    var generator = randomNumbers()
    for round in 0..<60 {
      let goesByAge = round.isMultiple(of: 2)
      let (perHost, total) = (Int.random(in: 1...3, using: &generator), Int.random(in: 1...6, using: &generator))
      var queue = HostQueue(perHost: perHost, total: total, streams: 4, goesByAge: goesByAge)
      var model = Model(
        perHost: perHost, total: total, streams: 4, goesByAge: goesByAge, hosts: .init(repeating: .init(), count: 5))
      let lanes = (0..<5).map { queue.lane(for: "\($0)") }
      for step in 0..<300 {
        let host = Int.random(in: 0..<5, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1:
          let priority = Request.Priority.allCases.randomElement(using: &generator) ?? .normal
          let item = Item(step)
          queue.wait(item, in: lanes[host], priority: priority)
          model.numbers += 1
          let number = model.numbers
          model.change(host) { $0.waiting.append((item, number, priority.rawValue)) }
        case 2 where model.hosts[host].running > 0:
          let multiplexes = host == 0
          queue.end(lanes[host], multiplexed: multiplexes)
          model.change(host) {
            $0.running -= 1
            if multiplexes { $0.isMultiplexed = true }
          }
        default:
          guard let ended = model.hosts[host].live.randomElement(using: &generator) else { continue }
          // The end of an item is noted immediately.
          model.change(host) { _ in ended.item.hasEnded = true }
          queue.endedWaiting(in: lanes[host], priority: Request.Priority(rawValue: ended.priority) ?? .normal)
          if model.hosts[host].live.isEmpty { model.hosts[host].since = 0 }
        }
        while Bool.random(using: &generator) || step.isMultiple(of: 7) {
          let expected = model.next
          XCTAssertEqual(queue.hasNext, expected != nil)
          let found = queue.next() as? Item
          guard found === expected?.item else {
            return XCTFail(
              "step \(step), by age \(goesByAge): \(found?.number ?? -1), not \(expected?.item.number ?? -1)")
          }
          guard let expected else { break }
          model.change(expected.host) {
            $0.running += 1
            $0.waiting.removeAll { $0.item === expected.item }
          }
        }
      }
    }
  }

  func test_multiplexedHostAtRest_waitsForTheTotal() {
    var queue = HostQueue(perHost: 2, total: 1)
    let (a, b) = (queue.lane(for: "a"), queue.lane(for: "b"))
    XCTAssertTrue(queue.admit(Item(0), in: a))
    queue.end(a, multiplexed: true)
    XCTAssertTrue(queue.admit(Item(1), in: a))
    let (first, second) = (Item(2), Item(3))
    queue.wait(first, in: b, priority: .normal)
    queue.wait(second, in: a, priority: .normal)
    queue.end(a)
    XCTAssert(queue.next() === first, "b has waited longer")
    XCTAssertNil(queue.next(), "a has no connection to share")
    queue.end(b)
    XCTAssert(queue.next() === second)
  }

  func test_lanesAtRestAreRemoved_andOthersStay() {
    var queue = HostQueue(perHost: 1, total: 10)
    let busy = queue.lane(for: "busy")
    XCTAssertTrue(queue.admit(Item(0), in: busy))
    for number in 0..<10_000 { _ = queue.lane(for: "\(number)") }
    XCTAssertLessThanOrEqual(queue.lanes.count, 1024)
    XCTAssert(queue.lane(for: "busy") === busy)
  }
}
