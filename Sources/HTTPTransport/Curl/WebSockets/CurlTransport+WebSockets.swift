#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams

  extension CurlTransport: WebSocketTransport {
    /// Opens a WebSocket; see `WebSocketTransport.connect`. Safe from any thread.
    ///
    /// libcurl establishes the connection, with the `tls` and `proxy` of the configuration. This package reads and
    /// writes the frames. One thread serves all WebSockets of a transport; it starts with the first. Sockets do not count
    /// towards `maxConnections` and `maxConnectionsPerHost`, because an open WebSocket would block requests for hours.
    ///
    /// Redirects of the opening request follow `Request.Options.redirects`. The transport requests a tunnel from a
    /// proxy (CONNECT), even if the URL is `http`.
    public func connect(
      _ request: Request, options: WebSocketOptions, receiver: WebSocketReceiver
    ) -> any WebSocketControl {
      webSockets.open(request, options, receiver)
    }
  }

  /// The WebSockets of one transport, and the loop that starts with the first WebSocket.
  final class CurlWebSockets: Sendable {
    private struct State {
      var loop: CurlWebSocketLoop?
      var isShutDown = false
    }

    private let configuration: CurlTransport.Configuration
    /// The loop and whether it was shut down. Any thread takes the loop. It is created and started under the lock, so
    /// that there is only one.
    private let state = Locked(State())

    /// The queue on which WebSockets without a loop fail. It is serial, because callers may block the global queues.
    private static let failureQueue = DispatchQueue(label: "NetLayer.failures")

    init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

    func open(_ request: Request, _ options: WebSocketOptions, _ receiver: WebSocketReceiver) -> any WebSocketControl {
      let found = loop(for: request)
      switch found {
      case .success(let loop):
        let webSocket = CurlWebSocket(request, options, receiver, loop: loop)
        if loop.post(.open(webSocket)) { return webSocket }
        return failedWebSocket(Self.shutDown(request), receiver)
      case .failure(let error): return failedWebSocket(error, receiver)
      }
    }

    func shutDown() {
      let loop = state.withLock { state in
        state.isShutDown = true
        return state.loop
      }
      loop?.shutDown()
    }

    /// Calls `action` on the loop's thread when the loop has ended; immediately without a loop.
    func whenEnded(_ action: @escaping @Sendable () -> Void) {
      guard let loop = state.withLock({ $0.loop }) else { return action() }
      loop.whenEnded(action)
    }

    private func loop(for request: Request) -> Result<CurlWebSocketLoop, NetworkError> {
      if ccurl_is_forked() {
        return .failure(
          NetworkError(
            kind: .invalidRequest,
            reason: "the transport has no thread after a fork; create the transport in the child process",
            request: request))
      }
      return state.withLock { state in
        if state.isShutDown { return .failure(Self.shutDown(request)) }
        if let loop = state.loop { return .success(loop) }
        errno = 0
        guard let loop = CurlWebSocketLoop(configuration) else {
          return .failure(Self.unavailable("libcurl's multi handle", errno, request))
        }
        let code = loop.start("NetLayer.socket")
        guard code == 0 else { return .failure(Self.unavailable("the thread of the sockets", code, request)) }
        state.loop = loop
        return .success(loop)
      }
    }

    private static func unavailable(_ what: String, _ code: Int32, _ request: Request) -> NetworkError {
      let cause = code == 0 ? "out of memory" : String(cString: strerror(code))
      return NetworkError(
        kind: .connection, reason: "\(what) can't be created: \(cause); raise the limit of the process",
        request: request)
    }

    static func shutDown(_ request: Request) -> NetworkError {
      NetworkError(
        kind: .cancelled, reason: "this CurlTransport was shut down before the socket was opened; create a new one",
        request: request)
    }

    private func failedWebSocket(_ error: NetworkError, _ receiver: WebSocketReceiver) -> any WebSocketControl {
      // A child process of fork has no threads but this one.
      if ccurl_is_forked() {
        receiver.closed(.failure(error))
      } else {
        Self.failureQueue.async { receiver.closed(.failure(error)) }
      }
      return FailedWebSocket(error)
    }

    static func fail(_ error: NetworkError, _ completion: @escaping @Sendable (NetworkError?) -> Void) {
      failureQueue.async { completion(error) }
    }

    private final class FailedWebSocket: WebSocketControl {
      private let error: NetworkError

      init(_ error: NetworkError) { self.error = error }

      func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
        CurlWebSockets.fail(error, completion)
      }
      func close(_ code: CloseCode, reason: String) {}
      func resume() {}
      func dispose() {}
    }
  }
#endif
