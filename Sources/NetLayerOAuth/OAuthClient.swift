import PortableFoundation

/// A client of an authorization server: it signs users in, and refreshes and revokes their tokens (OAuth 2, OpenID Connect).
///
/// Pass ``refresh(_:)`` to an `AuthenticationInterceptor`: the guide <doc:SigningInUsers> shows each flow. The errors of a server have the kind `rejected` and an ``HTTPTransport/NetworkError/oauthCode``. A server that is down fails a
/// call with its own kind, such as `connection`, or with `status` (408, 425, 429, 5xx except 501 and 505).
public final class OAuthClient: Sendable {
  let id: String
  let authentication: Authentication
  let scope: String?
  let resource: String?
  let parameters: Hidden<[String: String]>
  let network: Network
  private let known = KnownServer()
  private let discovery: Single<OAuthServer>

  private final class KnownServer: Sendable {
    // Guards the server, which the first call stores and all calls read.
    let server = Locked<OAuthServer?>(nil)
  }

  /// Creates a client of the server that an issuer identifier names. The first call reads the server's document.
  ///
  /// - Parameters:
  ///   - issuer: The issuer identifier, such as `https://accounts.example.com`, compared byte by byte.
  ///   - id: The client's id at the server.
  ///   - authentication: The client's authentication; none by default, for apps and command-line tools.
  ///   - scope: The scope to request, separated by spaces; `nil` for the server's default. `openid` requests an ID token.
  ///   - resource: The URL of the API for which the tokens are (RFC 8707); `nil` to send none.
  ///   - parameters: Further parameters of the request that starts a flow, such as `audience` or `prompt`. Refreshes, and
  ///     requests that redeem a code, do not have them.
  ///   - network: The network with the transport, the observers and the clock to use. Its account sources, its signer and its
  ///     envelope are not used, and errors are not passed to its `onError`.
  public init(
    issuer: String, id: String, authentication: Authentication = .none, scope: String? = nil, resource: String? = nil,
    parameters: [String: String] = [:], network: Network = Network()
  ) {
    (self.id, self.authentication, self.scope, self.resource) = (id, authentication, scope, resource)
    (self.parameters, self.network) = (Hidden(parameters), network.forOAuth)
    // Shared, so that calls that start together read the document once, and the next call tries again after a failure.
    discovery = Single.from { [known] in
      let found = try await OAuthServer.discovered(at: issuer, on: network)
      known.server.withLock { $0 = found }
      return found
    }.asObservable().share(replay: 1).asSingle()
  }

  /// Creates a client of a server whose endpoints are known. The parameters are those of the other initializer.
  public convenience init(
    server: OAuthServer, id: String, authentication: Authentication = .none, scope: String? = nil,
    resource: String? = nil, parameters: [String: String] = [:], network: Network = Network()
  ) {
    self.init(
      issuer: "", id: id, authentication: authentication, scope: scope, resource: resource, parameters: parameters,
      network: network)
    known.server.withLock { $0 = server }
  }

  var now: Date { network.backend.clock.now }

  func server() async throws(NetworkError) -> OAuthServer {
    if let server = known.server.withLock({ $0 }) { return server }
    return try await network.awaited(discovery)
  }

  /// The parameters of the request that starts a flow.
  func request(_ own: [String: String]) -> [String: String] {
    let common = scope.map { ["scope": $0] } ?? [:]
    return parameters.value.merging(common) { $1 }.merging(audience) { $1 }.merging(own) { $1 }
  }

  private var audience: [String: String] { resource.map { ["resource": $0] } ?? [:] }

  /// Sends a form with the client's authentication.
  func post(
    _ form: [String: String], to url: URL?, _ name: String, of server: OAuthServer
  ) async throws(NetworkError) -> TokenResponse {
    try await send(try await call(form, to: url, name, of: server))
  }

  /// Returns a call with a form and the client's authentication.
  private func call(
    _ form: [String: String], to url: URL?, _ name: String, of server: OAuthServer
  ) async throws(NetworkError) -> Call<Response> {
    let url = try Self.endpoint(url, name)
    var (form, headers): ([String: String], HTTPHeaders) = (form, ["Accept": "application/json"])
    try await authentication.add(id, at: server, to: &form, &headers)
    let body = HTTPTask.data(Data(Form.text(form).utf8), contentType: Form.mediaType)
    return Call.post(url, body, headers: headers)
  }

  private func send(_ call: Call<Response>) async throws(NetworkError) -> TokenResponse {
    do { return try TokenResponse(try await network.response(call)) } catch { throw error.withoutSecrets }
  }

  /// Returns the URL of an endpoint that may receive secrets.
  static func endpoint(_ url: URL?, _ name: String) throws(NetworkError) -> URL {
    guard let url else { throw .misuse("the server names no \(name) endpoint; create an OAuthServer that has one") }
    guard url.mayReceiveSecrets else {
      let place = url.absoluteString.debugDescription
      throw .misuse(
        "no secret is sent to the \(name) endpoint \(place): use https, or http on localhost, without a fragment")
    }
    return url
  }

  /// Requests a token at the token endpoint.
  func token(_ form: [String: String], from server: OAuthServer) async throws(NetworkError) -> TokenResponse {
    try await post(form.merging(audience) { own, _ in own }, to: server.token, "token", of: server)
  }

  /// Returns what a sign-in has granted. The ID token must belong to the login with `nonce`.
  func grant(
    _ response: TokenResponse, from server: OAuthServer, nonce: String?
  ) throws(NetworkError) -> OAuthGrant {
    let claims = try response.claims(of: id, server: server, nonce: nonce, at: now)
    var token = try response.token(at: now)
    token.subject = claims["sub"].string
    token.account = token.subject
    return OAuthGrant(
      token: token, scope: response.fields["scope"].string ?? scope, fields: response.fields, claims: claims)
  }
}

extension OAuthClient {
  /// Returns a token for the client itself, such as a service without users (RFC 6749 §4.4).
  ///
  /// - Throws: `NetworkError`, of kind `rejected` with an `oauthCode` such as `invalid_client` if the server refuses.
  public func clientCredentials() async throws(NetworkError) -> Token {
    try await token(request(["grant_type": "client_credentials"]), from: server()).token(at: now)
  }

  /// Returns a token for any other grant, such as another token (RFC 8693) or an assertion (RFC 7523 §2.1).
  ///
  /// - Parameters:
  ///   - type: The `grant_type`.
  ///   - parameters: The parameters of the grant. They replace those of the client.
  /// - Throws: `NetworkError`, of kind `rejected` with an `oauthCode` if the server refuses.
  public func grant(_ type: String, _ parameters: [String: String]) async throws(NetworkError) -> OAuthGrant {
    let server = try await server()
    let response = try await token(request(parameters.merging(["grant_type": type]) { $1 }), from: server)
    return try grant(response, from: server, nonce: nil)
  }

  /// Returns a new token for the user of `old`: the `refresh` of an `AuthenticationInterceptor` (RFC 6749 §6).
  ///
  /// The old refresh token and account remain unless the server sends new ones. Only the server's refusal of the refresh token has
  /// `endsSession`, which signs the user out: `invalid_grant`, GitHub's `bad_refresh_token`, Entra's `interaction_required`.
  ///
  /// - Throws: `NetworkError`, of kind `authentication` if there is no refresh token. Nothing was sent.
  @Sendable public func refresh(_ old: Token?) async throws(NetworkError) -> Token {
    guard let old, let refresh = old.refresh, !refresh.isEmpty else {
      let cause = old == nil ? "nobody is signed in" : "the token has expired, and the server issued no refresh token"
      throw NetworkError(kind: .authentication, reason: "\(cause): sign in, then call setToken")
    }
    let server = try await server()
    // A refusal that the authentication meets at another server is not this server's.
    let form = ["grant_type": "refresh_token", "refresh_token": refresh].merging(audience) { own, _ in own }
    let call = try await call(form, to: server.token, "token", of: server)
    do throws(NetworkError) {
      let response = try await send(call)
      // The ID token of a refresh may omit the nonce (OpenID Connect Core §12.2).
      var new = try grant(response, from: server, nonce: nil).token
      new.refresh = new.refresh ?? refresh
      if let former = old.subject, let subject = new.subject, subject != former {
        throw NetworkError.foreign("the ID token of the refresh is that of another user (OpenID Connect Core §12.2)")
      }
      new.subject = new.subject ?? old.subject
      // The app may have chosen another name for the user.
      new.account = old.account ?? new.account
      return new
    } catch {
      var error = error
      error.endsSession = ["invalid_grant", "bad_refresh_token", "interaction_required"].contains(error.oauthCode)
      throw error
    }
  }

  /// Tells the server that the user has signed out: it revokes the refresh token, and with it the access token, or the access token
  /// if there is no other (RFC 7009 §2.1).
  ///
  /// - Throws: `NetworkError`, of kind `invalidRequest` if the server names no revocation endpoint. Sign out even then, with
  ///   `setToken(nil)`.
  public func revoke(_ token: Token) async throws(NetworkError) {
    let server = try await server()
    let form = token.refresh.map { ["token": $0, "token_type_hint": "refresh_token"] }
    let other = ["token": token.access, "token_type_hint": "access_token"]
    _ = try await post(form ?? other, to: server.revocation, "revocation", of: server)
  }
}
