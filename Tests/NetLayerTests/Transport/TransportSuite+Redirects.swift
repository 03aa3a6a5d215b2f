import Foundation
import LoopbackServer
import XCTest

@testable import NetLayer

/// Redirects: RFC 9110 §15.4, and what must not leak.
extension TransportSuite {
  func testRedirectsThatTurnPostIntoGet() throws {
    for status in [301, 302, 303] {
      let body = Request.Body.data(Data("content".utf8))
      let answer = try response(request(.post, "/redirect/\(status)", headers: ["Content-Type": "a/b"], body: body))
      XCTAssertEqual(answer.headers["X-Method"], "GET", "\(status)")
      XCTAssertEqual(answer.headers["X-Length"], "none", "\(status)")
      XCTAssertEqual(answer.headers["Content-Type"], "none", "\(status)")
      XCTAssertEqual(answer.url, server.url("/echo"))
      XCTAssertEqual(answer.request.method, .post)
    }
  }

  func testRedirectsThatKeepMethodAndBody() throws {
    let content = Data(TestRoutes.pattern(100_000))
    let file = try temporaryFile(content)
    for status in [307, 308] {
      for body in [Request.Body.data(content), .data(Data("small".utf8)), .file(file)] {
        let answer = try response(request(.post, "/redirect/\(status)", body: body))
        XCTAssertEqual(answer.headers["X-Method"], "POST", "\(status)")
        if case .data(let data) = body {
          XCTAssertEqual(answer.body, data)
        } else {
          XCTAssertEqual(answer.body, content)
        }
      }
    }
  }

  func testARedirectedGetKeepsItsHeadersOnTheSameOrigin() throws {
    let answer = try response(request(.get, "/redirect/302?to=/headers", headers: ["Authorization": "Bearer secret"]))
    XCTAssert(String(decoding: answer.body, as: UTF8.self).contains("Authorization: Bearer secret"))
  }

  func testSecretsStayWithTheirOrigin() throws {
    let other = try LoopbackServer(routes: TestRoutes.make())
    defer { other.stop() }
    let secrets: HTTPHeaders = [
      "Authorization": "Bearer secret", "Cookie": "session=secret", "Proxy-Authorization": "Basic secret",
      "X-Kept": "yes",
    ]
    for status in [301, 307] {
      let path = "/redirect/\(status)?to=\(other.url("/headers").absoluteString)"
      let answer = try response(request(.get, path, headers: secrets))
      let text = String(decoding: answer.body, as: UTF8.self)
      XCTAssertFalse(text.contains("secret"), text)
      XCTAssert(text.contains("X-Kept: yes"), text)
      XCTAssert(text.contains("Host: 127.0.0.1:\(other.port)"), text)
      XCTAssertEqual(answer.url, other.url("/headers"))
    }
  }

  func testTenHopsAreFollowedAndElevenAreNot() throws {
    XCTAssertEqual(try response(request(.get, "/hops/10")).body, Data("arrived".utf8))
    let error = try failure(request(.get, "/hops/11"), .redirect)
    XCTAssert(error.reason.contains("10 redirects"), error.reason)
  }

  func testALoopEndsAsARedirectError() throws {
    try failure(request(.get, "/loop"), .redirect)
    try assertStillServes()
  }

  func testOtherSchemesAreNotFollowed() throws {
    for target in [
      "file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:alert(1)", "gopher://127.0.0.1:70/x", "dict://127.0.0.1/x",
    ] {
      let error = try failure(request(.get, "/redirect/302?to=\(target)"), .redirect)
      XCTAssert(error.reason.contains(target), error.reason)
    }
  }

  func testPoliciesHoldOnTheWire() throws {
    var none = request(.get, "/redirect/302")
    none.options.redirects = .none
    XCTAssertEqual(try response(none).status, 302)
    let other = try LoopbackServer(routes: TestRoutes.make())
    var same = request(.get, "/redirect/302?to=\(other.url("/text").absoluteString)")
    same.options.redirects = .sameOrigin
    XCTAssertEqual(try response(same).status, 302)
    XCTAssertEqual(other.requestCount, 0)
    var two = request(.get, "/hops/3")
    two.options.redirects = .follow(limit: 2)
    try failure(two, .redirect)
  }

  func testATargetThatMustNotBeCalledIsARedirectError() throws {
    for target in ["http://a%250d%250aX/", "http://h:99999/", "http://%5B/"] {
      let request = request(.get, "/redirect/302?to=\(target)")
      try failure(request, .redirect)
      let stream = StreamFlight(self)
      stream.start(request, on: transport)
      XCTAssertEqual(Self.kind(try stream.outcome()), .redirect, target)
      XCTAssertEqual(stream.order, ["completion"])
    }
    try assertStillServes()
  }

  func testWhereNoneIsFollowedEveryRedirectIsAnAnswer() throws {
    for target in ["http://a%250d%250aX/", "http://%5B/", "file:///etc/passwd"] {
      var request = request(.get, "/redirect/302?to=\(target)")
      request.options.redirects = .none
      XCTAssertEqual(try response(request).status, 302, target)
      let stream = StreamFlight(self)
      stream.start(request, on: transport)
      XCTAssertEqual(try stream.outcome().get().status, 302, target)
      XCTAssertEqual(stream.heads.map(\.status), [302])
    }
  }

  func testARedirectsLongBodyIsNotReadToItsEnd() throws {
    let server = try LoopbackServer { request in
      guard request.path == "/" else { return .text("arrived") }
      var answer = LoopbackServer.Response.endless(.init([UInt8](repeating: 0, count: 10_000)))
      answer.status = 302
      return answer.header("Location", "/there")
    }
    let answer = try response(Request(url: server.url("/")))
    XCTAssertEqual(answer.body, Data("arrived".utf8))
  }

  func testARedirectWithoutLocationIsAResponse() throws {
    XCTAssertEqual(try response(request(.get, "/status/302")).status, 302)
  }
}
