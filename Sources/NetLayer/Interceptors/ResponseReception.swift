/// The form in which a call receives its response.
@usableFromInline
package enum ResponseReception: ContextKey, Sendable {
  /// With the whole body.
  case whole
  /// As soon as the head has arrived. If the body `mayBeSilent`, the limit of the time without data is `silence` instead of that
  /// of the backend.
  case streamed(mayBeSilent: Bool, silence: Duration? = nil)
  case webSocket(WebSocketOptions)

  @usableFromInline package static var defaultValue: ResponseReception { .whole }

  func prepare(_ request: inout Request) {
    switch self {
    case .whole:
      // The request of a streamed response may be sent again.
      if request.isStreamed { request.context[ResponseReception.self] = .whole }
    case .streamed(let mayBeSilent, let silence):
      request.context[ResponseReception.self] = self
      if mayBeSilent {
        request.timeouts.idle = silence
        request.context[MayBeSilent.self] = true
        // Without an idle limit, a server that never responds would not be noticed.
        request.timeouts.call = request.timeouts.call ?? request.timeouts.attempt
      }
      // A stream may last forever; only the idle limit or its reader ends it.
      request.timeouts.attempt = nil
    case .webSocket:
      request.context[ResponseReception.self] = self
    }
  }
}

extension Request {
  /// Whether the body of the response is read while it arrives, so that interceptors can't store it.
  var isStreamed: Bool {
    if case .whole = context[ResponseReception.self] { false } else { true }
  }
}
