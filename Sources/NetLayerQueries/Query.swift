import PortableFoundation
import Streams

/// A watched request. It carries out the actions of its `QueryState`, in order, on the threads of the events.
final class Query: @unchecked Sendable {  // safe: the drain guards all mutable state that no lock guards
  typealias State = QueryState<Loaded, any Sendable>

  let address: QueryAddress
  /// The subscriptions to the interceptors that know the user.
  let signals = CompositeDisposable()
  /// Serializes the events. The code of watchers runs inside; events that it causes follow afterwards.
  private let drain = Drain()
  private var state = State()
  private var sources: [QuerySource] = []
  /// The network of the last write, while nobody watches.
  private var writer: Network?
  private var accounts: Accounts?
  private var loading: (any Disposable)?
  private var timer: (interval: Duration, item: SingleAssignmentDisposable)?
  /// Guards the views and the last value, which the mapping queue needs before a response enters the drain.
  private let readers = Locked<(views: [any QueryViewing], last: Loaded?)>(([], nil))

  init(_ address: QueryAddress) { self.address = address }

  private var views: [any QueryViewing] { readers.withLock { $0.views } }

  /// Forgets the values of a user as soon as the user signs out.
  func followAccounts() {
    for source in address.sources {
      let change = source.accountStates?.subscribe(onNext: { [weak self, weak source] state in
        guard let source else { return }
        self?.drain.run { [weak self] in self?.checkOwner { $0.differ(from: state, of: source) } }
      })
      if let change { _ = signals.insert(change) }
    }
  }

  // MARK: Events

  /// Adds a watcher to `view`, or to the equal view that exists, and shows it the current state.
  func join<Output>(_ watcher: QueryWatcher<Output>, _ view: QueryView<Output>, _ source: QuerySource) {
    drain.run { [self] in
      sources.insertInOrder(source) { $0.watcher }
      checkOwner()
      watcher.forgets { [weak self] lost in
        self?.drain.run { [weak self] in self?.checkOwner { !$0.differs(from: lost) } }
      }
      let view = readers.withLock { readers -> QueryView<Output> in
        if let known = readers.views.first(where: { $0.id == view.id }) as? QueryView<Output> { return known }
        readers.views.append(view)
        return view
      }
      // Its number was taken before, on the thread of the subscriber.
      view.watchers.insertInOrder(watcher) { $0.number }
      let actions = state.handle(.join(looksUp: source.looksUp)).filter { $0 != .emit }
      if state.value != nil, !view.hasRead {
        read(for: view)
      } else if !state.isLookingUp {
        watcher.push(view.snapshot(state, isPast: isPast), of: shownAccounts)
      }
      perform(actions)
      if source.interval != nil { keepTime() }
    }
  }

  func leave(_ watcher: Int, _ watching: Watching) {
    drain.run { [self] in
      readers.release { readers -> [any QueryViewing] in
        let former = readers.views
        readers.views.removeAll { $0.remove(watcher) }
        return former
      }
      let left = sources.removeInOrder(watcher) { $0.watcher }
      perform(state.handle(.leave))
      if left?.interval != nil { keepTime() }
      watching.leave(self)
    }
  }

  func invalidate() { drain.run { [self] in send(.invalidate) } }

  func refreshIfStale() {
    drain.run { [self] in
      let isPast = now.map { state.value?.isPast(at: $0, countsUnstated: true) ?? false } ?? false
      if state.needsRefresh || isPast { send(.refresh) }
    }
  }

  /// Requests another page, unless the last one is known.
  func more() {
    drain.run { [self] in
      if state.isFetching || state.value == nil || state.value?.rest != nil { send(.more) }
    }
  }

  func begin(_ write: Int, _ change: any Sendable, _ network: Network) {
    drain.run { [self] in
      writer = network
      send(.begin(write: write, change))
    }
  }

  /// Ends a write of `call`. `value` is the new value, if the write has returned it.
  func end(
    _ write: Int, _ outcome: WriteOutcome, _ value: (any Sendable)?, _ call: CallAccounts?, _ watching: Watching
  ) {
    drain.run { [self] in
      checkOwner()
      let value = isOwn(call) ? value : nil
      let read = value.map { value in views.map { $0.read(Loaded(value: value)) } } ?? []
      let isReadable = value != nil && read.allSatisfy { $0.error == nil }
      let version = state.version
      let actions: [State.Action] =
        switch outcome {
        case .acknowledged:
          state.handle(.end(write: write, .acknowledged(isReadable ? Loaded(value: value) : nil)))
        case .rejected: state.handle(.end(write: write, .rejected))
        case .unknown: state.handle(.end(write: write, .unknown))
        }
      if isReadable, state.version != version { for reading in read { reading.accept([], nil) } }
      perform(actions)
      watching.leave(self)
    }
  }

  // MARK: Inside the drain

  private var now: Date? { sources.first?.network.backend.clock.now }
  private var isPast: Bool { now.map { state.value?.isPast(at: $0) ?? false } ?? false }

  private func send(_ event: State.Event) {
    checkOwner()
    perform(state.handle(event))
  }

  /// Returns whether a call was begun by the present users. Another one may have been signed in for an instant.
  private func isOwn(_ call: CallAccounts?) -> Bool { call.map { accounts?.differ(from: $0) != true } ?? true }

  /// The users of the present values; `nil` if they never change.
  private var shownAccounts: Accounts? { address.sources.isEmpty ? nil : accounts }

  /// Forgets everything of a user who has signed out.
  ///
  /// - Parameter isBack: Returns whether the users had changed meanwhile, and are back.
  private func checkOwner(_ isBack: (Accounts) -> Bool = { _ in false }) {
    guard let network = sources.first?.network ?? writer else { return }
    let present = network.accounts(of: address.request).following(accounts)
    let former = exchange(&accounts, with: present)
    guard let former, present.differs(from: former) || isBack(former) else { return }
    for view in views { view.forget() }
    perform(state.handle(.reset))
  }

  private func perform(_ actions: [State.Action]) {
    readers.release { exchange(&$0.last, with: state.value) }
    for action in actions {
      switch action {
      case .cancel: loading.take()?.dispose()
      case .emit where state.isLookingUp: break
      case .emit: for view in views { view.show(state, isPast: isPast, of: shownAccounts) }
      case .load(let id, let kind): start(id, kind)
      }
    }
  }

  private func start(_ id: Int, _ kind: State.Load) {
    guard let source = sources.first else { return }
    let network = source.network
    guard kind == .stored else {
      loading = source.load(state.value, kind).subscribe(
        onSuccess: { [self] in receive(id, $0, network) },
        onError: { [self] in fail(id, network.reading.report($0)) })
      return
    }
    network.lookUp(address.request) { [self] found in
      guard let found else { return drain.run { [self] in send(.found(id, nil, isFresh: false)) } }
      receive(id, Loaded(response: found.response, freshness: found.freshness), network, isFresh: found.isFresh)
    }
  }

  /// Runs one timer, with the shortest interval of the watchers.
  private func keepTime() {
    let interval = sources.compactMap(\.interval).min()
    guard interval != timer?.interval else { return }
    timer.take()?.item.dispose()
    guard let interval, let clock = sources.first?.network.backend.clock else { return }
    let item = SingleAssignmentDisposable()
    timer = (interval, item)
    item.setDisposable(
      clock.scheduleRelative(interval) { [weak self] in
        self?.drain.run { [weak self] in
          guard let self, timer?.item === item else { return }
          timer = nil
          send(.refresh)
          keepTime()
        }
      })
  }

  // MARK: On the mapping queue

  /// Reads the result of a load for all views. `isFresh` is set for a stored response.
  private func receive(_ id: Int, _ loaded: Loaded, _ network: Network, isFresh: Bool? = nil) {
    let (views, last) = readers.withLock { $0 }
    if loaded.isSame(as: last) { return settle(id, loaded, [], isFresh, isNew: false, network) }
    let read = views.map { $0.read(loaded) }
    let failed = read.compactMap(\.error)
    if let error = failed.first { loaded.response?.refuseStored(after: error) }
    guard failed.count == read.count, !read.isEmpty, let error = failed.first else {
      let results = read.map { ($0, $0.error.map { network.reading.report($0, from: loaded.response) }) }
      return settle(id, loaded, results, isFresh, isNew: true, network)
    }
    // An unreadable stored response is a miss.
    if isFresh != nil { return drain.run { [self] in send(.found(id, nil, isFresh: false)) } }
    // The same error for all, so it is reported once.
    fail(id, network.reading.report(error, from: loaded.response))
  }

  private func fail(_ id: Int, _ error: NetworkError) {
    drain.run { [self] in
      if id == state.load { loading = nil }
      send(.fail(id, error))
    }
  }

  private func settle(
    _ id: Int, _ loaded: Loaded, _ read: [(QueryReading, NetworkError?)], _ isFresh: Bool?, isNew: Bool,
    _ network: Network
  ) {
    drain.run { [self] in
      checkOwner()
      guard id == state.load else { return }
      loading = nil
      guard isOwn(loaded.call ?? loaded.response?.request.context[CallAccounts.self]) else {
        let error = network.reading.report(CallAccounts.signedOut(address.request))
        return perform(state.handle(isFresh == nil ? .fail(id, error) : .found(id, nil, isFresh: false)))
      }
      let changes = state.edits.map(\.change)
      for (reading, failure) in read { reading.accept(changes, failure) }
      perform(
        state.handle(isFresh.map { .found(id, loaded, isFresh: $0) } ?? .succeed(id, loaded, isNew: isNew)))
      // Views that were added meanwhile.
      for view in views where !view.hasRead { self.read(for: view) }
    }
  }

  /// Reads the current value for a new view. Called inside the drain.
  private func read(for view: any QueryViewing) {
    guard let value = state.value, let network = sources.first?.network else { return }
    guard value.response != nil else { return send(.invalidate) }
    let version = state.version
    network.runOnMappingQueue { [self] in
      let reading = view.read(value)
      let failure = reading.error.map { network.reading.report($0, from: value.response) }
      drain.run { [self] in
        guard !view.hasRead else { return }
        guard state.version == version else { return read(for: view) }
        reading.accept([], failure)
        if !state.isLookingUp { view.show(state, isPast: isPast, of: shownAccounts) }
      }
    }
  }
}
