import PortableFoundation

/// A response of the token endpoint, a device endpoint or a revocation endpoint (RFC 6749 §5).
struct TokenResponse {
  let fields: JSON
  private let response: Response

  /// Reads a response.
  ///
  /// - Throws: Kind `status` for a temporary status, whatever the body says, and for any other one without an error code; kind
  ///   `rejected` for an error code, with any status.
  init(_ response: Response) throws(NetworkError) {
    self.response = response
    fields = Self.fields(of: response)
    let code = fields["error"].string ?? ""
    // Some servers ask for a slower device with status 429.
    let isPolling = code == "authorization_pending" || code == "slow_down"
    if Response.isPassing(response.status), !isPolling { throw response.statusFailure(in: .none) }
    if !code.isEmpty { throw .refused(code, fields["error_description"].string, response) }
    guard response.isSuccess else { throw response.statusFailure(in: .none) }
  }

  /// Returns the members of JSON, or of a form, which GitHub and older servers send; missing for anything else.
  private static func fields(of response: Response) -> JSON {
    let text = String(decoding: response.body, as: UTF8.self)
    let isForm = response.headers["Content-Type"].map { MediaType($0).essence } == Form.mediaType
    if isForm || text.hasPrefix("access_token="), !text.hasPrefix("{") {
      return JSON(Form.parameters(of: text)?.mapValues { JSON($0) } ?? [:])
    }
    return (try? JSON(parsing: response.body)) ?? JSON([:])
  }

  /// Returns a member that must be a text without control characters, which could reach a header field or a terminal.
  func text(_ name: String) throws(NetworkError) -> String {
    guard let text = fields[name].string, !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw invalid("its \(name) is missing or not plain text")
    }
    return text
  }

  func invalid(_ problem: String) -> NetworkError {
    let place = response.url.absoluteString.prefix { $0 != "?" }
    let reason = "\(place) did not respond as an authorization server: \(problem)"
    return NetworkError(kind: .parse, reason: reason, response: response).withoutSecrets
  }

  /// Returns the token, without the user.
  func token(at now: Date) throws(NetworkError) -> Token {
    let access = try text("access_token")
    let type = fields["token_type"].string?.lowercased() ?? ""
    // Servers send many words for Bearer. These need a proof with each request (RFC 6749 §7.1).
    guard !["dpop", "mac", "pop", "n_a"].contains(type) else {
      throw .foreign("tokens of the type \(type.debugDescription) are not supported; request bearer tokens")
    }
    let refresh = fields["refresh_token"].string.flatMap { $0.isEmpty ? nil : $0 }
    return Token(access: access, refresh: refresh, expiresAt: fields["expires_in"].lifetime.map { now + $0 })
  }

  /// Returns the claims of the ID token; missing without one.
  func claims(of client: String, server: OAuthServer, nonce: String?, at now: Date) throws(NetworkError) -> JSON {
    let text = fields["id_token"]
    guard text.exists, !text.isNull else { return text[0] }
    let own = now.timeIntervalSinceReferenceDate
    let today = response.headers["Date"].flatMap { HTTPDate.seconds($0, now: own) } ?? own
    return try IDToken.claims(text.string ?? "", client: client, issuer: server.issuer, nonce: nonce, at: today)
  }
}

extension JSON {
  /// A time in seconds as a number, or as digits in a text (RFC 6749 App. A.14), from 0 to 100 years; `nil` for anything else.
  var lifetime: Double? {
    let seconds = double ?? string.flatMap { $0.isDigits ? Double($0) : nil }
    return seconds.map { min(max($0, 0), 100 * 365.25 * 86_400) }
  }
}
