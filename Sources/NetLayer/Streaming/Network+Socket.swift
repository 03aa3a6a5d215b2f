import PortableFoundation
import Streams

extension Network {
  /// Opens a WebSocket at `endpoint`, calls `body` with it, and closes it when that returns.
  ///
  /// ```swift
  /// try await network.withSocket(.get("/chat")) { socket in
  ///   try await socket.send("hello")
  ///   for try await message in socket.messages { print(message) }
  /// }
  /// ```
  /// The opening request is built as for every call and passes through the interceptors, so that a token is refreshed after a
  /// 401; `ws` and `wss` URLs are accepted and stand for `http` and `https`. When `body` returns, the socket is closed with
  /// 1000, and the call returns when the server has responded, or after 5 s. When `body` throws, it returns
  /// immediately. `body` runs where the caller does.
  ///
  /// - Throws: the call's `NetworkError`: of kind `status` if the server did not open a socket, `cancelled` when the task is
  ///   cancelled; or what `body` throws.
  public func withSocket<Result: Sendable>(
    _ endpoint: some Endpoint, options: SocketOptions = SocketOptions(), isolation: isolated (any Actor)? = #isolation,
    _ body: (Socket) async throws -> Result
  ) async throws -> Result {
    let socket = try await awaited(openSocket(Call(endpoint), options))
    do {
      let result = try await body(socket)
      await socket.end(.normal)
      return result
    } catch {
      socket.link.cancel()
      // What the scope's own calls have thrown was reported by them.
      guard let error = error as? NetworkError, error.kind != .cancelled,
        error.request?.url == socket.response.request.url
      else { throw error }
      throw reading.report(error)
    }
  }

  /// The socket that `call` opens at each subscription.
  func openSocket(_ call: Call, _ options: SocketOptions) -> Single<Socket> {
    pipeline.openedSocket(options) { [builder] in try builder.request(for: call.overHTTP) }
  }
}

extension CallPipeline {
  /// The socket that the request of `build` opens.
  func openedSocket(_ options: SocketOptions, _ build: @escaping @Sendable () throws -> Request) -> Single<Socket> {
    response {
      var request = try build()
      request.context[SocketLink.Opening.self] = options
      request.markStreamed()
      return request
    }
    .map { [reading] response in
      guard let owner = response.context[SocketLink.Owner.self] else {
        throw reading.report(Self.refusal(of: response))
      }
      var head = response
      head.context[SocketLink.Owner.self] = nil
      return Socket(head, owner)
    }
  }

  private static func refusal(of response: Response) -> NetworkError {
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

extension Call {
  /// The same call with `http` for `ws`, and `https` for `wss`.
  fileprivate var overHTTP: Call {
    var call = self
    call.baseURL = baseURL?.overHTTP
    let path = path
    if let plain = URL.overHTTP(path) { call.path = plain }
    return call
  }
}

extension URL {
  /// The same URL with `http` for `ws`, and `https` for `wss`.
  var overHTTP: URL { Self.overHTTP(absoluteString).flatMap { URL(string: $0) } ?? self }

  /// `nil` where the scheme is another.
  fileprivate static func overHTTP(_ url: String) -> String? {
    let scheme = url.prefix(6).lowercased()
    if scheme.hasPrefix("wss://") { return "https" + url.dropFirst(3) }
    if scheme.hasPrefix("ws://") { return "http" + url.dropFirst(2) }
    return nil
  }
}
