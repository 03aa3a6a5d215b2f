#if HAS_URLSESSION
  import Foundation
  import Streams

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The transport over Foundation's `URLSession`: the default on Apple's platforms, and on Linux where libcurl is missing.
  ///
  /// It keeps no cookies, no cache and no credentials. Redirects, the idle and the total limit are its own, so that they
  /// are the same as in the libcurl transport. What `URLSession` does not let it do: it does not say when a connection
  /// stands, so up to the answer's first byte a silence of `connect` plus `idle` seconds is allowed; duplicate
  /// fields of a response arrive joined and in no order.
  ///
  /// Completions are called on the session's serial queue.
  public final class URLSessionTransport: Transport {
    /// What can be set; the defaults serve a JSON client.
    public struct Configuration: Sendable {
      /// The most connections to one host; requests beyond wait. Six is what browsers use.
      public var maxConnectionsPerHost: Int
      /// The most bytes a body may have. 256 MB is far above any JSON; more fails with `connection`.
      public var maxBodySize: Int

      /// The defaults, changed where arguments say so.
      public init(maxConnectionsPerHost: Int = 6, maxBodySize: Int = 256 << 20) {
        self.maxConnectionsPerHost = maxConnectionsPerHost
        self.maxBodySize = maxBodySize
      }
    }

    private let core: SessionCore

    /// Makes a session of its own.
    public init(_ configuration: Configuration = Configuration()) {
      core = SessionCore(maxBodySize: configuration.maxBodySize)
      core.open(maxConnectionsPerHost: configuration.maxConnectionsPerHost)
    }

    // The session holds its delegate until it is invalidated.
    deinit { core.shutDown() }

    /// Sends `request`; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(SessionTransfer(request, core: core, completion: completion))
    }

    /// Sends `request`, reporting how far it is; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, progress: @escaping ProgressHandler,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(SessionTransfer(request, core: core, progress: progress, completion: completion))
    }

    /// Sends `request` and hands its answer out while it comes in; see `Transport.stream`. Safe from any thread.
    ///
    /// On Linux a pause does not reach the socket, since a suspended task starts over there: what comes in meanwhile is kept,
    /// and more than `maxBodySize` bytes of it fail the request with `connection`.
    public func stream(
      _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
      chunk: @escaping @Sendable (Data) -> BodyFlow,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any StreamControl {
      submit(
        SessionTransfer(
          request, core: core, progress: progress, receiver: ResponseReceiver(head: head, chunk: chunk),
          completion: completion))
    }

    private func submit(_ transfer: SessionTransfer) -> any StreamControl {
      core.submit(transfer)
      return transfer
    }

    /// Ends every request in flight with `cancelled`; later requests fail with `cancelled`.
    ///
    /// Returns at once, from any thread; the completions follow on the session's queue.
    public func shutdown() { core.shutDown() }
  }
#endif
