import PortableFoundation
import Streams

extension Network {
  /// Opens a WebSocket at `endpoint`, calls `body` with it, and closes it when `body` returns.
  ///
  /// `ws` and `wss` URLs are treated as `http` and `https`. When `body` returns, the socket is closed with code 1000.
  /// The call then returns when the server has responded, or after 5 s. When `body` throws, the call throws
  /// immediately. `body` runs on the caller's actor.
  ///
  /// - Throws: The call's `NetworkError`: of kind `status` if the server did not open a socket, `cancelled` if the task
  ///   is cancelled. Errors that `body` throws are rethrown.
  public func withWebSocket<Result: Sendable>(
    _ endpoint: some Endpoint, options: WebSocketOptions = WebSocketOptions(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (WebSocket) async throws -> Result
  ) async throws -> Result {
    let socket = try await awaited(openSocket(CallContent(endpoint), options))
    do {
      let result = try await body(socket)
      await socket.end(.normal)
      return result
    } catch {
      socket.link.cancel()
      // Errors of other calls within the scope have already been reported.
      guard let error = error as? NetworkError, error.kind != .cancelled,
        error.request?.url == socket.response.request.url
      else { throw error }
      throw reading.report(error)
    }
  }

  /// Emits the socket that `call` opens at each subscription.
  func openSocket(_ call: CallContent, _ options: WebSocketOptions) -> Single<WebSocket> {
    response(to: call.overHTTP, as: .webSocket(options)).map { [reading] response in
      guard let owner = response.context[WebSocketLink.Owner.self] else {
        throw reading.report(Self.handshakeFailure(of: response))
      }
      var head = response
      head.context[WebSocketLink.Owner.self] = nil
      return WebSocket(head, owner, expecting: options.expectedCloseCodes)
    }
  }

  private static func handshakeFailure(of response: Response) -> NetworkError {
    do {
      _ = try response.validated()
      return NetworkError(
        kind: .status, code: response.status,
        reason: "the server responded with status \(response.status) instead of a socket; check the endpoint",
        response: response)
    } catch {
      return NetworkError.wrapping(error)
    }
  }
}

extension CallContent {
  var overHTTP: CallContent {
    var call = self
    call.baseURL = baseURL?.overHTTP
    let path = path
    if let plain = URL.overHTTP(path) { call.path = plain }
    return call
  }
}
