/// The rules of one watched request, without I/O and time: a value, the edits on it, and at most one load in flight.
///
/// One rule makes it correct: no load overlaps a write that edits the value. A write cancels the load in flight, and one
/// load follows when all its writes have ended. Each loaded value thus contains every acknowledged write, so it replaces
/// the previous value and all edits. Edits are never applied to `value` itself; views apply them for display.
struct QueryState<Value: Sendable, Change: Sendable>: Sendable {
  /// A change that a write makes, until a loaded value contains it.
  struct Edit: Sendable {
    let write: Int
    let change: Change
    var isInFlight = true
    /// Whether no other write overlaps this one, so that the write's own response contains all changes.
    var isAlone: Bool
  }

  /// The result of a write.
  enum Outcome {
    /// The server applied the write, and responded with the new value if there is one.
    case acknowledged(Value?)
    /// The server did not apply it.
    case rejected
    /// Nobody knows.
    case unknown
  }

  enum Event {
    /// A watcher subscribes. The first one may look up a stored value.
    case join(looksUp: Bool)
    case leave
    /// A stored value was found, or none.
    case found(Int, Value?, isFresh: Bool)
    /// The value has changed on the server, so a load in flight may be too old.
    case invalidate
    /// The value should be loaded again; a load in flight is enough.
    case refresh
    /// Another page is requested.
    case more
    case begin(write: Int, Change)
    case end(write: Int, Outcome)
    /// A load has succeeded. The value of an unchanged response differs only in its times.
    case succeed(Int, Value, isNew: Bool)
    case fail(Int, NetworkError)
    /// Another user has signed in or out.
    case reset
  }

  /// A kind of load.
  enum Load: Equatable {
    /// From the cache, without a request.
    case stored
    /// As any call, which may be a cache hit.
    case first
    /// From the server, whatever the cache contains.
    case again
    /// One more page.
    case more
  }

  enum Action: Equatable {
    /// Cancel the load in flight, whose result is ignored.
    case cancel
    /// Show the new state to all watchers.
    case emit
    case load(Int, Load)
  }

  private(set) var watchers = 0
  private(set) var value: Value?
  private(set) var edits: [Edit] = []
  private(set) var failure: NetworkError?
  /// The load in flight.
  private(set) var load: Int?
  private var kind = Load.first
  private var isDue = false
  private var isMoreDue = false
  /// Whether a response that was stored before the last change would be wrong.
  private var isForced = false
  private var isOutdated = false
  private var lastLoad = 0
  /// The number of changes of value and failure.
  private(set) var version = 0

  var isFetching: Bool { isDue || isMoreDue || load != nil }
  var isStale: Bool { value != nil && isOutdated }
  var isEdited: Bool { value != nil && !edits.isEmpty }
  /// Whether a stored value is being looked up, so that there is nothing to show yet.
  var isLookingUp: Bool { load != nil && kind == .stored }
  /// Whether `refresh` could improve the state.
  var needsRefresh: Bool { isOutdated || failure != nil }

  /// Everything that a watcher can see.
  private struct Visible: Equatable {
    let version: Int
    let isFetching: Bool
    let isStale: Bool
    let isLookingUp: Bool
    let writes: [Int]
  }

  private var visible: Visible {
    Visible(
      version: version, isFetching: isFetching, isStale: isStale, isLookingUp: isLookingUp,
      writes: isEdited ? edits.map(\.write) : [])
  }

  /// Changes the state, and returns the actions to carry out, in this order.
  mutating func handle(_ event: Event) -> [Action] {
    let before = visible
    var actions: [Action] = []
    switch event {
    case .join(let looksUp):
      watchers += 1
      guard watchers == 1 else { break }
      if looksUp, edits.isEmpty { actions.append(begin(.stored)) } else { isDue = true }
    case .leave:
      watchers -= 1
      guard watchers == 0 else { break }
      forget(keepingWrites: true, &actions)
    case .found(let id, let stored, let isFresh):
      guard id == load else { break }
      load = nil
      if stored != nil { put(stored) }
      if stored == nil || !isFresh { isDue = true }
      if stored != nil { (isForced, isOutdated) = (true, isDue) }
    case .invalidate:
      expire()
    case .refresh:
      // The load of another page does not refresh the previous ones.
      let isRefreshing = load != nil && kind != .more
      if !isRefreshing { expire() }
    case .more:
      // Every trigger of a scroll view fires more than once.
      guard watchers > 0, load == nil || kind != .more else { break }
      isMoreDue = true
      // Pages of different ages must not be combined.
      if isOutdated || value == nil, load == nil { expire() }
    case .begin(let write, let change):
      let isAlone = edits.allSatisfy { !$0.isInFlight }
      for index in edits.indices { edits[index].isAlone = false }
      edits.append(Edit(write: write, change: change, isAlone: isAlone))
      if load != nil, kind != .stored { cancel(&actions) }
      isForced = true
    case .end(let write, let outcome):
      end(write, outcome, &actions)
    case .succeed(let id, let loaded, let isNew):
      guard id == load else { break }
      load = nil
      if isNew { put(loaded) } else { value = loaded }
      succeed()
    case .fail(let id, let error):
      guard id == load else { break }
      load = nil
      isMoreDue = false
      failure = error
      version += 1
    case .reset:
      forget(keepingWrites: false, &actions)
      isDue = watchers > 0
      isForced = true
    }
    let next = start()
    if visible != before { actions.append(.emit) }
    return next.map { actions + [$0] } ?? actions
  }

  /// Starts a load that is due, unless a load or a write is in flight.
  private mutating func start() -> Action? {
    guard watchers > 0, load == nil, edits.allSatisfy({ !$0.isInFlight }) else { return nil }
    if isDue { return begin(isForced ? .again : .first) }
    return isMoreDue ? begin(.more) : nil
  }

  private mutating func begin(_ kind: Load) -> Action {
    lastLoad += 1
    (load, self.kind) = (lastLoad, kind)
    if kind == .more { isMoreDue = false } else { isDue = false }
    return .load(lastLoad, kind)
  }

  /// Cancels the load in flight, which becomes due again.
  private mutating func cancel(_ actions: inout [Action]) {
    load = nil
    isDue = isDue || kind != .more
    isMoreDue = isMoreDue || kind == .more
    actions.append(.cancel)
  }

  private mutating func expire() {
    if watchers > 0 { (isDue, isForced, isOutdated) = (true, true, true) }
  }

  private mutating func put(_ new: Value?) {
    value = new
    version += 1
  }

  private mutating func succeed() {
    if failure != nil { version += 1 }
    failure = nil
    edits = []
    isOutdated = isDue
    isForced = true
  }

  private mutating func end(_ write: Int, _ outcome: Outcome, _ actions: inout [Action]) {
    // After a reset, the writes of the previous user are unknown.
    guard let index = edits.firstIndex(where: { $0.write == write && $0.isInFlight }) else { return }
    let isAlone = edits[index].isAlone
    edits[index].isInFlight = false
    switch outcome {
    case .acknowledged(let new?) where isAlone && watchers > 0:
      // A stored response that is still being looked up is older.
      if load != nil { actions.append(.cancel) }
      load = nil
      put(new)
      return succeed()
    case .acknowledged where watchers > 0: break
    case .acknowledged, .rejected, .unknown: edits.remove(at: index)
    }
    switch outcome {
    case .rejected: break
    case .acknowledged: expire()
    case .unknown: expire()
    }
  }

  private mutating func forget(keepingWrites: Bool, _ actions: inout [Action]) {
    if load != nil { actions.append(.cancel) }
    if value != nil || failure != nil { version += 1 }
    edits = keepingWrites ? edits.filter(\.isInFlight) : []
    (value, failure, load) = (nil, nil, nil)
    (isDue, isMoreDue, isForced, isOutdated) = (false, false, !edits.isEmpty, false)
  }
}
