import Streams

/// Turns a request into a response: the one place that knows sockets.
///
/// A transport judges nothing: every status is a response. It fails only when there is no complete answer.
public protocol Transport: Sendable {
  /// Sends `request`.
  ///
  /// `completion` is called exactly once, on a thread of the transport's, never from within `send` and never on the main
  /// thread: with the complete response, or with a `NetworkError` of kind `connection`, `unknownHost`, `timeout`, `tls`,
  /// `redirect`, `invalidRequest` or `cancelled`. Another thread's completion may come before `send` has returned the
  /// disposable to its caller. It must not block, for it holds up the transport: mapping happens elsewhere.
  ///
  /// - Returns: a disposable that cancels the request; `completion` then gets `cancelled`, unless it was on its way.
  func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable
}
