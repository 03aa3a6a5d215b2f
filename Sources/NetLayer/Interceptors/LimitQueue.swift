import Foundation

/// Decides which requests run and which wait: a pure state machine.
struct LimitQueue<Item> {
  enum Step {
    /// This one runs now.
    case start(Item)
    /// The rate lets the next one begin then.
    case wait(Date)
    /// Nothing waits, or there is no place.
    case none
  }

  /// A class, so that a lane is changed in its place in the dictionary.
  private final class Lane {
    var running = 0
    /// Those who wait, by priority, the oldest first; some may have been removed.
    var waiting: [[Int]] = Array(repeating: [], count: Request.Priority.allCases.count)
    var heads: [Int] = Array(repeating: 0, count: Request.Priority.allCases.count)
  }

  private struct Entry {
    var item: Item?
    let origin: Origin?
  }

  private let total: Int
  private let perHost: Int
  private let rate: LimitInterceptor.Rate?
  private var tokens: Double
  private var filled: Date
  private var running = 0
  private var lastID = 0
  private var entries: [Int: Entry] = [:]
  private var lanes: [Origin?: Lane] = [:]

  init(total: Int?, perHost: Int?, rate: LimitInterceptor.Rate?, now: Date) {
    self.total = max(1, total ?? .max)
    self.perHost = max(1, perHost ?? .max)
    self.rate = rate
    tokens = Double(max(1, rate?.count ?? 1))
    filled = now
  }

  /// Queues `item`; gives the number to remove it by.
  mutating func add(_ item: Item, origin: Origin?, priority: Request.Priority) -> Int {
    lastID += 1
    entries[lastID] = Entry(item: item, origin: origin)
    lane(origin).waiting[priority.rawValue].append(lastID)
    return lastID
  }

  /// Takes out what waits, or notes that what runs has ended.
  mutating func remove(_ id: Int) -> Item? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    if entry.item == nil {
      running -= 1
      lanes[entry.origin]?.running -= 1
    }
    tidy(entry.origin)
    return entry.item
  }

  /// What to do at `now`; to be asked again until nothing starts.
  mutating func next(now: Date) -> Step {
    guard running < total, let (lane, priority, id) = first() else { return .none }
    if let rate {
      let perSecond = Double(max(1, rate.count)) / max(1e-9, rate.span / .seconds(1))
      tokens = min(Double(max(1, rate.count)), tokens + max(0, now.timeIntervalSince(filled)) * perSecond)
      // Also backwards: a clock that is set back must not stop everything until it has caught up.
      filled = now
      // What was added up in fractions is a hair less than one.
      guard tokens > 1 - 1e-6 else { return .wait(now.addingTimeInterval((1 - tokens) / perSecond)) }
      tokens -= 1
    }
    guard let item = entries[id]?.item else { return .none }
    entries[id]?.item = nil
    running += 1
    lane.running += 1
    lane.heads[priority] += 1
    return .start(item)
  }

  private mutating func lane(_ origin: Origin?) -> Lane {
    if let lane = lanes[origin] { return lane }
    let lane = Lane()
    lanes[origin] = lane
    return lane
  }

  /// The first of those whose origin has a place: the highest priority, then the oldest.
  private func first() -> (lane: Lane, priority: Int, id: Int)? {
    var best: (lane: Lane, priority: Int, id: Int)?
    for lane in lanes.values where lane.running < perHost {
      guard let (priority, id) = head(lane) else { continue }
      if let best, (best.priority, -best.id) > (priority, -id) { continue }
      best = (lane, priority, id)
    }
    return best
  }

  /// The first that waits in `lane`, past those that have been removed.
  private func head(_ lane: Lane) -> (priority: Int, id: Int)? {
    for priority in lane.waiting.indices.reversed() {
      while lane.heads[priority] < lane.waiting[priority].count,
        entries[lane.waiting[priority][lane.heads[priority]]]?.item == nil
      {
        lane.heads[priority] += 1
      }
      if lane.heads[priority] == lane.waiting[priority].count {
        lane.waiting[priority].removeAll(keepingCapacity: true)
        lane.heads[priority] = 0
      } else {
        if lane.heads[priority] >= 1024, lane.heads[priority] * 2 > lane.waiting[priority].count {
          lane.waiting[priority].removeFirst(lane.heads[priority])
          lane.heads[priority] = 0
        }
        return (priority, lane.waiting[priority][lane.heads[priority]])
      }
    }
    return nil
  }

  /// A client of very many origins must not grow without end.
  private mutating func tidy(_ origin: Origin?) {
    if lanes.count > 256, let lane = lanes[origin], lane.running == 0, head(lane) == nil { lanes[origin] = nil }
  }
}
