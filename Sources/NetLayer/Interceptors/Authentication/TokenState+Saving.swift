import PortableFoundation
import Streams

extension TokenState {
  /// Locks the store before a sign-in or sign-out is saved. Otherwise a refresh in another process could read the store before
  /// that, and save its own token after it.
  mutating func prepareToSave() {
    guard saveLock == .free else { return }
    if refreshes.values.contains(where: \.isLocked) { return saveLock = .done }
    saveLock = .taking(attempts: 1)
    actions.append(.lock(0, isAgain: false))
  }

  mutating func saveLocked(_ result: Result<Bool, any Error>) {
    guard case .taking(let attempts) = saveLock else { return }
    switch result {
    case .success(true): saveLock = .held
    // A sign-out must not wait for a server that does not respond to another process: 5 s. Its refresh then finds this token.
    case .success(false) where attempts < 100 && !setters.isEmpty:
      saveLock = .taking(attempts: attempts + 1)
      return actions.append(.lock(0, isAgain: true))
    default:
      if case .failure(let error) = result { actions.append(.report(error)) }
      saveLock = .done
    }
    if setters.isEmpty { unlockAfterSave() } else { write() }
  }

  /// Writes the current token, unless the store has it. Writes run one after the other, so that none writes an older token after
  /// a newer one.
  mutating func write() {
    let isLocked =
      setters.isEmpty || saveLock == .held || saveLock == .done || refreshes.values.contains(where: \.isLocked)
    guard writing == nil, written != version, isLocked else { return }
    writing = (version, session, nil)
    actions.append(.write(session.token))
  }

  mutating func endWrite(_ error: (any Error)?) {
    guard let (version, held, former) = writing else { return }
    if let former {
      // The removal after a write that has failed.
      if error == nil { (stored, storedGeneration) = (nil, held.generation) }
      return settle(former)
    }
    // The next start must not be the former user.
    if let error, held.token != nil, storedGeneration != held.generation {
      writing?.error = error
      return actions.append(.write(nil))
    }
    if error == nil {
      // A write that took too long may end after a look into the store.
      if version > written { (stored, storedGeneration, written) = (held.token, held.generation, version) }
      // A token that is missing later is then a sign-out in another process.
      if held.token != nil, !isReadable { actions.append(.load) }
    }
    settle(error)
  }

  /// Ends what waits for the write, then writes what has changed during it.
  private mutating func settle(_ error: (any Error)?) {
    // A refresh without a lock may have found a later token meanwhile.
    guard let version = writing.take().map({ max($0.version, written) }) else { return }
    let saved = setters.filter { $0.value <= version }.keys.sorted()
    for id in saved { setters[id] = nil }
    if setters.isEmpty { unlockAfterSave() }
    for id in saved { actions.append(.end(id, error)) }
    for id in refreshes.keys.sorted() {
      guard case .saving(let wanted, let failure) = refreshes[id]?.step, wanted <= version else { continue }
      // A token that can't be saved is still valid for this run of the program.
      if let error { actions.append(.report(error)) }
      end(id)
      if failure == nil { resume(callersOf: id) }
      for (caller, _) in takeCallers(of: id) { failure.map { actions.append(.fail(caller, $0)) } }
    }
    if !setters.isEmpty || refreshes.values.contains(where: \.isSaving) { write() }
  }

  private mutating func unlockAfterSave() {
    if saveLock == .held { actions.append(.unlock(0)) }
    // An attempt in flight ends with an event, which then unlocks.
    if case .taking = saveLock { return }
    saveLock = .free
    for id in exchange(&owedLocks, with: []) { actions.append(.unlock(id)) }
  }
}
