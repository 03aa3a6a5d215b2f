import Foundation
import NetLayer
import Streams
import XCTest

@testable import HTTPTransport
@testable import LoopbackServer

/// Tests of time limits in fractions of a second, and of cancellation.
extension TransportSuite {
  func test_theTotalLimitIsNamedInTheError() throws {
    let error = try failure(
      request(.get, "/never", timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.25))),
      .timeout)
    XCTAssert(error.reason.contains("Timeouts.attempt"), error.reason)
    XCTAssert(error.reason.contains("0.25 s"), error.reason)
    XCTAssert(error.reason.contains("127.0.0.1:\(server.port)"), error.reason)
    try assertStillServes()
  }

  func test_aSlowButSteadyBodyReachesTheTotalLimit() throws {
    let error = try failure(
      request(.get, "/drip/20", timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.35))),
      .timeout)
    XCTAssert(error.reason.contains("Timeouts.attempt"), error.reason)
    try assertStillServes()
  }

  func test_enormousLimitsDoNotOverflow() throws {
    let longest = Duration.seconds(Int64.max)
    let limits = Request.Timeouts(connect: longest, idle: longest, attempt: longest, call: longest)
    var body = Request.BodyStream(once: { nil })
    body.chunkTimeout = longest
    for request in [
      request(.get, "/text", timeouts: limits), request(.post, "/echo", body: .stream(body), timeouts: limits),
    ] {
      XCTAssertEqual(try response(request).status, 200)
    }
    try failure(request(.get, "/text", timeouts: .init(connect: .zero)), .invalidRequest)
  }

  func test_theTotalLimitSpansRedirects() throws {
    let path = "/redirect/302?to=/never"
    let error = try failure(
      request(.get, path, timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.3))), .timeout)
    XCTAssert(error.reason.contains("Timeouts.attempt"), error.reason)
  }

  func test_aStalledBodyReachesTheIdleLimit() throws {
    let error = try failure(
      request(.get, "/stall", timeouts: .init(connect: .seconds(30), idle: .seconds(0.25), attempt: .seconds(30))),
      .timeout)
    XCTAssert(error.reason.contains("Timeouts.idle"), error.reason)
    XCTAssert(error.reason.contains("0.25 s"), error.reason)
    try assertStillServes()
  }

  func test_aMissingResponseReachesTheIdleLimit() throws {
    let error = try failure(
      request(.get, "/never", timeouts: .init(connect: .seconds(0.25), idle: .seconds(0.1), attempt: .seconds(30))),
      .timeout)
    XCTAssert(error.reason.contains("Timeouts.idle"), error.reason)
  }

  func test_aSilentHandshakeReachesTheConnectLimit() throws {
    // The system accepts the connection, but no TLS handshake follows.
    let listener = try Socket.listenOnLoopback()
    defer { listener.close() }
    let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(try listener.localPort())/"))
    let limits = Request.Timeouts(connect: .seconds(0.25), idle: .seconds(0.25), attempt: .seconds(30))
    let error = try failure(Request(url: url, timeouts: limits), .timeout, on: makeTLSTransport())
    XCTAssert(error.reason.contains("Timeouts.connect"), error.reason)
    try assertStillServes()
  }

  func test_queueingForAConnectionDoesNotCountAsConnecting() throws {
    let limits = Request.Timeouts(connect: .seconds(0.25), idle: .seconds(30), attempt: .seconds(60))
    let pendingCalls = (0..<12).map { _ in PendingCall(self) }
    for pending in pendingCalls { _ = pending.send(request(.get, "/delay/300", timeouts: limits), on: transport) }
    for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().status, 200) }
  }

  func test_aSteadyBodyDoesNotReachTheIdleLimit() throws {
    let reply = try response(
      request(.get, "/drip/2", timeouts: .init(connect: .seconds(30), idle: .seconds(0.6), attempt: .seconds(60))))
    XCTAssertEqual(reply.body.count, 400)
  }

  func test_aRequestCancelledBeforeItStartsFails() throws {
    let pending = PendingCall(self)
    pending.send(request(.get, "/never"), on: transport).dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    try assertStillServes()
  }

  func test_aRequestCancelledBeforeTheResponseFails() throws {
    let pending = PendingCall(self)
    let disposable = pending.send(request(.get, "/never"), on: transport)
    let server: TestServer = self.server
    wait(until: "the request has arrived") { server.requestCount == 1 }
    disposable.dispose()
    disposable.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    wait(until: "its connection is closed") { server.openConnectionCount == 0 }
    try assertStillServes()
  }

  func test_aRequestCancelledDuringTheBodyFails() throws {
    let pending = PendingCall(self)
    let disposable = pending.send(request(.get, "/stall"), on: transport)
    let server: TestServer = self.server
    wait(until: "the request has arrived") { server.requestCount == 1 }
    disposable.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    try assertStillServes()
  }

  func test_cancellingAFinishedRequestHasNoEffect() throws {
    let pending = PendingCall(self)
    let disposable = pending.send(request(.get, "/text"), on: transport)
    XCTAssertEqual(try pending.outcome().get().status, 200)
    disposable.dispose()
    try assertStillServes()
  }

  static func kind(_ outcome: Outcome) -> NetworkError.Kind? {
    if case .failure(let error) = outcome { error.kind } else { nil }
  }
}
