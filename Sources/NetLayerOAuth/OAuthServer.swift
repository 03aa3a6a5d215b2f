import PortableFoundation

/// The endpoints of an authorization server.
///
/// `OAuthClient(issuer:)` reads them from the server's document. Create a value for a server without one, from its documentation.
/// Secrets are sent only to `https` URLs, and to `http` URLs on `localhost`, `127.0.0.1` and `[::1]` (RFC 6749 §3.1, §3.2). A request
/// to any other URL fails with kind `invalidRequest` before it is sent.
public struct OAuthServer: Sendable {
  /// The issuer identifier, which redirects and ID tokens name, compared byte by byte; `nil` if it is unknown, and is then not
  /// compared.
  public var issuer: String?
  /// The endpoint that issues tokens (RFC 6749 §3.2).
  public var token: URL
  /// The page on which the user signs in (RFC 6749 §3.1).
  public var authorization: URL?
  /// The endpoint that issues device codes (RFC 8628 §3.1).
  public var device: URL?
  /// The endpoint that revokes tokens (RFC 7009 §2).
  public var revocation: URL?
  /// The methods of client authentication that the document lists.
  var methods: [String] = []
  /// Whether each redirect of the server names the issuer (RFC 9207 §3).
  var sendsIssuer = false

  /// Creates a server from its documentation.
  public init(
    token: URL, authorization: URL? = nil, device: URL? = nil, revocation: URL? = nil, issuer: String? = nil
  ) {
    (self.token, self.authorization, self.device) = (token, authorization, device)
    (self.revocation, self.issuer) = (revocation, issuer)
  }

  /// Reads the document of an issuer (RFC 8414 §3, OpenID Connect Discovery §4).
  ///
  /// The places of RFC 8414 and of OpenID are requested in order; a status of 400 to 499, or a page that is not JSON, leads to the
  /// next one. The document must name the same issuer, except for a slash at the end.
  ///
  /// - Parameters:
  ///   - issuer: The issuer identifier: an `https` URL without a query and a fragment.
  ///   - network: The network to use, as in `OAuthClient`.
  /// - Throws: `NetworkError` of kind `invalidRequest` for an invalid issuer; nothing was sent. Kind `rejected` for a document of
  ///   another issuer or without a token endpoint. Otherwise the error of the call.
  public static func discovered(
    at issuer: String, on network: Network = Network()
  ) async throws(NetworkError) -> OAuthServer {
    let (network, places) = (network.forOAuth, try documents(of: issuer))
    var missing = NetworkError(kind: .parse, reason: "")
    for place in places {
      let response = try await network.response(.get(place, headers: ["Accept": "application/json"]))
      guard response.isSuccess else {
        missing = response.statusFailure(in: .none)
        guard 400...499 ~= response.status, !missing.isOutage else { throw missing }
        continue
      }
      if let json = try? JSON(parsing: response.body), json.kind == .object { return try OAuthServer(json, of: issuer) }
      missing = NetworkError(kind: .parse, reason: "", response: response)
    }
    let list = places.map(\.absoluteString).joined(separator: ", ")
    missing.reason = "\(issuer.debugDescription) has no document at \(list); check it, or create an OAuthServer"
    throw missing
  }

  /// Returns the places of the document: with the issuer's path after the well-known one (RFC 8414 §3.1, §5), and before it, as
  /// OpenID Connect Discovery §4.1 has it.
  static func documents(of issuer: String) throws(NetworkError) -> [URL] {
    guard !issuer.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }), let url = URL(text: issuer),
      url.mayReceiveSecrets, let start = issuer.firstRange(of: "://")
    else { throw .misuse("the issuer \(issuer.debugDescription) must be an https URL without a query and a fragment") }
    let slash = issuer[start.upperBound...].firstIndex(of: "/") ?? issuer.endIndex
    let (origin, path) = (String(issuer[..<slash]), String(issuer[slash...]).withoutLastSlash)
    let inserted = ["oauth-authorization-server", "openid-configuration"].map { "\(origin)/.well-known/\($0)\(path)" }
    let appended = path.isEmpty ? [] : ["\(origin)\(path)/.well-known/openid-configuration"]
    return (inserted + appended).compactMap { URL(text: $0) }
  }

  /// Reads a document, and checks that it is that of the issuer (RFC 8414 §3.3).
  private init(_ document: JSON, of issuer: String) throws(NetworkError) {
    func endpoint(_ name: String) -> URL? { document["\(name)_endpoint"].string.flatMap { URL(text: $0) } }
    let found = document["issuer"].string
    guard let found, found.withoutLastSlash == issuer.withoutLastSlash else {
      let other = found?.debugDescription ?? "no issuer"
      throw .foreign("the document of \(issuer.debugDescription) names \(other); check it, or create an OAuthServer")
    }
    guard let token = endpoint("token") else {
      throw .foreign("the document of \(issuer.debugDescription) has no valid token_endpoint")
    }
    self.init(
      token: token, authorization: endpoint("authorization"), device: endpoint("device_authorization"),
      revocation: endpoint("revocation"), issuer: found)
    methods = document["token_endpoint_auth_methods_supported"].array?.compactMap(\.string) ?? []
    sendsIssuer = document["authorization_response_iss_parameter_supported"].bool ?? false
  }
}

extension String {
  /// The text without one slash at its end.
  fileprivate var withoutLastSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}

extension URL {
  /// Whether secrets may be sent to this URL: over TLS, or to this machine (RFC 8252 §8.3).
  var mayReceiveSecrets: Bool {
    guard fragment == nil, let scheme = scheme?.lowercased(), let host = host?.lowercased(), !host.isEmpty else {
      return false
    }
    return scheme == "https" || scheme == "http" && ["localhost", "127.0.0.1", "::1"].contains(host)
  }
}

extension Network {
  /// This network for requests to an authorization server: without the user, the envelope, the header fields and the parameters
  /// of the API. A form is plain (RFC 6749 §3.2), and hides the code. No redirect could send secrets to another server (RFC 9700
  /// §4.12), and responses have a limit.
  var forOAuth: Network {
    quiet {
      $0.interceptors.removeAll { $0 is any AccountSource || $0 is CompressionInterceptor }
      ($0.signer, $0.envelope, $0.commonParameters) = (nil, .none, { [:] })
      ($0.headers, $0.redaction) = ([:], $0.redaction.hiding(["code"]))
      ($0.options.redirects, $0.options.maxBodySize, $0.options.cookies) = (.none, 1 << 20, nil)
    }
  }
}
