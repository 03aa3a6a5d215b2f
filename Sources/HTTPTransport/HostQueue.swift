/// Decides which requests run and which wait, so that neither one host nor all together get more than allowed: a pure state
/// machine. Inlinable, as the layer above specialises it.
///
/// The most urgent goes first. Among equals it is the host's turn that has waited for the total the longest, so that a busy
/// host does not starve the others; or, if `goesByAge`, the one that came first, whatever its host.
///
/// Waiting here and not inside libcurl keeps a waiting request small (no handle), keeps its connect limit from running
/// before it connects, lets the urgent go first, and keeps each turn of the loop proportional to what runs.
package struct HostQueue<Host: Hashable, Item> {
  /// The requests of one host. A class, so that a request finds its lane once and not at every step.
  package final class Lane {
    @usableFromInline var running = 0
    @usableFromInline var multiplexed = false
    @usableFromInline var isReady = false
    /// Whether the origin is known not to respond to `Expect: 100-continue`, or to refuse it.
    var ignoresExpectations = false
    /// One line for each priority, the lowest first.
    @usableFromInline var waiting = Request.Priority.allCases.map { _ in Line() }

    @usableFromInline init() {}

    /// How urgent its first is; -1 where none waits.
    @inlinable var urgency: Int { waiting.lastIndex { !$0.isEmpty } ?? -1 }
    @inlinable var hasWaiting: Bool { urgency >= 0 }
    @inlinable var isAtRest: Bool { running == 0 && !hasWaiting }
    /// How much of the total it takes: one for a host that shares a connection.
    @inlinable var weight: Int { multiplexed ? Swift.min(1, running) : running }
  }

  /// First come, first served.
  @usableFromInline struct Line {
    @usableFromInline init() {}

    @usableFromInline var items: [(item: Item?, number: Int)] = []
    @usableFromInline var next = 0
    /// How many have ended while they waited, at most.
    @usableFromInline var ended = 0

    @inlinable var isEmpty: Bool { next == items.count }
    /// The number of the first.
    @inlinable var number: Int { items[next].number }

    @inlinable mutating func append(_ item: Item, _ number: Int) { items.append((item, number)) }

    /// Drops those that have ended from the front, and all when they are the half, which costs each of them a step or two.
    @inlinable mutating func noteEnd(_ hasEnded: (Item) -> Bool) {
      ended += 1
      if ended >= 32, ended * 2 > items.count - next {
        items = items[next...].filter { $0.item.map(hasEnded) == false }
        (next, ended) = (0, 0)
      }
      dropEnded(hasEnded)
    }

    @inlinable mutating func takeFirst(_ hasEnded: (Item) -> Bool) -> Item? {
      let item = items[next].item.take()
      next += 1
      dropEnded(hasEnded)
      return item
    }

    @inlinable mutating func dropEnded(_ hasEnded: (Item) -> Bool) {
      while next < items.count, items[next].item.map(hasEnded) ?? true {
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

  @usableFromInline let perHost: Int
  @usableFromInline let total: Int
  @usableFromInline let streams: Int
  @usableFromInline let goesByAge: Bool
  @usableFromInline let hasEnded: (Item) -> Bool
  @usableFromInline var lanes: [Host: Lane] = [:]
  @usableFromInline var running = 0
  @usableFromInline var lastNumber = 0
  /// Lanes that would run more, were the total not reached; the one that has been so the longest first.
  @usableFromInline var ready: [Lane] = []

  /// At most `perHost` run at once for one host and `total` altogether; a host that multiplexes counts once in
  /// `total` and runs `streams` (RFC 9113 §6.5.2 recommends at least 100). Those of which `hasEnded` is true wait no more.
  @inlinable package init(
    perHost: Int, total: Int, streams: Int = 100, goesByAge: Bool = false, hasEnded: @escaping (Item) -> Bool
  ) {
    self.perHost = Swift.max(1, perHost)
    self.total = Swift.max(1, total)
    self.streams = Swift.max(1, streams)
    self.goesByAge = goesByAge
    self.hasEnded = hasEnded
  }

  /// Whether nothing runs or waits.
  @inlinable var isAtRest: Bool { running == 0 && ready.isEmpty && lanes.values.allSatisfy(\.isAtRest) }

  /// The lane of `host`.
  @inlinable package mutating func lane(for host: Host) -> Lane {
    if let lane = lanes[host] { return lane }
    // A client of very many hosts must not grow without end; what it forgets is only which of them spoke HTTP/2.
    if lanes.count >= 1024 { lanes = lanes.filter { !$0.value.isAtRest } }
    let lane = Lane()
    lanes[host] = lane
    return lane
  }

  /// `true` when `item` may run at once; else it waits and comes out of a later `finished`.
  @inlinable mutating func admit(_ item: Item, in lane: Lane, priority: Request.Priority = .normal) -> Bool {
    if mayRun(lane) {
      start(lane)
      return true
    }
    wait(item, in: lane, priority: priority)
    return false
  }

  /// Lets `item` wait until it comes out of `next`.
  @inlinable package mutating func wait(_ item: Item, in lane: Lane, priority: Request.Priority) {
    lastNumber += 1
    lane.waiting[priority.rawValue].append(item, lastNumber)
    update(lane)
  }

  /// Whether one of those that wait may run.
  @inlinable package var hasNext: Bool { nextIndex != nil }

  /// Takes out the first that may run.
  @inlinable package mutating func next() -> Item? {
    guard let index = nextIndex else { return nil }
    let lane = ready.remove(at: index)
    lane.isReady = false
    start(lane)
    defer { update(lane) }
    return lane.waiting[lane.urgency].takeFirst(hasEnded)
  }

  /// Notes that one of `lane`'s has ended, `multiplexed` when it came over HTTP/2.
  @inlinable package mutating func end(_ lane: Lane, multiplexed: Bool = false) {
    let before = lane.weight
    lane.running -= 1
    if multiplexed { lane.multiplexed = true }
    running += lane.weight - before
    update(lane)
  }

  /// Notes that one of `lane`'s has ended; gives what may run now.
  @inlinable mutating func finished(_ lane: Lane, multiplexed: Bool = false) -> [Item] {
    end(lane, multiplexed: multiplexed)
    var admitted: [Item] = []
    while let item = next() { admitted.append(item) }
    return admitted
  }

  /// Notes that an item of `lane` has ended while it waited: a host that is busy for long must not gather them.
  @inlinable package mutating func endedWaiting(in lane: Lane, priority: Request.Priority = .normal) {
    lane.waiting[priority.rawValue].noteEnd(hasEnded)
    update(lane)
  }

  /// Forgets everything.
  @inlinable mutating func removeAll() {
    // Items may know their lane: a lane that kept them would never be freed.
    for lane in lanes.values { lane.waiting = Request.Priority.allCases.map { _ in Line() } }
    (lanes, ready, running) = ([:], [], 0)
  }

  /// Where the lane is in `ready` whose turn it is.
  @inlinable var nextIndex: Int? {
    var best: (index: Int, urgency: Int, number: Int)?
    for (index, lane) in ready.enumerated() where mayRun(lane) {
      let urgency = lane.urgency
      let number = goesByAge ? lane.waiting[urgency].number : index
      if let best, (best.urgency, -best.number) > (urgency, -number) { continue }
      best = (index, urgency, number)
    }
    return best?.index
  }

  @inlinable mutating func start(_ lane: Lane) {
    let before = lane.weight
    lane.running += 1
    running += lane.weight - before
  }

  /// Notes whether only the total keeps `lane` from running more.
  @inlinable mutating func update(_ lane: Lane) {
    let isReady = lane.hasWaiting && !isFull(lane)
    guard isReady != lane.isReady else { return }
    lane.isReady = isReady
    if isReady { ready.append(lane) } else { ready.removeAll { $0 === lane } }
  }

  @inlinable func isFull(_ lane: Lane) -> Bool { lane.running >= (lane.multiplexed ? streams : perHost) }

  @inlinable func mayRun(_ lane: Lane) -> Bool {
    !isFull(lane) && (running < total || (lane.multiplexed && lane.running > 0))
  }
}
