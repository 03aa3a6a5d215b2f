import PortableFoundation
import Streams

/// The rules of an outbox: which entry is sent when, what parks, and what waits. It has no clock and does no I/O.
struct OutboxState {
  /// A reason why an entry is not sent when its turn comes.
  enum Hold: Hashable, Sendable {
    /// The server has rejected it, or the attempts are used up.
    case parked(status: Int?)
    case newerVersion
    /// Its file can't be read now, so that its key is unknown: all later entries with a key wait.
    case unreadable
  }

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
    /// Whether it belongs to no user, and would carry the token of the one who is signed in.
    fileprivate var waitsForSignOut = false

    init(_ name: OutboxName, account: String? = nil, key: String? = nil, hold: Hold? = nil) {
      (self.name, self.account, self.key, self.hold) = (name, account, key, hold)
    }

    fileprivate var lane: Lane? { key.map { Lane(account: account, key: $0) } }

    fileprivate mutating func startAfresh() {
      (failures, losses, rejections) = (0, 0, 0)
      (notBefore, waitsForNetwork) = (nil, false)
    }
  }

  /// Entries of one lane are sent in order.
  fileprivate struct Lane: Hashable {
    let account: String?
    let key: String
  }

  /// The result of a request.
  enum Outcome: Sendable {
    case accepted
    case rejected(status: Int?)
    /// The server may accept it later; `after` is the pause that it requests.
    case failed(NetworkError, after: Duration? = nil)
    case unreachable(NetworkError)
    case unauthenticated
    /// The server has rejected the current token after a refresh.
    case refused
    /// Nothing was sent, because another user is signed in.
    case otherAccount
  }

  enum Event {
    /// The entries in the directory. As owner, this process sends.
    case list([Item], isOwner: Bool)
    /// Another process may send from now on. Nothing may be in flight.
    case disown
    case add([Item])
    case end(OutboxName, Outcome)
    /// The subscribers have received the result.
    case reported(OutboxName)
    case online(Bool)
    /// The token has changed; the account of the current one.
    case account(String?)
    case retry(OutboxName)
    case drop(OutboxName)
    case wake
  }

  enum Action: Equatable {
    case start(OutboxName)
    case cancel(OutboxName)
    /// Deliver the result, then send `reported`.
    case report(OutboxName)
    case remove(OutboxName)
    case park(OutboxName, status: Int?)
    case unpark(OutboxName)
  }

  private enum Flight {
    /// In flight, with the number of account changes at its start.
    case sending(changes: Int)
    /// The result is being delivered. Then it is parked, or removed.
    case reporting(parks: Bool, status: Int?)
    /// In flight, and no longer in the directory.
    case dropped
  }

  private enum Absence { case signIn, account }

  let concurrency: Int
  let retry: RetryPolicy
  private(set) var isOwner = false
  private var isOnline = false
  /// In the order of `send`.
  private var order: [OutboxName] = []
  private var items: [OutboxName: Item] = [:]
  private var flights: [OutboxName: Flight] = [:]
  private var waiting: Set<OutboxName> = []
  /// The accounts that wait for a sign-in.
  private var absent: [String?: Absence] = [:]
  private var changes = 0

  init(concurrency: Int, retry: RetryPolicy) { (self.concurrency, self.retry) = (max(1, concurrency), retry) }

  /// Whether nothing is in flight, so that another process may send.
  var isAtRest: Bool { flights.isEmpty }
  var count: Int { order.count }
  func contains(_ name: OutboxName) -> Bool { items[name] != nil }

  /// The next time at which a pause ends; `nil` for none.
  var deadline: Duration? { isOnline ? waiting.lazy.compactMap { items[$0]?.notBefore }.min() : nil }

  /// Changes the state, and returns the actions to carry out, in this order. `now` must never decrease.
  mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .list(let listed, let isOwner):
      self.isOwner = isOwner
      replace(with: listed)
    case .disown: isOwner = false
    case .add(let added):
      // A file that could not be read before may be readable now.
      let readable = added.filter { items[$0.name]?.hold == .unreadable }
      let new = added.filter { items[$0.name] == nil }
      for item in new + readable { items[item.name] = item }
      // A directory lists in no order. All are known before the first one starts.
      let isLast = new.count == 1 && new.allSatisfy { item in order.last.map { $0 < item.name } ?? true }
      order += new.map(\.name)
      if !isLast { order.sort() }
    case .end(let name, let outcome): end(name, outcome, now, &actions)
    case .reported(let name): settle(name, &actions)
    case .online(let isOnline):
      if isOnline, !self.isOnline {
        for name in waiting where items[name]?.waitsForNetwork == true { resume(name) }
      }
      self.isOnline = isOnline
    case .account(let account):
      changes += 1
      absent[account] = nil
      for name in order where items[name]?.waitsForSignOut == true { items[name]?.waitsForSignOut = false }
    case .retry(let name):
      guard flights[name] == nil,
        let item = items[name], item.hold != .newerVersion, item.hold != .unreadable
      else { break }
      if item.hold != nil { actions.append(.unpark(name)) }
      items[name]?.hold = nil
      items[name]?.startAfresh()
      waiting.remove(name)
    case .drop(let name): drop(name, &actions)
    case .wake: break
    }
    for name in waiting where items[name]?.notBefore.map({ $0 <= now }) ?? true { resume(name) }
    return actions + start()
  }

  /// Whether an entry could be sent now.
  var isDue: Bool { !startable(atMost: 1).isEmpty }

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
    waiting = waiting.filter { new[$0]?.hold == nil && new[$0] != nil }
  }

  private mutating func end(_ name: OutboxName, _ outcome: Outcome, _ now: Duration, _ actions: inout [Action]) {
    guard let flight = flights[name], var item = items[name] else { return }
    let former: Int
    switch flight {
    case .reporting: return
    case .dropped: return forget(name)
    case .sending(let changes): former = changes
    }
    flights[name] = nil
    switch outcome {
    case .accepted:
      flights[name] = .reporting(parks: false, status: nil)
      actions.append(.report(name))
    case .rejected(let status):
      flights[name] = .reporting(parks: true, status: status)
      actions.append(.report(name))
    case .failed(let error, let after):
      item.failures += 1
      if let pause = retry.delay(after: error, attempt: item.failures) {
        // A server may request no delay, again and again.
        item.notBefore = now + min(max(after ?? .zero, pause), Self.longestPause)
      } else {
        flights[name] = .reporting(parks: true, status: error.response?.status)
        actions.append(.report(name))
      }
    case .unreachable(let error):
      item.losses += 1
      item.notBefore = now + pause(after: error, attempt: item.losses)
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
    }
    items[name] = item
    if item.notBefore != nil { waiting.insert(name) }
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
    guard case .reporting(let parks, let status) = flights[name] else { return }
    flights[name] = nil
    guard parks else {
      actions.append(.remove(name))
      return forget(name)
    }
    items[name]?.hold = .parked(status: status)
    items[name]?.startAfresh()
    actions.append(.park(name, status: status))
  }

  private mutating func drop(_ name: OutboxName, _ actions: inout [Action]) {
    guard items[name] != nil else { return }
    switch flights[name] {
    case .dropped: return
    case .sending:
      // Its key waits until the request has ended.
      flights[name] = .dropped
      actions += [.remove(name), .cancel(name)]
    case .reporting: flights[name] = .reporting(parks: false, status: nil)
    case nil:
      actions.append(.remove(name))
      forget(name)
    }
  }

  private mutating func forget(_ name: OutboxName) {
    (items[name], flights[name]) = (nil, nil)
    waiting.remove(name)
    if order.first == name {
      order.removeFirst()
    } else {
      order.removeAll { $0 == name }
    }
  }

  private mutating func resume(_ name: OutboxName) {
    waiting.remove(name)
    items[name]?.notBefore = nil
    items[name]?.waitsForNetwork = false
  }

  // MARK: The next entries

  private mutating func start() -> [Action] {
    guard isOwner else { return [] }
    return startable(atMost: concurrency - flights.count).map { name in
      flights[name] = .sending(changes: changes)
      return .start(name)
    }
  }

  /// The lanes of entries in flight. An entry of another process may sort before one of them.
  private var busy: Set<Lane> { Set(flights.keys.compactMap { items[$0]?.lane }) }

  /// Returns the first entry of each lane that waits for nothing.
  private func startable(atMost limit: Int) -> [OutboxName] {
    guard isOnline, limit > 0 else { return [] }
    var found: [OutboxName] = []
    var closed = busy
    var isBlocked = false
    for name in order {
      guard let item = items[name] else { continue }
      if item.hold == .unreadable { isBlocked = true }
      if let lane = item.lane, isBlocked || !closed.insert(lane).inserted { continue }
      if isReady(item) { found.append(name) }
      if found.count == limit { break }
    }
    return found
  }

  private func isReady(_ item: Item) -> Bool {
    item.hold == nil
      && item.notBefore == nil
      && !item.waitsForSignOut
      && flights[item.name] == nil
      && absent[item.account] == nil
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
      case (_, .sending), (_, .reporting): return (name, .sending)
      case (.newerVersion, _): return (name, .newerVersion)
      case (.parked(let status), _): return (name, .parked(status: status))
      case (nil, nil): break
      }
      if isElsewhere { return (name, .otherProcess) }
      if !isFirst || item.lane.map(busy.contains) == true { return (name, .earlierEntry) }
      switch absent[item.account] {
      case .signIn: return (name, .signIn)
      case .account: return (name, .account)
      case nil where item.waitsForSignOut: return (name, .account)
      case nil: break
      }
      if !isOnline { return (name, .network) }
      return (name, item.notBefore == nil ? .queued : .retry)
    }
  }
}
