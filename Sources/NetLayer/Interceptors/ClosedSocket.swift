/// The response that opened the previous socket of a session, which the server has closed, in the request for the next one.
enum ClosedSocket: ContextKey { static var defaultValue: Response? { nil } }

private enum CloseCodeKey: ContextKey { static var defaultValue: CloseCode? { nil } }

extension Response {
  /// The code with which the server has closed the WebSocket that this response opened; `nil` while it is open, and for other
  /// responses.
  ///
  /// ``AuthenticationInterceptor`` asks `isRejected` about such a response before a session reconnects.
  public internal(set) var closeCode: CloseCode? {
    get { context[CloseCodeKey.self] }
    set { context[CloseCodeKey.self] = newValue }
  }
}
