import PortableFoundation

private enum OAuthCode: ContextKey { static let defaultValue: String? = nil }

extension NetworkError {
  /// The error code of an authorization server, such as `access_denied` or `invalid_grant` (RFC 6749 §4.1.2.1, §5.2); `nil` if it
  /// sent none. An error of an `AuthenticationInterceptor` has the code of its cause.
  public internal(set) var oauthCode: String? {
    get { context[OAuthCode.self] ?? (underlying as? NetworkError)?.oauthCode }
    set { context[OAuthCode.self] = newValue }
  }

  /// Returns the error of an authorization server that sent `code`, through a response or a redirect.
  static func refused(_ code: String, _ words: String?, _ response: Response? = nil) -> NetworkError {
    let (code, words) = (String(code.prefix(100)), words.map { String($0.prefix(1000)) })
    let reason = "the authorization server refused: \(code)\(words.map { " (\($0))" } ?? "")"
    let remedy = remedies[code].map { "; \($0)" } ?? ""
    var error = NetworkError(kind: .rejected, message: words, reason: reason + remedy, response: response)
    error.oauthCode = code
    return error
  }

  private static let remedies = [
    "invalid_client": "check the client's id and secret: some servers require .secretInBody or .secretUnescaped",
    "invalid_grant": "sign in again", "expired_token": "sign in again", "invalid_scope": "check the scope",
    "unauthorized_client": "enable the flow for this client at the server",
  ]

  /// Returns an error for something from outside that does not belong to this login, or is not what it should be.
  static func foreign(_ reason: String) -> NetworkError { NetworkError(kind: .rejected, reason: reason) }

  /// Returns an error for a mistake of the app, after which nothing was sent.
  static func misuse(_ reason: String) -> NetworkError { NetworkError(kind: .invalidRequest, reason: reason) }

  /// Whether a later attempt may succeed, because nobody was refused.
  var isOutage: Bool { kind.isTransient || kind == .status && Response.isPassing(code) }

  /// The error without the secrets that the client sent or received.
  var withoutSecrets: NetworkError {
    var error = self
    error.underlying = (underlying as? NetworkError)?.withoutSecrets ?? underlying
    error.request?.removeSecrets()
    error.response?.request.removeSecrets()
    let hasToken = response.map { String(decoding: $0.body, as: UTF8.self).contains("_token") } ?? false
    if hasToken { error.response?.body = Data() }
    return error
  }
}

extension Request {
  fileprivate mutating func removeSecrets() { (headers["Authorization"], body) = (nil, .none) }
}
