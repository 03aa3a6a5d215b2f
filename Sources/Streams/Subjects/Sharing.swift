/// One subscription to a source, shared through a hub: the implementation of `share`, `publish` and `refCount`.
@usableFromInline
final class Sharing<Element: Sendable>: Sendable {
  private struct State {
    var hub: Hub<Element>?
    var connection: Connection<Element>?
    // The number of observers that hold the connection by reference count.
    var observers = 0
  }

  @usableFromInline let source: Observable<Element>
  private let makeHub: @Sendable () -> Hub<Element>
  // Whether the hub outlives its connections.
  let keepsHub: Bool
  // Guards the current connection. Hubs are created before taking the lock; connecting and disposing happen after it.
  private let state = Locked(State())

  @usableFromInline
  init(_ source: Observable<Element>, keepsHub: Bool = false, makeHub: @escaping @Sendable () -> Hub<Element>) {
    self.source = source
    self.keepsHub = keepsHub
    self.makeHub = makeHub
  }

  /// Returns the hub of the current or the next connection.
  @usableFromInline
  func hub() -> Hub<Element> {
    if let hub = state.withLock({ $0.hub }) { return hub }
    // Created outside the lock, because `makeHub` may be user code; if two threads race, one hub is discarded.
    let fresh = makeHub()
    return state.withLock { state in
      let hub = state.hub ?? fresh
      state.hub = hub
      return hub
    }
  }

  /// Returns the current connection, or a new one that the caller must start.
  ///
  /// A new connection uses only the hub in the state, or one made here: the hub that `hub()` returned a moment ago may
  /// belong to a connection that has ended since.
  @usableFromInline
  func connect(counting: Bool) -> (Connection<Element>, isNew: Bool) {
    var fresh: Hub<Element>?
    while true {
      let found = state.withLock { [fresh] state -> (Connection<Element>, isNew: Bool)? in
        guard let hub = state.connection?.hub ?? state.hub ?? fresh else { return nil }
        if counting { state.observers += 1 }
        if let connection = state.connection { return (connection, false) }
        let connection = Connection(hub, self)
        (state.hub, state.connection) = (hub, connection)
        return (connection, true)
      }
      if let found { return found }
      // Created outside the lock, because `makeHub` may be user code.
      fresh = makeHub()
    }
  }

  @inlinable
  func start(_ connection: Connection<Element>) {
    // Two closures, so that an element needs neither a `switch` nor a reference count (row share).
    switch connection.hub {
    case .core(let core): source.run(connection) { core.onNext($0) }
    case .other(let subject): source.run(connection) { subject.onNext($0) }
    }
  }

  /// Removes an observer that was counted; the last one disposes the connection.
  @usableFromInline
  func leave(_ connection: Connection<Element>) {
    let isLast = state.withLock { state in
      guard state.connection === connection else { return false }
      state.observers -= 1
      // Under one lock, so that an observer that arrives later receives a new connection.
      if state.observers == 0 { forget(&state) }
      return state.observers == 0
    }
    if isLast { connection.dispose() }
  }

  /// Disposes the connection; a later connection subscribes to the source again.
  func disconnect(_ connection: Connection<Element>) {
    forget(connection)
    connection.dispose()
  }

  /// Removes the connection, so that another can be created; does nothing if it has already been removed.
  func forget(_ connection: Connection<Element>) {
    state.withLock { if $0.connection === connection { forget(&$0) } }
  }

  private func forget(_ state: inout State) {
    state.connection = nil
    state.observers = 0
    if !keepsHub { state.hub = nil }
  }
}

/// One subscription to a shared source. It is a class, so that a terminated connection is never mistaken for the next
/// (contract, law 24).
@usableFromInline
final class Connection<Element: Sendable>: Subscription, @unchecked Sendable {  // safe: adds two constants
  @usableFromInline let hub: Hub<Element>
  private let owner: Sharing<Element>

  init(_ hub: Hub<Element>, _ owner: Sharing<Element>) {
    self.hub = hub
    self.owner = owner
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    // A kept hub must have terminated before another connection can use it.
    if !owner.keepsHub { owner.forget(self) }
    hub.finish(error)
    owner.forget(self)
  }
}

extension Sharing {
  /// Returns a stream that connects with its first observer and disconnects with its last.
  @inlinable
  func refCounted() -> Observable<Element> {
    Observable(push: { [self] subscription, next in
      let (connection, isNew) = connect(counting: true)
      connection.hub.run(subscription, next)
      subscription.own(Disposables.create { [self] in leave(connection) })
      if isNew { start(connection) }
    })
  }
}

/// The subject behind a shared stream.
@usableFromInline
enum Hub<Element: Sendable>: Sendable {
  // A subject of this package, whose methods the compiler specializes for the elements.
  case core(SubjectCore<Element>)
  // The subject that the caller has passed to `multicast`.
  case other(any SubjectType<Element>)

  func finish(_ error: (any Error)?) {
    switch self {
    case .core(let core): core.finish(error)
    case .other(let subject): subject.on(error.map { .error($0) } ?? .completed)
    }
  }

  @inlinable
  func run(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    switch self {
    case .core(let core): core.add(subscription, next)
    case .other(let subject): subject.asObservable().run(subscription, next)
    }
  }
}
