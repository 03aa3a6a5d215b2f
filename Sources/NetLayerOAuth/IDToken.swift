import PortableFoundation

/// The checks of an ID token (OpenID Connect Core §3.1.3.7). Its signature needs no check, because TLS proves that it comes from the
/// token endpoint (item 6).
enum IDToken {
  /// The time by which clocks may differ.
  private static let leeway = 600.0

  /// Returns the claims of `token` at a time in seconds since 2001. An `issuer` or a `nonce` of `nil` is not compared.
  static func claims(
    _ token: String, client: String, issuer: String?, nonce: String?, at now: Double
  ) throws(NetworkError) -> JSON {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Data(base64URL: parts[1]), let claims = try? JSON(parsing: bytes) else {
      throw invalid("it is not a signed JSON Web Token")
    }
    let found = claims["iss"].string
    guard let found, issuer == nil || found == issuer else {
      throw invalid("its issuer is \(found?.debugDescription ?? "missing"), not \(issuer ?? "a text")")
    }
    let audiences = claims["aud"].array?.map(\.string) ?? [claims["aud"].string]
    let party = claims["azp"].exists ? claims["azp"].string : audiences.count == 1 ? client : nil
    guard audiences.contains(client), party == client else {
      throw invalid("it is for another client than \(client.debugDescription)")
    }
    guard let expiry = claims["exp"].double, expiry > now + Date.timeIntervalBetween1970AndReferenceDate - leeway else {
      throw invalid("it has expired; check the server's clock")
    }
    if let nonce, claims["nonce"].string != nonce { throw invalid("it belongs to another login") }
    guard claims["sub"].string?.isEmpty == false else { throw invalid("it names no user (sub)") }
    return claims
  }

  private static func invalid(_ problem: String) -> NetworkError { .foreign("the ID token is invalid: \(problem)") }
}

extension Data {
  /// Creates the bytes of base64url without padding (RFC 7515 §2); `nil` for anything else.
  init?(base64URL text: some StringProtocol) {
    let plain = String(text).replacing("-", with: "+").replacing("_", with: "/")
    self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
  }

  /// The bytes in base64url without padding.
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
