import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The pipeline over a real connection, with the default transport.
final class EndToEndTests: XCTestCase {
  private struct User: Codable, Equatable, Sendable {
    var userid: Int
    var name: String
  }

  private func serve(_ change: (inout TestServer.Routes) -> Void) throws -> TestServer {
    var routes = TestServer.Routes()
    change(&routes)
    return try TestServer(routes: routes)
  }

  private func network(_ server: TestServer) -> Network {
    Network(
      Backend(
        baseURL: server.url, envelope: .standard,
        timeouts: .init(connect: .seconds(5), idle: .seconds(0.3), attempt: .seconds(5))))
  }

  func test_row_0_27_model_arrivesOverHTTP() throws {
    let server = try serve { routes in
      routes.on("GET", "/user/detail.do") { request in
        .json(#"{"code":200,"data":{"userid":\#(request.query("userid") ?? "0"),"name":"李"}}"#)
      }
    }
    let users = record(network(server).json(.get, "/user/detail.do", parameters: ["userid": 7]).data(User.self))
    XCTAssertEqual(users.elements, [User(userid: 7, name: "李")])
    XCTAssertEqual(server.requests.first?.header("Accept"), "application/json")
  }

  func test_row_0_8_formAndJSONBodies_arriveAsEncoded() throws {
    let server = try serve { routes in
      routes.on("POST", "/echo") { .json(#"{"code":200,"data":true}"#).header("X", $0.method) }
    }
    let network = network(server)
    XCTAssertEqual(
      record(network.json(.post, "/echo", parameters: ["a": "b c&d", "n": 1.0], encoding: .form).bool()).elements,
      [true])
    _ = record(network.json(.post("/echo", json: User(userid: 1, name: "网"))))
    XCTAssertEqual(server.requests[0].text, "a=b%20c%26d&n=1.0")
    XCTAssertEqual(server.requests[0].header("Content-Type"), "application/x-www-form-urlencoded; charset=utf-8")
    XCTAssertEqual(server.requests[1].text, #"{"name":"网","userid":1}"#)
    XCTAssertEqual(server.requests[1].header("Content-Type"), "application/json")
  }

  func test_everyConnectionFault_hasItsKind_andEndsTheStreamOnce() throws {
    let server = try serve { routes in
      routes.on(nil, "/close") { _ in .closeBeforeHead }
      routes.on(nil, "/reset") { _ in .resetMidBody() }
      routes.on(nil, "/short") { _ in .truncatedBody() }
      routes.on(nil, "/never") { _ in .neverResponding }
      routes.on(nil, "/down") { _ in .json(#"{"code":500,"message":"database is down"}"#, status: 503) }
    }
    let network = network(server)
    for (path, kind) in [
      ("close", NetworkError.Kind.connection), ("reset", .connection), ("short", .connection), ("never", .timeout),
      ("down", .status),
    ] {
      let error = try failure(of: network.json(.get, path).data(User.self))
      XCTAssertEqual(error.kind, kind, path)
      XCTAssertEqual(error.request?.url.path, "/" + path)
      XCTAssertFalse(error.message.isEmpty)
    }
    XCTAssertEqual(try failure(of: network.json(.get, "down").bool()).message, "database is down")
    let port = server.port
    server.stop()
    XCTAssertEqual(try failure(of: network.json(.get, "http://127.0.0.1:\(port)/")).kind, .connection)
    XCTAssertEqual(try failure(of: network.json(.get, "http://no-such-host.invalid/")).kind, .unknownHost)
  }

  func test_tokenOfOneServer_isNotSentToAnother_whateverTheCall() async throws {
    let servers = try (0..<2).map { _ in
      try TestServer { $0.path == "/socket" ? .socket(.echo) : .json("1") }
    }
    let login = AuthenticationInterceptor(
      for: [servers[0].url], store: MemoryTokenStore(Token(access: "s3cret"))
    ) { _ in throw TestError() }
    let network = Network(Backend(baseURL: servers[0].url, interceptors: [login]))
    for (server, field) in zip(servers, ["Bearer s3cret", "-"]) {
      _ = try await network.fetch(.get(server.url("/fetch")))
      _ = try await network.withStream(.post(server.url("/stream"))) { try await $0.chunks.reduce(0) { $0 + $1.count } }
      try await network.withWebSocket(.get("ws://127.0.0.1:\(server.port)/socket")) { _ in }
      XCTAssertEqual(
        server.requests.map { "\($0.path) \($0.header("Authorization") ?? "-")" },
        ["/fetch \(field)", "/stream \(field)", "/socket \(field)"],
        "the token s3cret of \(servers[0].url) at \(server.url)")
    }
  }

  func test_postWhoseConnectionIsLost_isSentOnce_andAGetAgain() async throws {
    let server = try serve { $0.on(nil, "/x") { _ in .closeBeforeHead } }
    let retry = RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))
    let network = Network(Backend(baseURL: server.url, interceptors: [retry]))
    for (method, count) in [(HTTPMethod.post, 1), (.patch, 1), (.get, 3)] {
      do {
        _ = try await network.response(Call(method, "/x"))
        XCTFail("\(method) has a response")
      } catch { XCTAssertEqual(NetworkError.wrapping(error).kind, .connection, "\(method)") }
      XCTAssertEqual(server.requests.count { $0.method == method.rawValue }, count, "\(method)")
    }
  }

  func test_row_0_5_disposing_closesTheConnectionOnTheServer() throws {
    let arrived = expectation(description: "arrived")
    let server = try TestServer { _ in
      arrived.fulfill()
      return .neverResponding
    }
    let events = Counter()
    let subscription = network(server).json(.get, "/").subscribe(
      onNext: { _ in events.next() }, onError: { _ in events.next() })
    wait(for: [arrived], timeout: 60)
    subscription.dispose()
    let closed = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in server.openConnectionCount == 0 }, object: nil)
    wait(for: [closed], timeout: 60)
    XCTAssertEqual(events.value, 0)
  }

  func test_pages_areFollowedByCursor() throws {
    let server = try serve { routes in
      routes.on("GET", "/feed") { request in
        switch request.query("cursor") {
        case nil: .json(#"{"code":200,"data":[1,2],"cursor":2}"#)
        case "2": .json(#"{"code":200,"data":[3],"cursor":"end"}"#)
        default: .json(#"{"code":200,"data":[],"cursor":null}"#)
        }
      }
    }
    let network = network(server)
    @Sendable func feed(_ cursor: String?) -> Observable<Page<Int>> {
      network.json(.get, "/feed", parameters: ["cursor": cursor]).list(Int.self).flatMap { page in
        page.cursor.map { Observable.just(page).concat(feed($0)) } ?? .just(page)
      }
    }
    XCTAssertEqual(record(feed(nil)).elements.map(\.items), [[1, 2], [3], []])
  }

  func test_model_canBeAwaited() async throws {
    let server = try serve { routes in
      routes.on("GET", "/user") { _ in .json(#"{"code":200,"data":{"userid":1,"name":"n"}}"#) }
    }
    struct UserEndpoint: Endpoint {
      var path: String { "/user" }
    }
    let user = try await withTimeLimit { [network = network(server)] in
      try await network.request(UserEndpoint(), as: User.self).value
    }
    XCTAssertEqual(user, User(userid: 1, name: "n"))
  }
}
