import PortableFoundation

private enum OAuthCode: ContextKey { static let defaultValue: String? = nil }

extension NetworkError {
  /// The error code of an authorization server, such as `access_denied` or `invalid_grant` (RFC 6749 §4.1.2.1, §5.2); `nil` if it
  /// sent none.
  ///
  /// Its description, if the server sent one, is the `message`. An error of an `AuthenticationInterceptor` has the code of its
  /// cause.
  public internal(set) var oauthCode: String? {
    get { context[OAuthCode.self] ?? (underlying as? NetworkError)?.oauthCode }
    set { context[OAuthCode.self] = newValue }
  }

  /// Returns the error of an authorization server that sent `code`, through a response or a redirect.
  static func refused(_ code: String, _ words: String?, by place: String, _ response: Response? = nil) -> NetworkError {
    let words = words.map { String($0.prefix(1000)) }
    let code = String(code.prefix(100))
    var reason = "the \(place) refused: \(code)"
    if let words { reason += " (\(words))" }
    reason += remedy(code).map { "; \($0)" } ?? ""
    var error = NetworkError(kind: .rejected, message: words, reason: reason, response: response)
    error.oauthCode = code
    return error
  }

  /// Returns an error for something from outside that does not belong to this login, or is not what it should be.
  static func foreign(_ reason: String) -> NetworkError { NetworkError(kind: .rejected, reason: reason) }

  private static func remedy(_ code: String) -> String? {
    switch code {
    case "invalid_client":
      "check the client's id and its authentication: some servers require .secretInBody or .secretUnescaped"
    case "invalid_grant", "expired_token", "bad_refresh_token", "interaction_required": "sign in again"
    case "invalid_scope": "check the scope"
    case "unauthorized_client", "unsupported_grant_type": "enable the flow for this client at the server"
    case "redirect_uri_mismatch": "register the redirect URI at the server"
    default: nil
    }
  }

  /// Whether a later attempt may succeed, because nobody was refused.
  var isOutage: Bool { kind.isTransient || kind == .status && Response.isPassing(code) }

  /// The error without the secrets that the client sent or received.
  var withoutSecrets: NetworkError {
    var error = self
    error.request = request?.withoutSecrets
    error.response = response.map { response in
      var response = response
      response.request = response.request.withoutSecrets
      if response.isSuccess { response.body = Data() }
      return response
    }
    return error
  }
}

extension Request {
  fileprivate var withoutSecrets: Request {
    var request = self
    request.headers["Authorization"] = nil
    request.body = .none
    return request
  }
}
