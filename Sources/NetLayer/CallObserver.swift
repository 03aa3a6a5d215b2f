import PortableFoundation
import Streams
import Synchronization

/// An interceptor that observes the whole path of every call: attempts and the pauses between them, cache hits, shared calls,
/// streams, decoding times and errors.
///
/// ```swift
/// struct Trail: CallObserver {
///   func observe(_ event: CallEvent) { print(event.call, event.kind, event.request.url.path) }
/// }
/// let app = Network(Backend(baseURL: url, interceptors: [RetryInterceptor(), Trail()]))
/// ```
/// Its position among the interceptors has no effect. A network has as many observers as its backend lists, and each receives
/// every event. ``CallEvent`` shows their order. A network without an observer pays a load and a branch for each event.
public protocol CallObserver: Interceptor {
  /// Receives an event on the thread where it occurs: the caller's, that of `mapping`, or the transport's. It must not block.
  ///
  /// The events of one call arrive in order. Those of other calls, and the end of an attempt that is being cancelled, may arrive
  /// at the same time. The observer may send calls, whose events it receives as well if it observes their network.
  func observe(_ event: CallEvent)
}

extension CallObserver {
  /// Sends `request` unchanged.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
}

/// The observers of a network.
@usableFromInline
final class CallObservers: Sendable {
  /// A mark of programs with observers, so that readings in other programs need not search for them. It guards only itself.
  /// Networks set it when they are made, on any thread.
  @usableFromInline static let isUsed = Atomic<Bool>(false)

  private let all: [any CallObserver]
  let clock: any SchedulerType

  /// Finds the observers of a backend; `nil` for none.
  init?(_ backend: Backend) {
    (all, clock) = (backend.interceptors.compactMap { $0 as? any CallObserver }, backend.clock)
    guard !all.isEmpty else { return nil }
    Self.isUsed.store(true, ordering: .relaxed)
  }

  /// Passes an event to all observers, with the values that `fill` adds.
  func note(_ kind: CallEvent.Kind, of request: Request, _ fill: (inout CallEvent) -> Void = { _ in }) {
    let number = request.context[CallNumber.self]
    guard number > 0 else { return }
    var event = CallEvent(kind, call: number, at: clock.uptime, request)
    fill(&event)
    event.countResends()
    for observer in all { observer.observe(event) }
  }
}

/// The number of a call of a network with observers, which its attempts share.
enum CallNumber: ContextKey {
  static let defaultValue = 0

  /// Guards only itself. Each observed call takes a number, on any thread.
  private static let last = Atomic(0)

  static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension Response {
  /// Puts the number of the call that receives this response in place of the number of the call that was sent for it.
  /// Returns the latter.
  mutating func adopt(_ number: Int) -> Int {
    let sent = request.context[CallNumber.self]
    if sent != number { request.context[CallNumber.self] = number }
    return sent
  }

  /// The response without the owner of its stream or WebSocket, so that an observer that keeps it keeps nothing open.
  var unowned: Response {
    var response = self
    if request.isStreamed {
      (response.context[BodyReader.self], response.context[WebSocketLink.Owner.self]) = (nil, nil)
    }
    return response
  }
}
