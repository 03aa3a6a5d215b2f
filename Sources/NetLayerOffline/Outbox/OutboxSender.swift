import PortableFoundation
import Streams

/// The threads, files and requests of an outbox. It carries out the actions of its `OutboxState`.
final class OutboxSender: @unchecked Sendable {  // safe: the drain guards all mutable state that no lock guards
  private enum Phase: Equatable {
    case created, ready, stopped
    /// Another process has the lock.
    case elsewhere
    /// The lock or the directory could not be used, which may pass without a signal.
    case failed(isElsewhere: Bool)
  }

  let directory: OutboxDirectory
  let network: Network
  /// The network without the app's error handlers, whose errors would change what an attempt means.
  private let quiet: Network
  let results = PublishSubject<Outbox.Outcome>()
  /// The bytes of the entries in memory, which `send` adds to and the drain subtracts from.
  let usage = Locked(0)
  private let onProblem: @Sendable (NetworkError) -> Void
  /// Serializes the events. The code of subscribers runs inside; events that it causes follow afterwards.
  private let drain = Drain()
  private var state: OutboxState
  private var entries: [OutboxName: (entry: OutboxEntry, file: OutboxDirectory.File)] = [:]
  private var running: [OutboxName: SingleAssignmentDisposable] = [:]
  private var outcomes: [OutboxName: Result<Response, NetworkError>] = [:]
  private let shown = PublishSubject<[Outbox.Entry]>()
  private var isShowing = false
  private var phase = Phase.created
  /// The files whose reading has failed, each reported once.
  private var unreadable: Set<OutboxDirectory.File> = []
  /// The files that could not be removed. They are ignored until the next start, because their writes are done.
  private var stuck: Set<OutboxDirectory.File> = []
  private let timer = SerialDisposable()
  /// The time at which the timer ends; `nil` for no timer.
  private var deadline: Duration?
  /// The time of the next look into the directory; `nil` for none.
  private var lookAt: Duration?
  private let signals = CompositeDisposable()

  init(
    _ directory: OutboxDirectory, _ network: Network, _ state: OutboxState,
    onProblem: @escaping @Sendable (NetworkError) -> Void
  ) {
    (self.directory, self.network, self.state, self.onProblem) = (directory, network, state, onProblem)
    quiet = network.quiet { $0.options.redirects = $0.options.redirects.ofWrites }
  }

  private var clock: any SchedulerType { network.backend.clock }
  private var isStarted: Bool { phase != .created && phase != .stopped }
  private var isElsewhere: Bool { phase == .elsewhere || phase == .failed(isElsewhere: true) }

  // MARK: Events

  /// Begins to send; again, it reads the directory again.
  func start(_ reachability: any Reachability) {
    drain.run { [self] in
      guard phase != .stopped else { return }
      if !isStarted { follow(reachability) }
      // There may be no entry to send.
      directory.sweep()
      look()
    }
  }

  private func follow(_ reachability: any Reachability) {
    phase = .ready
    // Each of its own, because an error of one source must not end the others.
    for changes in network.accountChanges {
      let subscription = changes.subscribe(onNext: { [weak self] account in
        self?.drain.run { [weak self] in self?.handle(.account(account)) }
      })
      _ = signals.insert(subscription)
    }
    let backend = network.backend
    let monitor = reachability.isReachable(backend.currentURL, by: backend.transport)
    let isReachable = monitor.subscribe(onNext: { [weak self] isReachable in
      self?.drain.run { [weak self] in self?.handle(.online(isReachable)) }
    })
    _ = signals.insert(isReachable)
  }

  func stop() {
    drain.run { [self] in
      phase = .stopped
      signals.dispose()
      timer.dispose()
      for work in running.values { work.dispose() }
      if state.isOwner { directory.unlock() }
    }
  }

  /// Adds an entry of this process, and those of others among `files`.
  func add(_ entry: OutboxEntry, _ file: OutboxDirectory.File, _ files: [OutboxDirectory.File]) {
    drain.run { [self] in
      // The listing is older than what is known of the entries, whose states are in their file names.
      let new = (files + [file]).filter { entries[$0.name] == nil }
      if entries[file.name] == nil, directory.contains(file) {
        entries[file.name] = (entry, file)
      } else {
        // Found in the directory meanwhile, and counted there; it may even be sent already.
        usage.withLock { $0 -= entry.size }
      }
      handle(.add(read(new)))
    }
  }

  /// Changes an entry. The caller holds the lock, which this function releases.
  func change(_ id: UUID, _ event: @escaping @Sendable (OutboxName) -> OutboxState.Event) {
    drain.run { [self] in
      defer { directory.unlock() }
      // Another process may have sent or parked it.
      if !state.isOwner { _ = relist(isOwner: false) }
      if let name = entries.keys.first(where: { $0.id == id }) {
        handle(event(name))
      } else {
        // The listing may have added entries of another process.
        proceed()
      }
    }
  }

  // MARK: Inside the drain

  private func handle(_ event: OutboxState.Event) {
    guard phase != .stopped else { return }
    keepLock()
    perform(state.handle(event, at: clock.uptime))
    proceed()
  }

  private func proceed() {
    acquire()
    release()
    keepTime()
    show()
  }

  /// Reads the directory, to find what other processes have added and removed.
  private func look() {
    guard phase != .stopped else { return }
    guard relist(isOwner: state.isOwner) else { return keepTime() }
    phase = .ready
    proceed()
  }

  /// Takes the lock, if an entry could be sent or `isNeeded` for those in flight.
  private func acquire(isNeeded: Bool = false) {
    guard isStarted, !state.isOwner, isNeeded || state.isDue else { return }
    do {
      try directory.takeLock()
    } catch {
      phase = SystemError.code(of: error) == EWOULDBLOCK ? .elsewhere : .failed(isElsewhere: false)
      if phase != .elsewhere { report("the lock of the outbox can't be taken", error) }
      return
    }
    phase = .ready
    directory.sweep()
    if !relist(isOwner: true) { directory.unlock() }
  }

  /// Takes the lock again if its file was removed, because another process can have the lock of a new file. While one has,
  /// nothing begins here.
  private func keepLock() {
    guard state.isOwner, !directory.isLocked else { return }
    perform(state.handle(.disown, at: clock.uptime))
    directory.unlock()
    acquire(isNeeded: !state.isAtRest)
  }

  /// Releases the lock while nothing is in flight, because a process that is suspended must not hold it.
  private func release() {
    while state.isOwner, state.isAtRest {
      perform(state.handle(.disown, at: clock.uptime))
      directory.unlock()
      // Another process may have added an entry while it could not take the lock.
      let known = Set(entries.values.map(\.file))
      if let files = try? directory.files(), !files.allSatisfy(known.union(unreadable).union(stuck).contains) {
        _ = relist(files, isOwner: false)
      }
      // A pause may have ended in the meantime, too.
      acquire()
    }
  }

  /// Passes the entries in the directory to the state. Returns whether it can be read.
  private func relist(_ found: [OutboxDirectory.File]? = nil, isOwner: Bool) -> Bool {
    do {
      let files = try found ?? directory.files()
      let names = Set(files.map(\.name))
      for name in entries.keys where !names.contains(name) && running[name] == nil && outcomes[name] == nil {
        forget(name)
      }
      unreadable.formIntersection(files)
      if case .failed(let isElsewhere) = phase { phase = isElsewhere ? .elsewhere : .ready }
      perform(state.handle(.list(read(files), isOwner: isOwner), at: clock.uptime))
      return true
    } catch {
      if isStarted { phase = .failed(isElsewhere: isElsewhere) }
      report("the directory can't be read", error)
      return false
    }
  }

  /// Returns the entries of `files`, and reads those that are new.
  private func read(_ files: [OutboxDirectory.File]) -> [OutboxState.Item] {
    files.filter { !stuck.contains($0) }.compactMap { file in
      if entries[file.name] == nil { load(file) } else { entries[file.name]?.file = file }
      guard let entry = entries[file.name]?.entry else {
        return unreadable.contains(file) ? OutboxState.Item(file.name, hold: .unreadable) : nil
      }
      return OutboxState.Item(
        file.name, account: entry.account, key: entry.lane, hold: entry.isKnown ? file.hold : .newerVersion)
    }
  }

  private func load(_ file: OutboxDirectory.File) {
    switch directory.read(file) {
    case .entry(let entry):
      entries[file.name] = (entry, file)
      unreadable.remove(file)
      usage.withLock { $0 += entry.size }
    case .gone: break
    case .damaged:
      do {
        report("the entry \(file.text) is damaged; it was set aside as \(try directory.setAside(file))", nil)
      } catch {
        if unreadable.insert(file).inserted { report("the damaged entry \(file.text) can't be set aside", error) }
      }
    case .unreadable(let error):
      if unreadable.insert(file).inserted { report("the entry \(file.text) can't be read now", error) }
    }
  }

  private func report(_ problem: String, _ error: (any Error)?) {
    let cause = error.map { ": \(SystemError.text(of: $0))" } ?? ""
    onProblem(NetworkError(kind: .file, reason: "outbox \(directory.path): \(problem)\(cause)", underlying: error))
  }

  private func perform(_ actions: [OutboxState.Action]) {
    for action in actions {
      switch action {
      case .start(let name): begin(name)
      case .cancel(let name):
        running.removeValue(forKey: name)?.dispose()
        let cancelled = NetworkError(kind: .cancelled, reason: "the entry was dropped")
        drain.run { [self] in handle(.end(name, .unreachable(cancelled))) }
      case .report(let name): deliver(name)
      case .remove(let name):
        if let file = entries[name]?.file, !change("removed", { try directory.remove(file) }) { stuck.insert(file) }
        forget(name)
      case .park(let name, let status): rename(name, .parked(status: status))
      case .unpark(let name): rename(name, nil)
      }
    }
  }

  private func forget(_ name: OutboxName) {
    guard let (entry, _) = entries.removeValue(forKey: name) else { return }
    usage.withLock { $0 -= entry.size }
  }

  private func rename(_ name: OutboxName, _ hold: OutboxState.Hold?) {
    guard let file = entries[name]?.file else { return }
    _ = change("renamed") { entries[name]?.file = try directory.rename(file, hold) }
  }

  /// Returns whether the change has succeeded.
  private func change(_ verb: String, _ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      report("an entry can't be \(verb); it may be sent again with its key", error)
      return false
    }
  }

  private func begin(_ name: OutboxName) {
    guard let entry = entries[name]?.entry else { return }
    let content = entry.call.content
    let work = SingleAssignmentDisposable()
    running[name] = work
    // Guards the covering sources, which are known when the attempt begins.
    let sources = Locked<[any AccountSource]>([])
    let finish: @Sendable (Result<Response, NetworkError>) -> Void = { [self] result in
      drain.run { [self] in end(name, work, with: result, rejectedBy: sources.withLock { $0 }) }
    }
    let attempt = ofItsUser(entry, content).asObservable().flatMap { [quiet] content, covering in
      if entry.account != nil { sources.withLock { $0 = covering } }
      return quiet.response(to: content, accept: entry.call.accept).asObservable()
    }
    work.setDisposable(
      attempt.asSingle().subscribe(
        onSuccess: { [reading = quiet.reading] response in
          finish(Result { try response.settled() }.mapError { reading.report($0, from: response) })
        },
        onError: { finish(.failure(NetworkError.wrapping($0))) }))
  }

  private func end(
    _ name: OutboxName, _ work: SingleAssignmentDisposable, with result: Result<Response, NetworkError>,
    rejectedBy sources: [any AccountSource]
  ) {
    guard running[name] === work else { return }
    running[name] = nil
    outcomes[name] = result
    // Computed inside the drain: the event of a sign-in that has replaced the token is handled before or after it.
    handle(.end(name, OutboxState.Outcome(result, rejectedBy: sources, now: clock.now)))
    // A result that was not delivered is not the last one.
    outcomes[name] = nil
  }

  /// Delivers a result. The entry remains until then, so that a result is lost only together with the subscribers.
  private func deliver(_ name: OutboxName) {
    guard let entry = entries[name]?.entry, let result = outcomes.removeValue(forKey: name) else { return }
    // The attempt has reported its error only to the quiet network.
    let reported = result.mapError { network.reading.report($0.unreported) }
    let deliver: @Sendable () -> Void = { [self] in
      results.onNext(Outbox.Outcome(entry: Outbox.Entry(entry, .sending), result: reported))
      drain.run { [self] in handle(.reported(name)) }
    }
    if let delivery = network.backend.delivery { _ = delivery.schedule(deliver) } else { deliver() }
  }

  /// Whether other processes or the system may change the directory without a signal.
  private var looksAgain: Bool {
    if case .failed = phase { return true }
    return !unreadable.isEmpty || (phase == .elsewhere && state.isDue)
  }

  /// Runs one timer, until the next pause ends.
  private func keepTime() {
    // Neither a device that is unlocked nor a process that ends sends a signal.
    lookAt = looksAgain ? lookAt ?? clock.uptime + .seconds(60) : nil
    let next = isStarted ? [state.deadline, lookAt].compactMap(\.self).min() : nil
    guard next != deadline else { return }
    deadline = next
    timer.disposable = Disposables.create()
    guard let next else { return }
    timer.disposable = clock.scheduleRelative(max(.zero, next - clock.uptime)) { [weak self] in
      self?.drain.run { [weak self] in
        guard let self, deadline == next else { return }
        deadline = nil
        guard let time = lookAt, time <= clock.uptime else { return handle(.wake) }
        lookAt = nil
        look()
      }
    }
  }

  // MARK: Watchers

  /// The entries, now and after each change, on the thread of the change.
  var pending: Observable<[Outbox.Entry]> {
    Observable.create { [self] observer in
      let subscription = SingleAssignmentDisposable()
      drain.run { [self] in
        observer.onNext(snapshot)
        subscription.setDisposable(shown.subscribe(observer))
      }
      return subscription
    }
  }

  /// Shows the entries when all events that have arrived are handled.
  private func show() {
    guard !isShowing, shown.hasObservers else { return }
    isShowing = true
    drain.run { [self] in
      isShowing = false
      shown.onNext(snapshot)
    }
  }

  private var snapshot: [Outbox.Entry] {
    state.states(isElsewhere: isElsewhere).compactMap { name, state in
      entries[name].map { Outbox.Entry($0.entry, state) }
    }
  }
}
