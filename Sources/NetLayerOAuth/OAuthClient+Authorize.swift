import PortableFoundation

extension OAuthClient {
  /// Signs a user in with the server's page, in a browser that reports the redirect (RFC 6749 §4.1, with PKCE).
  ///
  /// - Parameters:
  ///   - redirect: The redirect URI, as it is registered at the server, without a fragment.
  ///   - isolation: The actor of the caller, on which `open` runs.
  ///   - open: A closure that opens a page and returns the URL to which the server has redirected, such as
  ///     `ASWebAuthenticationSession`. The sign-in has no other limit: throw an error when the user closes the page.
  /// - Throws: `NetworkError`, of kind `rejected` if the user or the server refuses, or if the redirect does not belong to this
  ///   login. An error of `open` is the `underlying` of one of kind `other`.
  public func authorize(
    redirectingTo redirect: String, isolation: isolated (any Actor)? = #isolation, open: (URL) async throws -> URL
  ) async throws(NetworkError) -> OAuthGrant {
    guard redirect.contains(":"), !redirect.contains("#") else {
      throw .misuse("the redirect URI \(redirect.debugDescription) must be absolute, without a fragment")
    }
    let login = try Login(self, at: try await server(), redirect: redirect)
    let url: URL
    do { url = try await open(login.url) } catch { throw NetworkError.wrapping(error) }
    return try await finish(login, login.outcome(of: url.absoluteString))
  }

  /// Signs a user in with the server's page, in any browser of this machine: a port of 127.0.0.1 receives the redirect
  /// (RFC 8252 §7.3).
  ///
  /// The port is free again when the sign-in ends: after the redirect, the limit, an error of `open`, or the cancellation of the
  /// task. Requests that do not belong to this login get status 404 or 400, and change nothing.
  ///
  /// - Parameters:
  ///   - redirect: The redirect URI: `http`, the host `127.0.0.1` or `localhost`, a path, and a port if the server requires a fixed
  ///     one. Otherwise the system chooses a free port.
  ///   - limit: The time for the sign-in, on the clock of the network; 5 minutes by default.
  ///   - page: The text that the browser shows at the end.
  ///   - open: A closure that opens the URL in a browser, or prints it. It is cancelled when the sign-in ends.
  /// - Throws: `NetworkError`, of kind `rejected` if the user or the server refuses, `timeout` after the limit, `connection` if the
  ///   port is in use, `cancelled` if the task is cancelled. An error of `open` is the `underlying` of one of kind `other`.
  public func authorizeOnLoopback(
    redirectingTo redirect: String = "http://127.0.0.1/callback", within limit: Duration = .seconds(300),
    page: String = "You can close this page.", open: @escaping @Sendable (URL) async throws -> Void
  ) async throws(NetworkError) -> OAuthGrant {
    let address = try LoopbackAddress(redirect)
    let server = try await server()
    let outcomes = ReplaySubject<Login.Outcome>.create(bufferSize: 1)
    let listener = try LoopbackListener(address.port, page, outcomes.onNext) { port throws(NetworkError) in
      try Login(self, at: server, redirect: address.uri(port: port))
    }
    let login = listener.login
    let opening = Single.from { try await open(login.url) }.asObservable().flatMap { Observable<Login.Outcome>.never() }
    let late = NetworkError(kind: .timeout, reason: "nobody has signed in within \(limit.text); start again")
    let first = Observable.merge(outcomes.asObservable(), opening).take(1)
      .timeout(limit, other: .error(late), scheduler: network.backend.clock).asSingle()
    let outcome: Result<Login.Outcome, NetworkError>
    do { outcome = .success(try await network.awaited(first)) } catch { outcome = .failure(error) }
    await listener.stop()
    return try await finish(login, outcome.get())
  }

  private func finish(_ login: Login, _ outcome: Login.Outcome) async throws(NetworkError) -> OAuthGrant {
    switch outcome {
    case .foreign(_, let problem): throw .foreign("the redirect does not belong to this login: \(problem)")
    case .refused(let error): throw error
    case .code(let code):
      let response = try await token(login.redeem(code), from: login.server)
      return try grant(response, from: login.server, nonce: login.nonce)
    }
  }
}
