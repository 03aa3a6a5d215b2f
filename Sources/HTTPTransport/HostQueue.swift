import Streams

/// A queue that limits the requests running concurrently, per host and in total: a pure state machine. It is not
/// generic, because another module also uses it, and would run a generic version unspecialized.
///
/// The request with the highest priority runs first. Among equal priorities, the host that has waited longest for the
/// total limit goes first, so that a busy host does not starve the others. If `goesByAge` is set, the oldest request
/// goes first instead.
package struct HostQueue {
  /// A running or waiting request.
  package protocol Item: AnyObject {
    var hasEnded: Bool { get }
  }

  /// The requests of one host. A class, so that a request looks up its lane only once.
  // Used by one thread, or under one lock, so no run-time exclusivity checks are needed.
  package final class Lane {
    /// The number of the lane, unique and counted from 1.
    let number: UInt32
    fileprivate(set) var running = 0
    fileprivate var multiplexed = false
    fileprivate var turn: Turn?
    /// The number of its readiness, which grows with time.
    fileprivate var since = 0
    /// Whether its turn is one of those beyond the total.
    fileprivate var isShared = false
    /// Whether the origin is known to ignore or reject `Expect: 100-continue`.
    var ignoresExpectations = false
    /// The time in nanoseconds after which a request that must not be repeated does not use an idle connection, because
    /// the server may be closing it. Common servers close it after 2 s (gunicorn) or more.
    private(set) var longestIdle: Int64 = 1_000_000_000

    func note(keepAlive seconds: Int) {
      longestIdle = Swift.max(1, Swift.min(1_000_000_000, Int64(Swift.min(seconds, 100) - 1) * 1_000_000_000))
    }

    /// One line for each priority, the lowest first.
    fileprivate var waiting = Request.Priority.allCases.map { _ in Line() }

    /// The priority of the host's most urgent waiting request; -1 if none waits.
    var urgency: Int { waiting.lastIndex { !$0.isEmpty } ?? -1 }
    var hasWaiting: Bool { urgency >= 0 }
    var waitingCount: Int { waiting.reduce(0) { $0 + $1.count } }
    var isAtRest: Bool { running == 0 && !hasWaiting }
    /// The host's share of the total; 1 if its requests share a connection.
    var weight: Int { multiplexed ? Swift.min(1, running) : running }

    fileprivate init(_ number: UInt32) { self.number = number }
  }

  fileprivate struct Turn: Equatable {
    let urgency: Int
    let number: Int
  }

  /// A lane and its turn, which no longer counts when the lane has another one.
  private struct Entry: Comparable {
    let turn: Turn
    let lane: Lane

    var isCurrent: Bool { lane.turn == turn }

    static func < (a: Entry, b: Entry) -> Bool { (b.turn.urgency, a.turn.number) < (a.turn.urgency, b.turn.number) }
    static func == (a: Entry, b: Entry) -> Bool { a.turn == b.turn && a.lane === b.lane }
  }

  fileprivate struct Line {
    private var items: [(item: (any Item)?, number: Int)] = []
    private var next = 0
    /// The maximum number of items that ended while they waited.
    private var ended = 0

    var isEmpty: Bool { next == items.count }
    /// The number of items that have not ended. Takes linear time.
    var count: Int { items[next...].count { $0.item?.hasEnded == false } }
    var number: Int { items[next].number }

    mutating func append(_ item: any Item, _ number: Int) { items.append((item, number)) }

    /// Removes ended items from the front. Removes all ended items when they make up half of the line, so that the
    /// amortized cost per item is constant.
    mutating func noteEnd() {
      ended += 1
      if ended >= 32, ended * 2 > items.count - next {
        items = items[next...].filter { $0.item?.hasEnded == false }
        (next, ended) = (0, 0)
      }
      dropEnded()
    }

    mutating func takeFirst() -> (any Item)? {
      let item = items[next].item.take()
      next += 1
      dropEnded()
      return item
    }

    private mutating func dropEnded() {
      while next < items.count, items[next].item?.hasEnded ?? true {
        items[next].item = nil
        next += 1
      }
      if next == items.count {
        items.removeAll(keepingCapacity: next <= 1024)
        next = 0
      } else if next >= 1024, next * 2 > items.count {
        items.removeFirst(next)
        next = 0
      }
    }
  }

  private let perHost: Int
  private let total: Int
  private let streams: Int
  private let goesByAge: Bool
  private(set) var lanes: [String: Lane] = [:]
  private var running = 0
  private var lastNumber = 0
  private var lastLane: UInt32 = 0
  private var lastTurn = 0
  /// The number of lanes at which those at rest are removed.
  private var bound = 1024
  /// The turns of the lanes that could run more requests if `total` allowed it.
  private var turns = Heap<Entry>()
  /// The turns of those that share a connection, and may run more requests beyond `total`.
  private var shared = Heap<Entry>()

  /// Creates a queue that runs at most `perHost` requests for each host and `total` requests altogether. A host that
  /// multiplexes runs up to `streams` requests and counts once in `total` (RFC 9113 §6.5.2 recommends at least 100).
  package init(perHost: Int, total: Int, streams: Int = 100, goesByAge: Bool = false) {
    self.perHost = Swift.max(1, perHost)
    self.total = Swift.max(1, total)
    self.streams = Swift.max(1, streams)
    self.goesByAge = goesByAge
  }

  /// Whether no request runs or waits.
  var isAtRest: Bool { running == 0 && lanes.values.allSatisfy(\.isAtRest) }

  package mutating func lane(for host: String) -> Lane {
    if let lane = lanes[host] { return lane }
    // Bounds the memory of a client with very many hosts. Only the record of HTTP/2 support is lost.
    if lanes.count >= bound {
      lanes = lanes.filter { !$0.value.isAtRest }
      bound = Swift.max(1024, 2 * lanes.count)
    }
    lastLane &+= 1
    let lane = Lane(lastLane)
    lanes[host] = lane
    return lane
  }

  /// Returns `true` if `item` may run immediately. Otherwise it waits, and a later call of `finished` returns it.
  mutating func admit(_ item: any Item, in lane: Lane, priority: Request.Priority = .normal) -> Bool {
    if mayRun(lane) {
      start(lane)
      return true
    }
    wait(item, in: lane, priority: priority)
    return false
  }

  /// Adds `item` to the waiting requests; `next` returns it later.
  package mutating func wait(_ item: any Item, in lane: Lane, priority: Request.Priority) {
    lastNumber += 1
    lane.waiting[priority.rawValue].append(item, lastNumber)
    update(lane)
  }

  /// Whether a waiting request may run.
  package var hasNext: Bool { mutating get { nextLane() != nil } }

  package mutating func next() -> (any Item)? {
    guard let lane = nextLane() else { return nil }
    lane.turn = nil
    start(lane)
    defer { update(lane) }
    return lane.waiting[lane.urgency].takeFirst()
  }

  /// Records that a request of `lane` has ended; `multiplexed` is `true` if it used HTTP/2.
  package mutating func end(_ lane: Lane, multiplexed: Bool = false) {
    let before = lane.weight
    lane.running -= 1
    if multiplexed { lane.multiplexed = true }
    running += lane.weight - before
    update(lane)
  }

  /// Records that a request of `lane` has ended, and returns the requests that may run now.
  mutating func finished(_ lane: Lane, multiplexed: Bool = false) -> [any Item] {
    end(lane, multiplexed: multiplexed)
    var admitted: [any Item] = []
    while let item = next() { admitted.append(item) }
    return admitted
  }

  /// Records that an item of `lane` has ended while it waited, so that ended items do not accumulate in a busy lane.
  package mutating func endedWaiting(in lane: Lane, priority: Request.Priority = .normal) {
    lane.waiting[priority.rawValue].noteEnd()
    update(lane)
  }

  mutating func removeAll() {
    // Items may refer to their lane. Emptying the lanes breaks the reference cycle.
    for lane in lanes.values { lane.waiting = Request.Priority.allCases.map { _ in Line() } }
    (turns, shared) = (Heap(), Heap())
    (lanes, running) = ([:], 0)
  }

  /// Returns the lane whose turn it is; `nil` if no lane may run a request.
  private mutating func nextLane() -> Lane? {
    guard running >= total else {
      while let entry = turns.first {
        if entry.isCurrent { return entry.lane }
        turns.removeFirst()
      }
      return nil
    }
    while let entry = shared.first {
      if entry.isCurrent, entry.lane.running > 0 { return entry.lane }
      if entry.isCurrent { entry.lane.isShared = false }
      shared.removeFirst()
    }
    return nil
  }

  private mutating func start(_ lane: Lane) {
    let before = lane.weight
    lane.running += 1
    running += lane.weight - before
  }

  /// Records whether only the total prevents `lane` from running more requests, and its turn.
  private mutating func update(_ lane: Lane) {
    guard lane.hasWaiting, !isFull(lane) else {
      lane.turn = nil
      return
    }
    if lane.turn == nil {
      lastTurn += 1
      lane.since = lastTurn
    }
    let urgency = lane.urgency
    let turn = Turn(urgency: urgency, number: goesByAge ? lane.waiting[urgency].number : lane.since)
    if lane.turn != turn {
      (lane.turn, lane.isShared) = (turn, false)
      turns.insert(Entry(turn: turn, lane: lane))
    }
    if lane.multiplexed, lane.running > 0, !lane.isShared {
      lane.isShared = true
      shared.insert(Entry(turn: turn, lane: lane))
    }
    // Turns that no longer count would accumulate while nothing may run.
    if turns.elements.count > 2 * lanes.count + 64 { turns = Heap(turns.elements.filter(\.isCurrent)) }
    if shared.elements.count > 2 * lanes.count + 64 { shared = Heap(shared.elements.filter(\.isCurrent)) }
  }

  private func isFull(_ lane: Lane) -> Bool { lane.running >= (lane.multiplexed ? streams : perHost) }

  private func mayRun(_ lane: Lane) -> Bool {
    !isFull(lane) && (running < total || (lane.multiplexed && lane.running > 0))
  }
}
