import Foundation
import NetLayerOAuth

/// An OpenID provider with one document, one-time refresh tokens, and a browser with a session cookie.
@MainActor
struct Glewlwyd {
  let issuer: String
  private let cookie: String
  private static let secret = "z/tZ:9V+w%F=é~* plain"

  init(url: URL) {
    issuer = "\(url.absoluteString)/api/oidc"
    let text = try? String(contentsOf: Control.file("cookie"), encoding: .utf8)
    cookie = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
  }

  private func client(
    _ id: String = "cli", _ authentication: OAuthClient.Authentication = .none, scope: String = "openid orders"
  ) -> OAuthClient { OAuthClient(issuer: issuer, id: id, authentication: authentication, scope: scope) }

  private func user(_ token: Token) async throws -> String? {
    let headers: HTTPHeaders = ["Authorization": "Bearer \(token.access)"]
    return try await Network().fetch(.get("\(issuer)/userinfo", headers: headers), as: JSON.self)["sub"].string
  }

  /// Opens a page as the browser of ada, and returns the target of its redirect.
  private nonisolated func open(_ page: String, _ cookie: String) async throws -> URL {
    let browser = Network(Backend(options: .init(redirects: .none)))
    let response = try await browser.response(.get("\(page)&g_continue", headers: ["Cookie": cookie]))
    guard let target = response.headers["Location"].flatMap({ URL(string: $0) }) else {
      throw Mismatch("the page responded with \(response.status) \(String(decoding: response.body, as: UTF8.self))")
    }
    return target
  }

  private func signIn(_ login: OAuthClient) async throws -> OAuthGrant {
    try await login.authorize(redirectingTo: "app:/cb") { try await open($0.absoluteString, cookie) }
  }

  func run() async {
    let ways: [(String, OAuthClient.Authentication)] = [
      ("service", .secret("s-1.2_3")), ("unescaped", .secretUnescaped(Self.secret)),
      ("post", .secretInBody(Self.secret)),
    ]
    for (id, way) in ways {
      await check("client credentials: \(id)") {
        let token = try await client(id, way, scope: "orders").clientCredentials()
        try expect(!token.access.isEmpty && token.expiresAt != nil, "\(token)")
      }
    }
    await check("a wrong secret is refused") {
      let error = try await failure { _ = try await client("service", .secret("x")).clientCredentials() }
      try expect([.rejected, .status].contains(error.kind), "\(error)")
    }
    await check("code with PKCE: the subject, the claims, the issuer in the redirect") {
      let grant = try await signIn(client())
      try expect(grant.token.account?.isEmpty == false, "no account: \(grant.claims)")
      try equal(grant.claims["email"].string, "ada@example.com")
      try equal(try await user(grant.token), grant.token.account)
    }
    await check("code on a fixed port of the loopback address") {
      let cookie = cookie
      let grant = try await client().authorizeOnLoopback(redirectingTo: "http://127.0.0.1:8409/callback") { page in
        let target = try await open(page.absoluteString, cookie)
        try equal(try await Network().fetch(.get(target), as: String.self), "You can close this page.")
      }
      try equal(try await user(grant.token), grant.token.account)
    }
    await check("a device") {
      let (cookie, page) = (cookie, "\(issuer)/device?code=")
      let grant = try await client().authorizeDevice { code in
        Task { try await open("\(page)\(code.code)", cookie) }
      }
      try expect(!grant.token.access.isEmpty, "\(grant)")
    }
    await sessions()
  }

  private func sessions() async {
    await check("refresh with one-time tokens; a used one has an empty body, which ends no session") {
      let login = client()
      let first = try await signIn(login).token
      let second = try await login.refresh(first)
      try expect(second.refresh != first.refresh, "nothing was rotated")
      try equal(second.account, first.account)
      let error = try await failure { _ = try await login.refresh(first) }
      try equal(error.endsSession, error.oauthCode == "invalid_grant")
    }
    await check("revocation by a client with a secret") {
      let login = client("service", .secret("s-1.2_3"))
      let token = try await signIn(login).token
      try await login.revoke(token)
      _ = try await failure { _ = try await login.refresh(token) }
    }
  }
}
