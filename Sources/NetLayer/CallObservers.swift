import Streams
import Synchronization

/// The observers of a network.
@usableFromInline
final class CallObservers: Sendable {
  /// A mark of programs with observers, so that readings in other programs need not search for them. It guards only itself.
  /// Networks set it when they are made, on any thread.
  @usableFromInline static let isUsed = Atomic<Bool>(false)

  private let all: [@Sendable (CallEvent) -> Void]
  let clock: any SchedulerType

  /// Makes one of the observers of a network; `nil` for none.
  init?(_ all: [@Sendable (CallEvent) -> Void], clock: any SchedulerType) {
    (self.all, self.clock) = (all, clock)
    guard !all.isEmpty else { return nil }
    Self.isUsed.store(true, ordering: .relaxed)
  }

  /// Passes an event to all observers, with the values that `fill` adds.
  func note(_ kind: CallEvent.Kind, of request: Request, _ fill: (inout CallEvent) -> Void = { _ in }) {
    let call = request.context[CallNumber.self]
    guard call.value > 0 else { return }
    var event = CallEvent(kind, of: call, at: clock.uptime, request)
    fill(&event)
    event.countResends()
    for observe in all { observe(event) }
  }
}

/// The number of a call of a network with observers, which its attempts share, and the time of its start.
struct CallNumber: ContextKey, Sendable {
  static let defaultValue = CallNumber(value: 0, start: .zero)

  /// Guards only itself. Each observed call takes a number, on any thread.
  private static let last = Atomic(0)

  let value: Int
  let start: Duration

  static func next(at start: Duration) -> CallNumber {
    CallNumber(value: last.wrappingAdd(1, ordering: .relaxed).newValue, start: start)
  }
}

extension Response {
  /// Puts the number of the call that receives this response in place of the number of the call that was sent for it.
  /// Returns the latter.
  mutating func adopt(_ number: CallNumber) -> Int {
    let sent = request.context[CallNumber.self].value
    if sent != number.value { request.context[CallNumber.self] = number }
    return sent
  }
}
