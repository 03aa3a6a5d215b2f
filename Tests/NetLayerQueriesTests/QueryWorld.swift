import Races
import TestSupport

@testable import NetLayer
@testable import NetLayerQueries

/// A server, its clients' requests, and the screens that watch them, in virtual time. The rules that it checks follow
/// from docs/queries.md, not from the code of the state machine.
///
/// A value is a list of tokens. Each write and each change by others adds a token. A change that is shown twice, too
/// early, or not at all is thus visible in the list.
struct QueryWorld {
  typealias Machine = QueryState<[Int], Int>

  /// An event of the world that is due at a time.
  private enum Due {
    case serverReads(key: Int, load: Int, kind: Machine.Load, user: Int)
    case response(key: Int, load: Int, kind: Machine.Load, tokens: [Int]?)
    case apply(token: Int, keys: [Int], user: Int, notices: Bool)
    case endWrite(Write)
    case push(key: Int, user: Int)
  }

  private struct Write {
    let token: Int
    let keys: [Int]
    let user: Int
    let outcome: Result
    let updates: Bool
  }

  private enum Result { case acknowledged, rejected, unknown }

  /// A key as its watchers and the server see it.
  private struct Key {
    var machine = Machine()
    var watchers = 0
    /// The response that a cache has stored.
    private(set) var stored: [Int]?
    /// The number of removals, and that number when the load in flight began: as in `ResponseCache`, a response from
    /// before a removal is not stored.
    private var removals = 0
    private var mark = 0
    /// The loads that the transport still runs, and those that were cancelled.
    var inFlight: Int?
    var kind = Machine.Load.first
    var cancelled: Set<Int> = []
    /// The tokens of writes in flight, in the order of their calls.
    var pending: [Int] = []
    /// The acknowledged tokens since the first watcher.
    var acknowledged: Set<Int> = []
    /// The tokens of the server that the present watchers have seen.
    var seen: Set<Int> = []
    /// Whether the server has a change that nobody has reported to the client.
    var hasSecret = false
    var lastSnapshot: Snapshot?
    var loads = 0
    /// The number of loads that the rules allow.
    var causes = 0
    var failed = false

    mutating func removeStored() { (stored, removals) = (nil, removals + 1) }
    mutating func beginLoad(_ load: Int, _ kind: Machine.Load) { (inFlight, self.kind, mark) = (load, kind, removals) }
    mutating func store(_ tokens: [Int]) { if mark == removals { stored = tokens } }
  }

  struct Snapshot: Equatable {
    var tokens: [Int]?
    var failure: String?
    var isFetching: Bool
    var isStale: Bool
    var isEdited: Bool
  }

  private var generator: SplitMix64
  private var now = 0
  private var queue: [(time: Int, order: Int, due: Due)] = []
  private var order = 0
  private var keys = [Key(), Key()]
  /// The tokens on the server, for each user and key.
  private var server: [Int: [[Int]]] = [:]
  private var user = 0
  private var nextToken = 1
  private var rejected: Set<Int> = []
  private let log = Notes()
  private(set) var failure: String?
  private(set) var loads = 0
  private(set) var writes = 0
  private(set) var emissions = 0

  /// Whether the schedule is recorded, which takes most of the time.
  private let isTraced: Bool

  init(seed: UInt64, isTraced: Bool = false) {
    generator = SplitMix64(seed: seed)
    self.isTraced = isTraced
  }

  private func note(_ text: @autoclosure () -> String) {
    if isTraced { log.add(text()) }
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  private mutating func chance(_ percent: Int) -> Bool { random(1...100) <= percent }

  private mutating func schedule(after delay: Int, _ due: Due) {
    order += 1
    queue.append((now + delay, order, due))
  }

  private mutating func fail(_ reason: String) {
    if failure == nil { failure = reason + "\n" + log.all.suffix(40).joined(separator: "\n") }
  }

  private func tokens(_ key: Int, of user: Int) -> [Int] { server[user]?[key] ?? [] }

  // MARK: The run

  /// Runs random steps, then lets everything come to rest, and checks the end.
  mutating func run(steps: Int = 60) {
    for _ in 0..<steps where failure == nil {
      step()
      advance(by: random(0...4))
    }
    rest()
    for key in keys.indices where keys[key].watchers > 0 { checkRest(key) }
    // A forced load also shows what nobody has reported.
    for key in keys.indices where keys[key].watchers > 0 {
      keys[key].hasSecret = false
      keys[key].causes += 1
      send(key, .invalidate)
    }
    failsNoMore = true
    rest()
    for key in keys.indices where keys[key].watchers > 0 {
      if keys[key].failed {
        keys[key].causes += 1
        send(key, .refresh)
      }
    }
    rest()
    for key in keys.indices where keys[key].watchers > 0 {
      checkRest(key)
      if keys[key].failed { fail("key \(key): the last load failed") }
    }
    for key in keys.indices { while keys[key].watchers > 0 { leave(key) } }
    rest()
    for key in keys.indices {
      let machine = keys[key].machine
      if machine.load != nil || machine.value != nil || !machine.edits.isEmpty || machine.isFetching {
        fail("key \(key): something is left: \(machine)")
      }
      if keys[key].loads > keys[key].causes {
        fail("key \(key): \(keys[key].loads) loads for \(keys[key].causes) causes")
      }
    }
  }

  private var failsNoMore = false

  private mutating func step() {
    let key = random(0...keys.count - 1)
    switch random(1...100) {
    case ...14: join(key)
    case ...22: if keys[key].watchers > 0 { leave(key) }
    case ...52: beginWrite()
    case ...66: push(key, isReported: chance(85))
    case ...76:
      note("\(now) invalidate \(key)")
      keys[key].removeStored()
      keys[key].causes += 1
      keys[key].hasSecret = false
      send(key, .invalidate)
    case ...84:
      note("\(now) refresh \(key)")
      keys[key].causes += 1
      // Unless a load is in flight that may be too old, the next one shows everything.
      if keys[key].inFlight == nil || keys[key].kind == .more { keys[key].hasSecret = false }
      send(key, .refresh)
    case ...88:
      note("\(now) more \(key)")
      keys[key].causes += 2
      send(key, .more)
    case ...90: changeUser()
    default: advance(by: random(0...30))
    }
  }

  private mutating func join(_ key: Int) {
    note("\(now) join \(key)")
    if keys[key].watchers == 0 {
      (keys[key].acknowledged, keys[key].seen, keys[key].hasSecret, keys[key].failed) = ([], [], false, false)
      // A lookup and a load.
      keys[key].causes += 2
    }
    keys[key].watchers += 1
    send(key, .join(looksUp: chance(60)))
  }

  private mutating func leave(_ key: Int) {
    note("\(now) leave \(key)")
    keys[key].watchers -= 1
    send(key, .leave)
    if keys[key].watchers == 0 { keys[key].lastSnapshot = nil }
  }

  private mutating func changeUser() {
    user += 1
    note("\(now) user \(user)")
    for key in keys.indices {
      (keys[key].acknowledged, keys[key].seen, keys[key].pending) = ([], [], [])
      keys[key].removeStored()
      (keys[key].hasSecret, keys[key].failed) = (false, false)
      keys[key].causes += 1
      send(key, .reset)
      if keys[key].machine.value != nil { fail("key \(key): a value of the former user is left") }
    }
  }

  private mutating func push(_ key: Int, isReported: Bool) {
    let token = nextToken
    nextToken += 1
    apply(token, [key])
    note("\(now) server adds \(token) to \(key)\(isReported ? "" : " secretly")")
    if isReported {
      // The report follows the change.
      schedule(after: random(0...6), .push(key: key, user: user))
    }
    keys[key].hasSecret = true
  }

  private mutating func apply(_ token: Int, _ changed: [Int]) {
    for key in changed { server[user, default: Array(repeating: [], count: keys.count)][key].append(token) }
  }

  private mutating func beginWrite() {
    let token = nextToken
    nextToken += 1
    writes += 1
    let edited = chance(25) ? Array(keys.indices) : [random(0...keys.count - 1)]
    let outcome: Result = [.acknowledged, .acknowledged, .acknowledged, .rejected, .unknown][random(0...4)]
    let updates = edited.count == 1 && chance(20)
    note("\(now) write \(token) to \(edited) will be \(outcome)")
    for key in edited {
      keys[key].pending.append(token)
      // A cancelled load is sent again.
      if keys[key].inFlight != nil { keys[key].causes += 1 }
      send(key, .begin(write: token, token))
      checkNoLoad(key)
    }
    let duration = random(0...15)
    let write = Write(token: token, keys: edited, user: user, outcome: outcome, updates: updates)
    switch outcome {
    case .acknowledged:
      schedule(after: random(0...duration), .apply(token: token, keys: edited, user: user, notices: true))
    case .rejected: rejected.insert(token)
    case .unknown:
      switch random(0...2) {
      case 0: schedule(after: random(0...duration), .apply(token: token, keys: edited, user: user, notices: true))
      case 1: schedule(after: duration + random(1...10), .apply(token: token, keys: edited, user: user, notices: false))
      default: break
      }
    }
    schedule(after: duration, .endWrite(write))
  }

  private mutating func endWrite(_ write: Write) {
    note("\(now) write \(write.token) is \(write.outcome)")
    for key in write.keys {
      if write.user == user {
        keys[key].pending.removeAll { $0 == write.token }
        if write.outcome != .rejected {
          keys[key].removeStored()
          keys[key].causes += 1
        }
        if write.outcome == .acknowledged { keys[key].acknowledged.insert(write.token) }
      }
      let outcome: Machine.Outcome =
        switch write.outcome {
        case .acknowledged:
          .acknowledged(write.updates ? updated(key, by: write) : nil)
        case .rejected: .rejected
        case .unknown: .unknown
        }
      send(key, .end(write: write.token, outcome))
      // The response of a write that overlaps no other is as good as a load.
      if write.updates, keys[key].machine.failure == nil { keys[key].failed = false }
    }
  }

  /// The value that the server had just after the write.
  private func updated(_ key: Int, by write: Write) -> [Int] {
    let all = tokens(key, of: write.user)
    return all.firstIndex(of: write.token).map { Array(all[...$0]) } ?? all
  }

  // MARK: Time

  private mutating func advance(by duration: Int) {
    let end = now + duration
    while failure == nil,
      let next = queue.indices.min(by: {
        queue[$0].time == queue[$1].time
          ? queue[$0].order < queue[$1].order : queue[$0].time < queue[$1].time
      }), queue[next].time <= end
    {
      let item = queue.remove(at: next)
      now = max(now, item.time)
      happen(item.due)
    }
    now = end
  }

  private mutating func rest() {
    var rounds = 0
    while !queue.isEmpty, failure == nil {
      advance(by: 50)
      rounds += 1
      if rounds > 1000 { return fail("never at rest") }
    }
  }

  private mutating func happen(_ due: Due) {
    switch due {
    case .serverReads(let key, let load, let kind, let sender):
      var tokens: [Int]? = kind == .more ? keys[key].machine.value ?? [] : tokens(key, of: sender)
      if !failsNoMore, chance(15) { tokens = nil }
      schedule(after: random(0...12), .response(key: key, load: load, kind: kind, tokens: tokens))
    case .response(let key, let load, let kind, let tokens): respond(key, load, kind, tokens)
    case .apply(let token, let changed, let owner, let notices):
      note("\(now) server applies \(token)")
      for key in changed { server[owner, default: Array(repeating: [], count: keys.count)][key].append(token) }
      if !notices, owner == user { for key in changed { keys[key].hasSecret = true } }
    case .endWrite(let write): endWrite(write)
    case .push(let key, let owner):
      guard owner == user else { return }
      note("\(now) push \(key)")
      keys[key].removeStored()
      keys[key].causes += 1
      send(key, .invalidate)
    }
  }

  private mutating func respond(_ key: Int, _ load: Int, _ kind: Machine.Load, _ tokens: [Int]?) {
    let isLate = keys[key].cancelled.remove(load) != nil
    let before = snapshot(key)
    if !isLate { keys[key].inFlight = nil }
    note("\(now) response \(load) of \(key): \(tokens.map { "\($0)" } ?? "failed")\(isLate ? ", late" : "")")
    if kind == .stored {
      let isFresh = tokens != nil && load % 2 == 0
      if isFresh, tokens != self.tokens(key, of: user) { keys[key].hasSecret = true }
      send(key, .found(load, tokens, isFresh: isFresh))
    } else if let tokens {
      if !isLate {
        keys[key].failed = false
        if keys[key].pending.isEmpty, kind != .more { keys[key].store(tokens) }
      }
      send(key, .succeed(load, tokens, isNew: tokens != keys[key].machine.value))
    } else {
      if !isLate { keys[key].failed = true }
      send(key, .fail(load, NetworkError(kind: .connection, reason: "load \(load)")))
    }
    if isLate, snapshot(key) != before { fail("key \(key): the late response \(load) had an effect") }
  }

  // MARK: The machine

  private mutating func send(_ key: Int, _ event: Machine.Event) {
    for action in keys[key].machine.handle(event) {
      switch action {
      case .cancel:
        if let load = keys[key].inFlight { keys[key].cancelled.insert(load) }
        keys[key].inFlight = nil
      case .emit: emit(key)
      case .load(let load, let kind): begin(key, load, kind)
      }
    }
    checkNoLoad(key)
  }

  private mutating func begin(_ key: Int, _ load: Int, _ kind: Machine.Load) {
    note("\(now) load \(load) of \(key): \(kind)")
    loads += 1
    keys[key].loads += 1
    if keys[key].inFlight != nil { fail("key \(key): two loads in flight") }
    if keys[key].watchers == 0 { fail("key \(key): a load without a watcher") }
    keys[key].beginLoad(load, kind)
    if kind == .stored {
      // The cache looks the entry up first, and delivers it later.
      return schedule(after: random(0...3), .response(key: key, load: load, kind: kind, tokens: keys[key].stored))
    }
    if kind != .more { keys[key].hasSecret = false }
    if kind == .first, let stored = keys[key].stored {
      // As any call, it may be a cache hit.
      keys[key].hasSecret = stored != tokens(key, of: user)
      return schedule(after: 0, .response(key: key, load: load, kind: kind, tokens: stored))
    }
    schedule(after: random(0...12), .serverReads(key: key, load: load, kind: kind, user: user))
  }

  /// Checks that no load overlaps a write that edits the value.
  private mutating func checkNoLoad(_ key: Int) {
    guard let load = keys[key].machine.load, !keys[key].machine.isLookingUp else { return }
    if !keys[key].pending.isEmpty { fail("key \(key): load \(load) overlaps the writes \(keys[key].pending)") }
  }

  // MARK: The screen

  private func snapshot(_ key: Int) -> Snapshot {
    let machine = keys[key].machine
    return Snapshot(
      tokens: machine.value.map { $0 + machine.edits.map(\.change) }, failure: machine.failure?.reason,
      isFetching: machine.isFetching, isStale: machine.isStale, isEdited: machine.value != nil && !machine.edits.isEmpty
    )
  }

  private mutating func emit(_ key: Int) {
    emissions += 1
    let snapshot = snapshot(key)
    guard keys[key].watchers > 0, !keys[key].machine.isLookingUp else { return }
    note("\(now) shows \(key): \(snapshot)")
    if snapshot == keys[key].lastSnapshot { fail("key \(key): the same snapshot twice") }
    keys[key].lastSnapshot = snapshot
    guard let shown = snapshot.tokens else { return }
    if Set(shown).count != shown.count { fail("key \(key): a change is shown twice: \(shown)") }
    let set = Set(shown)
    for token in keys[key].acknowledged where !set.contains(token) {
      fail("key \(key): the acknowledged write \(token) is missing")
    }
    for token in keys[key].pending where !set.contains(token) {
      fail("key \(key): the write in flight \(token) is missing")
    }
    let known = Set(tokens(key, of: user))
    for token in shown where !known.contains(token) && !keys[key].pending.contains(token) {
      fail("key \(key): \(token) is shown, but neither in flight nor on the server of user \(user)")
    }
    if shown.contains(where: { rejected.contains($0) && !keys[key].pending.contains($0) }) {
      fail("key \(key): a rejected write is shown")
    }
    for token in keys[key].seen where !set.contains(token) { fail("key \(key): \(token) disappeared") }
    keys[key].seen.formUnion(keys[key].machine.value ?? [])
  }

  private mutating func checkRest(_ key: Int) {
    let snapshot = snapshot(key)
    if snapshot.isFetching { return fail("key \(key): fetching at rest") }
    if keys[key].machine.isLookingUp { return fail("key \(key): looking up at rest") }
    if snapshot != keys[key].lastSnapshot { fail("key \(key): the last snapshot is not the state: \(snapshot)") }
    if keys[key].failed {
      if snapshot.failure == nil { fail("key \(key): the error is missing") }
      return
    }
    if snapshot.failure != nil { fail("key \(key): an old error is left") }
    if snapshot.isEdited { fail("key \(key): edited at rest") }
    if snapshot.isStale { fail("key \(key): stale at rest") }
    if !keys[key].hasSecret, snapshot.tokens != tokens(key, of: user) {
      fail("key \(key): shows \(snapshot.tokens ?? []) instead of \(tokens(key, of: user))")
    }
  }
}
