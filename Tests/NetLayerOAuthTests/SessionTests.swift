import Foundation
import LoopbackServer
import NetLayerOAuth
import NetLayerTesting
import TestSupport
import XCTest

/// The module behind an `AuthenticationInterceptor`, and token servers that misbehave.
final class SessionTests: XCTestCase {
  private static let api = url("https://api")

  /// The API accepts `Bearer new`; the token server responds with `token`.
  private func world(
    _ token: @escaping @Sendable (Request) -> StubTransport.StubbedResponse, accepts: String = "Bearer new"
  ) -> World {
    World(clock: ConcurrentDispatchQueueScheduler(qos: .utility)) { request in
      if request.url.host() == "as" { return token(request) }
      return request.headers["Authorization"] == accepts ? .json("ok") : .json("who?", status: 401)
    }
  }

  private func network(_ world: World, _ interceptors: any Interceptor...) -> Network {
    world.network.with { $0.interceptors = interceptors }
  }

  private static let new = #"{"access_token":"new","refresh_token":"r2","expires_in":3600}"#

  func test_aService_getsItsTokenFirst_andSendsABodyOnce() async throws {
    let world = world { _ in .json(Self.new) }
    let service = world.client(authentication: .secret("s"))
    let authentication = AuthenticationInterceptor(for: [Self.api], requiresToken: true) { _ in
      try await service.clientCredentials()
    }
    let api = network(world, authentication)
    async let calls = [
      api.fetch(.post("https://api/x", .data(Data("b".utf8))), as: String.self),
      api.fetch(.get("https://api/y"), as: String.self), api.fetch(.get("https://api/z"), as: String.self),
    ]
    let texts = try await calls
    XCTAssertEqual(texts, ["ok", "ok", "ok"])
    XCTAssertEqual(world.requests.map(\.url.path).sorted(), ["/token", "/x", "/y", "/z"])
    XCTAssertEqual(world.requests[0].url.path, "/token")
  }

  /// The network of the API may be that of the client, too: no token of a user is sent to the token server.
  func test_theClientMayUseTheNetworkOfTheAPI() async throws {
    let network = Box<Network?>(nil)
    let stub = StubTransport { request in
      request.url.path == "/token"
        ? .json(Self.new) : .json("ok", status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
    }
    let login = Box<OAuthClient?>(nil)
    let authentication = AuthenticationInterceptor(
      for: [Self.api], store: MemoryTokenStore(Token(access: "old", refresh: "r"))
    ) { old in
      guard let client = login.value else { throw CancellationError() }
      return try await client.refresh(old)
    }
    network.value = Network(
      Backend(
        baseURL: Self.api, commonParameters: { ["version": 1] }, envelope: .standard, transport: stub,
        interceptors: [authentication]))
    let api = try XCTUnwrap(network.value)
    login.value = OAuthClient(server: OAuthServer(token: url("https://api/token")), id: "cli", network: api)
    _ = try await api.response(.get("/x"))
    let token = try XCTUnwrap(stub.requests.first { $0.url.path == "/token" })
    XCTAssertNil(token.headers["Authorization"])
    XCTAssertEqual(token.url.absoluteString, "https://api/token")
    XCTAssertEqual(token.form, ["grant_type": "refresh_token", "refresh_token": "r", "client_id": "cli"])
    let own = try await XCTUnwrap(login.value).clientCredentials()
    XCTAssertEqual(own.access, "new")
    XCTAssertNil(stub.requests.last?.headers["Authorization"])
  }

  func test_rule10_aRefusedRefreshUsesTheTokenOfAnotherProcess() async throws {
    let store = MemoryTokenStore(Token(access: "old", refresh: "r"))
    let world = world { _ in
      // Another process has used the refresh token first.
      store.save(Token(access: "new", refresh: "r2"))
      return .json(#"{"error":"invalid_grant"}"#, status: 400)
    }
    let authentication = AuthenticationInterceptor(for: [Self.api], store: store, refresh: world.client().refresh)
    let text = try await network(world, authentication).fetch(.get("https://api/x"), as: String.self)
    XCTAssertEqual(text, "ok")
    XCTAssertEqual(store.load()?.refresh, "r2")
  }

  func test_rule10_otherwiseTheUserIsSignedOut_withTheWordsOfTheServer() async throws {
    let store = MemoryTokenStore(Token(access: "old", refresh: "r"))
    let world = world { _ in .json(#"{"error":"invalid_grant","error_description":"Revoked."}"#, status: 400) }
    let authentication = AuthenticationInterceptor(for: [Self.api], store: store, refresh: world.client().refresh)
    let api = network(world, authentication)
    let errors = [
      try await thrown { try await api.fetch(.get("https://api/x"), as: String.self) },
      try await thrown { try await api.fetch(.get("https://api/x"), as: String.self) },
    ]
    XCTAssertEqual(errors[0].kind, .authentication)
    XCTAssert(errors[0].endsSession)
    XCTAssertEqual(errors[0].oauthCode, "invalid_grant")
    XCTAssertEqual(errors[0].message, "Revoked.")
    XCTAssertNil(store.load())
    XCTAssertEqual(world.requests.filter { $0.url.host() == "as" }.count, 1, "a dead token is sent once")
  }

  func test_aTokenServerThatIsDownSignsNobodyOut_andIsTriedAgain() async throws {
    let store = MemoryTokenStore(Token(access: "old", refresh: "r"))
    let count = Counter()
    let world = world { _ in count.next() == 1 ? .response(status: 503) : .json(Self.new) }
    let authentication = AuthenticationInterceptor(for: [Self.api], store: store, refresh: world.client().refresh)
    let retry = RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))
    let text = try await network(world, retry, authentication).fetch(.get("https://api/x"), as: String.self)
    XCTAssertEqual(text, "ok")
    XCTAssertEqual(store.load()?.refresh, "r2")
  }

  func test_anEventStreamGoesOn_afterATokenServerThatWasDownOnce() async throws {
    let (events, refreshes) = (Counter(), Counter())
    let store = MemoryTokenStore(Token(access: "new1", refresh: "r"))
    let stub = StubTransport { request in
      if request.url.host() == "as" {
        return refreshes.next() == 1 ? .response(status: 503) : .json(#"{"access_token":"new2"}"#)
      }
      let isAccepted = request.headers["Authorization"] == (events.value == 0 ? "Bearer new1" : "Bearer new2")
      guard isAccepted else { return .response(status: 401) }
      return .response(headers: ["Content-Type": "text/event-stream"], body: Data("data: \(events.next())\n\n".utf8))
    }
    let network = Network(Backend(transport: stub))
    let client = OAuthClient(server: World.server, id: "cli", network: network)
    let authentication = AuthenticationInterceptor(for: [Self.api], store: store, refresh: client.refresh)
    let api = network.with { $0.interceptors = [authentication] }
    var found: [String] = []
    let policy = RetryPolicy(attempts: 10, initialDelay: .milliseconds(1))
    for try await event in api.events(.get("https://api/events"), reconnect: policy).take(2).values {
      found.append(event.data)
    }
    XCTAssertEqual(found, ["1", "2"])
    XCTAssertEqual(refreshes.value, 2)
  }

  func test_theAccountIsTheSubject() async throws {
    let claims = #"{"iss":"https://as","aud":"cli","exp":99999999999,"sub":"ada"}"#
    let world = world { _ in .json(#"{"access_token":"new","refresh_token":"r","id_token":"\#(idToken(claims))"}"#) }
    let client = world.client()
    let authentication = AuthenticationInterceptor(for: [Self.api], refresh: client.refresh)
    try await authentication.setToken(try await client.grant("x", [:]).token)
    XCTAssertEqual(authentication.accountState, .user("ada"))
  }

  // MARK: Several processes

  /// A token server with rotation: a refresh token that is used twice ends its family (RFC 9700 §4.14.2).
  private final class RotatingServer: Sendable {
    struct State {
      var refresh = "r0"
      var access = "a0"
      var uses = 0
      var count = 0
      var reused = 0
    }

    let state = Box(State())

    func respond(to request: TestServer.Request) -> TestServer.Response {
      state.update { state in
        if request.path == "/token" {
          guard pairs(of: request.text)["refresh_token"] == state.refresh else {
            state.reused += 1
            return .json(#"{"error":"invalid_grant"}"#, status: 400)
          }
          state.count += 1
          (state.refresh, state.access, state.uses) = ("r\(state.count)", "a\(state.count)", 0)
          return .json(#"{"access_token":"\#(state.access)","refresh_token":"\#(state.refresh)"}"#)
        }
        state.uses += 1
        let isValid = request.header("Authorization") == "Bearer \(state.access)" && state.uses < 7
        return isValid ? .text("ok") : .status(401)
      }
    }
  }

  /// The file and its lock are those of the system, so that three interceptors are as good as three processes.
  func test_threeProcessesWithOneFile_useNoTokenTwice() async throws {
    let rotating = RotatingServer()
    let server = try TestServer { rotating.respond(to: $0) }
    let file = FileManager.default.temporaryDirectory.appending(path: "oauth-\(UUID().uuidString)/token")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    try FileTokenStore(storingIn: file).save(Token(access: "a0", refresh: "r0"))
    let right = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        let client = OAuthClient(server: OAuthServer(token: server.url("/token")), id: "cli")
        let authentication = AuthenticationInterceptor(
          for: [server.url], store: FileTokenStore(storingIn: file), maxRefreshes: 100, refresh: client.refresh)
        let api = Network(Backend(baseURL: server.url, interceptors: [authentication]))
        group.addTask {
          for _ in 0..<60 {
            // Another process may have replaced the token between the 401 and the second request.
            for _ in 0..<20 where try await api.response(.get("/x")).status == 200 {
              right.next()
              break
            }
          }
        }
      }
      try await group.waitForAll()
    }
    XCTAssertEqual(right.value, 180)
    XCTAssertEqual(rotating.state.value.reused, 0)
    XCTAssertGreaterThan(rotating.state.value.count, 10)
  }

  /// No client can repair it (RFC 9700 §4.14.2): the user signs in again, and is told so.
  func test_aProcessThatEndsBeforeItStoresTheToken_leavesAUserWhoSignsInAgain() async throws {
    let rotating = RotatingServer()
    let server = try TestServer { rotating.respond(to: $0) }
    let file = FileManager.default.temporaryDirectory.appending(path: "oauth-\(UUID().uuidString)/token")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    let store = FileTokenStore(storingIn: file)
    try store.save(Token(access: "gone", refresh: "r0"))
    let client = OAuthClient(server: OAuthServer(token: server.url("/token")), id: "cli")
    // The process that ends here.
    _ = try await client.refresh(try store.load())

    let authentication = AuthenticationInterceptor(for: [server.url], store: store, refresh: client.refresh)
    let api = Network(Backend(baseURL: server.url, interceptors: [authentication]))
    let error = try await thrown { try await api.fetch(.get("/x"), as: String.self) }
    XCTAssert(error.endsSession)
    XCTAssertEqual(error.oauthCode, "invalid_grant")
    XCTAssert(error.reason.contains("sign in again"), error.reason)
    XCTAssertNil(try store.load())
  }

  // MARK: Hostile servers

  func test_aLargeResponseIsNotRead() async throws {
    let server = try TestServer { _ in .endless(.init(Array(repeating: 0x20, count: 1 << 16))) }
    let client = OAuthClient(server: OAuthServer(token: server.url("/t")), id: "cli")
    let error = try await thrown { try await client.clientCredentials() }
    XCTAssertEqual(error.kind, .tooLarge)
    XCTAssert(error.reason.contains("1 MB") || error.reason.contains("1048576"), error.reason)
    XCTAssertLessThan(server.sentByteCount, 32 << 20)
    let document = try await thrown { try await OAuthServer.discovered(at: "http://127.0.0.1:\(server.port)") }
    XCTAssertEqual(document.kind, .tooLarge)
  }

  func test_aMissingDocument_hasTheLastResponse() async throws {
    let server = try TestServer { $0.path.contains("openid") ? .text("hello") : .status(404) }
    defer { server.stop() }
    let error = try await thrown { try await OAuthServer.discovered(at: "http://127.0.0.1:\(server.port)") }
    XCTAssertEqual(error.kind, .parse)
    XCTAssertEqual(error.response.map { String(decoding: $0.body, as: UTF8.self) }, "hello")
    XCTAssert(
      error.reason.contains("has no document at http://127.0.0.1:\(server.port)/.well-known/oauth"), error.reason)
  }

  func test_aTokenServerThatDoesNotSpeakHTTP_isAnOutageOrAParseError() async throws {
    let faults: [(TestServer.Response, NetworkError.Kind)] = [
      (.closeBeforeHead, .connection), (.resetBeforeHead, .connection), (.truncatedBody(), .connection),
    ]
    for (fault, kind) in faults {
      let server = try TestServer { _ in fault }
      let client = OAuthClient(server: OAuthServer(token: server.url("/t")), id: "cli")
      let error = try await thrown { try await client.refresh(Token(access: "a", refresh: "r")) }
      XCTAssertEqual(error.kind, kind)
      XCTAssertFalse(error.endsSession)
    }
  }
}
