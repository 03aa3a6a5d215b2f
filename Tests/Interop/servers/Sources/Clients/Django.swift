import Foundation
import NetLayerOAuth

/// An authorization server that decodes the `Authorization` field, and has its document only at OpenID's place.
@MainActor
struct Django {
  let issuer: String
  private static let secret = "z/tZ:9V+w%F=é~* plain"

  init(url: URL) { issuer = url.absoluteString }

  private func client(
    _ id: String, _ authentication: OAuthClient.Authentication = .none, scope: String = "orders"
  ) -> OAuthClient { OAuthClient(issuer: issuer, id: id, authentication: authentication, scope: scope) }

  private func user(_ token: Token) async throws -> String? {
    let headers: HTTPHeaders = ["Authorization": "Bearer \(token.access)"]
    return try await Network().fetch(.get("\(issuer)/api", headers: headers), as: JSON.self)["user"].string
  }

  private func signIn(_ rest: String = "") async throws -> OAuthGrant {
    try await client("cli", scope: "openid orders").authorize(redirectingTo: "app:/cb") { page in
      let browser = Network(Backend(options: .init(redirects: .none)))
      let response = try await browser.response(.get("\(page.absoluteString)\(rest)"))
      guard let target = response.headers["Location"].flatMap({ URL(string: $0) }) else {
        throw Mismatch("the page responded with \(response.status)")
      }
      return target
    }
  }

  func run() async {
    let ways: [(String, String, OAuthClient.Authentication)] = [
      ("service", "in the field", .secret("s-1.2_3")), ("post", "in the field, with escapes", .secret(Self.secret)),
      ("post", "in the body", .secretInBody(Self.secret)),
    ]
    for (id, way, authentication) in ways {
      await check("client credentials: \(way)") {
        try equal(try await user(try await client(id, authentication).clientCredentials()), id)
      }
    }
    await check("a wrong secret is invalid_client") {
      let error = try await failure { _ = try await client("service", .secret("x")).clientCredentials() }
      try equal(error.oauthCode, "invalid_client")
    }
    await check("code with PKCE and an ID token") {
      let grant = try await signIn()
      try equal(grant.token.account, "ada")
      try equal(grant.claims["email"].string, "ada@example.com")
      try equal(try await user(grant.token), "ada")
    }
    await check("code on the loopback address") {
      let grant = try await client("cli").authorizeOnLoopback { _ = try await Network().response(.get($0)) }
      try equal(try await user(grant.token), "ada")
    }
    await check("the user refuses") {
      let error = try await failure { _ = try await signIn("&deny=1") }
      try equal(error.oauthCode, "access_denied")
    }
    for (rest, code) in [("", nil), ("&deny=1", "access_denied" as String?)] {
      await check("a device: \(code ?? "allowed")") {
        let page = issuer.replacingOccurrences(of: "/o", with: "/device")
        func signIn() async throws -> OAuthGrant {
          try await client("tv").authorizeDevice { device in
            _ = try await Network().response(.get("\(page)?user_code=\(device.code)\(rest)"))
          }
        }
        guard let code else { return try equal(try await user(try await signIn().token), "ada") }
        try equal(try await failure { _ = try await signIn() }.oauthCode, code)
      }
    }
    await check("refresh with rotation; a used token ends the session") {
      let login = client("cli")
      let first = try await signIn().token
      let second = try await login.refresh(first)
      try expect(second.refresh != first.refresh, "nothing was rotated")
      try equal(try await user(second), "ada")
      let error = try await failure { _ = try await login.refresh(first) }
      try equal(error.endsSession, true)
    }
    await check("revocation") {
      let login = client("cli")
      let token = try await signIn().token
      try await login.revoke(token)
      let error = try await failure { _ = try await login.refresh(token) }
      try equal(error.endsSession, true)
    }
  }
}
