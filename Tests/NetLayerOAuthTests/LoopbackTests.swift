import Foundation
import LoopbackServer
import NetLayerOAuth
import NetLayerTesting
import TestSupport
import XCTest

/// The listener, with real sockets.
final class LoopbackTests: XCTestCase {
  private func world() -> World { World(clock: ConcurrentDispatchQueueScheduler(qos: .utility)) { _ in good } }

  /// Starts a login, and returns its task and its page.
  private func login(
    _ world: World, to redirect: String = "http://127.0.0.1/callback", within limit: Duration = .seconds(300),
    page: String = "Done."
  ) async throws -> (task: Task<OAuthGrant, any Error>, page: URL) {
    let pages = Notes()
    let client = world.client()
    let task = Task {
      try await client.authorizeOnLoopback(redirectingTo: redirect, within: limit, page: page) {
        pages.add($0.absoluteString)
      }
    }
    try await eventually("the page is opened") { !pages.all.isEmpty }
    return (task, url(pages.all[0]))
  }

  private func port(_ page: URL) throws -> UInt16 {
    UInt16(try XCTUnwrap(url(try XCTUnwrap(page.pairs["redirect_uri"])).port))
  }

  /// Sends bytes to the port, and returns the response until the connection ends.
  private func visit(_ port: UInt16, _ text: String) throws -> String {
    let client = try RawClient(port: port)
    client.send(text)
    return client.receive(until: nil).text
  }

  private func request(_ page: URL, _ rest: String = "code=c", path: String = "/callback", host: String? = nil) throws
    -> String
  {
    let state = page.pairs["state"] ?? ""
    let host = try host ?? "127.0.0.1:\(port(page))"
    return "GET \(path)?\(rest)&state=\(state) HTTP/1.1\r\nHost: \(host)\r\nAccept: text/html\r\n\r\n"
  }

  private func isFree(_ port: UInt16) -> Bool { (try? RawClient(port: port)) == nil }

  func test_rule18_strangersChangeNothing() async throws {
    let world = world()
    let (task, page) = try await login(world)
    let port = try port(page)
    let long = "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\n"
    let strangers = [
      (try request(page, path: "/favicon.ico"), "404"), (try request(page, host: "evil.example:\(port)"), "404"),
      (try request(page).replacingOccurrences(of: "state=", with: "state=x"), "400"),
      (try request(page).replacingOccurrences(of: "GET", with: "POST"), "400"), ("\u{16}\u{3}\u{1}\r\n\r\n", "400"),
      (long, "400"),
    ]
    for (text, status) in strangers {
      let reply = try visit(port, text)
      XCTAssert(reply.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(60)): \(reply)")
      XCTAssertFalse(reply.contains("Done."))
      XCTAssert(world.requests.isEmpty)
    }
    _ = try visit(port, try request(page))
    let grant = try await task.value
    XCTAssertEqual(grant.token.access, "a")
    XCTAssertEqual(world.forms.map { $0["code"] }, ["c"])
    XCTAssertEqual(world.forms[0]["redirect_uri"], "http://127.0.0.1:\(port)/callback")
  }

  func test_rule18_aHeadAbove64KBIsNoRedirect_andOtherAddressesAreClosed() async throws {
    let (task, page) = try await login(world())
    let port = try port(page)
    // The URL is that of the login, and the end of the head is behind the limit.
    let start = try request(page).dropLast(2)
    let long = start + "X: " + String(repeating: "a", count: 65_600 - start.utf8.count) + "\r\n\r\n"
    XCTAssert(try visit(port, String(long)).hasPrefix("HTTP/1.1 400 "))
    // The same port of another loopback address, at which a server on all addresses would respond.
    let stranger = try await thrown { try await Network(Backend()).fetch(.get("http://127.0.0.2:\(port)/")) }
    XCTAssertEqual(stranger.kind, .connection)
    XCTAssertNil(stranger.response)
    _ = try visit(port, try request(page))
    _ = try await task.value
  }

  /// Connections that send nothing, or too slowly, delay the browser by a second each.
  func test_rule18_silentConnectionsEndNoLogin() async throws {
    let (task, page) = try await login(world())
    let port = try port(page)
    let silent = [try RawClient(port: port), try RawClient(port: port)]
    silent[1].send("GET /callback")
    XCTAssert(try visit(port, try request(page)).contains("Done."))
    _ = try await task.value
    XCTAssertEqual(silent.count, 2)
  }

  /// RFC 9700 §4.2.4.
  func test_rule19_thePageIsPlain_andStoredNowhere() async throws {
    let (task, page) = try await login(world(), page: "<script>alert(1)</script> ✓")
    let reply = try visit(try port(page), try request(page, "code=c&x=<b>"))
    _ = try await task.value
    for field in [
      "HTTP/1.1 200 OK", "Content-Type: text/plain; charset=utf-8", "Cache-Control: no-store",
      "Referrer-Policy: no-referrer",
      "Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Connection: close",
    ] { XCTAssert(reply.contains("\(field)\r\n"), "\(field) is missing: \(reply)") }
    XCTAssert(reply.hasSuffix("\r\n\r\n<script>alert(1)</script> ✓"))
    XCTAssertFalse(reply.contains("<b>"), "nothing of the request is in the page")
  }

  func test_rule20_aDenialEndsTheLogin_afterThePage() async throws {
    let world = world()
    let (task, page) = try await login(world)
    let reply = try visit(try port(page), try request(page, "error=access_denied&error_description=No+thanks"))
    XCTAssert(reply.contains("Done."))
    let error = try await thrown { try await task.value }
    XCTAssertEqual(error.kind, .rejected)
    XCTAssertEqual(error.oauthCode, "access_denied")
    XCTAssertEqual(error.message, "No thanks")
    XCTAssert(isFree(try port(page)))
    XCTAssert(world.requests.isEmpty)
  }

  func test_rule20_theCancellationOfTheTaskFreesThePort() async throws {
    let (task, page) = try await login(world())
    let silent = try RawClient(port: try port(page))
    task.cancel()
    let error = try await thrown { try await task.value }
    XCTAssertEqual(error.kind, .cancelled)
    XCTAssert(isFree(try port(page)))
    XCTAssertFalse(silent.receive(until: nil).text.contains("Done."))
  }

  /// The limit is on the clock of the network. A browser whose program does not return is ended, too.
  func test_rule20_aLoginThatNobodyEndsIsEndedByItsLimit() async throws {
    let clock = TestClock()
    let world = World(clock: clock) { _ in good }
    let (pages, cancelled) = (Notes(), Counter())
    let client = world.client()
    let task = Task {
      try await client.authorizeOnLoopback(within: .seconds(60)) { page in
        pages.add(page.absoluteString)
        do { try await Task.sleep(for: .seconds(100_000)) } catch { cancelled.next() }
      }
    }
    try await eventually("the page is open") { pages.all.count == 1 && clock.waiting == 1 }
    clock.advance()
    let error = try await thrown { try await task.value }
    XCTAssertEqual(error.kind, .timeout)
    XCTAssert(error.reason.contains("60.0 s"), error.reason)
    XCTAssert(isFree(try port(url(pages.all[0]))))
    try await eventually("the closure is cancelled") { cancelled.value == 1 }
  }

  func test_rule20_anErrorOfOpenEndsTheLogin() async throws {
    struct NoBrowser: Error {}
    let pages = Notes()
    let error = try await thrown {
      try await world().client().authorizeOnLoopback { page in
        pages.add(page.absoluteString)
        throw NoBrowser()
      }
    }
    XCTAssert(error.underlying is NoBrowser)
    XCTAssert(isFree(try port(url(pages.all[0]))))
  }

  func test_twoLoginsAtOnce_haveTheirOwnPortsAndStates() async throws {
    let world = world()
    let (first, second) = (try await login(world), try await login(world))
    XCTAssertNotEqual(try port(first.page), try port(second.page))
    XCTAssert(try visit(try port(first.page), try request(second.page)).hasPrefix("HTTP/1.1 404 "))
    let mixed = try request(second.page, host: "127.0.0.1:\(port(first.page))")
    XCTAssert(try visit(try port(first.page), mixed).hasPrefix("HTTP/1.1 400 "))
    _ = try visit(try port(second.page), try request(second.page, "code=2"))
    _ = try visit(try port(first.page), try request(first.page, "code=1"))
    _ = try await (first.task.value, second.task.value)
    XCTAssertEqual(Set(world.forms.map { $0["code"] }), ["1", "2"])
  }

  func test_aFixedPort_isUsedTwiceInARow_butNotTwiceAtOnce() async throws {
    let world = world()
    let (probe, page) = try await login(world)
    let fixed = try port(page)
    probe.cancel()
    _ = await probe.result
    for _ in 0..<3 {
      let (task, page) = try await login(world, to: "http://localhost:\(fixed)/cb")
      XCTAssertEqual(page.pairs["redirect_uri"], "http://localhost:\(fixed)/cb")
      let error = try await thrown {
        try await world.client().authorizeOnLoopback(redirectingTo: "http://127.0.0.1:\(fixed)/") { _ in
          XCTFail("opened")
        }
      }
      XCTAssertEqual(error.kind, .connection)
      XCTAssert(error.reason.contains("127.0.0.1:\(fixed)"), error.reason)
      XCTAssert(try visit(fixed, try request(page, path: "/cb", host: "localhost:\(fixed)")).contains("Done."))
      _ = try await task.value
    }
  }

  /// A browser may send the head in parts, and more after it.
  func test_aHeadInParts_andARequestAfterIt() async throws {
    let (task, page) = try await login(world())
    let client = try RawClient(port: try port(page))
    let text = try request(page)
    client.send(String(text.prefix(20)))
    XCTAssertEqual(
      client.receive(until: "never-until-the-limit").text.prefix(12), "HTTP/1.1 400", "a second of silence")
    let other = try RawClient(port: try port(page))
    other.send(text + text)
    XCTAssert(other.receive(until: nil).text.contains("Done."))
    _ = try await task.value
  }

  /// Browsers send the cookies of all servers of this machine.
  func test_aHeadWithManyCookies_isRead() async throws {
    let (task, page) = try await login(world())
    let text = try request(page).replacingOccurrences(
      of: "Accept: text/html", with: "Cookie: \(String(repeating: "c", count: 50_000))")
    XCTAssert(try visit(try port(page), text).contains("Done."))
    _ = try await task.value
  }

  /// A browser that is started meanwhile would keep the port open.
  func test_programsThatAreStartedMeanwhile_inheritNoDescriptor() async throws {
    let before = openDescriptors
    let (task, page) = try await login(world())
    let inherited = openDescriptors.filter { !before.contains($0) && fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }
    XCTAssertEqual(inherited, [], page.absoluteString)
    task.cancel()
    _ = await task.result
  }

  func test_manyConnections_leaveNoDescriptorOpen() async throws {
    let (task, page) = try await login(world())
    let before = openDescriptors.count
    for _ in 0..<200 { _ = try visit(try port(page), "GET / HTTP/1.1\r\n\r\n") }
    XCTAssert(holds { openDescriptors.count <= before + 1 }, "\(before), now \(openDescriptors.count)")
    task.cancel()
    _ = await task.result
    XCTAssert(holds { openDescriptors.count < before }, "\(before), now \(openDescriptors.count)")
  }

  /// RFC 9110 §4.2.3: browsers leave the scheme's port out.
  func test_theRedirectIsFound_withoutTheSchemesPort() async throws {
    for (redirect, visited) in [
      ("http://127.0.0.1:80/callback", "http://127.0.0.1/callback"), ("https://app.test:443/", "https://App.test"),
      ("https://app.test/cb", "https://app.test:443/cb"), ("http://127.0.0.1:80/cb", "http://127.0.0.1:80/cb"),
    ] {
      let world = World(good)
      let grant = try await world.client().authorize(redirectingTo: redirect) {
        url("\(visited)?code=c&state=\($0.pairs["state"] ?? "")")
      }
      XCTAssertEqual(grant.token.access, "a")
      XCTAssertEqual(world.forms[0]["redirect_uri"], redirect)
    }
    for (redirect, visited) in [
      ("http://127.0.0.1:8080/", "http://127.0.0.1/"), ("http://app.test:443/", "http://app.test/"),
      ("https://app.test:80/", "https://app.test/"),
    ] {
      let error = try await thrown {
        try await World(good).client().authorize(redirectingTo: redirect) {
          url("\(visited)?code=c&state=\($0.pairs["state"] ?? "")")
        }
      }
      XCTAssertEqual(error.kind, .rejected, redirect)
    }
  }
}
