import PortableFoundation
import Streams

/// An HTTP client: sends requests and delivers responses.
///
/// A response with any status is a success. A request fails only if no complete response arrives.
public protocol Transport: Sendable {
  /// The user for whom this transport acts, for example by a client certificate; `nil`, the default, for the user of the
  /// network that was created with it.
  ///
  /// A cache on disk keeps the responses of different accounts apart, even after a new launch.
  var account: String? { get }

  /// Sends `request`, and reports its progress if there is a closure for it.
  ///
  /// The transport calls `completion` exactly once, on one of its threads, never from within `send` and never on the
  /// main thread. The result is the complete response, or a `NetworkError` of kind `connection`, `unknownHost`,
  /// `timeout`, `tls`, `redirect`, `invalidRequest`, `tooLarge`, `file` or `cancelled`. `completion` may be called before
  /// `send` has returned. It must not block, because that would delay other requests.
  ///
  /// It calls `progress` on its thread, one call at a time, before `completion`: at most every 50 ms, and once when
  /// everything has been transferred.
  ///
  /// - Returns: A disposable that cancels the request. `completion` then receives `cancelled`, unless another result is
  ///   already being delivered.
  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable

  /// Sends `request` and delivers its response while it arrives, with any status: for endless bodies, or bodies larger
  /// than memory.
  ///
  /// The transport calls the closures of `receiver` on its thread, one call at a time, in this order. They must not
  /// block:
  ///
  /// 1. `head`, once, with a response without a body. Redirects that are followed are not delivered.
  /// 2. `chunk`, for each chunk of the body, with its content coding removed. If it returns `pause`, no chunk follows
  ///    before `resume()`.
  /// 3. `completion`, exactly once, with the same response, or with an error at any point. It may be called during a
  ///    pause if no chunk is left.
  ///
  /// A pause reaches the socket, so that the server waits, too. Meanwhile the idle limit does not apply, but the total
  /// limit does.
  ///
  /// After `dispose()`, at most one more chunk is delivered, if another thread is already delivering it. `completion`
  /// then receives `cancelled`, and no further chunk follows.
  ///
  /// `progress` is called as in `send`. The default implementation delivers the whole body as one chunk.
  func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl

  /// Fails every request in flight with `cancelled` and closes all connections. Later requests fail with `cancelled`.
  ///
  /// Returns immediately, from any thread. The completions follow on the transport's thread. The default implementation
  /// does nothing, for transports without connections of their own.
  func shutdown()
}

/// A transport that copies a generated body to a temporary file before it sends the first byte.
package protocol SpoolingTransport: Transport {}

/// A transport with a thread of its own, which no caller may block.
package protocol ThreadedTransport: Transport {
  /// Whether the current thread is the transport's.
  var isCurrentThread: Bool { get }
}

/// A transport that can reach servers through Unix domain sockets, for which no network is needed.
package protocol SocketTransport: Transport {
  func isUnixSocket(_ url: URL) -> Bool
}

/// The mark of a request whose response is a stream that its reader may leave open. `Timeouts.idle` is its limit for silence
/// after the head. A transport that can't detect a lost connection limits the silence itself.
package struct MayBeSilent: ContextKey, Sendable {
  package static var defaultValue: MayBeSilent? { nil }
  /// The limit for silence before the head.
  package let head: Duration?

  package init(head: Duration?) { self.head = head }
}

/// The closures that receive a response while it arrives.
public struct StreamReceiver: Sendable {
  /// The closure that receives the status and the header fields.
  public let head: @Sendable (Response) -> Void
  /// The closure that receives each chunk of the body.
  public let chunk: @Sendable (Data) -> BodyFlow
  /// The closure that receives the end of the response, or an error.
  public let completion: @Sendable (Result<Response, NetworkError>) -> Void

  /// Creates a receiver from its closures.
  public init(
    head: @escaping @Sendable (Response) -> Void, chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    (self.head, self.chunk, self.completion) = (head, chunk, completion)
  }
}

extension Transport {
  /// `nil`.
  public var account: String? { nil }

  /// Does nothing.
  public func shutdown() {}

  /// Sends `request` without a report of its progress.
  public func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    send(request, progress: nil, completion: completion)
  }

  /// Sends `request`, and delivers the head, the whole body as one chunk and the completion together. The result of
  /// `chunk` has no effect.
  public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
    let control = WholeBody()
    let whole: @Sendable (Result<Response, NetworkError>) -> Void = { [weak control] result in
      guard case .success(var response) = result else { return receiver.completion(result) }
      let body = response.body
      response.body = Data()
      receiver.head(response)
      // The closure that received the head may have disposed the control.
      if !body.isEmpty, control?.sent.isDisposed != true { _ = receiver.chunk(body) }
      receiver.completion(.success(response))
    }
    control.sent.setDisposable(send(request, progress: progress, completion: whole))
    return control
  }
}

/// The control of a response whose body is delivered as one chunk.
private final class WholeBody: StreamControl {
  let sent = SingleAssignmentDisposable()

  func resume() {}
  func dispose() { sent.dispose() }
}
