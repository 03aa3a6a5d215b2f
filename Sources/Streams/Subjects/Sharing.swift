/// One subscription to a source, through a hub, for all who want it: the machinery of `share`, `publish`, `refCount`.
@usableFromInline
final class Sharing<Element: Sendable>: Sendable {
  private struct State {
    var hub: Hub<Element>?
    var connection: Connection<Element>?
    // The observers that hold the connection by reference count.
    var observers = 0
  }

  @usableFromInline let source: Observable<Element>
  private let makeHub: @Sendable () -> Hub<Element>
  // Whether the hub outlives its connections.
  let keepsHub: Bool
  // Guards the present connection; hubs are made before, and connecting and disposing come after.
  private let state = Locked(State())

  @usableFromInline
  init(_ source: Observable<Element>, keepsHub: Bool = false, makeHub: @escaping @Sendable () -> Hub<Element>) {
    self.source = source
    self.keepsHub = keepsHub
    self.makeHub = makeHub
  }

  /// The hub of the present connection, or of the next.
  @usableFromInline
  func hub() -> Hub<Element> {
    if let hub = state.withLock({ $0.hub }) { return hub }
    // Made outside the lock, as it may be the user's own; when two race, one is thrown away.
    let fresh = makeHub()
    return state.withLock { state in
      let hub = state.hub ?? fresh
      state.hub = hub
      return hub
    }
  }

  /// The present connection, or a new one that the caller must start.
  @usableFromInline
  func connect(counting: Bool) -> (Connection<Element>, isNew: Bool) {
    let hub = hub()
    return state.withLock { state in
      if counting { state.observers += 1 }
      if let connection = state.connection { return (connection, false) }
      let connection = Connection(state.hub ?? hub, self)
      state.hub = connection.hub
      state.connection = connection
      return (connection, true)
    }
  }

  @inlinable
  func start(_ connection: Connection<Element>) {
    source.run(connection) { connection.hub.onNext($0) }
  }

  /// An observer that was counted has left; the last one gives the connection up.
  @usableFromInline
  func leave(_ connection: Connection<Element>) {
    let isLast = state.withLock { state in
      guard state.connection === connection else { return false }
      state.observers -= 1
      // In one step: an observer that comes after this gets a connection of its own.
      if state.observers == 0 { forget(&state) }
      return state.observers == 0
    }
    if isLast { connection.dispose() }
  }

  /// Gives the connection up; a later one starts the source anew.
  func disconnect(_ connection: Connection<Element>) {
    if forget(connection) { connection.dispose() }
  }

  /// Makes room for the next connection; false if it was gone already.
  @discardableResult
  func forget(_ connection: Connection<Element>) -> Bool {
    state.withLock { state in
      guard state.connection === connection else { return false }
      forget(&state)
      return true
    }
  }

  private func forget(_ state: inout State) {
    state.connection = nil
    state.observers = 0
    if !keepsHub { state.hub = nil }
  }
}

/// One subscription to a shared source; an object, so that one that has ended is never mistaken for the next (law 24).
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
    // A hub that is kept must have ended before there can be another connection on it.
    if !owner.keepsHub { owner.forget(self) }
    hub.finish(error)
    owner.forget(self)
  }
}

extension Sharing {
  /// The stream that connects with its first observer and disconnects with its last.
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

/// The subject that a shared stream goes through.
@usableFromInline
struct Hub<Element: Sendable>: Sendable {
  // The common one, called without a witness table.
  @usableFromInline let core: SubjectCore<Element>?
  @usableFromInline let other: (any SubjectType<Element>)?

  @usableFromInline
  init(_ core: SubjectCore<Element>) {
    self.core = core
    other = nil
  }

  init(_ other: any SubjectType<Element>) {
    core = nil
    self.other = other
  }

  @inlinable
  func onNext(_ element: Element) {
    // Unretained: whoever calls this holds the hub.
    if let core = core.map({ Unmanaged.passUnretained($0) }) {
      core._withUnsafeGuaranteedRef { $0.onNext(element) }
    } else {
      other?.onNext(element)
    }
  }

  func finish(_ error: (any Error)?) {
    core?.finish(error)
    other?.on(error.map { .error($0) } ?? .completed)
  }

  @inlinable
  func run(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    core?.add(subscription, next)
    other?.asObservable().run(subscription, next)
  }
}
