import Streams

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

/// An observer that passes each event to a closure.
///
/// ```swift
/// Backend(baseURL: url, interceptors: [CallEventHandler { if $0.kind == .finished { count($0.metrics) } }])
/// ```
public struct CallEventHandler: CallObserver {
  private let handler: @Sendable (CallEvent) -> Void

  /// Creates an observer. `handler` is called as ``CallObserver/observe(_:)``.
  public init(_ handler: @escaping @Sendable (CallEvent) -> Void) { self.handler = handler }

  /// Calls the closure.
  public func observe(_ event: CallEvent) { handler(event) }
}

extension Response {
  /// The response without the owner of its stream or WebSocket, so that an observer that keeps it keeps nothing open.
  var unowned: Response {
    var response = self
    if request.isStreamed {
      (response.context[BodyReader.self], response.context[WebSocketLink.Owner.self]) = (nil, nil)
    }
    return response
  }
}
