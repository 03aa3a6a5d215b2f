#if canImport(CCurl)
  import PortableFoundation
  import Streams

  /// The transport over libcurl's multi interface: one thread, pooled connections, HTTP/2; the default on Linux.
  ///
  /// Foundation's `URLSession` on Linux is itself built on libcurl and spends 25 times its CPU. This one needs libcurl
  /// 7.68, found at run time. The environment (`http_proxy`, `.netrc`) has no influence unless asked for, certificates are
  /// always verified, and redirects follow the rules of `RedirectPolicy`, as in `URLSessionTransport`. Bodies above 1 MB
  /// and of unknown length ask the server first (`Expect: 100-continue`, RFC 9110 §10.1.1), unless the request has an
  /// `Expect` field: a server that does not respond is waited for half a second, once for each origin.
  ///
  /// A child process made by `fork` without `exec` has no thread of this; there, requests fail with `invalidRequest`.
  ///
  /// Completions are called on the transport's own thread, one after the other: what takes longer than some
  /// microseconds belongs elsewhere, or it delays every other request.
  public final class CurlTransport: Transport {
    /// What the libcurl found at run time can do.
    public struct Capabilities: Sendable, Hashable {
      /// libcurl's version, such as `7.88.1`.
      public let version: String
      /// The TLS library and its version, such as `OpenSSL/3.0.15`; `nil` without TLS.
      public let tls: String?
      /// Whether HTTP/2 is spoken over TLS.
      public let http2: Bool
      /// Whether HTTP/3 is available: libcurl is 8.5 or later, whose HTTP/3 is not experimental, and was built with it.
      public let http3: Bool
      /// Whether gzip bodies are asked for and decoded.
      public let gzip: Bool
      /// Whether brotli bodies are asked for and decoded.
      public let brotli: Bool
      /// Whether zstd bodies are asked for and decoded.
      public let zstd: Bool
    }

    let loop: CurlLoop
    let sockets: CurlSockets

    /// Starts the transport's thread.
    ///
    /// - Throws: `NetworkError` of kind `connection` if no libcurl from 7.68 on is found, or the system has no descriptor or
    ///   thread left; `tls` if a certificate file or a pin is invalid; `invalidRequest` if the proxy, an address or a
    ///   limit is invalid.
    public init(_ configuration: Configuration = Configuration()) throws(NetworkError) {
      if let failure = CurlLibrary.failure {
        throw NetworkError(kind: .connection, reason: "CurlTransport can't be used: \(failure)")
      }
      if let failure = configuration.failure { throw failure }
      var configuration = configuration
      configuration.tls.pins = configuration.tls.pinsByHost
      configuration.directory = try Configuration.Directory(configuration.addresses)
      errno = 0
      guard let loop = CurlLoop(configuration) else { throw Self.failure("libcurl's multi handle", errno) }
      let code = loop.start()
      guard code == 0 else { throw Self.failure("the transport's thread", code) }
      self.loop = loop
      sockets = CurlSockets(configuration)
    }

    private static func failure(_ what: String, _ code: Int32) -> NetworkError {
      let cause = code == 0 ? "out of memory" : String(cString: strerror(code))
      return NetworkError(
        kind: .connection, reason: "\(what) can't be made: \(cause); raise the limit of the process, or use less of it")
    }

    deinit { shutdown() }

    /// What the libcurl found can do; `nil` where there is none.
    public static var capabilities: Capabilities? { CurlLibrary.capabilities }

    /// Sends `request`; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(CurlTransfer(request, loop: loop, completion: completion))
    }

    /// Sends `request`, reporting how far it is; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, progress: @escaping ProgressHandler,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(CurlTransfer(request, loop: loop, progress: progress, completion: completion))
    }

    /// Sends `request` and hands its answer out while it comes in; see `Transport.stream`. Safe from any thread.
    ///
    /// Decoded content comes in pieces of at most 64 KB, none of them during a pause. libcurl holds at most one more chunk of
    /// coded bytes then over HTTP/1.1; over HTTP/2, other requests share the connection, and so it takes what the stream's
    /// window allows the server to send: up to 32 MB, by its version.
    public func stream(
      _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
      chunk: @escaping @Sendable (Data) -> BodyFlow,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any StreamControl {
      submit(
        CurlTransfer(
          request, loop: loop, progress: progress, receiver: ResponseReceiver(head: head, chunk: chunk),
          completion: completion))
    }

    private func submit(_ transfer: CurlTransfer) -> CurlTransfer {
      loop.submit(transfer)
      return transfer
    }

    /// Ends every request in flight with `cancelled` and closes all connections; later requests fail with `cancelled`.
    ///
    /// Returns at once, from any thread; the completions follow on the transport's thread, which then ends. Releasing
    /// the transport does the same.
    public func shutdown() {
      loop.shutDown()
      sockets.shutDown()
    }

    /// Does what `shutdown()` does, and returns when every completion has been called, all connections are closed and the
    /// transport's thread has ended its work.
    public func shutdownAndWait() async {
      shutdown()
      await withCheckedContinuation { continuation in loop.whenEnded { continuation.resume() } }
      await withCheckedContinuation { continuation in sockets.whenEnded { continuation.resume() } }
    }
  }
#endif
