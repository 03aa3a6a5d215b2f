/// Decides which requests run and which wait, so that neither one host nor all together get more than allowed: a pure state
/// machine. Not generic: the layer above has it, too, and would run it unspecialised.
///
/// The most urgent goes first. Among equals it is the host's turn that has waited for the total the longest, so that a busy
/// host does not starve the others; or, if `goesByAge`, the one that came first, whatever its host.
///
/// Waiting here and not inside libcurl keeps a waiting request small (no handle), keeps its connect limit from running
/// before it connects, lets the urgent go first, and keeps each turn of the loop proportional to what runs.
package struct HostQueue {
  /// A request that runs or waits.
  package protocol Item: AnyObject {
    /// Whether it waits no more.
    var hasEnded: Bool { get }
  }

  /// The requests of one host. A class, so that a request finds its lane once and not at every step.
  package final class Lane {
    /// Counted from 1; another for each lane.
    let number: UInt32
    fileprivate(set) var running = 0
    fileprivate var multiplexed = false
    fileprivate var isReady = false
    /// Whether the origin is known not to respond to `Expect: 100-continue`, or to refuse it.
    var ignoresExpectations = false
    /// Until when the origin offers HTTP/3, uptime in nanoseconds.
    var http3Until: UInt64 = 0
    /// One line for each priority, the lowest first.
    fileprivate var waiting = Request.Priority.allCases.map { _ in Line() }

    /// How urgent its first is; -1 where none waits.
    var urgency: Int { waiting.lastIndex { !$0.isEmpty } ?? -1 }
    var hasWaiting: Bool { urgency >= 0 }
    /// How many wait.
    var waitingCount: Int { waiting.reduce(0) { $0 + $1.count } }
    var isAtRest: Bool { running == 0 && !hasWaiting }
    /// How much of the total it takes: one for a host that shares a connection.
    var weight: Int { multiplexed ? Swift.min(1, running) : running }

    fileprivate init(_ number: UInt32) { self.number = number }
  }

  /// First come, first served.
  fileprivate struct Line {
    private var items: [(item: (any Item)?, number: Int)] = []
    private var next = 0
    /// How many have ended while they waited, at most.
    private var ended = 0

    var isEmpty: Bool { next == items.count }
    /// How many have not ended; takes a step for each.
    var count: Int { items[next...].count { $0.item?.hasEnded == false } }
    /// The number of the first.
    var number: Int { items[next].number }

    mutating func append(_ item: any Item, _ number: Int) { items.append((item, number)) }

    /// Drops those that have ended from the front, and all when they are the half, which costs each of them a step or two.
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
  /// Lanes that would run more, were the total not reached; the one that has been so the longest first.
  private var ready: [Lane] = []

  /// At most `perHost` run at once for one host and `total` altogether; a host that multiplexes counts once in
  /// `total` and runs `streams` (RFC 9113 §6.5.2 recommends at least 100).
  package init(perHost: Int, total: Int, streams: Int = 100, goesByAge: Bool = false) {
    self.perHost = Swift.max(1, perHost)
    self.total = Swift.max(1, total)
    self.streams = Swift.max(1, streams)
    self.goesByAge = goesByAge
  }

  /// Whether nothing runs or waits.
  var isAtRest: Bool { running == 0 && ready.isEmpty && lanes.values.allSatisfy(\.isAtRest) }

  /// The lane of `host`.
  package mutating func lane(for host: String) -> Lane {
    if let lane = lanes[host] { return lane }
    // A client of very many hosts must not grow without end; what it forgets is only which of them spoke HTTP/2.
    if lanes.count >= 1024 { lanes = lanes.filter { !$0.value.isAtRest } }
    lastLane &+= 1
    let lane = Lane(lastLane)
    lanes[host] = lane
    return lane
  }

  /// `true` when `item` may run at once; else it waits and comes out of a later `finished`.
  mutating func admit(_ item: any Item, in lane: Lane, priority: Request.Priority = .normal) -> Bool {
    if mayRun(lane) {
      start(lane)
      return true
    }
    wait(item, in: lane, priority: priority)
    return false
  }

  /// Lets `item` wait until it comes out of `next`.
  package mutating func wait(_ item: any Item, in lane: Lane, priority: Request.Priority) {
    lastNumber += 1
    lane.waiting[priority.rawValue].append(item, lastNumber)
    update(lane)
  }

  /// Whether one of those that wait may run.
  package var hasNext: Bool { nextIndex != nil }

  /// Takes out the first that may run.
  package mutating func next() -> (any Item)? {
    guard let index = nextIndex else { return nil }
    let lane = ready.remove(at: index)
    lane.isReady = false
    start(lane)
    defer { update(lane) }
    return lane.waiting[lane.urgency].takeFirst()
  }

  /// Notes that one of `lane`'s has ended, `multiplexed` when it came over HTTP/2.
  package mutating func end(_ lane: Lane, multiplexed: Bool = false) {
    let before = lane.weight
    lane.running -= 1
    if multiplexed { lane.multiplexed = true }
    running += lane.weight - before
    update(lane)
  }

  /// Notes that one of `lane`'s has ended; gives what may run now.
  mutating func finished(_ lane: Lane, multiplexed: Bool = false) -> [any Item] {
    end(lane, multiplexed: multiplexed)
    var admitted: [any Item] = []
    while let item = next() { admitted.append(item) }
    return admitted
  }

  /// Notes that an item of `lane` has ended while it waited: a host that is busy for long must not gather them.
  package mutating func endedWaiting(in lane: Lane, priority: Request.Priority = .normal) {
    lane.waiting[priority.rawValue].noteEnd()
    update(lane)
  }

  /// Forgets everything.
  mutating func removeAll() {
    // Items may know their lane: a lane that kept them would never be freed.
    for lane in lanes.values { lane.waiting = Request.Priority.allCases.map { _ in Line() } }
    (lanes, ready, running) = ([:], [], 0)
  }

  /// Where the lane is in `ready` whose turn it is.
  var nextIndex: Int? {
    var best: (index: Int, urgency: Int, number: Int)?
    for (index, lane) in ready.enumerated() where mayRun(lane) {
      let urgency = lane.urgency
      let number = goesByAge ? lane.waiting[urgency].number : index
      if let best, (best.urgency, -best.number) > (urgency, -number) { continue }
      best = (index, urgency, number)
    }
    return best?.index
  }

  private mutating func start(_ lane: Lane) {
    let before = lane.weight
    lane.running += 1
    running += lane.weight - before
  }

  /// Notes whether only the total keeps `lane` from running more.
  private mutating func update(_ lane: Lane) {
    let isReady = lane.hasWaiting && !isFull(lane)
    guard isReady != lane.isReady else { return }
    lane.isReady = isReady
    if isReady { ready.append(lane) } else { ready.removeAll { $0 === lane } }
  }

  private func isFull(_ lane: Lane) -> Bool { lane.running >= (lane.multiplexed ? streams : perHost) }

  private func mayRun(_ lane: Lane) -> Bool {
    !isFull(lane) && (running < total || (lane.multiplexed && lane.running > 0))
  }
}
