import PortableFoundation

/// One use of the authorization page, and the rules for its redirect (RFC 6749 §4.1, RFC 7636, RFC 9207).
struct Login: Sendable {
  /// The meaning of a redirect for this login.
  enum Outcome: Sendable {
    /// It belongs to another login, or to none; with the status for the browser.
    case foreign(Int, String)
    /// The server refused, or another server has responded.
    case refused(NetworkError)
    /// The code to redeem for a token.
    case code(String)

    /// The status for the browser; 200 if the login has ended.
    var status: Int { if case .foreign(let status, _) = self { status } else { 200 } }
  }

  let server: OAuthServer
  let url: URL
  let nonce: String?
  private let redirect: String
  private let state = Self.random(16)
  private let verifier = Self.random(32)

  /// Begins a login with new secrets.
  ///
  /// - Throws: Kind `invalidRequest` without a valid authorization endpoint.
  init(_ client: OAuthClient, at server: OAuthServer, redirect: String) throws(NetworkError) {
    (self.redirect, self.server) = (redirect, server)
    nonce = client.scope?.split(separator: " ").contains("openid") == true ? Self.random(16) : nil
    var own = [
      "response_type": "code", "client_id": client.id, "redirect_uri": redirect, "state": state,
      "code_challenge": Hash.sha256(Data(verifier.utf8)).base64URL, "code_challenge_method": "S256",
    ]
    own["nonce"] = nonce
    let page = try OAuthClient.endpoint(server.authorization, "authorization").absoluteString
    // The query of the endpoint remains (RFC 6749 §3.1).
    let mark = !page.contains("?") ? "?" : page.hasSuffix("?") || page.hasSuffix("&") ? "" : "&"
    guard let url = URL(text: page + mark + Form.text(client.request(own))) else {
      throw .misuse("the authorization endpoint \(page.debugDescription) is invalid")
    }
    self.url = url
  }

  /// The form that redeems a code.
  func redeem(_ code: String) -> [String: String] {
    ["grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": verifier]
  }

  /// Returns what a redirect to `url` means. Its fragment is ignored.
  func outcome(of url: String) -> Outcome {
    let (place, found) = Self.parts(url)
    let (wanted, own) = Self.parts(redirect)
    guard place == wanted else { return .foreign(404, "it leads to \(place.debugDescription), not to \(wanted)") }
    guard let found, own?.allSatisfy({ found[$0] == $1 }) == true else {
      return .foreign(400, "a parameter is malformed, is missing or occurs twice")
    }
    guard found["state"] == state else { return .foreign(400, "its state is not that of this login") }
    // The redirect of another server (RFC 9207 §2.4).
    if let issuer = server.issuer, found["iss"] ?? (server.sendsIssuer ? nil : issuer) != issuer {
      let other = found["iss"]?.debugDescription ?? "none"
      return .refused(.foreign("the redirect names the issuer \(other), not \(issuer.debugDescription)"))
    }
    if let code = found["error"] { return .refused(.refused(code, found["error_description"])) }
    return found["code"].map { .code($0) } ?? .foreign(400, "it has neither a code nor an error")
  }

  /// Returns the part of a URL before its query, with scheme and host in lowercase, and its parameters, unless they are invalid.
  /// The part has no port that browsers leave out (RFC 9110 §4.2.3).
  private static func parts(_ url: String) -> (place: String, parameters: [String: String]?) {
    let halves = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let prefix = halves[0].prefixMatch(of: /[^:]*:(?:\/\/[^\/]*)?/)?.output ?? ""
    let (path, text) = (halves[0].dropFirst(prefix.count), prefix.lowercased())
    let origin =
      text.wholeMatch(of: /(http:.*):80|(https:.*):443/).map { $0.output.1 ?? $0.output.2 ?? "" } ?? text[...]
    return (String(origin) + (path.isEmpty ? "/" : path), Form.parameters(of: halves.count == 2 ? halves[1] : ""))
  }

  /// Returns random bytes in base64url.
  private static func random(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64URL
  }
}
