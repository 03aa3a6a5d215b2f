import Foundation
import Races
import TestSupport

@testable import NetLayer
@testable import NetLayerOffline

/// A directory, two processes that share it, their users, a network and a server that honors keys, in virtual time. The
/// rules that it checks follow from the semantics of the outbox, not from the code of the state machine.
///
/// Processes are killed, the power fails, users sign in and out, tokens expire, requests and responses are lost.
struct OutboxWorld {
  /// A file in the directory.
  struct File: Equatable {
    let account: String?
    let key: String?
    var hold: OutboxState.Hold?
    /// Whether it can be read now.
    var isReadable = true
  }

  struct Process {
    var machine: OutboxState
    /// The number of this run, so that events of a previous run are recognized.
    var run = 0
    var isStarted = false
    var isOnline = false
    var user: String?
    var token = 0
    var inFlight: [OutboxName: Int] = [:]
    /// The earliest start of an entry, as the server has requested or the last failure requires.
    var notBefore: [OutboxName: Int] = [:]
    var failures: [OutboxName: Int] = [:]
    /// The entries whose last attempt had no response.
    var lost: Set<OutboxName> = []
    /// The entries whose user was not known at the last attempt.
    var unknown: Set<OutboxName> = []
    /// The entries that it has read, which are in memory.
    var read: Set<OutboxName> = []
    /// The starts, and the events that allow one.
    var starts = 0
    var causes = 0
  }

  enum Due {
    case leave(Int, run: Int, OutboxName, attempt: Int)
    case arrive(Int, run: Int, OutboxName, attempt: Int, user: String?, token: Int)
    case response(Int, run: Int, OutboxName, attempt: Int, OutboxState.Outcome, isReported: Bool)
    case reported(Int, run: Int, OutboxName)
    case wake(Int, run: Int, Int)
    /// The end of a `send` whose number was chosen before.
    case write(Int, run: Int, OutboxName, File, listed: [OutboxName])
  }

  static let attempts = 4
  static let concurrency = 3

  var generator: SplitMix64
  var now = 0
  var queue: [(time: Int, order: Int, due: Due)] = []
  var order = 0
  var directory: [OutboxName: File] = [:]
  /// Removed, but not yet surely on disk.
  var unsynced: [OutboxName: File] = [:]
  var lockHolder: Int?
  var processes: [Process]
  var validToken = 0
  // What the server knows.
  var applied: [OutboxName] = []
  var rejected: Set<OutboxName> = []
  var isKind = false
  // What the app knows.
  var acknowledged: [OutboxName: File] = [:]
  /// The times of the start and the end of `send`, as counters. Numbers are used again when the directory is empty.
  var began: [OutboxName: Int] = [:]
  var ended: [OutboxName: Int] = [:]
  var sends = 0
  var dropped: Set<OutboxName> = []
  var results: [OutboxName: Int] = [:]
  var rejections: [OutboxName: Int] = [:]
  var failure: String?
  var counts = (sends: 0, kills: 0, cuts: 0, starts: 0)
  let log = Notes()
  let logLength = 60
  let isTraced: Bool

  init(seed: UInt64, isTraced: Bool = false) {
    generator = SplitMix64(seed: seed)
    self.isTraced = isTraced
    let machine = OutboxState(concurrency: Self.concurrency, retry: Self.policy)
    processes = [Process(machine: machine), Process(machine: machine)]
  }

  /// Delays of 5, 10, 20 … units, without jitter.
  static let policy = RetryPolicy(
    attempts: attempts, initialDelay: .seconds(5), maxDelay: .seconds(40), jitter: { $0.upperBound })

  func note(_ text: @autoclosure () -> String) { if isTraced { log.add("\(now) " + text()) } }
  mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func chance(_ percent: Int) -> Bool { random(1...100) <= percent }

  mutating func schedule(after delay: Int, _ due: Due) {
    order += 1
    queue.append((now + delay, order, due))
  }

  mutating func fail(_ reason: String) {
    if failure == nil { failure = "at \(now): \(reason)\n" + log.all.suffix(logLength).joined(separator: "\n") }
  }

  // MARK: The run

  mutating func run(steps: Int = 80) {
    for _ in 0..<steps where failure == nil {
      step()
      advance(by: random(0...5))
    }
    finish()
  }

  private mutating func step() {
    let p = random(0...1)
    switch random(1...100) {
    case ...30: send(p)
    case ...38: start(p)
    case ...46: setOnline(p, !processes[p].isOnline)
    case ...54: signIn(p, ["a", "b", nil][random(0...2)])
    case ...57:
      note("tokens expire")
      validToken += 1
    case ...60: refresh(p)
    case ...65: retryOrDrop(p)
    case ...72: kill(p)
    case ...74: cutPower()
    case ...77: toggleReadable()
    default: advance(by: random(0...40))
    }
  }

  /// Makes everything work, and checks that nothing is left.
  private mutating func finish() {
    isKind = true
    for name in directory.keys { directory[name]?.isReadable = true }
    rest()
    for p in 0...1 {
      processes[p].machine.isOwner && processes[p].machine.isAtRest ? fail("\(p) holds the lock at rest") : ()
      start(p)
      setOnline(p, true)
    }
    rest()
    // Entries of the users who are signed in need no other sign-in, unless their tokens were rejected after it.
    for p in 0...1 { checkPresentUser(p) }
    for user in ["a", "b"] {
      for p in 0...1 { signIn(p, user) }
      rest()
    }
    for p in 0...1 { look(p) }
    rest()
    for (name, file) in directory {
      if file.hold == .newerVersion || isBehindHeld(name, file) { continue }
      if case .parked = file.hold {
        if rejections[name, default: 0] == 0 { fail("\(name.text) is parked, and nobody was told") }
      } else {
        fail("\(name.text) of \(file.account ?? "-") \(file.key ?? "-") is left: \(statesText)")
      }
    }
    for (name, _) in acknowledged where directory[name] == nil && !dropped.contains(name) {
      if !applied.contains(name) { fail("\(name.text) is lost") }
      if results[name, default: 0] == 0 { fail("\(name.text): its result is lost") }
    }
    for process in processes where process.starts > process.causes {
      fail("\(process.starts) starts for \(process.causes) causes")
    }
  }

  private func isBehindHeld(_ name: OutboxName, _ file: File) -> Bool {
    guard let key = file.key else { return false }
    return directory.contains {
      $0.key < name && $0.value.key == key && $0.value.account == file.account && $0.value.hold != nil
    }
  }

  private var statesText: String {
    processes.map { "\($0.machine.states(isElsewhere: false))" }.joined(separator: "; ")
  }

  private mutating func checkPresentUser(_ p: Int) {
    guard lockHolder == nil, processes[p].token == validToken, let user = processes[p].user else { return }
    look(p)
    rest()
    for (name, file) in directory where file.account == user && file.hold == nil && !isBehindHeld(name, file) {
      fail("\(name.text) waits although \(user) is signed in at \(p): \(statesText)")
    }
  }

  // MARK: Users of the outbox

  private mutating func send(_ p: Int) {
    let account = processes[p].user
    let key = [nil, "k", "l"][random(0...2)]
    let last = directory.keys.map(\.number).max() ?? 0
    let name = OutboxName(last + 1, randomID())
    var file = File(account: account, key: key)
    if chance(4) { file.hold = .newerVersion }
    guard !chance(5) else {
      note("\(p) is killed inside send of \(name.text)")
      sends += 1
      if chance(50) { (directory[name], began[name], ended[name]) = (file, sends, sends) }
      return kill(p)
    }
    note("\(p) sends \(name.text) of \(account ?? "-") \(key ?? "-")")
    sends += 1
    began[name] = sends
    let listed = Array(directory.keys)
    guard !chance(15) else {
      // Meanwhile, the other process may take the same number.
      return schedule(after: random(1...6), .write(p, run: processes[p].run, name, file, listed: listed))
    }
    write(p, name, file, listed)
  }

  private mutating func write(_ p: Int, _ name: OutboxName, _ file: File, _ listed: [OutboxName]) {
    note("\(p) has written \(name.text)")
    counts.sends += 1
    directory[name] = file
    acknowledged[name] = file
    sends += 1
    ended[name] = sends
    processes[p].causes += directory.count
    // With those of the other process, which `send` has seen: the order is exact across processes, too.
    let names = (listed + [name]).filter { directory[$0] != nil }.shuffled(using: &generator)
    handle(p, .add(names.compactMap { name in directory[name].map { item(p, name, $0) } }))
  }

  private mutating func randomID() -> UUID {
    var bytes = [UInt8](repeating: 0, count: 16)
    for index in bytes.indices { bytes[index] = UInt8(random(0...255)) }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  private mutating func item(_ p: Int, _ name: OutboxName, _ file: File) -> OutboxState.Item {
    if file.isReadable { processes[p].read.insert(name) }
    guard processes[p].read.contains(name) else { return OutboxState.Item(name, hold: .unreadable) }
    return OutboxState.Item(name, account: file.account, key: file.key, hold: file.hold)
  }

  private mutating func start(_ p: Int) {
    note("\(p) starts")
    processes[p].isStarted = true
    handle(p, .online(processes[p].isOnline))
    look(p)
  }

  private mutating func look(_ p: Int) {
    processes[p].causes += directory.count
    handle(p, .list(listing(p), isOwner: processes[p].machine.isOwner))
  }

  private mutating func listing(_ p: Int) -> [OutboxState.Item] {
    directory.sorted { $0.key < $1.key }.shuffled(using: &generator).map { item(p, $0.key, $0.value) }
  }

  private mutating func setOnline(_ p: Int, _ isOnline: Bool) {
    note("\(p) is \(isOnline ? "on" : "off")line")
    processes[p].isOnline = isOnline
    processes[p].causes += directory.count
    guard processes[p].isStarted else { return }
    if isOnline {
      processes[p].notBefore = processes[p].notBefore.filter { !processes[p].lost.contains($0.key) }
    }
    handle(p, .online(isOnline))
    guard isOnline, lockHolder == nil || lockHolder == p else { return }
    for (name, state) in processes[p].machine.states(isElsewhere: false) where state == .waitingForRetry {
      if processes[p].lost.contains(name) { fail("\(p): \(name.text) still waits with a network") }
    }
  }

  private mutating func signIn(_ p: Int, _ user: String?) {
    note("\(p) signs in \(user ?? "nobody")")
    processes[p].user = user
    processes[p].token = validToken
    processes[p].causes += directory.count + 1
    guard processes[p].isStarted else { return }
    processes[p].notBefore = processes[p].notBefore.filter { !processes[p].unknown.contains($0.key) }
    handle(p, .account(user))
    guard lockHolder == nil || lockHolder == p else { return }
    for (name, state) in processes[p].machine.states(isElsewhere: false) where state == .waitingForRetry {
      if processes[p].unknown.contains(name) { fail("\(p): \(name.text) still waits after a sign-in") }
    }
  }

  private mutating func refresh(_ p: Int) {
    guard let user = processes[p].user else { return }
    signIn(p, user)
  }

  private mutating func retryOrDrop(_ p: Int) {
    guard lockHolder == nil || lockHolder == p, let name = directory.keys.sorted().randomElement(using: &generator)
    else { return }
    if lockHolder == nil { look(p) }
    guard lockHolder == nil || lockHolder == p, directory[name] != nil else { return }
    processes[p].causes += directory.count
    if chance(60) {
      note("\(p) retries \(name.text)")
      if processes[p].inFlight[name] == nil { (processes[p].notBefore[name], processes[p].failures[name]) = (nil, nil) }
      handle(p, .retry(name))
    } else if directory[name]?.isReadable == true {
      note("\(p) drops \(name.text)")
      dropped.insert(name)
      handle(p, .drop(name))
      if directory[name] != nil, processes[p].inFlight[name] != nil {
        fail("\(name.text) was dropped and is still there")
      }
      unsynced[name] = nil
    }
  }

  private mutating func kill(_ p: Int) {
    note("\(p) is killed")
    counts.kills += 1
    let old = processes[p]
    processes[p] = Process(machine: OutboxState(concurrency: Self.concurrency, retry: Self.policy), run: old.run + 1)
    (processes[p].user, processes[p].token, processes[p].isOnline) = (old.user, old.token, old.isOnline)
    (processes[p].starts, processes[p].causes) = (old.starts, old.causes)
    if lockHolder == p { lockHolder = nil }
  }

  private mutating func cutPower() {
    note("power cut")
    counts.cuts += 1
    for p in 0...1 { kill(p) }
    for (name, file) in unsynced.sorted(by: { $0.key < $1.key }) where chance(50) { directory[name] = file }
    unsynced = [:]
  }

  private mutating func toggleReadable() {
    guard let name = directory.keys.sorted().randomElement(using: &generator) else { return }
    directory[name]?.isReadable.toggle()
  }

  // MARK: The shell of a process

  private mutating func handle(_ p: Int, _ event: OutboxState.Event) {
    perform(p, processes[p].machine.handle(event, at: .seconds(now)))
    acquire(p)
    while processes[p].machine.isOwner, processes[p].machine.isAtRest {
      perform(p, processes[p].machine.handle(.disown, at: .seconds(now)))
      lockHolder = nil
      let known = processes[p].machine
      guard directory.keys.contains(where: { !known.contains($0) }) else { break }
      processes[p].causes += directory.count
      perform(p, processes[p].machine.handle(.list(listing(p), isOwner: false), at: .seconds(now)))
      acquire(p)
    }
    if let deadline = processes[p].machine.deadline {
      schedule(after: max(0, Int(deadline / .seconds(1)) - now), .wake(p, run: processes[p].run, now))
    }
  }

  private mutating func acquire(_ p: Int) {
    guard processes[p].isStarted, !processes[p].machine.isOwner, processes[p].machine.isDue, lockHolder == nil
    else { return }
    lockHolder = p
    perform(p, processes[p].machine.handle(.list(listing(p), isOwner: true), at: .seconds(now)))
  }

  private mutating func perform(_ p: Int, _ actions: [OutboxState.Action]) {
    for action in actions {
      switch action {
      case .start(let name): begin(p, name)
      case .cancel(let name):
        processes[p].inFlight[name] = nil
        schedule(
          after: random(0...3),
          .response(p, run: processes[p].run, name, attempt: -1, .unreachable(Self.lost), isReported: false))
      case .report(let name):
        schedule(after: chance(50) ? 0 : random(0...5), .reported(p, run: processes[p].run, name))
      case .remove(let name):
        if let file = directory.removeValue(forKey: name) { unsynced[name] = file }
      case .park(let name, let status):
        directory[name]?.hold = .parked(status: status)
        if rejections[name, default: 0] == 0 { fail("\(name.text) is parked before it is reported") }
      case .unpark(let name):
        directory[name]?.hold = nil
        rejected.remove(name)
      }
    }
  }

  static let lost = NetworkError(kind: .connection, reason: "lost")
  static let down = NetworkError(kind: .status, reason: "503")

  private mutating func begin(_ p: Int, _ name: OutboxName) {
    note("\(p) begins \(name.text)")
    counts.starts += 1
    processes[p].starts += 1
    if lockHolder != p { fail("\(p) sends without the lock") }
    if !processes[p].isOnline { fail("\(p) sends without a network") }
    guard let file = directory[name] else { return fail("\(p) sends \(name.text), which is not in the directory") }
    if file.hold != nil { fail("\(p) sends \(name.text), which is held: \(file.hold.map { "\($0)" } ?? "")") }
    if let earliest = processes[p].notBefore[name], now < earliest { fail("\(name.text) is sent before \(earliest)") }
    for (other, _) in processes[p].inFlight where file.key != nil {
      if let otherFile = directory[other], otherFile.key == file.key, otherFile.account == file.account {
        fail("\(name.text) and \(other.text) of one key are in flight")
      }
    }
    for (other, otherFile) in directory where other < name && file.key != nil {
      // It may have appeared after the listing of this process.
      guard processes[p].machine.contains(other), otherFile.key == file.key, otherFile.account == file.account
      else { continue }
      fail("\(name.text) overtakes \(other.text)")
    }
    processes[p].inFlight[name] = processes[p].starts
    if processes[p].inFlight.count > Self.concurrency { fail("\(p): too many requests") }
    let (run, attempt) = (processes[p].run, processes[p].starts)
    schedule(after: random(0...2), .leave(p, run: run, name, attempt: attempt))
  }

  // MARK: Time

  mutating func advance(by duration: Int) {
    let end = now + duration
    while failure == nil,
      let next = queue.indices.min(by: {
        queue[$0].time == queue[$1].time ? queue[$0].order < queue[$1].order : queue[$0].time < queue[$1].time
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
      if rounds > 2000 { return fail("never at rest: \(queue.prefix(3))") }
    }
  }

  private mutating func happen(_ due: Due) {
    switch due {
    case .leave(let p, let run, let name, let attempt):
      // A killed process sends nothing more.
      guard processes[p].run == run, let file = directory[name] ?? acknowledged[name] else { return }
      // An entry without an account goes to another origin, which gets no token.
      guard file.account == nil || processes[p].user == file.account else {
        note("\(p) refuses \(name.text), because \(processes[p].user ?? "nobody") is signed in")
        return schedule(after: 0, .response(p, run: run, name, attempt: attempt, .otherAccount, isReported: false))
      }
      guard isKind || file.account == nil || !chance(5) else {
        let unknown = Due.response(p, run: run, name, attempt: attempt, .unknownAccount(Self.lost), isReported: false)
        return schedule(after: random(0...8), unknown)
      }
      guard isKind || !chance(15) else {
        let lost = Due.response(p, run: run, name, attempt: attempt, .unreachable(Self.lost), isReported: false)
        return schedule(after: random(0...8), lost)
      }
      let (user, token) = (file.account == nil ? nil : processes[p].user, processes[p].token)
      schedule(
        after: random(0...8), .arrive(p, run: run, name, attempt: attempt, user: user, token: token))
    case .arrive(let p, let run, let name, let attempt, let user, let token):
      arrive(p, run, name, attempt, user, token)
    case .response(let p, let run, let name, let attempt, let outcome, let isReported):
      guard processes[p].run == run, attempt < 0 || processes[p].inFlight[name] == attempt else { return }
      // A refresh may have changed nothing.
      if case .unauthenticated = outcome, processes[p].token < validToken, chance(50) {
        end(p, name, .refused, isReported)
      } else {
        end(p, name, outcome, isReported)
      }
    case .reported(let p, let run, let name):
      guard processes[p].run == run else { return }
      if case .some = directory[name] {
        if outcomeIsSuccess[name] == true { results[name, default: 0] += 1 } else { rejections[name, default: 0] += 1 }
      }
      handle(p, .reported(name))
    case .write(let p, let run, let name, let file, let listed):
      if processes[p].run == run { write(p, name, file, listed) }
    case .wake(let p, let run, _):
      guard processes[p].run == run else { return }
      handle(p, .wake)
    }
  }

  private var outcomeIsSuccess: [OutboxName: Bool] = [:]

  private mutating func end(_ p: Int, _ name: OutboxName, _ outcome: OutboxState.Outcome, _ isReported: Bool) {
    note("\(p) ends \(name.text): \(outcome)")
    processes[p].inFlight[name] = nil
    processes[p].causes += 1
    outcomeIsSuccess[name] = false
    processes[p].lost.remove(name)
    processes[p].unknown.remove(name)
    switch outcome {
    case .accepted: outcomeIsSuccess[name] = true
    case .failed(_, let after):
      processes[p].failures[name, default: 0] += 1
      let failures = processes[p].failures[name, default: 0]
      if failures > Self.attempts { fail("\(name.text): \(failures) failures") }
      processes[p].notBefore[name] = now + (after.map { Int($0 / .seconds(1)) } ?? 5)
      if failures == Self.attempts { (processes[p].failures[name], processes[p].notBefore[name]) = (nil, nil) }
    case .unreachable:
      processes[p].notBefore[name] = now + 5
      processes[p].lost.insert(name)
    case .unknownAccount:
      // A sign-in during the attempt lets it follow immediately.
      processes[p].unknown.insert(name)
    case .rejected: (processes[p].failures[name], processes[p].notBefore[name]) = (nil, nil)
    case .unauthenticated, .refused, .otherAccount: break
    }
    handle(p, .end(name, outcome))
  }

  // MARK: The server

  private mutating func arrive(
    _ p: Int, _ run: Int, _ name: OutboxName, _ attempt: Int, _ user: String?, _ token: Int
  ) {
    guard let file = acknowledged[name] ?? directory[name] else { return }
    if user != file.account { fail("\(name.text) of \(file.account ?? "-") has the token of \(user ?? "-")") }
    var outcome = OutboxState.Outcome.accepted
    if file.account != nil, token < validToken {
      outcome = .unauthenticated
    } else if !applied.contains(name) {
      if rejected.contains(name) || (!isKind && chance(8)) {
        rejected.insert(name)
        outcome = .rejected(status: 422)
      } else if !isKind, chance(25) {
        outcome = .failed(Self.down, after: chance(30) ? .seconds(random(0...60)) : nil)
        if chance(50) { apply(name, file) }
      } else {
        apply(name, file)
      }
    }
    if !isKind, chance(15) { outcome = .unreachable(Self.lost) }
    schedule(after: random(0...8), .response(p, run: run, name, attempt: attempt, outcome, isReported: true))
  }

  private mutating func apply(_ name: OutboxName, _ file: File) {
    note("server applies \(name.text)")
    if applied.contains(name) { fail("\(name.text) is applied twice") }
    if let key = file.key, !dropped.contains(name) {
      for other in applied where !dropped.contains(other) {
        guard let otherFile = acknowledged[other], began[other, default: 0] > ended[name, default: .max] else {
          continue
        }
        if otherFile.key == key, otherFile.account == file.account {
          fail("\(other.text) was applied before \(name.text)")
        }
      }
    }
    applied.append(name)
  }
}
