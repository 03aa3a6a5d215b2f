import PortableFoundation
import Streams

/// The rules of an outbox: which entry is sent when, what parks, and what waits. It has no clock and does no I/O.
struct OutboxState {
  struct Item {
    let name: OutboxName
    var account: String?
    var key: String?
    var hold: Hold?
    /// The failures that count, and those of the connection, which don't.
    fileprivate var failures = 0
    fileprivate var losses = 0
    /// The rejections of its user's credentials.
    fileprivate var rejections = 0
    fileprivate var notBefore: Duration?
    fileprivate var waitsForNetwork = false
    /// Whether a sign-in ends the pause.
    fileprivate var waitsForAccount = false
    /// Whether it belongs to no user, and would carry the token of the one who is signed in.
    fileprivate var waitsForSignOut = false

    init(_ name: OutboxName, account: String? = nil, key: String? = nil, hold: Hold? = nil) {
      (self.name, self.account, self.key, self.hold) = (name, account, key, hold)
    }

    var lane: Lane? { key.map { Lane(account: account, key: $0) } }

    fileprivate mutating func startAfresh() {
      (failures, losses, rejections) = (0, 0, 0)
      (notBefore, waitsForNetwork, waitsForAccount) = (nil, false, false)
    }
  }

  /// Entries of one lane are sent in order.
  struct Lane: Hashable {
    let account: String?
    let key: String
  }

  private enum Flight {
    /// In flight, with the number of account changes at its start.
    case sending(changes: Int)
    /// The result is being delivered. Then it is parked, or removed.
    case reporting(parks: Bool, status: Int?)
    /// The result is being delivered. Then it is sent again, because the app has asked for it meanwhile.
    case retrying
    /// In flight, and no longer in the directory.
    case dropped
  }

  private enum Absence { case signIn, account }

  private struct Pause: Comparable {
    let end: Duration
    let name: OutboxName

    static func < (a: Pause, b: Pause) -> Bool { a.end < b.end }
  }

  let concurrency: Int
  let retry: RetryPolicy
  private(set) var isOwner = false
  private var isOnline = false
  /// In the order of `send`.
  private var order: [OutboxName] = []
  private var items: [OutboxName: Item] = [:]
  private var flights: [OutboxName: Flight] = [:]
  /// The entries of each lane, in order.
  private var lanes: [Lane: [OutboxName]] = [:]
  /// The entries whose files can't be read, in order.
  private var unreadable: [OutboxName] = []
  /// Every entry that may be ready is in here; the first one is ready. Each change of an entry adds what it may have made
  /// ready, so that no event looks at all entries.
  private var candidates = Heap<OutboxName>()
  /// The ends of the pauses; the first one is current.
  private var pauses = Heap<Pause>()
  /// The accounts that wait for a sign-in.
  private var absent: [String?: Absence] = [:]
  private var changes = 0

  init(concurrency: Int, retry: RetryPolicy) { (self.concurrency, self.retry) = (max(1, concurrency), retry) }

  /// Whether nothing is in flight, so that another process may send.
  var isAtRest: Bool { flights.isEmpty }
  var count: Int { order.count }
  func contains(_ name: OutboxName) -> Bool { items[name] != nil }

  /// The next time at which a pause ends; `nil` for none.
  var deadline: Duration? { isOnline ? pauses.first?.end : nil }

  /// Changes the state, and returns the actions to carry out, in this order. `now` must never decrease.
  mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .list(let listed, let isOwner):
      self.isOwner = isOwner
      replace(with: listed)
    case .disown: isOwner = false
    case .add(let added):
      // A directory lists in no order. All are known before the first one starts.
      for item in added { add(item) }
    case .end(let name, let outcome): end(name, with: outcome, at: now, &actions)
    case .reported(let name): settle(name, &actions)
    case .online(let isOnline):
      if isOnline, !self.isOnline {
        for name in order where items[name]?.waitsForNetwork == true { resume(name) }
      }
      self.isOnline = isOnline
    case .account(let account):
      changes += 1
      absent[account] = nil
      for name in order where items[name]?.waitsForSignOut == true { items[name]?.waitsForSignOut = false }
      for name in order where items[name]?.waitsForAccount == true { resume(name) }
      reconsiderAll()
    case .retry(let name): retry(name, &actions)
    case .drop(let name): drop(name, &actions)
    case .wake: break
    }
    while let pause = pauses.first, pause.end <= now || !isCurrent(pause) {
      pauses.removeFirst()
      if isCurrent(pause) { resume(pause.name) }
    }
    return actions + start()
  }

  /// Whether an entry could be sent now.
  var isDue: Bool { isOnline && candidates.first != nil }

  // MARK: Transitions

  private mutating func replace(with listed: [Item]) {
    var new: [OutboxName: Item] = [:]
    for item in listed {
      new[item.name] = items[item.name] ?? item
      // Another process may have parked it.
      new[item.name]?.hold = item.hold
      if item.hold != nil { new[item.name]?.startAfresh() }
      if items[item.name]?.hold == .unreadable { new[item.name] = item }
    }
    for name in flights.keys { new[name] = items[name] }
    items = new
    order = items.keys.sorted()
    (lanes, unreadable) = ([:], [])
    for name in order { items[name].map { arrange($0) } }
    pauses = Heap(items.values.compactMap { item in item.notBefore.map { Pause(end: $0, name: item.name) } })
    reconsiderAll()
  }

  private mutating func add(_ item: Item) {
    switch items[item.name]?.hold {
    case .unreadable:
      // The file may be readable now.
      items[item.name] = item
      unreadable.removeInOrder(item.name)
      arrange(item)
      reconsiderAll()
    case nil where items[item.name] == nil:
      items[item.name] = item
      order.insertInOrder(item.name)
      arrange(item)
    default: break
    }
  }

  /// Puts an entry, which is new or has become readable, into its lane.
  private mutating func arrange(_ item: Item) {
    if item.hold == .unreadable {
      unreadable.insertInOrder(item.name)
    } else if let lane = item.lane {
      lanes[lane, default: []].insertInOrder(item.name)
    }
    candidates.insert(item.name)
  }

  /// Considers every entry again, after a change that may have made any of them ready.
  private mutating func reconsiderAll() { candidates = Heap(order) }

  /// Considers the entry, and the first one of its lane, after its request has ended.
  private mutating func reconsider(_ name: OutboxName) {
    candidates.insert(name)
    if let lane = items[name]?.lane, let first = lanes[lane]?.first { candidates.insert(first) }
  }

  private func isCurrent(_ pause: Pause) -> Bool { items[pause.name]?.notBefore == pause.end }

  private mutating func end(_ name: OutboxName, with outcome: Outcome, at now: Duration, _ actions: inout [Action]) {
    guard let flight = flights[name], var item = items[name] else { return }
    let former: Int
    switch flight {
    case .reporting, .retrying: return
    case .dropped: return forget(name)
    case .sending(let changes): former = changes
    }
    flights[name] = nil
    defer { reconsider(name) }
    switch outcome {
    case .accepted: flights[name] = .reporting(parks: false, status: nil)
    case .rejected(let status): flights[name] = .reporting(parks: true, status: status)
    case .failed(let error, let after):
      item.failures += 1
      if let pause = retry.delay(after: error, attempt: item.failures) {
        // A server may request no delay, again and again.
        item.notBefore = now + min(max(after ?? .zero, pause), Self.longestPause)
      } else {
        flights[name] = .reporting(parks: true, status: error.response?.status)
      }
    case .unreachable(let error):
      lose(&item, error, now)
      item.waitsForNetwork = true
    // A refresh is not a sign-in.
    case .refused: absent[item.account] = .signIn
    case .unauthenticated:
      // A sign-in since then has not met this token.
      if former == changes { absent[item.account] = .signIn }
      // A source may signal new credentials of the user after each rejection.
      if item.rejections > 0 { item.notBefore = now + pause(after: Self.rejection, attempt: item.rejections) }
      item.rejections += 1
    // Others without a user may go to servers that need none.
    case .otherAccount where former == changes && item.account == nil: item.waitsForSignOut = true
    case .otherAccount where former == changes: absent[item.account] = .account
    case .otherAccount: break
    case .unknownAccount(let error):
      // A sign-in since then makes it known.
      guard former == changes else { break }
      lose(&item, error, now)
      item.waitsForAccount = true
    }
    items[name] = item
    if flights[name] != nil { actions.append(.report(name)) }
    if let end = item.notBefore { pauses.insert(Pause(end: end, name: name)) }
  }

  /// Begins the pause after an attempt that has not reached the server.
  private func lose(_ item: inout Item, _ error: NetworkError, _ now: Duration) {
    item.losses += 1
    let asked = error.kind == .unavailable ? error.retryAfter ?? .zero : .zero
    item.notBefore = now + max(pause(after: error, attempt: item.losses), min(asked, Self.longestPause))
  }

  private static let rejection = NetworkError(kind: .authentication, reason: "the credentials were rejected")

  /// Returns the pause after an attempt that does not count.
  private func pause(after error: NetworkError, attempt: Int) -> Duration {
    var endless = retry
    (endless.attempts, endless.shouldRetry) = (.max, { _ in true })
    return endless.delay(after: error, attempt: attempt) ?? retry.maxDelay
  }

  /// A day: the pause that a server requests may be any number.
  private static let longestPause = Duration.seconds(86_400)

  private mutating func settle(_ name: OutboxName, _ actions: inout [Action]) {
    if case .retrying = flights[name] {
      flights[name] = nil
      items[name]?.startAfresh()
      return reconsider(name)
    }
    guard case .reporting(let parks, let status) = flights[name] else { return }
    flights[name] = nil
    guard parks else {
      actions.append(.remove(name))
      return forget(name)
    }
    items[name]?.hold = .parked(status: status)
    items[name]?.startAfresh()
    reconsider(name)
    actions.append(.park(name, status: status))
  }

  private mutating func retry(_ name: OutboxName, _ actions: inout [Action]) {
    if case .reporting(parks: true, _) = flights[name] { flights[name] = .retrying }
    guard flights[name] == nil,
      let item = items[name], item.hold != .newerVersion, item.hold != .unreadable
    else { return }
    if item.hold != nil { actions.append(.unpark(name)) }
    items[name]?.hold = nil
    items[name]?.startAfresh()
    candidates.insert(name)
  }

  private mutating func drop(_ name: OutboxName, _ actions: inout [Action]) {
    guard items[name] != nil else { return }
    switch flights[name] {
    case .dropped: return
    case .sending:
      // Its key waits until the request has ended.
      flights[name] = .dropped
      actions += [.remove(name), .cancel(name)]
    case .reporting, .retrying: flights[name] = .reporting(parks: false, status: nil)
    case nil:
      actions.append(.remove(name))
      forget(name)
    }
  }

  private mutating func forget(_ name: OutboxName) {
    let item = items.removeValue(forKey: name)
    flights[name] = nil
    order.removeInOrder(name)
    if item?.hold == .unreadable {
      unreadable.removeInOrder(name)
      reconsiderAll()
    } else if let lane = item?.lane {
      lanes[lane]?.removeInOrder(name)
      if let first = lanes[lane]?.first { candidates.insert(first) } else { lanes[lane] = nil }
    }
  }

  private mutating func resume(_ name: OutboxName) {
    items[name]?.notBefore = nil
    items[name]?.waitsForNetwork = false
    items[name]?.waitsForAccount = false
    candidates.insert(name)
  }

  // MARK: The next entries

  /// Starts entries in order, the first of each lane, as many as may be in flight.
  private mutating func start() -> [Action] {
    var actions: [Action] = []
    while let name = nextReady() {
      guard isOwner else { break }
      guard isOnline else { break }
      guard flights.count < concurrency else { break }
      candidates.removeFirst()
      flights[name] = .sending(changes: changes)
      actions.append(.start(name))
    }
    return actions
  }

  /// Returns the first entry that is ready, which is then the first of the candidates.
  private mutating func nextReady() -> OutboxName? {
    let busy = busy
    while let name = candidates.first {
      if isReady(name, busy) { return name }
      candidates.removeFirst()
    }
    return nil
  }

  /// The lanes of entries in flight. An entry of another process may sort before one of them.
  private var busy: Set<Lane> { Set(flights.keys.compactMap { items[$0]?.lane }) }

  /// Returns whether the entry waits for nothing, not even for an earlier one of its lane.
  private func isReady(_ name: OutboxName, _ busy: Set<Lane>) -> Bool {
    guard let item = items[name],
      item.hold == nil,
      item.notBefore == nil,
      !item.waitsForSignOut,
      flights[name] == nil,
      absent[item.account] == nil
    else { return false }
    guard let lane = item.lane else { return true }
    let isFirst = lanes[lane]?.first == name
    let isBlocked = unreadable.first.map { $0 < name } ?? false
    return isFirst && !isBlocked
      && !busy.contains(lane)
  }

  /// Returns the entries in order, with what each waits for. Those whose files can't be read are missing.
  func states(isElsewhere: Bool) -> [(name: OutboxName, state: Outbox.State)] {
    var closed: Set<Lane> = []
    var isBlocked = false
    let busy = busy
    return order.compactMap { name in
      guard let item = items[name] else { return nil }
      let isFirst = item.lane.map { closed.insert($0).inserted && !isBlocked } ?? true
      switch (item.hold, flights[name]) {
      case (.unreadable, _):
        isBlocked = true
        return nil
      case (_, .dropped): return nil
      case (_, .sending), (_, .reporting), (_, .retrying): return (name, .sending)
      case (.newerVersion, _): return (name, .newerVersion)
      case (.parked(let status), _): return (name, .parked(status: status))
      case (nil, nil): break
      }
      if isElsewhere { return (name, .otherProcess) }
      if !isFirst || item.lane.map(busy.contains) == true { return (name, .earlierEntry) }
      switch absent[item.account] {
      case .signIn: return (name, .waitingForSignIn)
      case .account: return (name, .otherUser)
      case nil where item.waitsForSignOut: return (name, .otherUser)
      case nil: break
      }
      if !isOnline { return (name, .waitingForNetwork) }
      return (name, item.notBefore == nil ? .queued : .waitingForRetry)
    }
  }
}
