import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import Synchronization
import XCTest

/// Tests of many concurrent requests, and of the end of a transport.
extension TransportSuite {
  func test_twoHundredConcurrentRequestsSucceed() throws {
    let pendingCalls = (0..<200).map { _ in PendingCall(self) }
    for (index, pending) in pendingCalls.enumerated() {
      let body = Request.Body.data(Data("number \(index)".utf8))
      _ = pending.send(request(index % 2 == 0 ? .post : .put, "/echo?q=\(index)", body: body), on: transport)
    }
    for (index, pending) in pendingCalls.enumerated() {
      let reply = try pending.outcome().get()
      XCTAssertEqual(reply.body, Data("number \(index)".utf8))
      XCTAssertEqual(reply.headers["X-Query"], "\(index)")
    }
  }

  func test_theConnectionLimitPerHostIsEnforced() throws {
    let pendingCalls = (0..<120).map { _ in PendingCall(self) }
    for pending in pendingCalls { _ = pending.send(request(.get, "/delay/10"), on: transport) }
    for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().status, 200) }
    // The defaults of the transports.
    var limit = 6
    #if canImport(CLibcurl)
      if transport is CurlTransport { limit = 64 }
    #endif
    XCTAssertLessThanOrEqual(server.connectionCount, limit)
  }

  func test_everyRequestOfABurstCompletesOnce() throws {
    let paths = [
      "/text", "/close", "/reset", "/reset-body", "/cut-body", "/stall", "/never", "/delay/5", "/redirect/302", "/loop",
      "/bytes/70000", "/nonsense", "/gzip", "/drip/1",
      "/basic", "/hops/3", "/status/302",
    ]
    let limits = Request.Timeouts(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(0.4))
    let pendingCalls = (0..<280).map { _ in PendingCall(self) }
    var disposables: [any Disposable] = []
    for (index, pending) in pendingCalls.enumerated() {
      let body = index % 3 == 0 ? Request.Body.data(Data(count: index * 500)) : .none
      let method: HTTPMethod = index % 3 == 0 ? .put : .get
      let path = paths[index % paths.count]
      disposables.append(pending.send(request(method, path, body: body, timeouts: limits), on: transport))
      if index % 5 == 0 { disposables[index / 2].dispose() }
    }
    for pending in pendingCalls { _ = try pending.outcome() }
    try assertStillServes()
  }

  func test_requestsFromManyThreadsSucceed() throws {
    let pendingCalls = (0..<64).map { _ in PendingCall(self) }
    let transport: any Transport = self.transport
    let request = request(.get, "/text")
    DispatchQueue.concurrentPerform(iterations: pendingCalls.count) { index in
      let disposable = pendingCalls[index].send(request, on: transport)
      if index % 4 == 0 { disposable.dispose() }
    }
    for (index, pending) in pendingCalls.enumerated() {
      let outcome = try pending.outcome()
      if index % 4 != 0 { XCTAssertEqual(try outcome.get().status, 200) }
    }
  }

  func test_aRequestFromACompletionSucceeds() throws {
    let second = PendingCall(self)
    let transport: any Transport = self.transport
    let next = request(.get, "/bytes/10")
    let first = expectation(description: "first")
    _ = transport.send(request(.get, "/text")) { _ in
      _ = second.send(next, on: transport)
      first.fulfill()
    }
    wait(for: [first], timeout: 30)
    XCTAssertEqual(try second.outcome().get().body.count, 10)
  }

  func test_shutdownCancelsRequestsInFlight() throws {
    let pendingCalls = (0..<20).map { _ in PendingCall(self) }
    for pending in pendingCalls { _ = pending.send(request(.get, "/never"), on: transport) }
    let server: TestServer = self.server
    wait(until: "some requests have arrived") { server.requestCount > 0 }
    shutDown(transport)
    for pending in pendingCalls { XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled) }
    wait(until: "all connections are closed") { server.openConnectionCount == 0 }
  }

  func test_aRequestAfterShutdownFails() throws {
    try assertStillServes()
    shutDown(transport)
    shutDown(transport)
    let error = try failure(request(.get, "/text"), .cancelled)
    XCTAssert(error.reason.contains("shut down"), error.reason)
  }

  func test_releasingTheTransportCancelsRequestsInFlight() throws {
    let pending = PendingCall(self)
    var mine: (any Transport)? = try makeTransport()
    if let mine { _ = pending.send(request(.get, "/never"), on: mine) }
    mine = nil
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
  }
}
