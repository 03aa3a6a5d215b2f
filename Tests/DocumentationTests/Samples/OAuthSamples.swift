import Foundation
import LoopbackServer
import NetLayerOAuth
import NetLayerTesting
import Streams
import XCTest

/// Runs the samples of the guide on signing in, against a server that grants everything.
final class OAuthSamples: XCTestCase {
  private func makeServer() throws -> TestServer {
    let base = Locked("")
    let server = try TestServer { request in
      let issuer = base.withLock { $0 }
      switch request.path {
      case "/.well-known/oauth-authorization-server":
        let endpoints = ["token", "authorization", "device_authorization", "revocation"]
          .map { #""\#($0)_endpoint":"\#(issuer)/\#($0)""# }
        return .json(#"{"issuer":"\#(issuer)",\#(endpoints.joined(separator: ","))}"#)
      case "/token": return .json(#"{"access_token":"a1","refresh_token":"r1","expires_in":3600}"#)
      case "/device_authorization":
        return .json(#"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://example.com/device"}"#)
      case "/revocation": return .status(200)
      default: return .text("tea", status: request.header("Authorization") == "Bearer a1" ? 200 : 401)
      }
    }
    base.withLock { $0 = "http://127.0.0.1:\(server.port)" }
    return server
  }

  func test_service() async throws {
    let server = try makeServer()
    let (issuer, secret, shopURL) = ("http://127.0.0.1:\(server.port)", "s", server.url)
    let service = OAuthClient(issuer: issuer, id: "billing", authentication: .secret(secret), scope: "orders")
    let authentication = AuthenticationInterceptor(for: [shopURL], requiresToken: true) { _ in
      try await service.clientCredentials()
    }
    let shop = Network(Backend(baseURL: shopURL, interceptors: [RetryInterceptor(), authentication]))
    let orders = try await shop.fetch(.get("/orders"), as: String.self)
    XCTAssertEqual(orders, "tea")
    XCTAssertEqual(server.requests.map(\.path), ["/.well-known/oauth-authorization-server", "/token", "/orders"])
  }

  func test_tool() async throws {
    let server = try makeServer()
    let (issuer, shopURL) = ("http://127.0.0.1:\(server.port)", server.url)
    let file = FileManager.default.temporaryDirectory.appending(path: "oauth-\(UUID().uuidString)/token")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    // The browser.
    @Sendable func print(_ line: String) {
      let page = URLComponents(string: line.replacingOccurrences(of: "Open ", with: ""))?.queryItems ?? []
      func item(_ name: String) -> String { page.first { $0.name == name }?.value ?? "" }
      let redirect = "\(item("redirect_uri"))?code=c&state=\(item("state"))"
      Task { try await Network().response(.get(redirect)) }
    }
    let login = OAuthClient(issuer: issuer, id: "shop-cli", scope: "openid orders")
    let authentication = AuthenticationInterceptor(
      for: [shopURL], store: FileTokenStore(storingIn: file), refresh: login.refresh)
    if try await authentication.token == nil {
      try await authentication.setToken(login.authorizeOnLoopback { print("Open \($0.absoluteString)") }.token)
    }
    let token = try await authentication.token
    XCTAssertEqual(token?.access, "a1")

    @Sendable func showSignIn() { XCTFail("the session has not ended") }
    let shop = Network(
      Backend(
        baseURL: shopURL, interceptors: [RetryInterceptor(), authentication],
        onError: { error in if error.endsSession { showSignIn() } }))
    let orders = try await shop.fetch(.get("/orders"), as: String.self)
    XCTAssertEqual(orders, "tea")

    if let token = try await authentication.token { try? await login.revoke(token) }
    try await authentication.setToken(nil)
    XCTAssertEqual(server.requests.last?.path, "/revocation")
  }

  func test_device() async throws {
    let issuer = "https://as"
    let responses: @Sendable (Request) -> StubTransport.StubbedResponse? = { request in
      switch request.url.path {
      case "/device":
        .json(
          #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://as/d","expires_in":300,"interval":1}"#
        )
      case "/token": .json(#"{"access_token":"a1"}"#)
      default:
        .json(
          #"{"issuer":"https://as","token_endpoint":"https://as/token","device_authorization_endpoint":"https://as/device"}"#
        )
      }
    }
    let login = OAuthClient(
      issuer: issuer, id: "tv", network: Network(Backend(transport: StubTransport(responses))))
    do {
      let grant = try await login.authorizeDevice { code in
        print("Enter \(code.code) at \(code.url.absoluteString)")
      }
      XCTAssertEqual(grant.token.access, "a1")
      XCTAssertEqual(Printed.take(), ["Enter WDJB-MJHT at https://as/d"])
    }
    let show: @Sendable (OAuthClient.DeviceCode) -> Void = { _ in }
    var grant = try await login.authorizeDevice(show: show)
    print(grant.claims["email"].string ?? "no address")
    grant.token.account = grant.claims["email"].string ?? grant.token.account
    XCTAssertEqual(Printed.take(), ["no address"])
  }

  func test_endpoints() async throws {
    let (tokenURL, authorizationURL) = (try url("https://as/token"), try url("https://as/authorize"))
    let deviceURL = try url("https://as/device")
    let server = OAuthServer(token: tokenURL, authorization: authorizationURL, device: deviceURL)
    let github = OAuthClient(server: server, id: "Iv1.8a61f9b3a7aba766", scope: "repo")
    _ = github

    let stub = StubTransport([.init(.post, "/token", .json(#"{"access_token":"a","expires_in":3600}"#))])
    let login = OAuthClient(server: server, id: "app", network: Network(Backend(transport: stub)))
    let grant = try await login.authorize(redirectingTo: "app:/done") { page in
      let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems ?? []
      let state = items.first { $0.name == "state" }?.value ?? ""
      return try XCTUnwrap(URL(string: "app:/done?code=c&state=\(state)"))
    }
    XCTAssertEqual(grant.token.access, "a")
  }

  private func url(_ text: String) throws -> URL { try XCTUnwrap(URL(string: text)) }
}
