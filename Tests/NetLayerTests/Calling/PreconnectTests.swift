import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import XCTest

/// `network.preconnect(to:)`, which opens a connection ahead.
final class PreconnectTests: XCTestCase {
  func test_nextCall_reusesTheConnection() async throws {
    let server = try TestServer { request in request.path == "/" ? .status(404) : .json("1") }
    let jar = CookieJar()
    jar.store(["Set-Cookie": "secret=1"], from: server.url)
    let network = Network(
      Backend(
        baseURL: server.url("/v1?key=secret"), headers: ["Authorization": "secret"],
        commonParameters: { ["token": "secret"] },
        transport: DefaultTransport.make(), options: .init(cookies: jar), interceptors: [Stamp()]))
    try await network.preconnect().value
    let user: JSON = try await network.fetch(.get("/user"))
    XCTAssertEqual(user.int, 1)
    XCTAssertEqual(server.connectionCount, 1)
    XCTAssertEqual(server.requests.map(\.method), ["HEAD", "GET"])
    let head = try XCTUnwrap(server.requests.first)
    XCTAssertEqual(head.target, "/")
    XCTAssertNil(head.header("Authorization"))
    XCTAssertNil(head.header("Cookie"))
    XCTAssertNil(head.header("X-Stamp"))
  }

  func test_redirect_isNotFollowed() async throws {
    let server = try TestServer { _ in .redirect(to: "/login") }
    try await Network(Backend(transport: DefaultTransport.make())).preconnect(to: server.url("/a/b")).value
    XCTAssertEqual(server.requests.map(\.target), ["/"])
  }

  func test_failures_areErrors() async throws {
    let network = Network(Backend(transport: DefaultTransport.make()))
    do {
      try await network.preconnect().value
      XCTFail("connected to nothing")
    } catch let error as NetworkError {
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssert(error.reason.contains("Backend.baseURL"), error.reason)
    }
    let server = try TestServer { _ in .status(200) }
    server.stop()
    do {
      try await network.preconnect(to: server.url).value
      XCTFail("connected to a closed port")
    } catch let error as NetworkError {
      XCTAssertEqual(error.kind, .connection)
    }
  }

  private struct Stamp: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      request.headers["X-Stamp"] = "1"
      return next(request)
    }
  }
}
