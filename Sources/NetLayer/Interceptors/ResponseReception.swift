/// The form in which a call receives its response.
@usableFromInline
package enum ResponseReception: ContextKey, Sendable {
  /// With the whole body.
  case whole
  /// As soon as the head has arrived. If the body `mayBeSilent`, the limit of the time without data after the head is `silence`
  /// instead of that of the backend. Otherwise, it goes into a file.
  case streamed(mayBeSilent: Bool, silence: Duration? = nil)
  case webSocket(WebSocketOptions)

  @usableFromInline package static var defaultValue: ResponseReception { .whole }

  func prepare(_ request: inout Request) {
    switch self {
    case .whole:
      // The request of a streamed response may be sent again.
      guard request.isStreamed else { return }
      request.context[ResponseReception.self] = .whole
      if let stream = request.context[MayBeSilent.self] { request.timeouts.idle = stream.head }
      request.context[MayBeSilent.self] = nil
    case .streamed(let mayBeSilent, let silence):
      request.context[ResponseReception.self] = self
      if mayBeSilent {
        request.context[MayBeSilent.self] = MayBeSilent(head: request.timeouts.idle)
        request.timeouts.idle = silence
        request.timeouts.call = request.timeouts.call ?? request.timeouts.attempt
      } else {
        request.context[IsDownload.self] = true
      }
      // A stream may last forever; only a limit for silence or its reader ends it.
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
