import Foundation
import NetLayerOAuth

/// An authorization server with rotation: every flow, with a script as the browser.
@MainActor
struct OAuth {
  let issuer: String
  private static let secret = "z/tZ:9V+w%F=é~* plain"
  nonisolated private static let key = "0123456789abcdef0123456789abcdef"

  init(url: URL) { issuer = url.absoluteString }

  func run() async {
    await services()
    await browsers()
    await devices()
    await sessions()
    await processes()
  }

  private func client(
    _ id: String = "cli", _ authentication: OAuthClient.Authentication = .none, scope: String = "openid orders"
  ) -> OAuthClient { OAuthClient(issuer: issuer, id: id, authentication: authentication, scope: scope) }

  private func user(_ token: Token) async throws -> String? {
    let headers: HTTPHeaders = ["Authorization": "Bearer \(token.access)"]
    return try await Network().fetch(.get("\(issuer)/api", headers: headers), as: JSON.self)["user"].string
  }

  /// Opens a page as a browser that is redirected, and returns the last URL.
  private nonisolated func open(_ page: String) async throws -> URL {
    let browser = Network(Backend(options: .init(redirects: .none)))
    let response = try await browser.response(.get(page))
    guard let target = response.headers["Location"].flatMap({ URL(string: $0) }) else {
      throw Mismatch("the page responded with \(response.status) \(String(decoding: response.body, as: UTF8.self))")
    }
    return target
  }

  private func services() async {
    let assertion = OAuthClient.Authentication.assertion { audience in
      func part(_ text: String) -> String { Self.base64URL(Data(text.utf8)) }
      let claims =
        #"{"iss":"assertion","sub":"assertion","aud":"\#(audience)","exp":\#(Int(Date.now.timeIntervalSince1970) + 60),"#
        + #""jti":"\#(UUID().uuidString)"}"#
      let text = part(#"{"alg":"HS256"}"#) + "." + part(claims)
      return text + "." + Self.base64URL(Hash.hmacSHA256(Data(text.utf8), key: Data(Self.key.utf8)))
    }
    let ways: [(String, OAuthClient.Authentication)] = [
      ("service", .secret("s-1.2_3")), ("post", .secretInBody(Self.secret)),
      ("unescaped", .secretUnescaped(Self.secret)),
      ("assertion", assertion),
    ]
    for (id, way) in ways {
      await check("client credentials: \(id)") {
        let token = try await client(id, way, scope: "orders").clientCredentials()
        try equal(try await user(token), id)
      }
    }
    await check("a wrong secret is invalid_client") {
      let error = try await failure { _ = try await client("service", .secret("x")).clientCredentials() }
      try equal(error.oauthCode, "invalid_client")
    }
    await check("a service behind the interceptor") {
      let service = client("service", .secret("s-1.2_3"), scope: "orders")
      let login = AuthenticationInterceptor(for: urls, requiresToken: true) { _ in try await service.clientCredentials()
      }
      let api = Network(Backend(baseURL: URL(string: issuer), interceptors: [login]))
      for _ in 0..<3 { try equal(try await api.fetch(.get("/api"), as: JSON.self)["user"].string, "service") }
    }
  }

  private var urls: [URL] { URL(string: issuer).map { [$0] } ?? [] }

  nonisolated private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  private func browsers() async {
    await check("code with PKCE: the user, the claims, the issuer in the redirect") {
      let grant = try await client().authorize(redirectingTo: "app:/cb") { try await open($0.absoluteString) }
      try equal(grant.token.account, "ada")
      try equal(grant.claims["email"].string, "ada@example.com")
      try equal(try await user(grant.token), "ada")
    }
    await check("code on the loopback address") {
      let grant = try await client().authorizeOnLoopback { page in
        let response = try await Network().response(.get(page))
        try equal(String(decoding: response.body, as: UTF8.self), "You can close this page.")
      }
      try equal(try await user(grant.token), "ada")
    }
    await check("the user refuses") {
      let error = try await failure {
        _ = try await client().authorize(redirectingTo: "app:/cb") { try await open("\($0.absoluteString)&deny=1") }
      }
      try equal(error.oauthCode, "access_denied")
    }
    await check("a redirect of another server") {
      let error = try await failure {
        _ = try await client().authorize(redirectingTo: "app:/cb") { page in
          let target = try await open(page.absoluteString).absoluteString
          return URL(string: target.replacingOccurrences(of: "iss=http", with: "iss=https")) ?? page
        }
      }
      try equal(error.kind, .rejected)
      try equal(error.oauthCode, nil)
    }
  }

  private func devices() async {
    await check("a device: slow down, then allowed") {
      let page = "\(issuer)/device?user_code="
      let grant = try await client(scope: "orders").authorizeDevice { code in
        Task { try await Network().response(.get("\(page)\(code.code)")) }
      }
      try equal(try await user(grant.token), "ada")
    }
    await check("a device: denied") {
      let page = "\(issuer)/device?deny=1&user_code="
      let error = try await failure {
        _ = try await client(scope: "orders").authorizeDevice { code in
          _ = try await Network().response(.get("\(page)\(code.code)"))
        }
      }
      try equal(error.oauthCode, "access_denied")
    }
  }

  private func sessions() async {
    await check("refresh with rotation; a used token ends the session") {
      let login = client()
      let first = try await login.authorize(redirectingTo: "app:/cb") { try await open($0.absoluteString) }.token
      let second = try await login.refresh(first)
      try expect(second.refresh != first.refresh && second.access != first.access, "nothing was rotated")
      try equal(second.account, "ada")
      try equal(try await user(second), "ada")
      let error = try await failure { _ = try await login.refresh(first) }
      try equal(error.endsSession, true)
      let after = try await failure { _ = try await user(second) }
      try equal(after.status, 401)
    }
    await check("revocation") {
      let login = client()
      let token = try await login.authorize(redirectingTo: "app:/cb") { try await open($0.absoluteString) }.token
      try await login.revoke(token)
      let error = try await failure { _ = try await login.refresh(token) }
      try equal(error.endsSession, true)
    }
  }

  /// Starts this program three times with one token file.
  private func processes() async {
    await check("three processes with one file: 180 calls, no token used twice") {
      let file = Control.file("token-\(UUID().uuidString)")
      let grant = try await client().authorize(redirectingTo: "app:/cb") { try await open($0.absoluteString) }
      let before = try await Network().fetch(.get("\(issuer)/counts"), as: JSON.self)["reused"].int
      try FileTokenStore(storingIn: file).save(grant.token)
      let programs = try (0..<3).map { _ in
        let program = Process()
        program.executableURL = URL(filePath: CommandLine.arguments[0])
        program.arguments = ["oauth-calls", issuer, file.path]
        try program.run()
        return program
      }
      for program in programs { program.waitUntilExit() }
      try equal(programs.map(\.terminationStatus), [0, 0, 0])
      try equal(try await Network().fetch(.get("\(issuer)/counts"), as: JSON.self)["reused"].int, before)
    }
  }

  /// One of the three processes: 60 calls during several lifetimes of a token.
  static func calls(_ url: URL, _ file: String) async throws {
    let login = OAuthClient(issuer: url.absoluteString, id: "cli")
    let authentication = AuthenticationInterceptor(
      for: [url], store: FileTokenStore(storingIn: URL(filePath: file)), maxRefreshes: 100, refresh: login.refresh)
    let api = Network(Backend(baseURL: url, interceptors: [authentication]))
    for _ in 0..<60 {
      let user = try await api.fetch(.get("/api"), as: JSON.self)["user"].string
      guard user == "ada" else { throw Mismatch("\(user ?? "nobody") instead of ada") }
      try await Task.sleep(for: .milliseconds(150))
    }
  }
}
