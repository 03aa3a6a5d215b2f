/// Two streams emit at the same virtual time, so that their order depends on the scheduler, not on the operator.
struct Tie: Error {}

/// The events of the streams that an operator has subscribed to, in order of time.
///
/// Events at the time of the subscription are delivered inside it. All others wait for their time.
final class Agenda<Key: Hashable> {
  typealias Handler = (Key, ModelEvent) throws -> Void

  private(set) var now: Int
  private(set) var output: [Timed] = []
  private var hasEnded = false
  private let limit: Int
  private var open: [Key: ArraySlice<Timed>] = [:]

  init(_ start: Int, _ limit: Int) { (now, self.limit) = (start, limit) }

  // MARK: The result

  func emit(_ element: Int) {
    if !hasEnded { output.append(Timed(now, .next(element))) }
  }

  func end(_ event: ModelEvent) {
    if !hasEnded { output.append(Timed(now, event)) }
    hasEnded = true
  }

  // MARK: The streams

  func isOpen(_ key: Key) -> Bool { open[key] != nil }

  /// The number of streams that have not ended and were not dropped.
  var openCount: Int { open.count }

  func subscribe(_ key: Key, _ stream: Expression, _ handler: Handler) throws {
    guard !hasEnded else { return }
    open[key] = try stream.events(from: now, limit)[...]
    while !hasEnded, let first = open[key]?.first, first.time == now { try deliver(key, handler) }
  }

  /// Calls the handler with a completion after `wait`, unless it is dropped or replaced before.
  func start(_ key: Key, after wait: Int) {
    open[key] = now + wait <= limit ? [Timed(now + wait, .completed)] : []
  }

  func drop(_ key: Key) { open[key] = nil }

  /// Delivers all events that are left.
  func run(_ handler: Handler) throws {
    while !hasEnded, let time = open.values.compactMap(\.first?.time).min() {
      let due = open.filter { $0.value.first?.time == time }.map(\.key)
      guard due.count == 1 else { throw Tie() }
      now = time
      try deliver(due[0], handler)
    }
  }

  private func deliver(_ key: Key, _ handler: Handler) throws {
    guard let event = open[key]?.popFirst()?.event else { return }
    if case .next = event {} else { open[key] = nil }
    try handler(key, event)
  }
}
