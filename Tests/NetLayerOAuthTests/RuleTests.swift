import Foundation
import LoopbackServer
import NetLayerOAuth
import NetLayerTesting
import TestSupport
import XCTest

/// The rules of the module, by number, each with its source.
///
/// Rules 7 to 14, 16, 18 and 22 are also in `CaseTests`, 10 in `SessionTests`, 18 to 20 in `LoopbackTests`.
final class RuleTests: XCTestCase {
  /// RFC 6749 §3.1, §3.2: also for endpoints that a document names.
  func test_rule01_secretsGoOnlyToHTTPSAndThisMachine() async throws {
    let world = World { _ in
      .json(
        #"""
        {"issuer":"https://as","token_endpoint":"http://as/token","authorization_endpoint":"file:///bin/sh",
        "device_authorization_endpoint":"http://as/device","revocation_endpoint":"http://as/revoke"}
        """#)
    }
    let client = OAuthClient(issuer: "https://as", id: "cli", network: world.network)
    let token = Token(access: "a", refresh: "r")
    let errors = [
      try await thrown { try await client.clientCredentials() }, try await thrown { try await client.refresh(token) },
      try await thrown { try await client.revoke(token) },
      try await thrown { try await client.authorizeDevice { _ in XCTFail("shown") } },
      try await thrown { try await client.authorize(redirectingTo: "app:/cb") { $0 } },
      try await thrown { try await client.authorizeOnLoopback { _ in XCTFail("opened") } },
    ]
    XCTAssertEqual(errors.map(\.kind), Array(repeating: .invalidRequest, count: 6))
    XCTAssert(errors[4].reason.contains("file:///bin/sh"), errors[4].reason)
    XCTAssertEqual(world.requests.map(\.method), [.get])
  }

  /// RFC 9700 §4.12: with a real server, whose redirect keeps the body.
  func test_rule02_noRedirectIsFollowed() async throws {
    let other = try TestServer { _ in .json(#"{"access_token":"stolen","issuer":"x"}"#) }
    let server = try TestServer { request in
      .redirect(to: other.url(request.target).absoluteString, status: request.method == "GET" ? 302 : 307)
    }
    let found = OAuthServer(token: server.url("/t"), device: server.url("/d"), revocation: server.url("/r"))
    let client = OAuthClient(server: found, id: "cli", authentication: .secret("s"))
    let errors = [
      try await thrown { try await client.clientCredentials() },
      try await thrown { try await client.authorizeDevice { _ in XCTFail("shown") } },
      try await thrown { try await client.revoke(Token(access: "a")) },
      try await thrown { try await OAuthServer.discovered(at: "http://127.0.0.1:\(server.port)") },
    ]
    XCTAssertEqual(errors.map(\.code), [307, 307, 307, 302])
    XCTAssertEqual(other.requestCount, 0)
  }

  /// RFC 6749 §2.3.1: the body has no secret.
  func test_rule03_basicIsEncoded_andAlone() async throws {
    let world = World(good)
    _ = try await world.client(id: "a:b", authentication: .secret("c d")).clientCredentials()
    XCTAssertEqual(world.requests[0].headers["Authorization"], "Basic " + Data("a%3Ab:c+d".utf8).base64EncodedString())
    XCTAssertEqual(world.forms[0], ["grant_type": "client_credentials"])
    let colon = try await thrown {
      try await world.client(id: "a:b", authentication: .secretUnescaped("s")).clientCredentials()
    }
    XCTAssertEqual(colon.kind, .invalidRequest)
    XCTAssertEqual(world.requests.count, 1)
  }

  /// RFC 8414 §2.
  func test_rule04_theDocumentChoosesTheMethod_andNothingIsTriedTwice() async throws {
    func body(_ methods: String) async throws -> [String: String] {
      let world = World { request in
        request.method == .get
          ? .json(#"{"issuer":"https://as","token_endpoint":"https://as/t"\#(methods)}"#)
          : .json(#"{"error":"invalid_client"}"#, status: 401)
      }
      let client = OAuthClient(issuer: "https://as", id: "cli", authentication: .secret("s"), network: world.network)
      let error = try await thrown { try await client.clientCredentials() }
      XCTAssertEqual(error.oauthCode, "invalid_client")
      XCTAssert(error.reason.contains("secretInBody"), error.reason)
      XCTAssertEqual(world.requests.count, 2)
      XCTAssertEqual(world.requests[1].headers["Authorization"] == nil, world.forms[1]["client_secret"] != nil)
      return world.forms[1]
    }
    let name = #","token_endpoint_auth_methods_supported":"#
    let inBody = ["grant_type": "client_credentials", "client_id": "cli", "client_secret": "s"]
    let none = ["grant_type": "client_credentials"]
    var forms = [try await body(""), try await body(name + "[]"), try await body(name + #"["client_secret_post"]"#)]
    forms.append(try await body(name + #"["client_secret_post","client_secret_basic"]"#))
    forms.append(try await body(name + #"["private_key_jwt"]"#))
    XCTAssertEqual(forms, [none, none, inBody, none, none])

    let world = World(good)
    _ = try await world.client(authentication: .secretInBody("s")).clientCredentials()
    XCTAssertEqual(world.forms[0], inBody)
    XCTAssertNil(world.requests[0].headers["Authorization"])
  }

  /// RFC 7523 §2.2.
  func test_rule05_theAudienceOfAnAssertionIsTheIssuer_elseTheTokenEndpoint() async throws {
    let world = World(good)
    let sign = OAuthClient.Authentication.assertion { "for \($0)" }
    _ = try await world.client(authentication: sign).clientCredentials()
    _ = try await world.client(OAuthServer(token: url("https://as/token")), authentication: sign).clientCredentials()
    XCTAssertEqual(world.forms.map { $0["client_assertion"] }, ["for https://as", "for https://as/token"])
    XCTAssertEqual(world.forms[0]["client_id"], "cli")
    XCTAssertEqual(
      world.forms[0]["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    struct NoKey: Error {}
    let error = try await thrown {
      try await world.client(authentication: .assertion { _ in throw NoKey() }).clientCredentials()
    }
    XCTAssert(error.underlying is NoKey)
    XCTAssertEqual(world.requests.count, 2)
  }

  /// RFC 6749 §3.1, §3.2, App. B.
  func test_rule06_formsEncodePlus_andTheQueryOfAnEndpointRemains() async throws {
    let world = World(good)
    let server = OAuthServer(token: url("https://as/token?tenant=a+b"))
    _ = try await world.client(server, scope: "a+b c", parameters: ["x": "&=ü"]).clientCredentials()
    XCTAssertEqual(world.requests[0].url.absoluteString, "https://as/token?tenant=a+b")
    XCTAssertEqual(
      world.requests[0].bodyText, "client_id=cli&grant_type=client_credentials&scope=a%2Bb+c&x=%26%3D%C3%BC")
    XCTAssertEqual(world.requests[0].headers["Content-Type"], "application/x-www-form-urlencoded")
    XCTAssertEqual(world.requests[0].headers["Accept"], "application/json")
  }

  /// RFC 6749 §5.2; GitHub sends status 200.
  func test_rule07_anErrorIsAnError_withAnyStatus() async throws {
    for status in [200, 400, 401, 403] {
      let world = World(.json(#"{"error":"denied","error_description":"Not you."}"#, status: status))
      let error = try await thrown { try await world.client().clientCredentials() }
      XCTAssertEqual(error.kind, .rejected)
      XCTAssertEqual(error.oauthCode, "denied")
      XCTAssertEqual(error.message, "Not you.")
      XCTAssertEqual(error.response?.status, status)
    }
    let long = World(.json(#"{"error":"\#(String(repeating: "x", count: 5000))"}"#, status: 400))
    let error = try await thrown { try await long.client().clientCredentials() }
    XCTAssertEqual(error.oauthCode?.count, 100)
  }

  /// Decision 30: `Response.isPassing`.
  func test_rule08_aTemporaryStatusIsAnOutage() async throws {
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
      let world = World(.json(#"{"error":"invalid_grant"}"#, status: status))
      let error = try await thrown { try await world.client().refresh(Token(access: "a", refresh: "r")) }
      XCTAssertEqual(error.kind, .status)
      XCTAssertEqual(error.code, status)
      XCTAssertFalse(error.endsSession)
    }
  }

  /// RFC 6749 §5.2; no other flow ends a session.
  func test_rule09_onlyARefusedRefreshTokenEndsTheSession() async throws {
    let world = World(.json(#"{"error":"invalid_grant"}"#, status: 400))
    let client = world.client()
    let old = Token(access: "a", refresh: "r")
    let refused = try await thrown { try await client.refresh(old) }
    XCTAssert(refused.endsSession)
    let others = [
      try await thrown { try await client.clientCredentials() }, try await thrown { try await client.revoke(old) },
      try await thrown { try await client.grant("password", ["username": "u", "password": "p"]) },
    ]
    XCTAssertEqual(others.map(\.endsSession), [false, false, false])
    XCTAssertEqual(others.map(\.oauthCode), ["invalid_grant", "invalid_grant", "invalid_grant"])

    let count = world.requests.count
    for token in [nil, Token(access: "a"), Token(access: "a", refresh: "")] {
      let error = try await thrown { try await client.refresh(token) }
      XCTAssertEqual(error.kind, .authentication)
      XCTAssertFalse(error.endsSession)
    }
    XCTAssertEqual(world.requests.count, count, "nothing was sent")
  }

  /// RFC 6749 §6.
  func test_rule11_theOldRefreshTokenAndAccountRemain() async throws {
    let world = World(.json(#"{"access_token":"b","id_token":"\#(idToken(Self.claims))"}"#))
    let own = try await world.client().refresh(Token(access: "a", refresh: "r", account: "ann@shop"))
    XCTAssertEqual([own.access, own.refresh, own.account], ["b", "r", "ann@shop"])
    let new = try await world.client().refresh(Token(access: "a", refresh: "r"))
    XCTAssertEqual(new.account, "ada")
  }

  private static let claims = #"{"iss":"https://as","aud":"cli","exp":1800000300,"sub":"ada","email":"a@b"}"#

  /// RFC 7636 §4; RFC 9700 §2.1.1.
  func test_rule15_eachLoginHasItsOwnSecrets() async throws {
    let world = World(good)
    let pages = Notes()
    for scope in ["mail", "mail openid", "openidx"] {
      for _ in 0..<2 {
        _ = try? await world.client(scope: scope).authorize(redirectingTo: "app:/cb") { page in
          pages.add(page.absoluteString)
          return url("app:/cb?code=c&state=\(page.pairs["state"] ?? "")")
        }
      }
    }
    let sent = pages.all.map { url($0).pairs }
    XCTAssertEqual(sent.count, 6)
    for (page, form) in zip(sent, world.forms) {
      let verifier = try XCTUnwrap(form["code_verifier"])
      XCTAssertEqual(verifier.count, 43)
      XCTAssertEqual(page["state"]?.count, 22)
      XCTAssertEqual(page["code_challenge_method"], "S256")
      XCTAssertEqual(page["response_type"], "code")
      let digest = Hash.sha256(Data(verifier.utf8)).base64EncodedString()
      let challenge = page["code_challenge"]?.replacingOccurrences(of: "-", with: "+").replacingOccurrences(
        of: "_", with: "/")
      XCTAssertEqual(challenge.map { $0 + "=" }, digest)
    }
    XCTAssertEqual(sent.map { $0["nonce"]?.count }, [nil, nil, 22, 22, nil, nil])
    XCTAssertEqual(Set(sent.map { $0["state"] }).count, 6)
    XCTAssertEqual(Set(world.forms.map { $0["code_verifier"] }).count, 6)
    XCTAssertEqual(Set(sent.compactMap { $0["nonce"] }).count, 2)
  }

  func test_aUserWhoClosesThePage_andAPageThatIsNoRedirect() async throws {
    struct Closed: Error {}
    let world = World(good)
    let closed = try await thrown {
      try await world.client().authorize(redirectingTo: "app:/cb") { _ in throw Closed() }
    }
    XCTAssert(closed.underlying is Closed)
    let cancelled = try await thrown {
      try await world.client().authorize(redirectingTo: "app:/cb") { _ in throw CancellationError() }
    }
    XCTAssertEqual(cancelled.kind, .cancelled)
    for redirect in ["app", "app:/cb#x"] {
      let error = try await thrown { try await world.client().authorize(redirectingTo: redirect) { $0 } }
      XCTAssertEqual(error.kind, .invalidRequest)
    }
    XCTAssert(world.requests.isEmpty)
  }

  /// RFC 9207 §2.4: another server's redirect leads to no token request, even if it is an error.
  func test_rule17_aRedirectOfAnotherServerIsRefused_beforeItsErrorIsRead() async throws {
    let world = World(good)
    for rest in ["code=c", "error=access_denied"] {
      let error = try await thrown {
        try await world.client().authorize(redirectingTo: "app:/cb") {
          url("app:/cb?\(rest)&state=\($0.pairs["state"] ?? "")&iss=https%3A%2F%2Fevil")
        }
      }
      XCTAssertNil(error.oauthCode)
      XCTAssert(error.reason.contains("https://evil"), error.reason)
    }
    XCTAssert(world.requests.isEmpty)
  }

  func test_rule21_aCancelledTaskEndsTheDeviceFlow_andWaitsAreOnTheClockOfTheNetwork() async throws {
    let clock = TestClock()
    let world = World(clock: clock) { request in
      request.url.path == "/device"
        ? .json(#"{"device_code":"d","user_code":"U","verification_uri":"https://as/d"}"#)
        : .json(#"{"error":"authorization_pending"}"#, status: 400)
    }
    let shown = Notes()
    let task = Task { try await world.client().authorizeDevice { shown.add("\($0.lifetime) \($0.url)") } }
    try await eventually("the tool waits") { clock.waiting == 1 }
    XCTAssertEqual(shown.all, ["900.0 seconds https://as/d"])
    XCTAssertEqual(world.requests.count, 1)
    clock.advance()
    try await eventually("the tool waits again") { clock.waiting == 1 && world.requests.count == 2 }
    task.cancel()
    let error = try await thrown { try await task.value }
    XCTAssertEqual(error.kind, .cancelled)
    XCTAssertEqual(world.requests.count, 2)
  }

  func test_rule23_thereIsOneDiscoveryForAllCalls_andAFailedOneIsTriedAgain() async throws {
    let isDown = Box(true)
    let world = World { request in
      guard request.method == .get else { return good }
      return isDown.value
        ? .response(status: 503)
        : .json(#"{"issuer":"https://as","token_endpoint":"https://as/t"}"#, after: .milliseconds(200))
    }
    let client = OAuthClient(issuer: "https://as", id: "cli", network: world.network)
    let error = try await thrown { try await client.clientCredentials() }
    XCTAssertEqual(error.code, 503)
    isDown.value = false
    let calls = (0..<3).map { _ in Task { try await client.clientCredentials() } }
    try await eventually("the document is requested again") { world.requests.count == 2 }
    // The cancellation of one call does not end the discovery of the others.
    let other = Task { try await client.clientCredentials() }
    other.cancel()
    _ = await other.result
    for call in calls { _ = try await call.value }
    _ = try await client.clientCredentials()
    XCTAssertEqual(world.requests.filter { $0.method == .get }.count, 2, "\(world.requests)")
  }

  /// OpenID Connect Core §3.1.3.7: the clock of the device may be wrong.
  func test_rule24_theServersClockDecidesAboutExpiry() async throws {
    func account(_ headers: HTTPHeaders) async throws -> String? {
      let claims = #"{"iss":"https://as","aud":"cli","exp":784111777,"sub":"ada","email":"a@b"}"#
      let body = Data(#"{"access_token":"a","id_token":"\#(idToken(claims))"}"#.utf8)
      let grant = try await World(.response(headers: headers, body: body)).client().grant("x", [:])
      XCTAssertEqual(grant.claims["email"].string, "a@b")
      return grant.token.account
    }
    let found = try await account(["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
    XCTAssertEqual(found, "ada")
    let late = try await thrown { try await account(["Date": "Sun, 06 Nov 1994 08:59:38 GMT"]) }
    XCTAssert(late.reason.contains("expired"), late.reason)
    let none = try await thrown { try await account([:]) }
    XCTAssert(none.reason.contains("expired"), none.reason)
  }

  /// RFC 8707 §2, and the parameters of the request that starts a flow.
  func test_rule25_theResourceIsInEachRequestForAToken() async throws {
    let world = World { request in
      request.url.path == "/device"
        ? .json(#"{"device_code":"d","user_code":"U","verification_uri":"https://as/d"}"#) : good
    }
    let client = world.client(scope: "s", resource: "https://api", parameters: ["audience": "x", "state": "mine"])
    let pages = Notes()
    _ = try await client.authorize(redirectingTo: "app:/cb") { page in
      pages.add(page.absoluteString)
      return url("app:/cb?code=c&state=\(page.pairs["state"] ?? "")")
    }
    _ = try await client.refresh(Token(access: "a", refresh: "r"))
    _ = try await client.clientCredentials()
    _ = try await client.authorizeDevice { _ in }
    let grant = try await client.grant("urn:x", ["resource": "https://own", "scope": "t"])
    try await client.revoke(Token(access: "a"))
    let page = url(pages.all[0]).pairs
    XCTAssertEqual(page["resource"], "https://api")
    XCTAssertEqual(page["audience"], "x")
    XCTAssertNotEqual(page["state"], "mine", "the app can't replace the secrets of a login")
    let api: String? = "https://api"
    XCTAssertEqual(world.forms.map { $0["resource"] }, [api, api, api, api, api, "https://own", nil])
    XCTAssertEqual(world.forms.map { $0["audience"] }, [nil, nil, "x", "x", nil, "x", nil])
    XCTAssertEqual(world.forms.map { $0["scope"] }, [nil, nil, "s", "s", nil, "t", nil])
    XCTAssertEqual(world.forms.map { $0["token"] }.last, "a")
    XCTAssertEqual(grant.scope, "s")
  }

  /// RFC 7009 §2.1.
  func test_revoke_sendsTheRefreshToken_elseTheAccessToken() async throws {
    let world = World(.response(status: 200))
    try await world.client().revoke(Token(access: "a", refresh: "r"))
    try await world.client(authentication: .secret("s")).revoke(Token(access: "a"))
    XCTAssertEqual(
      world.forms,
      [
        ["token": "r", "token_type_hint": "refresh_token", "client_id": "cli"],
        ["token": "a", "token_type_hint": "access_token"],
      ])
    let none = try await thrown {
      try await world.client(OAuthServer(token: url("https://as/t"))).revoke(Token(access: "a"))
    }
    XCTAssertEqual(none.kind, .invalidRequest)
    XCTAssert(none.reason.contains("revocation"), none.reason)
  }

  /// RFC 6749 §5.1: an omitted scope is the requested one.
  func test_grant_hasTheScopeAndTheFieldsOfTheServer() async throws {
    let world = World(.json(#"{"access_token":"a","scope":"read","team":{"id":"T1"}}"#))
    let grant = try await world.client(scope: "read write").grant("x", [:])
    XCTAssertEqual(grant.scope, "read")
    XCTAssertEqual(grant.fields["team"]["id"].string, "T1")
    XCTAssertFalse(grant.claims.exists)
    let other = try await World(good).client(scope: "read write").grant("x", ["a": "b"])
    XCTAssertEqual(other.scope, "read write")
  }

  /// RFC 6749 §2.3, §3.2: what the network adds to the calls of the API is not for the authorization server.
  func test_theServerReceivesAPlainForm_andNoFieldOfTheAPI() async throws {
    for base in [nil, url("https://as/api/"), url("https://api/")] {
      let stub = StubTransport { _ in good }
      let fields: HTTPHeaders = ["Content-Type": "application/json", "Authorization": "Bearer key", "X-Key": "key"]
      let network = Network(
        Backend(baseURL: base, headers: fields, transport: stub, interceptors: [CompressionInterceptor()]))
      let client = OAuthClient(server: World.server, id: "cli", network: network)
      _ = try await client.refresh(Token(access: "a", refresh: String(repeating: "0.AXoA-eyJ", count: 200)))
      let sent = stub.requests[0].headers
      XCTAssertEqual(sent["Content-Type"], "application/x-www-form-urlencoded")
      XCTAssertEqual([sent["Authorization"], sent["X-Key"], sent["Content-Encoding"]], [nil, nil, nil])
    }
  }

  /// The assertion of another server, which refuses its own token.
  func test_aRefusalOfAnotherServer_signsNobodyOut() async throws {
    let (world, other) = (World(good), World(.json(#"{"error":"invalid_grant"}"#, status: 400)))
    let client = world.client(authentication: .assertion { _ in try await other.client().clientCredentials().access })
    let error = try await thrown { try await client.refresh(Token(access: "a", refresh: "r")) }
    XCTAssertFalse(error.endsSession)
    XCTAssertEqual(world.requests.count, 0)
    let own = World(.json(#"{"error":"invalid_grant"}"#, status: 400))
    let refused = try await thrown { try await own.client().refresh(Token(access: "a", refresh: "r")) }
    XCTAssertTrue(refused.endsSession)
  }

  /// RFC 9110 §10.2.3: the pause for one poll; the interval grows as without it.
  func test_aDeviceWaitsAsLongAsABusyServerAsks() async throws {
    let (clock, count) = (JumpingClock(), Counter())
    let world = World(clock: clock) { request in
      if request.url.path == "/device" {
        return .json(#"{"device_code":"d","user_code":"U","verification_uri":"https://as/d","interval":5}"#)
      }
      switch count.next() {
      case 1: return .response(status: 429, headers: ["Retry-After": "120"])
      case 2: return .json(#"{"error":"authorization_pending"}"#, status: 400)
      default: return good
      }
    }
    _ = try await world.client().authorizeDevice { _ in }
    XCTAssertEqual(clock.waits, [5, 120, 10])
  }

  /// OpenID Connect Core §12.2, also if the app has chosen another name for the user.
  func test_aRefreshForAnotherUser_isRefused() async throws {
    func world(_ subject: String) -> World {
      let claims = #"{"iss":"https://as","aud":"cli","exp":99999999999,"sub":"\#(subject)"}"#
      return World(.json(#"{"access_token":"new","refresh_token":"r","id_token":"\#(idToken(claims))"}"#))
    }
    var token = try await world("ann").client(scope: "openid").grant("x", [:]).token
    XCTAssertEqual(token.account, "ann")
    token.account = "ann@example.com"
    // As a store keeps it.
    token = try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token))
    let error = try await thrown { [token] in try await world("bob").client(scope: "openid").refresh(token) }
    XCTAssertEqual([error.kind == .rejected, error.endsSession], [true, false])
    let plain = World(good)
    for next in [world("ann"), plain] {
      token = try await next.client(scope: "openid").refresh(token)
      XCTAssertEqual(token.account, "ann@example.com")
    }
    _ = try await thrown { [token] in try await world("bob").client(scope: "openid").refresh(token) }
  }

  /// A server in memory with a document.
  private func discovered(_ members: String, _ token: StubTransport.StubbedResponse = good) -> World {
    World { request in
      request.url.path.hasPrefix("/.well-known/")
        ? .json(#"{"token_endpoint":"https://as/t","authorization_endpoint":"https://as/a",\#(members)}"#) : token
    }
  }

  /// RFC 9207 §2.4: a server whose document says so always sends its issuer.
  func test_rule12_aRedirectWithoutTheIssuerThatTheDocumentAnnounces_isRefused() async throws {
    for (announces, isRefused) in [("true", true), ("false", false)] {
      let world = discovered(
        #""issuer":"https://as","authorization_response_iss_parameter_supported":\#(announces)"#)
      let client = OAuthClient(issuer: "https://as", id: "cli", network: world.network)
      func signIn(_ rest: String) async throws(NetworkError) -> OAuthGrant {
        try await client.authorize(redirectingTo: "app:/cb") {
          url("app:/cb?code=c&state=\($0.pairs["state"] ?? "")\(rest)")
        }
      }
      if isRefused {
        let error = try await thrown { try await signIn("") }
        XCTAssertEqual(error.kind, .rejected)
        XCTAssert(world.forms.allSatisfy { $0["code"] == nil })
      }
      let grant = try await signIn(isRefused ? "&iss=https://as" : "")
      XCTAssertEqual(grant.token.access, "a")
    }
  }

  /// RFC 8414 §3.3: the issuer is compared as the server writes it, whether the app ends it with a slash or not.
  func test_rule22_theIssuerIsThatOfTheDocument() async throws {
    let claims = #"{"iss":"https://as/","aud":"cli","exp":99999999999,"sub":"ann"}"#
    for issuer in ["https://as", "https://as/"] {
      let world = discovered(
        #""issuer":"https://as/""#, .json(#"{"access_token":"a","id_token":"\#(idToken(claims))"}"#))
      let client = OAuthClient(issuer: issuer, id: "cli", network: world.network)
      let grant = try await client.grant("x", [:])
      XCTAssertEqual(grant.token.account, "ann")
    }
  }

  /// RFC 8628 §3.3.1: a page that a browser opens, and no program.
  func test_rule21_thePageWithTheCode_isAPage() async throws {
    for (page, isPage) in [("https://as/d?c=U", true), ("file:///bin/sh", false), ("as:run", false)] {
      let world = World(
        .json(
          #"{"device_code":"d","user_code":"U","verification_uri":"https://as/d","verification_uri_complete":"\#(page)","access_token":"a"}"#
        ))
      let shown = Box<[OAuthClient.DeviceCode]>([])
      _ = try await world.client().authorizeDevice { code in shown.update { $0.append(code) } }
      XCTAssertEqual(shown.value.map(\.url), [url("https://as/d")])
      XCTAssertEqual(shown.value.map(\.completeURL), [isPage ? url(page) : nil])
    }
  }
}

/// A clock whose waits end when the test says so.
final class TestClock: SchedulerType {
  // Guards the actions that wait; both threads of a test use it.
  private let actions = Box<[Int: @Sendable () -> Void]>([:])
  private let number = Counter()
  var now: Date { JumpingClock.start }
  var waiting: Int { actions.value.count }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    DispatchQueue.global().async(execute: action)
    return Disposables.create()
  }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    let id = number.next()
    actions.update { $0[id] = action }
    return Disposables.create { [actions] in actions.update { $0[id] = nil } }
  }

  func advance() {
    let due = actions.update { actions in
      defer { actions = [:] }
      return actions
    }
    for action in due.values { action() }
  }
}
