import PortableFoundation

/// The result of a sign-in: a token, its scope, and the user's claims. Descriptions and mirrors show no secret.
public struct OAuthGrant: Sendable {
  /// The token for an `AuthenticationInterceptor`. Its account is the user of the ID token (`sub`), if the server sent one.
  public var token: Token
  /// The scope of the token, which may be less than the requested one (RFC 6749 §5.1).
  public var scope: String?
  private let hidden: Hidden<(fields: JSON, claims: JSON)>

  /// The response of the server, for members of its own. It contains the secrets.
  public var fields: JSON { hidden.value.fields }
  /// The claims of the ID token, such as `email`; missing without an ID token (OpenID Connect Core §2).
  public var claims: JSON { hidden.value.claims }

  init(token: Token, scope: String?, fields: JSON, claims: JSON) {
    (self.token, self.scope, hidden) = (token, scope, Hidden((fields, claims)))
  }
}
