import Streams

/// The result of reading a response for a view.
struct QueryReading: Sendable {
  let error: (any Error)?
  /// Stores the value in the view. A view that could not read it keeps what it shows, including the changes of edits,
  /// next to the error.
  let accept: @Sendable (_ changes: [any Sendable], _ failure: NetworkError?) -> Void
}

/// The values of a query for the watchers of one endpoint type and one network.
protocol QueryViewing: AnyObject, Sendable {
  var id: QueryViewID { get }
  /// Whether the view has read a value, or failed to.
  var hasRead: Bool { get }
  func read(_ loaded: Loaded) -> QueryReading
  /// Emits the state of `accounts`, unless nothing has changed for this view.
  func show(_ state: Query.State, isPast: Bool, of accounts: Accounts?)
  func forget()
  /// Removes a watcher, and returns whether none is left.
  func remove(_ watcher: Int) -> Bool
}

struct QueryViewID: Hashable {
  let form: ObjectIdentifier
  let reading: ObjectIdentifier
}

final class QueryView<Output: Sendable>: QueryViewing, @unchecked Sendable {  // safe: the query's drain guards it
  private struct Shown: Equatable {
    let version: Int
    let isFetching: Bool
    let isStale: Bool
    let writes: [Int]
  }

  let id: QueryViewID
  /// The settings with which responses are read; its identity is a part of `id`.
  private let reading: ResponseContext
  private let reader: @Sendable (Response) throws -> Output
  private var value: Output?
  private var error: NetworkError?
  private(set) var hasRead = false
  private var shown: Shown?
  var watchers: [QueryWatcher<Output>] = []

  init(_ form: Any.Type, _ reading: ResponseContext, _ reader: @escaping @Sendable (Response) throws -> Output) {
    id = QueryViewID(form: ObjectIdentifier(form), reading: ObjectIdentifier(reading))
    (self.reading, self.reader) = (reading, reader)
  }

  func read(_ loaded: Loaded) -> QueryReading {
    let result = Result { () throws -> Output in
      if let value = loaded.value, let value = value as? Output { return value }
      guard var response = loaded.response else {
        throw NetworkError(kind: .parse, reason: "the value is not of type \(Output.self)")
      }
      if response.reading !== reading { response.context[ResponseContext.self] = reading }
      return try reader(try response.validated())
    }
    switch result {
    case .success(let new):
      return QueryReading(error: nil) { [self] _, _ in (value, error, hasRead) = (new, nil, true) }
    case .failure(let cause):
      return QueryReading(error: cause) { [self] changes, failure in
        (value, error, hasRead) = (edited(changes.compactMap { $0 as? TypedChange<Output> }), failure, true)
      }
    }
  }

  private func edited(_ changes: [TypedChange<Output>]) -> Output? {
    guard var value else { return nil }
    for change in changes { change.apply(&value) }
    return value
  }

  func snapshot(_ state: Query.State, isPast: Bool) -> Snapshot<Output> {
    let changes = state.edits.compactMap { $0.change as? TypedChange<Output> }
    let value = state.value == nil ? nil : edited(changes)
    return Snapshot(
      value: value, error: state.failure ?? error, isFetching: state.isFetching,
      isStale: value != nil && (state.isStale || isPast), isEdited: value != nil && !changes.isEmpty)
  }

  func show(_ state: Query.State, isPast: Bool, of accounts: Accounts?) {
    let writes = value == nil ? [] : state.edits.filter { $0.change is TypedChange<Output> }.map(\.write)
    let present = Shown(
      version: state.version, isFetching: state.isFetching, isStale: state.isStale || isPast, writes: writes)
    // A new view shows nothing before it has read the value.
    guard present != shown, state.value == nil || hasRead else { return }
    shown = present
    let snapshot = snapshot(state, isPast: isPast)
    for watcher in watchers { watcher.push(snapshot, of: accounts) }
  }

  func forget() { (value, error, hasRead) = (nil, nil, false) }

  func remove(_ watcher: Int) -> Bool {
    watchers.removeInOrder(watcher) { $0.number }
    return watchers.isEmpty
  }
}

/// The delivery of snapshots to one subscriber, in order, on the backend's `delivery` scheduler.
///
/// A subscriber that is not ready, such as a loop over `values`, later receives the newest snapshot only.
final class QueryWatcher<Output: Sendable>: Sendable {
  private struct State {
    /// The snapshots with the users whose values they have; `nil` for users who never change.
    var waiting: [(snapshot: Snapshot<Output>, accounts: Accounts?)] = []
    var isRunning = false
    var isPaused = false
    /// Whether the subscriber became ready before the pause was recorded.
    var isReady = false
  }

  let number: Int
  private let sink: Sink<Snapshot<Output>>
  private let delivery: (any ImmediateSchedulerType)?
  /// A function that makes the query forget the values of a former user.
  private let forget = Locked<@Sendable (Accounts) -> Void>({ _ in })
  /// Guards the waiting snapshots, which the query's thread adds and the delivering thread removes.
  private let state = Locked(State())

  init(_ number: Int, _ sink: Sink<Snapshot<Output>>, _ delivery: (any ImmediateSchedulerType)?) {
    (self.number, self.sink, self.delivery) = (number, sink, delivery)
  }

  /// Sets the function that makes the query forget the values of a former user.
  func forgets(by function: @escaping @Sendable (Accounts) -> Void) { forget.withLock { $0 = function } }

  func push(_ snapshot: Snapshot<Output>, of accounts: Accounts? = nil) {
    let begins = state.withLock { state in
      if state.isPaused { state.waiting = [] }
      state.waiting.append((snapshot, accounts))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if begins { run() }
  }

  private func run() {
    guard let delivery else { return deliver() }
    _ = delivery.schedule { [self] in deliver() }
  }

  private func deliver() {
    while !sink.subscription.isStopped {
      let isEmpty = state.withLock { state in
        if state.waiting.isEmpty { state.isRunning = false }
        return state.waiting.isEmpty
      }
      if isEmpty || pauses() { return }
      guard let (next, accounts) = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) else {
        continue
      }
      // The event of a sign-out may be waiting behind this delivery.
      if next.value != nil || next.error != nil, let accounts, accounts.haveChanged {
        forget.withLock { $0 }(accounts)
      } else {
        sink.deliver(next)
      }
    }
  }

  /// Returns whether the subscriber is not ready; the delivery then continues when it is.
  private func pauses() -> Bool {
    guard !sink.subscription.takesMore(orCall: { [self] in resume() }) else { return false }
    return state.withLock { state in
      defer { state.isReady = false }
      state.isPaused = !state.isReady
      state.waiting = state.waiting.suffix(1)
      return state.isPaused
    }
  }

  private func resume() {
    let continues = state.withLock { state in
      defer { state.isPaused = false }
      if !state.isPaused { state.isReady = true }
      return state.isPaused
    }
    if continues { run() }
  }
}
