import PortableFoundation
import Streams

extension TokenRefresh {
  /// Locks the store. Returns `nil` if another process holds the lock for more than 5 s, because a sign-out must not wait for
  /// a server that does not respond to that process. Its refresh then finds this token.
  func lockForSave() async -> (any Disposable)? {
    for _ in 0..<100 {
      do {
        if let lock = try await store.lockForRefresh() { return lock }
        try await Task.sleep(for: .milliseconds(50))
      } catch is CancellationError {
        return nil
      } catch {
        Hooks.onUnhandledError(error, #fileID, #line)
        return nil
      }
    }
    return nil
  }

  /// Saves the current token, unless the store has it. Saves run one after the other, so that none writes an older token
  /// after a newer one.
  func save() async throws {
    await takeTurn()
    defer { endTurn() }
    while let held = state.withLock({ $0.savedVersion == $0.version ? nil : ($0.held, $0.version) }) {
      try await save(held.0, version: held.1)
    }
  }

  /// If the token of another user can't be saved, the former one is removed: the next start must not be that user.
  private func save(_ held: Held, version: Int) async throws {
    do {
      try await store.save(held.token)
    } catch {
      let isOfFormerUser = state.withLock { $0.storedGeneration != held.generation }
      if isOfFormerUser, held.token != nil, (try? await store.save(nil)) != nil {
        state.withLock { ($0.stored, $0.storedGeneration) = (nil, held.generation) }
      }
      throw error
    }
    let isKnown = state.withLock { state in
      (state.stored, state.storedGeneration, state.savedVersion) = (held.token, held.generation, version)
      return state.isReadable || state.load != nil
    }
    guard held.token != nil, !isKnown else { return }
    // A token that is missing later is then a sign-out in another process. A slow store is not awaited.
    _ = Single.starting { [store] in try await store.load() }.subscribe(
      onSuccess: { [self] found in if found != nil { state.withLock { $0.isReadable = true } } }, onError: { _ in })
  }

  /// Saves the current token again if the store has `token`, which a refresh saved itself before it was discarded.
  func undoSave(of token: Token?) async throws {
    guard let token, try await store.load()?.access == token.access, known?.token?.access != token.access else {
      return
    }
    state.withLock { $0.savedVersion = -1 }
    try await save()
  }

  /// Saves the current token again if the store has another one of the former user, which a refresh of `old` saved before it
  /// failed.
  func undoSave(afterRefreshOf old: Token?) async throws {
    guard let found = try await store.load(), found != known?.token, found != old,
      !found.isKnownNotToBelong(toOwnerOf: old)
    else { return }
    state.withLock { $0.savedVersion = -1 }
    try await save()
  }

  private func takeTurn() async {
    if state.withLock({ !exchange(&$0.isSaving, with: true) }) { return }
    await withCheckedContinuation { turn in
      let isFree = state.withLock { state in
        if state.isSaving { state.savers.append(turn) }
        return !exchange(&state.isSaving, with: true)
      }
      if isFree { turn.resume() }
    }
  }

  private func endTurn() {
    let next = state.withLock { state in
      if state.savers.isEmpty { state.isSaving = false }
      return state.isSaving ? state.savers.removeFirst() : nil
    }
    next?.resume()
  }
}
