import PortableFoundation
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
    _ request: Request, progress: @escaping ProgressHandler,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable

  /// Sends `request` and hands its answer out while it comes in, whatever the status: for bodies without end, or larger
  /// than memory.
  ///
  /// `head` is called once, with a response that has no body yet; then `chunk` with each piece of the body, its content
  /// coding removed; at last `completion`, exactly once, with the same response, or with an error at any point. Redirects
  /// that are followed are not seen. All three are called on the transport's thread, one call at a time, in this order,
  /// and must not block: a consumer that is behind answers `pause`, and no chunk comes before `resume()`. A pause reaches
  /// the socket, so that the server waits, too; the idle limit does not run meanwhile, the total limit does. `completion`
  /// may come during a pause, when no chunk is left.
  ///
  /// After `dispose()` no chunk comes any more, but for one that another thread was just about to hand out; none comes
  /// behind `completion`, which gets `cancelled` then.
  ///
  /// `progress`, unless it is `nil`, is called as in `send`. A transport that has no such method gives the whole body as one
  /// chunk.
  func stream(
    _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
    chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl
}

extension Transport {
  /// Sends `request`; reports once, before a success, what the response says of its own size.
  public func send(
    _ request: Request, progress: @escaping ProgressHandler,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    send(request) { result in
      if case .success(let response) = result { progress(TransferProgress(of: request, response)) }
      completion(result)
    }
  }

  /// Sends `request`; gives the head, the whole body as one chunk and the completion in one go, whatever the consumer
  /// answers to the chunk.
  public func stream(
    _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
    chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    let control = WholeBody()
    let whole: @Sendable (Result<Response, NetworkError>) -> Void = { [weak control] result in
      guard case .success(var response) = result else { return completion(result) }
      let body = response.body
      response.body = Data()
      head(response)
      // The head's receiver may have lost interest.
      if !body.isEmpty, control?.sent.isDisposed != true { _ = chunk(body) }
      completion(.success(response))
    }
    control.sent.setDisposable(
      progress.map { send(request, progress: $0, completion: whole) } ?? send(request, completion: whole))
    return control
  }
}

/// The control of an answer that comes in one piece.
private final class WholeBody: StreamControl {
  let sent = SingleAssignmentDisposable()

  func resume() {}
  func dispose() { sent.dispose() }
}
