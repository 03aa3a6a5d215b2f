#if canImport(CLibcurl)
  import PortableFoundation
  import Streams

  /// A transport over libcurl's multi interface, with one thread, pooled connections and HTTP/2. It is the default on
  /// Linux.
  ///
  /// On Linux, `URLSession` is also built on libcurl and uses 25 times as much CPU. This transport requires libcurl
  /// 7.68 or later, which it loads at run time. The environment (`http_proxy`, `.netrc`) has no effect unless you
  /// enable it. Certificates are always verified, and redirects follow `RedirectPolicy`, as in `URLSessionTransport`.
  ///
  /// Before it sends a body above 1 MB or of unknown length, the transport asks the server for permission
  /// (`Expect: 100-continue`, RFC 9110 §10.1.1), unless the request has an `Expect` field. If the server does not
  /// respond within half a second, the transport sends the body, and no longer asks this origin.
  ///
  /// A child process created by `fork` without `exec` does not have the transport's thread. There, requests fail with
  /// `invalidRequest`.
  ///
  /// The transport calls completions on its thread, one at a time. Move work that takes longer than a few microseconds
  /// to another thread, because it delays all other requests.
  public final class CurlTransport: ThreadedTransport {
    /// The capabilities of the libcurl found at run time.
    public struct Capabilities: Sendable, Hashable {
      /// libcurl's version, such as `7.88.1`.
      public let version: String
      /// The TLS library and its version, such as `OpenSSL/3.0.15`; `nil` without TLS.
      public let tls: String?
      /// Whether `HTTPVersion.http2` is available: libcurl was built with it and is 8.14 or later, because with earlier
      /// versions streams of a lost connection hang, or end as complete.
      public let http2: Bool
      /// Whether HTTP/3 is available: libcurl was built with it and is 8.5 or later, because earlier versions are
      /// experimental.
      public let http3: Bool
      /// Whether gzip bodies are requested and decoded.
      public let gzip: Bool
      /// Whether brotli bodies are requested and decoded.
      public let brotli: Bool
      /// Whether zstd bodies are requested and decoded.
      public let zstd: Bool
    }

    let loop: CurlLoop
    let webSockets: CurlWebSockets

    /// Creates the transport and starts its thread.
    ///
    /// - Throws: `NetworkError` of kind `connection` if libcurl 7.68 or later is not found, or the system has no
    ///   descriptor or thread left. The kind is `tls` if a certificate file or a pin is invalid, and `invalidRequest`
    ///   if the proxy, an address or a limit is invalid.
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
      let code = loop.start("NetLayer.curl")
      guard code == 0 else { throw Self.failure("the transport's thread", code) }
      self.loop = loop
      webSockets = CurlWebSockets(configuration)
    }

    private static func failure(_ what: String, _ code: Int32) -> NetworkError {
      let cause = code == 0 ? "out of memory" : String(cString: strerror(code))
      return NetworkError(
        kind: .connection,
        reason: "\(what) can't be created: \(cause); raise the limit of the process, or reduce its use")
    }

    deinit { shutdown() }

    package var isCurrentThread: Bool { loop.isCurrent }

    /// The transport's thread as an executor, for programs that make few calls at a time: command-line tools, batch jobs,
    /// crawlers, gateways.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(transport.executor) {
    ///   for url in urls { try await network.fetch(.get(url)) }
    /// }
    /// ```
    /// An awaited call then crosses no threads. Every job delays all requests of the transport: it must not block, and should
    /// take less than a millisecond. Large bodies are better decoded by the global executor, which uses all processors.
    ///
    /// `async let` and groups inherit the preference; `Task {}`, `@MainActor` and actors with an executor of their own do
    /// not. Default actors may run on this thread, too. Jobs run in the order of their arrival, without priorities, and at
    /// most 64 between two looks at the sockets. The executor has no isolation: after `shutdown()`, the tasks continue on
    /// the global executor. In a child process of `fork`, which Swift's executors don't support, they may never run.
    public var executor: any TaskExecutor { loop }

    /// The capabilities of the libcurl that was found; `nil` without libcurl.
    public static var capabilities: Capabilities? { CurlLibrary.capabilities }

    /// Sends `request`; see `Transport.send`. Safe from any thread.
    public func send(
      _ request: Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      submit(CurlTransfer(request, loop: loop, progress: progress, completion: completion))
    }

    /// Sends `request` and delivers its response while it arrives; see `Transport.stream`. Safe from any thread.
    ///
    /// Chunks have at most 64 KB of decoded content, and none arrives during a pause. During a pause, libcurl buffers
    /// at most one more chunk of coded bytes over HTTP/1.1. Over HTTP/2, other requests share the connection, so it
    /// buffers as much as the stream's window allows the server to send: up to 32 MB, depending on its version.
    public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
      submit(
        CurlTransfer(
          request, loop: loop, progress: progress,
          receiver: receiver,
          completion: receiver.completion))
    }

    private func submit(_ transfer: CurlTransfer) -> CurlTransfer {
      loop.submit(transfer)
      return transfer
    }

    /// Fails every request in flight with `cancelled` and closes all connections. Later requests fail with `cancelled`.
    ///
    /// Returns immediately, from any thread. The completions follow on the transport's thread, which then ends.
    /// Releasing the transport has the same effect.
    public func shutdown() {
      loop.shutDown()
      webSockets.shutDown()
    }

    /// Calls `shutdown()`, and returns when every completion has been called, all connections are closed and the
    /// transport's threads have ended their work.
    public func shutdownAndWait() async {
      shutdown()
      await withCheckedContinuation { continuation in loop.whenEnded { continuation.resume() } }
      await withCheckedContinuation { continuation in webSockets.whenEnded { continuation.resume() } }
    }
  }
#endif
