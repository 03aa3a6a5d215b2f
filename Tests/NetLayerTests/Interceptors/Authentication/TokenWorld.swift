import Foundation
import HTTPTransport
import Races
import StreamsTesting
import TestSupport

@testable import NetLayer

/// Two processes with a `TokenState` each, one store, one lock, one token server with rotating refresh tokens, and several users.
/// Every result takes a random time, and may be lost or be a failure. A process may be killed. The invariants of the machine are
/// checked after each event.
final class TokenWorld {
  private final class Process {
    let number: Int
    var state = TokenState(leeway: 30, maxRefreshes: 5, window: 60)
    /// The callers who wait, each with the token with which it began.
    var callers: [Int: TokenState.Held?] = [:]
    var setters: [Int: Int] = [:]
    var timers: [Int: Double] = [:]
    /// The users of all generations.
    var users: [Int: String] = [:]
    var writes = 0
    var lastWrite = 0
    /// The refreshes that run, each with the refresh token that it uses.
    var asked: [Int: String] = [:]
    var failures: [Double] = []
    var discarded: Set<String> = []
    var hasFailedToWrite = false
    /// Whether its last look into the store has failed.
    var hasFailedToRead = false

    init(_ number: Int) { self.number = number }
  }

  private struct Step {
    let due: Double
    let owner: Process
    let run: () -> Void
  }

  private(set) var problems: [String] = []
  private(set) var log: [String] = []
  private(set) var events = 0
  private(set) var refreshes = 0
  private var numbers: SplitMix64
  private var now = 1000.0
  private var processes = [Process(1), Process(2)]
  private var steps: [Step] = []
  private var disk: Token?
  private var locks: [(owner: Process, key: Int)] = []
  /// The refresh tokens that the server accepts, each with its user, and those that were used.
  private var valid: [String: String] = [:]
  private var issued = 0
  /// The faults of this schedule.
  private let isDiskFlaky: Bool, isLockFlaky: Bool, savesItself: Bool, kills: Bool
  /// Whether a sign-in was saved without the lock, because another process held it for too long.
  private var hasGivenUp = false
  private var isOver = false

  private let hasLog: Bool

  init(_ seed: Int, hasLog: Bool = false) {
    self.hasLog = hasLog
    numbers = SplitMix64(seed: UInt64(seed))
    isDiskFlaky = Int.random(in: 0..<3, using: &numbers) == 0
    isLockFlaky = Int.random(in: 0..<6, using: &numbers) == 0
    savesItself = Int.random(in: 0..<6, using: &numbers) == 0
    kills = Int.random(in: 0..<2, using: &numbers) == 0
  }

  private func chance(_ one: Int) -> Bool { !isOver && Int.random(in: 0..<one, using: &numbers) == 0 }
  private func note(_ text: () -> String) { if hasLog { log.append("\(now) \(text())") } }
  private func fail(_ text: String, _ process: Process) { problems.append("process \(process.number): \(text)") }

  // MARK: Schedules

  func run(steps count: Int) {
    disk = chance(3) ? nil : issue("ann")
    for _ in 0..<count where problems.isEmpty {
      if chance(3) { act() } else { advance() }
    }
    // Everything ends now: results arrive, and the time limits pass.
    isOver = true
    for _ in 0..<50_000 where problems.isEmpty { guard advance() else { break } }
    for process in processes where problems.isEmpty {
      if !process.callers.isEmpty { fail("\(process.callers.count) callers wait forever", process) }
      if !process.setters.isEmpty { fail("sign-ins wait forever", process) }
      if process.asked.isEmpty, locks.contains(where: { $0.owner === process }) {
        fail("the lock is kept: \(locks.map(\.key))", process)
      }
      let state = process.state
      if state.knowledge == .known, state.written != state.version, !process.hasFailedToWrite {
        fail("the last token is not saved", process)
      }
      if !savesItself, let disk, process.discarded.contains(disk.access) { fail("a discarded token is saved", process) }
    }
  }

  /// Runs one of the steps that are due, or lets time pass. Returns whether there was one.
  @discardableResult
  private func advance() -> Bool {
    let timer = processes.flatMap { process in process.timers.map { (process, $0.key, $0.value) } }
      .min { ($0.2, $0.0.number, $0.1) < ($1.2, $1.0.number, $1.1) }
    guard let next = steps.map(\.due).min() ?? timer?.2 else { return false }
    if let timer, timer.2 <= next || steps.isEmpty {
      now = max(now, timer.2)
      timer.0.timers[timer.1] = nil
      handle(.limit(timer.1), timer.0)
      return true
    }
    now = max(now, next)
    let due = steps.indices.filter { steps[$0].due <= now }
    guard let index = due.randomElement(using: &numbers) else { return false }
    steps.remove(at: index).run()
    return true
  }

  /// Does `work` after a random time, unless its process is killed.
  private func later(_ process: Process, slow: Int = 20, _ work: @escaping () -> Void) {
    let delay = chance(slow) ? Double.random(in: 1...90, using: &numbers) : Double.random(in: 0...0.2, using: &numbers)
    steps.append(Step(due: now + delay, owner: process, run: work))
  }

  /// Lets a user or a server do something.
  private func act() {
    guard let process = processes.randomElement(using: &numbers) else { return }
    let id = process.state.newID()
    switch Int.random(in: 0..<22, using: &numbers) {
    case 0..<4:
      process.callers[id] = .some(nil)
      handle(.need(id), process)
    case 4..<13:
      guard let held = process.state.known(at: Date(timeIntervalSince1970: now)) else { return }
      process.callers[id] = held
      handle(.renew(id, held), process)
    case 13:
      guard let caller = process.callers.keys.sorted().randomElement(using: &numbers) else { return }
      process.callers[caller] = nil
      handle(.leave(caller), process)
    case 14, 15:
      let user = ["ann", "bob", nil].randomElement(using: &numbers) ?? nil
      let token = user.map(issue)
      process.failures = []
      process.discarded.formUnion(process.asked.keys.map { "refresh \($0)" })
      process.setters[id] = process.state.version + 1
      handle(.set(token, id), process)
    case 16, 17: handle(.accepted(process.state.session), process)
    case 18:
      if !process.state.isRefused { process.failures.append(now) }
      handle(.refused(process.state.session), process)
    case 19: now += Double.random(in: 0...40, using: &numbers)
    case 20 where kills && chance(3): kill(process)
    default: advance()
    }
  }

  private func kill(_ process: Process) {
    note { "process \(process.number) is killed" }
    steps.removeAll { $0.owner === process }
    locks.removeAll { $0.owner === process }
    processes = processes.map { $0 === process ? Process(process.number) : $0 }
  }

  /// Returns a new token of `user`.
  private func issue(_ user: String) -> Token {
    issued += 1
    valid["r\(issued)"] = user
    let lifetime: Double? = chance(3) ? Double.random(in: 5...300, using: &numbers) : nil
    return Token(
      access: "\(user)-\(issued)", refresh: "r\(issued)",
      expiresAt: lifetime.map { Date(timeIntervalSince1970: now + $0) }, account: user)
  }

  private func user(_ token: Token?) -> String? { token.map { String($0.access.prefix { $0 != "-" }) } }

  // MARK: Events

  private func handle(_ event: TokenState.Event, _ process: Process) {
    guard processes.contains(where: { $0 === process }) else { return }
    events += 1
    let former = process.state
    let actions = process.state.handle(event, at: Date(timeIntervalSince1970: now))
    note {
      let session = process.state.session
      let text =
        "process \(process.number) \(event) -> \(actions) | \(session.token?.access ?? "-") #\(session.generation) "
        + "v\(process.state.version) w\(process.state.written) \(process.state.saveLock) disk \(disk?.access ?? "-")"
      return text.replacing(/NetLayer\.|TokenState\.|Action\.|Swift\.|Optional/, with: "")
    }
    check(event, process, since: former, actions)
    for action in actions { perform(action, process) }
  }

  private func check(
    _ event: TokenState.Event, _ process: Process, since former: TokenState, _ actions: [TokenState.Action]
  ) {
    let (state, session) = (process.state, process.state.session)
    // 1. The generation only grows, and each one has one user.
    if session.generation < former.session.generation { fail("the generation goes back", process) }
    if let name = user(session.token) {
      if let known = process.users[session.generation], known != name { fail("one generation has two users", process) }
      process.users[session.generation] = name
      if let account = session.token?.account, account != name { fail("\(name) is called \(account)", process) }
    }
    let hasChanged = session.generation != former.session.generation
    if former.session.token != nil, session.token == nil, !hasChanged {
      fail("a sign-out keeps the generation", process)
    }
    // 3. One refresh counts.
    if state.current.map({ state.refreshes[$0] == nil }) ?? false { fail("the current refresh is unknown", process) }
    // 5. A discarded refresh never becomes the session's token.
    if !savesItself, let access = session.token?.access, process.discarded.contains(access) {
      fail("a discarded token is used", process)
    }
    // 9. Signals.
    let signIns = actions.filter { if case .noteSignIn = $0 { true } else { false } }.count
    let changes = actions.filter { if case .noteChange = $0 { true } else { false } }.count
    var (isSet, isFirst) = (false, false)
    if case .set = event { isSet = true }
    if case .loaded = event { isFirst = true }
    let isAcceptance = former.isUntried && !state.isUntried && !hasChanged && session.token == former.session.token
    if signIns != (isSet || hasChanged || isAcceptance ? 1 : 0) { fail("\(signIns) sign-ins are signalled", process) }
    if changes != 1, isSet || !isFirst && session.token != former.session.token {
      fail("\(changes) changes are signalled", process)
    }
    // The user has changed exactly when a sign-in, a sign-out or another process says so.
    if hasChanged, !isSet, user(session.token) == user(former.session.token) {
      fail("a new generation of the same user", process)
    }
  }

  private func perform(_ action: TokenState.Action, _ process: Process) {
    switch action {
    case .load: look(process) { .loaded($0) }
    case .read(let id): look(process) { .read(id, $0) }
    case .lock(let id, let isAgain):
      if id != 0, !isAgain {
        // 8. The limit of refreshes.
        process.failures.removeAll { now - $0 >= 60 }
        if process.failures.count >= 5 { fail("a refresh after 5 failures", process) }
      }
      lock(id, isAgain, process)
    // The actions of two events are carried out concurrently.
    case .unlock(let id): chance(4) ? later(process) { [self] in unlock(id, process) } : unlock(id, process)
    case .refresh(let id, let old): ask(id, old, process)
    case .write(let token): write(token, process)
    case .startLimit(let id): process.timers[id] = now + 60
    case .stopLimit(let id): process.timers[id] = nil
    case .resume(let id, let held):
      // 2. Each caller ends once, as the user with whom it began, or as another one.
      guard let began = process.callers.removeValue(forKey: id) else { return fail("\(id) ends twice", process) }
      if let began, let held, began.token != nil, began.generation != held.generation {
        fail("a caller receives the token of another user", process)
      }
      if let began, let held, held.token == began.token, held.token != nil { fail("the same token again", process) }
    case .fail(let id, _):
      if process.callers.removeValue(forKey: id) == nil { fail("\(id) ends twice", process) }
    case .end(let id, let error):
      guard let version = process.setters.removeValue(forKey: id) else { return fail("\(id) ends twice", process) }
      // 6. No older write begins after it.
      if error == nil, process.lastWrite < version { fail("a sign-in ends unsaved", process) }
    case .noteChange, .noteSignIn, .report: break
    }
  }

  // MARK: The store and the server

  private func look(_ process: Process, _ event: @escaping (Result<Token?, any Error>) -> TokenState.Event) {
    later(process) { [self] in
      let isBroken = isDiskFlaky && chance(5)
      let found: Result<Token?, any Error> = isBroken ? .failure(TestError("load")) : .success(disk)
      process.hasFailedToRead = isBroken
      later(process) { [self] in handle(event(found), process) }
    }
  }

  private func write(_ token: Token?, _ process: Process) {
    // 4. One write at a time, in the order of the versions.
    process.writes += 1
    if process.writes > 1 { fail("two writes run", process) }
    let version = process.state.writing?.version ?? 0
    if version < process.lastWrite { fail("an older version is written", process) }
    process.lastWrite = version
    let isOfSetter = !process.state.setters.isEmpty
    later(process) { [self] in
      let isBroken = isDiskFlaky && chance(4)
      if isBroken {
        process.hasFailedToWrite = true
      } else {
        let isAlone =
          !isLockFlaky && !hasGivenUp && !savesItself && !process.hasFailedToWrite && !process.hasFailedToRead
        // 10. A refresh does not undo a sign-in of another user.
        if isAlone, !isOfSetter, process.state.setters.isEmpty, let present = user(disk), let new = user(token),
          present != new
        {
          fail("\(new) replaces \(present) in the store", process)
        }
        disk = token
        note { "process \(process.number) has written \(token?.access ?? "none")" }
      }
      later(process) { [self] in
        process.writes -= 1
        handle(.written(isBroken ? .failure(TestError("full")) : .success(())), process)
      }
    }
  }

  private func lock(_ key: Int, _ isAgain: Bool, _ process: Process) {
    let attempt = { [self] in
      if isLockFlaky, chance(8) { return handle(.locked(key, .failure(TestError("lock"))), process) }
      let isFree = locks.isEmpty
      if isFree { locks.append((process, key)) }
      if key == 0, !isFree, case .taking(100) = process.state.saveLock { hasGivenUp = true }
      handle(.locked(key, .success(isFree)), process)
    }
    if isAgain { steps.append(Step(due: now + 0.05, owner: process, run: attempt)) } else { later(process, attempt) }
  }

  private func unlock(_ key: Int, _ process: Process) {
    // 7. Only a lock that is held is released.
    guard let index = locks.firstIndex(where: { $0.owner === process && $0.key == key }) else {
      return fail("lock \(key) is not held", process)
    }
    locks.remove(at: index)
  }

  private func ask(_ id: Int, _ old: Token?, _ process: Process) {
    refreshes += 1
    if let used = old?.refresh {
      let others = processes.filter { other in
        other.asked.contains { asked in
          asked.value == used && other.state.refreshes[asked.key]?.isLate == false
        }
      }
      // 3. No second refresh of one token runs.
      if !isLockFlaky, !others.isEmpty { fail("two refreshes of \(used) run", process) }
    }
    process.asked[id] = old?.refresh ?? "none"
    if chance(40) { return }
    later(process, slow: 6) { [self] in
      let result = response(to: old)
      if case .success(var new) = result, savesItself, chance(2) {
        // A token without an account could belong to anybody.
        new.account = old?.account
        disk = new
      }
      later(process, slow: 6) { [self] in
        process.asked[id] = nil
        switch result {
        case .success(let new) where process.state.current != id: process.discarded.insert(new.access)
        case .failure(let error) where process.state.current == id:
          let ends = (error as? NetworkError)?.endsSession == true
          // It counts when the store was read again.
          if !ends, !NetworkError.ofRefresh(error).kind.isTransient { process.failures.append(now) }
        default: break
        }
        handle(.refreshed(id, result.mapError(NetworkError.ofRefresh)), process)
      }
    }
  }

  private func response(to old: Token?) -> Result<Token, any Error> {
    switch Int.random(in: 0..<10, using: &numbers) {
    case 0: return .failure(NetworkError(kind: .connection, reason: "lost before"))
    case 1: return .failure(NetworkError(kind: .status, code: 503, reason: "down"))
    case 2: return .failure(NetworkError(kind: .status, code: 400, reason: "refused"))
    default: break
    }
    guard let old, let refresh = old.refresh else { return .failure(TestError("sign in first")) }
    guard let user = valid[refresh] else {
      var ended = NetworkError(kind: .status, code: 400, reason: "invalid_grant")
      ended.endsSession = true
      return .failure(ended)
    }
    if chance(20) { valid[refresh] = nil }
    if chance(4) { return .success(Token(access: issue(user).access)) }
    valid[refresh] = nil
    return chance(12) ? .failure(NetworkError(kind: .connection, reason: "lost after")) : .success(issue(user))
  }
}
