import PortableFoundation
import Streams

extension TokenRefresh {
  /// The error while another process refreshes the same token.
  private struct Busy: Error {}

  /// The error of a refresh that was discarded before it began.
  private struct Discarded: Error {}

  /// Waits until no other process refreshes, then locks the store.
  func locked(_ refresh: Refreshing, _ clock: any SchedulerType) -> Single<Void> {
    Single.starting { [store] in
      do {
        guard let taken = try await store.lockForRefresh() else { throw Busy() }
        refresh.lock.disposable = taken
      } catch let busy as Busy {
        throw busy
      } catch {
        // Without a lock, the refresh continues; only a concurrent refresh would conflict.
        Hooks.onUnhandledError(error, #fileID, #line)
      }
    }
    .retryWhen { errors in
      errors.flatMap { _ in Observable<Int>.timer(.milliseconds(50), scheduler: clock) }
    }
    .map { [self] in
      try state.withLock { state in
        // A user has signed in or out during the wait.
        guard state.refresh === refresh else { throw Discarded() }
        state.lockHolder = refresh
      }
      refresh.timer.disposable = Observable<Int>.timer(timeout, scheduler: clock).subscribe(onNext: { [self] _ in
        refresh.isLate.raise()
        // Nobody needs its result, and it may never end.
        if state.withLock({ $0.refresh !== refresh }) { release(refresh) }
      })
      refresh.begun.onNext(())
    }
  }

  struct Renewed {
    /// `nil` after a sign-out in another process.
    var token: Token?
    /// Whether another process has written the token to the store.
    var isStored = false
  }

  /// Returns the token that another process has stored meanwhile, or else the result of the refresh.
  func renewed(_ old: Token?, _ clock: any SchedulerType) -> Single<Renewed> {
    let (known, isReplacing, isUnread) = state.withLock {
      ($0.stored, $0.replacements > 0, $0.storedGeneration == nil)
    }
    // The store does not have the present user yet, or perhaps a former one whom the sign-in could not replace.
    if isReplacing { return refreshed(old, nil, clock) }
    if isUnread { return refreshed(old, nil, clock) }
    return Single.starting { [self] () -> (found: Token??, isSignOut: Bool) in
      do {
        let found = try await store.load()
        let isSignOut = state.withLock { state in
          if found != nil { state.isReadable = true }
          // This process removes a token that it can't replace.
          return found == nil && state.isReadable && known != nil && old != nil
        }
        return (found, isSignOut)
      } catch {
        // An unreadable store has no new token.
        return (nil, false)
      }
    }
    .flatMap { [self] stored, isSignOut in
      if isSignOut { return .just(Renewed(token: nil, isStored: true)) }
      guard let found = stored ?? nil, found != known, found != old else { return refreshed(old, stored, clock) }
      return used(found, stored, clock)
    }
  }

  /// Returns the token of another process, or the result of its refresh if it has expired.
  private func used(_ found: Token, _ stored: Token??, _ clock: any SchedulerType) -> Single<Renewed> {
    if found.expiresAt.map({ $0 > clock.now }) ?? true { return .just(Renewed(token: found, isStored: true)) }
    return refreshed(found, stored, clock)
  }

  /// Returns the result of the refresh. If the store has changed since it returned `stored`, returns what it has now: a user
  /// has signed in or out in another process, which must not be undone.
  ///
  /// - Parameter stored: `nil` if the store was not read.
  private func refreshed(_ old: Token?, _ stored: Token??, _ clock: any SchedulerType) -> Single<Renewed> {
    refresh(old).map { new -> Renewed in
      var new = new
      // A server may omit the refresh token (RFC 6749 §6).
      let isOfOther = new.isKnownNotToBelong(toOwnerOf: old)
      if !isOfOther { new.refresh = new.refresh ?? old?.refresh }
      new.account = new.account ?? old?.account
      return Renewed(token: new)
    }
    .flatMap { [self] renewed in
      guard let stored else { return .just(renewed) }
      return Single.starting { [self] in
        do {
          let present = try await store.load()
          // The refresh may have saved its token itself.
          if present?.access == renewed.token?.access { return renewed }
          return present == stored ? renewed : Renewed(token: present, isStored: true)
        } catch {
          // An unreadable store has no other token.
          return renewed
        }
      }
    }
    .catchError { [self] error in
      guard let stored, NetworkError.wrapping(error).endsSession else { throw error }
      return Single.starting { [store] in
        // Another process may have used the old token before, and saved a new one. An unreadable store has none.
        guard let found = try? await store.load(), found != stored, found != old else { throw error }
        return found
      }
      .flatMap { [self] found in used(found, found, clock) }
    }
  }

  func finish(_ refresh: Refreshing, _ result: Result<Renewed, any Error>, _ now: Date) {
    let (isCurrent, isOther, held) = state.withLock { state -> (Bool, Bool, Held) in
      guard state.refresh === refresh else { return (false, false, state.held) }
      state.refresh = nil
      let generation = state.held.generation
      switch result {
      case .success(let new):
        // Another process has signed another user in, or this one out.
        if new.token?.isKnownNotToBelong(toOwnerOf: state.held.token) ?? true { state.held.generation += 1 }
        state.put(new.token, renewal: new.isStored ? renewal(ofStored: new.token) : renewal(ofNew: new.token, now))
        if new.isStored {
          (state.stored, state.storedGeneration) = (new.token, state.held.generation)
          state.savedVersion = state.version
        }
        state.isUntried = state.held.generation == generation
      case .failure(let error):
        let failure = Self.failure(error)
        if !failure.kind.isTransient {
          state.failures.append(Failure(date: now, outage: failure.isOfUnfinishedRefresh ? failure : nil))
        }
        // The user is signed out. A closure that has no token to refresh ends no session.
        let isEnd = failure.endsSession && state.held.token != nil
        if isEnd {
          state.held.generation += 1
          state.put(nil, renewal: nil)
        }
      }
      return (true, state.held.generation != generation, state.held)
    }
    if isCurrent, case .success = result { changed.onNext(()) }
    if isOther, case .failure = result { changed.onNext(()) }
    if isOther { signedIn.onNext(()) }
    switch result {
    case .success(let new) where !new.isStored:
      _ = Single.starting { [self] in
        // If a user has signed in or out meanwhile, the refresh may have saved its token.
        if isCurrent { try await save() } else { try await undoSave(of: new.token) }
      }.subscribe(
        onSuccess: { [self] in end(refresh, held) },
        onError: { [self] error in
          // A token that can't be saved is still valid for this run of the program.
          Hooks.onUnhandledError(error, #fileID, #line)
          end(refresh, held)
        })
    case .failure(let error) where isOther:
      _ = Single.starting { [self] in try await save() }.subscribe(
        onSuccess: { [self] in fail(refresh, error) },
        onError: { [self] failed in
          Hooks.onUnhandledError(failed, #fileID, #line)
          fail(refresh, error)
        })
    case .failure(let error) where isCurrent: fail(refresh, error)
    // It may have saved a token before it has failed.
    case .failure:
      _ = Single.starting { [self] in try await undoSave(afterRefreshOf: refresh.old) }
        .subscribe(onSuccess: { [self] in end(refresh, held) }, onError: { [self] _ in end(refresh, held) })
    default: end(refresh, held)
    }
  }

  private func end(_ refresh: Refreshing, _ held: Held) {
    release(refresh)
    refresh.end(with: held)
  }

  private func fail(_ refresh: Refreshing, _ error: any Error) {
    release(refresh)
    refresh.end(Self.failure(error))
  }

  func release(_ refresh: Refreshing) {
    state.withLock { if $0.lockHolder === refresh { $0.lockHolder = nil } }
    refresh.timer.dispose()
    refresh.lock.dispose()
  }
}
