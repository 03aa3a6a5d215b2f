import PortableFoundation
import Streams

extension TokenState {
  /// Resumes a caller with a token that differs from `old`, now or after a refresh. Only one refresh runs at a time.
  mutating func renew(_ id: Int, _ old: Held, _ now: Date) {
    // A request of one user must not be retried as another.
    if session.generation != old.generation, old.token != nil { return actions.append(.resume(id, nil)) }
    if session.token != nil, session.token != old.token { return actions.append(.resume(id, session)) }
    let generation = old.token == nil ? nil : old.generation
    if let current {
      waiters[id] = (generation, current)
      if refreshes[current]?.hasBegun == true { actions.append(.startLimit(id)) }
      return
    }
    // Times can be in the future if the clock was set back.
    failures.removeAll { now.timeIntervalSince($0.date) >= window || $0.date > now }
    guard failures.count < maxRefreshes else {
      return actions.append(.fail(id, NetworkError.ofRefreshes(failures.map(\.outage), within: window)))
    }
    let refresh = newID()
    waiters[id] = (generation, refresh)
    refreshes[refresh] = Refresh(old: old.token)
    current = refresh
    actions += [.startLimit(refresh), .lock(refresh, isAgain: false)]
  }

  mutating func locked(_ id: Int, _ result: Result<Bool, any Error>) {
    guard id == current else {
      // Discarded during its wait.
      if case .success(true) = result { actions.append(.unlock(id)) }
      return
    }
    switch result {
    case .success(false): return actions.append(.lock(id, isAgain: true))
    case .success(true): refreshes[id]?.isLocked = true
    // Without a lock, the refresh continues; only a concurrent refresh would conflict.
    case .failure(let error): actions.append(.report(error))
    }
    // Each limit begins with the refresh. The wait for another process had a limit of its own.
    actions.append(.startLimit(id))
    for waiter in waiters.filter({ $0.value.refresh == id }).keys.sorted() { actions.append(.startLimit(waiter)) }
    // The store does not have the present user yet, or perhaps a former one whom the sign-in could not replace.
    if !setters.isEmpty { return ask(id, refreshes[id]?.old, seen: nil) }
    if storedGeneration == nil { return ask(id, refreshes[id]?.old, seen: nil) }
    refreshes[id]?.step = .reading
    actions.append(.read(id))
  }

  private mutating func ask(_ id: Int, _ old: Token?, seen: Token??) {
    refreshes[id]?.step = .asking(old, seen: seen)
    actions.append(.refresh(id, old))
  }

  /// Uses a token that another process has saved, or refreshes it if it has expired.
  private mutating func use(_ found: Token, _ id: Int, _ now: Date) {
    if found.expiresAt.map({ $0 > now }) ?? true { adopt(found, id) } else { ask(id, found, seen: found) }
  }

  mutating func read(_ id: Int, _ result: Result<Token?, any Error>, _ now: Date) {
    guard let refresh = refreshes[id] else { return }
    // An unreadable store has no other token.
    let seen: Token?? = if case .success(let token) = result { token } else { nil }
    let found = seen ?? nil
    if found != nil { isReadable = true }
    switch refresh.step {
    // It was discarded, and has used nothing up.
    case .reading where id != current: end(id)
    case .reading:
      // This process removes a token that it can't replace.
      let isSignOut = seen != nil && found == nil && isReadable && stored != nil && refresh.old != nil
      if isSignOut { return adopt(nil, id) }
      if let found, found != stored, found != refresh.old, found != writing?.held.token { return use(found, id, now) }
      // An unreadable store has what this process knows of it, until the next look.
      ask(id, refresh.old, seen: seen ?? stored)
    case .rereading(let asked, _, let result) where id != current: undo(id, after: result, asked: asked, found: found)
    case .rereading(let asked, let before, .success(let new)):
      // Saved by the refresh itself, or by this process. Otherwise, a user has signed in or out in another process.
      let own = [asked, session.token, writing?.held.token]
      let isOwn = found != nil && (found?.access == new.access || own.contains(found))
      if seen == nil || found == before ?? nil || isOwn { return keep(new, id, now) }
      adopt(found, id)
    case .rereading(let asked, let before, .failure(let error)):
      // Another process may have used the old token before, and saved a new one.
      if let found, found != before ?? nil, found != asked, found != session.token { return use(found, id, now) }
      fail(id, error, now)
    default: break
    }
  }

  mutating func refreshed(_ id: Int, _ result: Result<Token, NetworkError>, _ now: Date) {
    guard let refresh = refreshes[id], case .asking(let old, let seen) = refresh.step else { return }
    let result = result.map { new in
      var new = new
      // A server may omit the refresh token (RFC 6749 §6).
      let isOfOther = new.isKnownNotToBelong(toOwnerOf: old)
      if !isOfOther { new.refresh = new.refresh ?? old?.refresh }
      new.account = new.account ?? old?.account
      return new
    }
    switch result {
    case .success(let new) where id == current && seen == nil: keep(new, id, now)
    case .failure(let error) where id == current && (seen == nil || !error.endsSession): fail(id, error, now)
    default:
      refreshes[id]?.step = .rereading(old, seen: seen, result)
      actions.append(.read(id))
    }
  }

  /// Uses the token of another process, or signs out because another process has.
  private mutating func adopt(_ token: Token?, _ id: Int) {
    let isOther = token?.isKnownNotToBelong(toOwnerOf: session.token) ?? (session.token != nil)
    put(token, renewal: token?.renewal(leeway), isOther: isOther)
    (stored, storedGeneration, written) = (token, session.generation, version)
    isUntried = token != nil && !isOther
    current = nil
    end(id)
    resume(callersOf: id)
  }

  /// Uses and saves the token of a refresh.
  private mutating func keep(_ new: Token, _ id: Int, _ now: Date) {
    let isOther = new.isKnownNotToBelong(toOwnerOf: session.token)
    put(new, renewal: new.renewal(leeway, ofNewAt: now), isOther: isOther)
    isUntried = !isOther
    save(id, then: nil)
  }

  private mutating func fail(_ id: Int, _ failure: NetworkError, _ now: Date) {
    let outage = failure.isOfUnfinishedRefresh ? failure : nil
    if !failure.kind.isTransient { failures.append((now, outage)) }
    // The user is signed out. A closure that has no token to refresh ends no session.
    let isEnd = failure.endsSession && session.token != nil
    if isEnd {
      put(nil, renewal: nil, isOther: true)
      return save(id, then: failure)
    }
    current = nil
    end(id)
    for (caller, _) in takeCallers(of: id) { actions.append(.fail(caller, failure)) }
  }

  private mutating func save(_ id: Int, then failure: NetworkError?) {
    if id == current { current = nil }
    refreshes[id]?.step = .saving(version, failure)
    write()
  }

  /// Discards the refresh after a sign-in or sign-out. Requests that wait for it get the new token, or none.
  mutating func discard() {
    if let id = current.take(), let refresh = refreshes[id] {
      if case .locking = refresh.step { end(id) } else if refresh.isLate { unlock(id) }
      resume(callersOf: id)
    }
    for id in refreshes.keys.sorted() { resume(callersOf: id) }
  }

  /// Saves the current token again if a discarded refresh has saved its own one. It may have failed after that.
  private mutating func undo(_ id: Int, after result: Result<Token, NetworkError>, asked: Token?, found: Token?) {
    let isLocked = refreshes[id]?.isLocked ?? false
    let isOwn =
      switch result {
      case .success(let new): found?.access == new.access && found?.access != session.token?.access
      // Without the lock, another process may have saved it.
      case .failure:
        isLocked && found != session.token && found != asked && found?.isKnownNotToBelong(toOwnerOf: asked) == false
      }
    guard isOwn else { return end(id) }
    version += 1
    save(id, then: nil)
  }

  mutating func limit(_ id: Int, _ now: Date) {
    let late = NetworkError.ofRefresh(StreamError.timeout)
    if waiters.removeValue(forKey: id) != nil { return actions.append(.fail(id, late)) }
    guard let refresh = refreshes[id] else { return }
    guard refresh.hasBegun else { return fail(id, late, now) }
    refreshes[id]?.isLate = true
    // Nobody needs its result, and it may never end. A write must end under the lock.
    let isDiscarded = id != current && !refresh.isSaving
    if isDiscarded { unlock(id) }
  }

  /// Ends the wait of the callers with the current token.
  mutating func resume(callersOf id: Int) {
    for (caller, generation) in takeCallers(of: id) {
      if session.token == nil {
        actions.append(.fail(caller, NetworkError.signedOutDuringRefresh))
      } else {
        let isSame = generation == nil || generation == session.generation
        actions.append(.resume(caller, isSame ? session : nil))
      }
    }
  }

  mutating func end(_ id: Int) {
    unlock(id)
    refreshes[id] = nil
    actions.append(.stopLimit(id))
  }

  private mutating func unlock(_ id: Int) {
    guard refreshes[id]?.isLocked == true else { return }
    refreshes[id]?.isLocked = false
    if saveLock == .done, !setters.isEmpty { owedLocks.append(id) } else { actions.append(.unlock(id)) }
  }
}
