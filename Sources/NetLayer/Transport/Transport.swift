import Streams

/// Turns a request into a response: the one place that knows sockets.
///
/// A transport judges nothing: every status is a response. It fails only when there is no complete answer.
public protocol Transport: Sendable {
  /// Sends `request`.
  ///
  /// `completion` is called exactly once, on a thread of the transport's, never from within `send` and never on the main
  /// thread: with the complete response, or with a `NetworkError` of kind `connection`, `unknownHost`, `timeout`, `tls`,
  /// `redirect`, `invalidRequest`, `file` or `cancelled`. Another thread's completion may come before `send` has returned
  /// the disposable to its caller. It must not block, for it holds up the transport: mapping happens elsewhere.
  ///
  /// - Returns: a disposable that cancels the request; `completion` then gets `cancelled`, unless it was on its way.
  func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable

  /// Sends `request`, reporting how far it is (article row 1.8).
  ///
  /// `progress` is called on the transport's thread, one call at a time, before `completion`: at most every 50 ms, and a
  /// last time when everything has been transferred. A transport that has nothing to report need not write this method.
  func send(
    _ request: Request, progress: @escaping @Sendable (TransferProgress) -> Void,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable
}

extension Transport {
  /// Sends `request`; reports once, before a success, what the response says of its own size.
  public func send(
    _ request: Request, progress: @escaping @Sendable (TransferProgress) -> Void,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    send(request) { result in
      if case .success(let response) = result {
        let sent = request.body.byteCount
        let received = Int64(response.body.count)
        progress(TransferProgress(sent: sent ?? 0, toSend: sent, received: received, toReceive: received))
      }
      completion(result)
    }
  }
}
