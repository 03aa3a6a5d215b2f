#if HAS_URLSESSION
  import Foundation
  import Streams

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// A transport over Foundation's `URLSession`. It is the default on Apple platforms, and on Linux without libcurl.
  ///
  /// It stores no cookies, responses or credentials. It implements redirects, the idle limit and the total limit
  /// itself, so that they behave as in the libcurl transport. `URLSession` causes three differences:
  ///
  /// - It does not report when a connection is established. Until the first byte of the response, the idle limit is the
  ///   sum of `connect` and `idle`.
  /// - Duplicate fields of a response are joined, and the fields have no order.
  /// - It has no TCP keepalive. A stream of events that is silent for 10 minutes fails with kind `timeout`, unless the caller has
  ///   set another limit.
  ///
  /// The transport calls completions on the session's serial queue.
  public final class URLSessionTransport: SpoolingTransport {
    let core: SessionCore

    /// Creates a transport with its own sessions.
    ///
    /// If a setting is invalid or not supported, each request fails before anything is sent. The kind is `tls` for an
    /// invalid certificate or pin, and otherwise `invalidRequest`.
    public init(_ configuration: Configuration = Configuration()) {
      core = SessionCore(SessionSettings(configuration))
      core.open()
    }

    // A session retains its delegate until it is invalidated.
    deinit { core.shutDown() }

    /// Sends `request`; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(SessionTransfer(request, core: core, progress: progress, completion: completion))
    }

    /// Sends `request` and delivers its response while it arrives; see `Transport.stream`. Safe from any thread.
    ///
    /// On Linux, a pause does not reach the socket, because a suspended task would start over. Data that arrives
    /// meanwhile is buffered, and the request fails with `tooLarge` if the buffer exceeds `maxBodySize` bytes.
    public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
      submit(
        SessionTransfer(
          request, core: core, progress: progress,
          receiver: receiver,
          completion: receiver.completion))
    }

    private func submit(_ transfer: SessionTransfer) -> any StreamControl {
      core.submit(transfer)
      return transfer
    }

    /// Fails every request in flight with `cancelled`. Later requests fail with `cancelled`.
    ///
    /// Returns immediately, from any thread. The completions follow on the session's queue.
    public func shutdown() { core.shutDown() }
  }
#endif
