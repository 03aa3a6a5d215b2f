/// Decides which requests run and which wait, so that no host gets more connections than allowed: a pure state machine.
///
/// Waiting here and not inside libcurl keeps a waiting request small (no handle), keeps its connect limit from running
/// before it connects, lets the urgent go first, and keeps each turn of the loop proportional to what runs.
struct ConnectionQueue<Item> {
  /// The requests of one origin. A class, so that a request finds its lane once and not at every step.
  final class Lane {
    fileprivate var running = 0
    fileprivate var multiplexed = false
    fileprivate var isBlocked = false
    /// Whether the origin is known not to respond to `Expect: 100-continue`, or to refuse it.
    var ignoresExpectations = false
    /// One line for each priority, the lowest first.
    fileprivate var waiting = Request.Priority.allCases.map { _ in Line() }

    fileprivate var hasWaiting: Bool { waiting.contains { !$0.isEmpty } }
    /// How urgent its first is; -1 where none waits.
    fileprivate var urgency: Int { waiting.lastIndex { !$0.isEmpty } ?? -1 }
    /// How much of the total it takes: one for a host that shares a connection.
    fileprivate var weight: Int { multiplexed ? Swift.min(1, running) : running }

    fileprivate func takeFirst() -> Item? { waiting.lastIndex { !$0.isEmpty }.map { waiting[$0].takeFirst() } }
  }

  /// First come, first served.
  fileprivate struct Line {
    private(set) var items: [Item] = []
    private var next = 0
    /// How many have ended while they waited, at most.
    private var ended = 0

    var isEmpty: Bool { next == items.count }
    var rest: ArraySlice<Item> { items[next...] }

    mutating func append(_ item: Item) { items.append(item) }

    /// Drops those that have ended when they are the half, which costs each of them a step or two.
    mutating func noteEnd(_ hasEnded: (Item) -> Bool) {
      ended += 1
      guard ended >= 32, ended * 2 > items.count - next else { return }
      items = rest.filter { !hasEnded($0) }
      (next, ended) = (0, 0)
    }

    mutating func takeFirst() -> Item {
      let item = items[next]
      next += 1
      if next == items.count {
        items.removeAll(keepingCapacity: next <= 1024)
        next = 0
      } else if next >= 1024, next * 2 > items.count {
        items.removeFirst(next)
        next = 0
      }
      return item
    }
  }

  private let perHost: Int
  private let total: Int
  private let streams: Int
  private var lanes: [String: Lane] = [:]
  private var running = 0
  /// Lanes that would run more, were the total not reached; the most urgent first, then first come, first served.
  private var blocked: [Lane] = []

  /// At most `perHost` run at once for one host and `total` altogether; a host that multiplexes counts once in
  /// `total` and runs `streams` (RFC 9113 §6.5.2 recommends at least 100).
  init(perHost: Int, total: Int, streams: Int = 100) {
    self.perHost = Swift.max(1, perHost)
    self.total = Swift.max(1, total)
    self.streams = Swift.max(1, streams)
  }

  /// Whether nothing runs or waits.
  var isAtRest: Bool {
    running == 0 && blocked.isEmpty && lanes.values.allSatisfy { $0.running == 0 && !$0.hasWaiting }
  }

  /// The lane of the origin `key`.
  mutating func lane(for key: String) -> Lane {
    if let lane = lanes[key] { return lane }
    // A client of very many hosts must not grow without end; what it forgets is only which of them spoke HTTP/2.
    if lanes.count >= 1024 { lanes = lanes.filter { $0.value.running > 0 || $0.value.hasWaiting } }
    let lane = Lane()
    lanes[key] = lane
    return lane
  }

  /// `true` when `item` may run at once; else it waits and comes out of a later `finished`.
  mutating func admit(_ item: Item, in lane: Lane, priority: Request.Priority = .normal) -> Bool {
    if mayRun(lane) {
      start(lane)
      return true
    }
    lane.waiting[priority.rawValue].append(item)
    if !isFull(lane) { block(lane) }
    return false
  }

  /// Notes that one of `lane`'s has ended; gives what may run now. `multiplexed` when it came over HTTP/2.
  mutating func finished(_ lane: Lane, multiplexed: Bool = false) -> [Item] {
    let before = lane.weight
    lane.running -= 1
    if multiplexed { lane.multiplexed = true }
    running += lane.weight - before
    guard lane.hasWaiting || !blocked.isEmpty else { return [] }
    var admitted: [Item] = []
    // Where its own urgent ones wait, it goes by its urgency, too.
    if lane.hasWaiting, !isFull(lane) { block(lane) }
    // Those blocked by the total go first, or a busy host would starve the others.
    while running < total, !blocked.isEmpty {
      let most = blocked.lazy.map(\.urgency).max()
      let other = blocked.remove(at: blocked.firstIndex { $0.urgency == most } ?? 0)
      other.isBlocked = false
      drain(other, into: &admitted)
    }
    drain(lane, into: &admitted)
    return admitted
  }

  /// Notes that an item of `lane` has ended while it waited: a host that is busy for long must not gather them.
  mutating func endedWaiting(in lane: Lane, priority: Request.Priority = .normal, _ hasEnded: (Item) -> Bool) {
    lane.waiting[priority.rawValue].noteEnd(hasEnded)
  }

  /// Takes out every item that waits.
  mutating func removeAll() -> [Item] {
    var all: [Item] = []
    for lane in lanes.values {
      for line in lane.waiting.reversed() { all += line.rest }
      // Items may know their lane: a lane that kept them would never be freed.
      lane.waiting = Request.Priority.allCases.map { _ in Line() }
    }
    lanes = [:]
    blocked = []
    running = 0
    return all
  }

  private mutating func drain(_ lane: Lane, into admitted: inout [Item]) {
    while lane.hasWaiting {
      guard mayRun(lane) else {
        if !isFull(lane) { block(lane) }
        return
      }
      guard let first = lane.takeFirst() else { return }
      start(lane)
      admitted.append(first)
    }
  }

  private mutating func start(_ lane: Lane) {
    let before = lane.weight
    lane.running += 1
    running += lane.weight - before
  }

  private mutating func block(_ lane: Lane) {
    guard !lane.isBlocked else { return }
    lane.isBlocked = true
    blocked.append(lane)
  }

  private func isFull(_ lane: Lane) -> Bool { lane.running >= (lane.multiplexed ? streams : perHost) }

  private func mayRun(_ lane: Lane) -> Bool {
    !isFull(lane) && (running < total || (lane.multiplexed && lane.running > 0))
  }
}
