import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import XCTest

/// Tests of the options of a request: generated bodies, cookies, limits and metrics.
extension TransportSuite {
  /// Returns a function that opens a reader of `count` chunks of `size` bytes.
  private func chunks(_ count: Int, of size: Int) -> @Sendable () -> Request.BodyStream.Reader {
    {
      let left = Locked(count)
      return {
        left.withLock { left in
          guard left > 0 else { return nil }
          left -= 1
          return Data(repeating: UInt8(truncatingIfNeeded: left), count: size)
        }
      }
    }
  }

  func test_aGeneratedBodyArrives() throws {
    for (count, size) in [(0, 0), (1, 1), (3, 100), (300, 4_000), (7, 300_000)] {
      let open = chunks(count, of: size)
      let whole = Data(
        (0..<count).reversed().flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size) })
      for length in [nil, Int64(count * size)] {
        for stream in [Request.BodyStream(count: length, open: open), Request.BodyStream(count: length, once: open())] {
          let reply = try response(request(.put, "/echo", body: .stream(stream)))
          XCTAssertEqual(reply.body, whole, "\(count) × \(size)")
          if let length { XCTAssertEqual(reply.headers["X-Length"], "\(length)") }
        }
      }
    }
  }

  func test_aGeneratedBodyIsSentAgainAfterARedirect() throws {
    let stream = Request.BodyStream(open: chunks(20, of: 10_000))
    XCTAssertEqual(try response(request(.post, "/redirect/307", body: .stream(stream))).body.count, 200_000)
    let once = Request.BodyStream(once: chunks(20, of: 10_000)())
    let error = try failure(request(.post, "/redirect/307", body: .stream(once)), .redirect)
    XCTAssert(error.reason.contains("BodyStream"), error.reason)
    try assertStillServes()
  }

  func test_aBodySourceThatThrowsFailsItsRequest() throws {
    struct Broken: Error {}
    let failing = Request.BodyStream(open: {
      let count = Locked(0)
      return {
        guard
          count.withLock({ count in
            count += 1
            return count < 3
          })
        else { throw Broken() }
        return Data(count: 1000)
      }
    })
    let error = try failure(request(.put, "/echo", body: .stream(failing)), .invalidRequest)
    XCTAssert(error.reason.contains("Broken"), error.reason)
    for length in [Int64(999), 1001] {
      let wrong = Request.BodyStream(count: length, open: chunks(1, of: 1000))
      try failure(request(.put, "/echo", body: .stream(wrong)), .invalidRequest)
    }
    try assertStillServes()
  }

  func test_aBlockedBodySourceDoesNotBlockOtherRequests() throws {
    let gate = DispatchSemaphore(value: 0)
    let slow = Request.BodyStream(open: {
      let isOver = Locked(false)
      return {
        guard
          isOver.withLock({ over in
            defer { over = true }
            return !over
          })
        else { return nil }
        gate.wait()
        return Data("late".utf8)
      }
    })
    let pending = PendingCall(self)
    // The time spent waiting for the body source does not count as idle time.
    let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(0.15), attempt: .seconds(60))
    _ = pending.send(request(.put, "/echo", body: .stream(slow), timeouts: limits), on: transport)
    try failure(
      request(.get, "/never", timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.3))),
      .timeout)
    try assertStillServes()
    gate.signal()
    XCTAssertEqual(try pending.outcome().get().body, Data("late".utf8))
  }

  func test_partsOfFilesAndDataAreSentInOrder() throws {
    let file = try temporaryFile(Data(TestRoutes.pattern(100_000)))
    let parts: [Request.Body.Part] = [.data(Data("a".utf8)), .file(file), .data(Data("b".utf8)), .file(file)]
    let whole = Data("a".utf8) + TestRoutes.pattern(100_000) + Data("b".utf8) + TestRoutes.pattern(100_000)
    for path in ["/echo", "/redirect/308"] {
      XCTAssertEqual(try response(request(.post, path, body: .parts(parts))).body, whole)
    }
  }

  func test_aServerWithVeryManyCookies_takesNoMoreOfAJarThanItsShare() throws {
    let jar = CookieJar()
    for index in 0..<3000 {
      let origin = try XCTUnwrap(URL(string: "https://h\(index / 100).site\(index / 100).com"))
      jar.store(["Set-Cookie": "c\(index)=1"], from: origin)
    }
    let server = try TestServer { request in
      guard let round = Int(request.path.dropFirst()) else { return .text("innocent") }
      var response = round < 10 ? TestServer.Response.redirect(to: "/\(round + 1)") : .text("hostile")
      for index in 0..<490 { response.headers.append(("Set-Cookie", "r\(round)-\(index)=1")) }
      return response
    }
    defer { server.stop() }
    let calls = ["/0", "/innocent"].map { path in
      var request = Request(url: server.url(path))
      request.options.cookies = jar
      let pending = PendingCall(self)
      _ = pending.send(request, on: transport)
      return pending
    }
    for call in calls { XCTAssertEqual(try call.outcome().get().status, 200) }
    XCTAssertEqual(server.requestCount, 12)
    // 11 responses of 50 cookies each, of which a domain keeps 100. Room was made once, for the first of them.
    XCTAssertEqual(
      jar.cookies.filter { $0.domain == "127.0.0.1" }.map(\.name),
      (9...10).flatMap { round in
        (0..<50).map { "r\(round)-\($0)" }
      })
    XCTAssertEqual(jar.cookies.count, 2750)
  }

  func test_cookiesAreStoredInTheConfiguredJarAcrossRedirects() throws {
    let jar = CookieJar()
    var set = request(.get, "/cookies/set")
    set.options.cookies = jar
    var text = String(decoding: try response(set).body, as: UTF8.self)
    XCTAssert(text.contains("Cookie: sid=1"), text)
    XCTAssertEqual(Set(jar.cookies.map(\.name)), ["sid", "theme"])
    var own = request(.get, "/headers", headers: ["Cookie": "own=1"])
    own.options.cookies = jar
    text = String(decoding: try response(own).body, as: UTF8.self)
    XCTAssert(text.contains("Cookie: own=1") && !text.contains("sid=1"), text)
    var drop = request(.get, "/cookies/drop")
    drop.options.cookies = jar
    _ = try response(drop)
    XCTAssertFalse(jar.cookies.map(\.name).contains("sid"))
    XCTAssertFalse(String(decoding: try response(request(.get, "/headers")).body, as: UTF8.self).contains("Cookie:"))
  }

  func test_aCustomSizeLimitAppliesToMemoryStreamAndFile() throws {
    let file = try temporaryFile(Data())
    for (path, count) in [("/bytes/5000", 5000), ("/gzip", TestRoutes.message.utf8.count)] {
      for destination in [nil, file] {
        var request = request(.get, path)
        request.destination = destination
        request.options.maxBodySize = count
        _ = try response(request)
        request.options.maxBodySize = count - 1
        let error = try failure(request, .tooLarge)
        XCTAssert(error.reason.contains("maxBodySize"), error.reason)
      }
      var request = request(.get, path)
      request.options.maxBodySize = count - 1
      let pending = PendingStream(self)
      pending.start(request, on: transport)
      XCTAssertEqual(Self.kind(try pending.outcome()), .tooLarge)
    }
    try assertStillServes()
  }

  func test_theResponseHasMetrics() throws {
    let sent = request(.post, "/redirect/307", body: .data(Data(count: 5000)))
    let metrics = try XCTUnwrap(try response(sent).metrics)
    XCTAssertEqual(metrics.redirects, 1)
    XCTAssertEqual(metrics.bytesReceived, 5000)
    XCTAssertEqual(metrics.bytesSent, 5000)
    XCTAssertGreaterThan(metrics.total, .zero)
    XCTAssert(metrics.description.contains("1 redirects"), metrics.description)
    XCTAssertNotNil(try failure(request(.get, "/cut-body"), .connection).metrics)
  }
}
