import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import TestSupport
import XCTest

/// Tests of redirects (RFC 9110 §15.4), including the fields that must not leak.
extension TransportSuite {
  func test_redirectsThatChangePOSTToGET() throws {
    for status in [301, 302, 303] {
      let body = Request.Body.data(Data("content".utf8))
      let reply = try response(request(.post, "/redirect/\(status)", headers: ["Content-Type": "a/b"], body: body))
      XCTAssertEqual(reply.headers["X-Method"], "GET", "\(status)")
      XCTAssertEqual(reply.headers["X-Length"], "none", "\(status)")
      XCTAssertEqual(reply.headers["Content-Type"], "none", "\(status)")
      XCTAssertEqual(reply.url, server.url("/echo"))
      XCTAssertEqual(reply.request.method, .post)
    }
  }

  func test_redirectsThatKeepMethodAndBody() throws {
    let content = Data(TestRoutes.pattern(100_000))
    let file = try temporaryFile(content)
    for status in [307, 308] {
      for body in [Request.Body.data(content), .data(Data("small".utf8)), .file(file)] {
        let reply = try response(request(.post, "/redirect/\(status)", body: body))
        XCTAssertEqual(reply.headers["X-Method"], "POST", "\(status)")
        if case .data(let data) = body {
          XCTAssertEqual(reply.body, data)
        } else {
          XCTAssertEqual(reply.body, content)
        }
      }
    }
  }

  func test_aRedirectedGETKeepsItsHeadersOnTheSameOrigin() throws {
    let reply = try response(request(.get, "/redirect/302?to=/headers", headers: ["Authorization": "Bearer secret"]))
    XCTAssert(String(decoding: reply.body, as: UTF8.self).contains("Authorization: Bearer secret"))
  }

  func test_secretsAreNotSentToAnotherOrigin() throws {
    let other = try TestServer(routes: TestRoutes.make())
    defer { other.stop() }
    let secrets: HTTPHeaders = [
      "Authorization": "Bearer secret", "Cookie": "session=secret", "Proxy-Authorization": "Basic secret",
      "X-Kept": "yes",
    ]
    for status in [301, 307] {
      let path = "/redirect/\(status)?to=\(other.url("/headers").absoluteString)"
      let reply = try response(request(.get, path, headers: secrets))
      let text = String(decoding: reply.body, as: UTF8.self)
      XCTAssertFalse(text.contains("secret"), "\(status): \(text)")
      XCTAssert(text.contains("X-Kept: yes"), "\(status): \(text)")
      XCTAssert(text.contains("Host: 127.0.0.1:\(other.port)"), "\(status): \(text)")
      XCTAssertEqual(reply.url, other.url("/headers"), "\(status)")
    }
  }

  func test_tenRedirectsAreFollowedAndElevenAreNot() throws {
    XCTAssertEqual(try response(request(.get, "/hops/10")).body, Data("arrived".utf8))
    let error = try failure(request(.get, "/hops/11"), .redirect)
    XCTAssert(error.reason.contains("10 redirects"), error.reason)
  }

  func test_aLoopReachesTheLimit() throws {
    let error = try failure(request(.get, "/loop"), .redirect)
    XCTAssert(error.reason.contains("more than 10 redirects"), error.reason)
    XCTAssert(error.reason.contains("redirect loop"), error.reason)
    XCTAssertEqual(server.requestCount, 11)
    let long = try TestServer { .redirect(to: ["/a": "/b", "/b": "/c"][$0.path] ?? "/a") }
    let longer = try failure(Request(url: long.url("/a")), .redirect)
    XCTAssertEqual(long.requests.count, 11)
    XCTAssertEqual(longer.response?.redirects.count, 10)
    XCTAssertEqual(longer.metrics?.redirects, 10)
    try assertStillServes()
  }

  func test_aLoopThatEndsIsFollowed() throws {
    for (method, status, location, count) in [
      (HTTPMethod.get, 302, "/a", 2), (.get, 302, "/a", 10), (.get, 302, "/a#again", 2), (.get, 307, "", 3),
      (.post, 303, "", 2), (.post, 303, "/a", 4), (.put, 303, "", 2), (.put, 307, "/a", 3), (.delete, 308, "/a", 2),
    ] {
      for jar in [nil, CookieJar()] {
        let requests = Locked(0)
        let server = try TestServer { _ in
          requests.increment() <= count ? TestServer.Response.redirect(to: location, status: status) : .text("end")
        }
        var request = Request(method: method, url: server.url("/a"))
        request.options.cookies = jar
        let name = "\(method) \(status) \(location.debugDescription) \(count)"
        XCTAssertEqual(try response(request).body, Data("end".utf8), name)
        XCTAssertEqual(server.requests.count, count + 1, name)
        XCTAssertEqual(server.requests.last?.method, status == 303 ? "GET" : method.rawValue, name)
      }
    }
    // A to B to A, which then responds.
    let visits = Locked(0)
    let pair = try TestServer { request in
      if request.path == "/b" { return .redirect(to: "/a") }
      return visits.increment() == 1 ? .redirect(to: "/b") : .text("end")
    }
    XCTAssertEqual(try response(Request(url: pair.url("/a"))).body, Data("end".utf8))
    XCTAssertEqual(pair.requests.map(\.path), ["/a", "/b", "/a"])
  }

  func test_endlessRedirectsReachTheLimit() throws {
    let server = try TestServer { request in .redirect(to: "\(request.path)x") }
    let error = try failure(Request(url: server.url("/")), .redirect)
    XCTAssert(error.reason.contains("more than 10 redirects"), error.reason)
    XCTAssertEqual(server.requestCount, 11)
    XCTAssertEqual(error.response?.redirects.count, 10)
  }

  func test_aurlIsRequestedAgain_ifTheCookiesHaveChanged() throws {
    // A login: /home redirects to /login, which sets a cookie and redirects back.
    let server = try TestServer { request in
      if request.path == "/login" { return TestServer.Response.redirect(to: "/home").header("Set-Cookie", "sid=1") }
      return request.header("Cookie") == "sid=1" ? .text("welcome") : .redirect(to: "/login")
    }
    var login = Request(url: server.url("/home"))
    login.options.cookies = CookieJar()
    let reply = try response(login)
    XCTAssertEqual(reply.body, Data("welcome".utf8))
    XCTAssertEqual(server.requests.map(\.path), ["/home", "/login", "/home"])
  }

  func test_aCookieOfARedirectReplacesTheCallers() throws {
    // A login that redirects to itself until the cookie has arrived.
    let server = try TestServer { request in
      request.header("Cookie") == "theme=dark; sid=new"
        ? .text("welcome") : TestServer.Response.redirect(to: "/login").header("Set-Cookie", "sid=new; Secure")
    }
    var login = Request(url: server.url("/login"), headers: ["Cookie": "sid=old; theme=dark"])
    login.options.cookies = CookieJar()
    XCTAssertEqual(try response(login).body, Data("welcome".utf8))
    XCTAssertEqual(server.requests.map { $0.header("Cookie") }, ["sid=old; theme=dark", "theme=dark; sid=new"])
  }

  func test_aPOSTThatBecomesGET_hasNoFieldsOfTheBody() throws {
    let server = try TestServer { $0.path == "/a" ? TestServer.Response.redirect(to: "/b", status: 303) : .text("b") }
    let names = ["Digest", "Content-MD5", "Content-Range", "Content-Disposition", "Repr-Digest", "Last-Modified"]
    var headers: HTTPHeaders = ["X-Kept": "1"]
    for name in names { headers[name] = "v" }
    let post = Request(method: .post, url: server.url("/a"), headers: headers, body: .data(Data("content".utf8)))
    XCTAssertEqual(try response(post).body, Data("b".utf8))
    let get = try XCTUnwrap(server.requests.last)
    XCTAssertEqual(get.header("X-Kept"), "1")
    for name in names { XCTAssertNil(get.header(name), name) }
  }

  func test_theResponseHasTheRedirectsThatLedToIt() throws {
    let begin = server.url("/redirect/307?to=/hops/1%23own#orig")
    let expected = [begin, try XCTUnwrap(URL(string: server.url("/hops/1").absoluteString + "#own"))]
    let reply = try response(Request(url: begin))
    XCTAssertEqual(reply.redirects.map(\.url), expected)
    XCTAssertEqual(reply.redirects.map(\.status), [307, 302])
    XCTAssertEqual(reply.redirects.map { $0.headers["Location"] }, ["/hops/1#own", "/hops/0"])
    XCTAssertEqual(reply.url.absoluteString, server.url("/hops/0").absoluteString + "#own")
    XCTAssertEqual(reply.metrics?.redirects, 2)
    let stream = PendingStream(self)
    stream.start(Request(url: begin), on: transport)
    XCTAssertEqual(try stream.outcome().get().redirects.map(\.url), expected)
    XCTAssertEqual(stream.heads.first?.redirects.map(\.url), expected)
    XCTAssertEqual(try response(request(.get, "/text")).redirects, [])
  }

  func test_theFragmentSurvivesARedirect() throws {
    let reply = try response(Request(url: server.url("/redirect/302?to=/text#orig")))
    XCTAssertEqual(reply.url.absoluteString, server.url("/text").absoluteString + "#orig")
  }

  func test_aPolicyKeepsMethodAndBodyOn301And302() throws {
    for status in [301, 302] {
      var post = request(.post, "/redirect/\(status)", body: .data(Data("content".utf8)))
      post.options.redirects = .follow(keepsMethod: true)
      let reply = try response(post)
      XCTAssertEqual(reply.headers["X-Method"], "POST", "\(status)")
      XCTAssertEqual(reply.body, Data("content".utf8), "\(status)")
    }
  }

  func test_otherSchemesAreNotFollowed() throws {
    for target in [
      "file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:alert(1)", "gopher://127.0.0.1:70/x", "dict://127.0.0.1/x",
    ] {
      let error = try failure(request(.get, "/redirect/302?to=\(target)"), .redirect)
      XCTAssert(error.reason.contains(target), error.reason)
    }
  }

  func test_policiesAreAppliedByTheTransport() throws {
    var none = request(.get, "/redirect/302")
    none.options.redirects = .none
    XCTAssertEqual(try response(none).status, 302)
    let other = try TestServer(routes: TestRoutes.make())
    var same = request(.get, "/redirect/302?to=\(other.url("/text").absoluteString)")
    same.options.redirects = .sameOrigin
    XCTAssertEqual(try response(same).status, 302)
    XCTAssertEqual(other.requestCount, 0)
    var two = request(.get, "/hops/3")
    two.options.redirects = .follow(limit: 2)
    try failure(two, .redirect)
  }

  func test_anInvalidTargetIsARedirectError() throws {
    for target in ["http://a%250d%250aX/", "http://h:99999/", "http://%5B/"] {
      let request = request(.get, "/redirect/302?to=\(target)")
      try failure(request, .redirect)
      let stream = PendingStream(self)
      stream.start(request, on: transport)
      XCTAssertEqual(Self.kind(try stream.outcome()), .redirect, target)
      XCTAssertEqual(stream.order, ["completion"])
    }
    try assertStillServes()
  }

  func test_ifNoRedirectIsFollowed_everyRedirectIsAResponse() throws {
    for target in ["http://a%250d%250aX/", "http://%5B/", "file:///etc/passwd"] {
      var request = request(.get, "/redirect/302?to=\(target)")
      request.options.redirects = .none
      XCTAssertEqual(try response(request).status, 302, target)
      let stream = PendingStream(self)
      stream.start(request, on: transport)
      XCTAssertEqual(try stream.outcome().get().status, 302, target)
      XCTAssertEqual(stream.heads.map(\.status), [302])
    }
  }

  func test_aLongBodyOfARedirectIsNotReadCompletely() throws {
    let server = try TestServer { request in
      guard request.path == "/" else { return .text("arrived") }
      var reply = TestServer.Response.endless(.init([UInt8](repeating: 0, count: 10_000)))
      reply.status = 302
      return reply.header("Location", "/there")
    }
    let reply = try response(Request(url: server.url("/")))
    XCTAssertEqual(reply.body, Data("arrived".utf8))
  }

  func test_aRedirectWithoutLocationIsAResponse() throws {
    XCTAssertEqual(try response(request(.get, "/status/302")).status, 302)
  }
}

extension Locked<Int> {
  /// Adds 1, and returns the sum.
  fileprivate func increment() -> Int {
    withLock { count in
      count += 1
      return count
    }
  }
}
