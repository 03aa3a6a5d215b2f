import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

/// Tests of responses that are delivered while they arrive.
extension TransportSuite {
  func test_aStreamIsHeadThenChunksThenCompletion() throws {
    for path in ["/bytes/1000000", "/chunked", "/gzip", "/status/404", "/bytes/1"] {
      let pending = PendingStream(self)
      pending.start(request(.get, path), on: transport)
      let reply = try pending.outcome().get()
      let whole = try response(request(.get, path))
      XCTAssertEqual(pending.body, whole.body, path)
      XCTAssertEqual(reply.status, whole.status, "\(path)")
      XCTAssertEqual(reply.headers["Content-Type"], whole.headers["Content-Type"], "\(path)")
      XCTAssertEqual(reply.body, Data(), "\(path)")
      XCTAssertEqual(pending.heads.map(\.status), [whole.status], "\(path)")
      XCTAssertEqual(pending.order.first, "head")
      XCTAssertEqual(pending.order.last, "completion")
    }
  }

  func test_aStreamWithoutABodyIsHeadAndCompletion() throws {
    for (method, path) in [(HTTPMethod.get, "/empty"), (.head, "/text"), (.get, "/bytes/0"), (.get, "/status/304")] {
      let pending = PendingStream(self)
      pending.start(request(method, path), on: transport)
      _ = try pending.outcome().get()
      XCTAssertEqual(pending.order, ["head", "completion"], path)
    }
  }

  func test_aStreamDeliversItsHeadAndFirstBytesBeforeTheRest() throws {
    let pending = PendingStream(self)
    let control = pending.start(request(.get, "/stall"), on: transport)
    wait(until: "the first bytes have come") { pending.body.count == 100 }
    XCTAssertEqual(pending.heads.map(\.status), [200])
    control.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    XCTAssertEqual(pending.body.count, 100)
    try assertStillServes()
  }

  func test_aStreamFollowsRedirectsTransparently() throws {
    let pending = PendingStream(self)
    pending.start(request(.get, "/hops/3"), on: transport)
    XCTAssertEqual(try pending.outcome().get().url, server.url("/hops/0"))
    XCTAssertEqual(pending.heads.map(\.url), [server.url("/hops/0")])
    XCTAssertEqual(pending.body, Data("arrived".utf8))
  }

  func test_aTruncatedStreamDeliversItsBytesAndThenFails() throws {
    let pending = PendingStream(self)
    pending.start(request(.get, "/cut-body"), on: transport)
    XCTAssertEqual(Self.kind(try pending.outcome()), .connection)
    XCTAssertEqual(pending.body.count, 100)
    XCTAssertEqual(pending.heads.count, 1)
    let refused = PendingStream(self)
    refused.start(request(.get, "/loop"), on: transport)
    XCTAssertEqual(Self.kind(try refused.outcome()), .redirect)
    XCTAssertEqual(refused.order, ["completion"])
    try assertStillServes()
  }

  func test_aPauseStopsTheServer() throws {
    let server = try TestServer { _ in .endless(.init([UInt8](repeating: 1, count: 50_000))) }
    let pending = PendingStream(self) { _ in .pause }
    let control = pending.start(Request(url: server.url("/")), on: transport)
    wait(until: "the first chunk has come") { pending.chunks == 1 }
    XCTAssert(standsStill { server.sentByteCount })
    XCTAssertEqual(pending.chunks, 1)
    let sent = server.sentByteCount
    // More than the buffers of two sockets on Linux hold.
    XCTAssertLessThan(sent, 20_000_000)
    for expected in 2...400 {
      control.resume()
      wait(until: "the next chunk has come") { pending.chunks >= expected }
    }
    XCTAssertEqual(pending.chunks, 400)
    control.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    wait(until: "its connection is closed") { server.openConnectionCount == 0 }
    try assertStillServes()
  }

  func test_aConsumerThatPausesAtEveryChunkReceivesTheCompleteBody() throws {
    for path in ["/bytes/300000", "/gzip", "/chunked"] {
      let pending = PendingStream(self) { _ in .pause }
      let control = pending.start(request(.get, path), on: transport)
      wait(until: "the stream is over") {
        control.resume()
        return pending.isOver
      }
      _ = try pending.outcome().get()
      XCTAssertEqual(pending.body, try response(request(.get, path)).body)
    }
  }

  func test_aResumeThatOvertakesItsPauseIsNotLost() throws {
    let control = Locked<(any StreamControl)?>(nil)
    let pending = PendingStream(self) { _ in
      var taken = control.withLock { $0 }
      while taken == nil { taken = control.withLock { $0 } }
      taken?.resume()
      return .pause
    }
    let started = pending.start(request(.get, "/bytes/500000"), on: transport)
    control.withLock { $0 = started }
    _ = try pending.outcome().get()
    XCTAssertEqual(pending.body.count, 500_000)
    control.withLock { $0 = nil }
  }

  func test_aPauseIsNotIdleTime() throws {
    let pending = PendingStream(self) { _ in .pause }
    let limits = Request.Timeouts(connect: .seconds(1), idle: .seconds(0.2), attempt: .seconds(30))
    let server = try TestServer { [content = [UInt8](repeating: 7, count: 2_000_000)] _ in .bytes(content) }
    let control = pending.start(Request(url: server.url("/"), timeouts: limits), on: transport)
    wait(until: "the first chunk has come") { pending.chunks == 1 }
    // Waits twice the idle limit without a separate clock: another request times out.
    try failure(
      request(.get, "/never", timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.45))),
      .timeout)
    XCTAssertFalse(pending.isOver)
    wait(until: "the stream is over") {
      control.resume()
      return pending.isOver
    }
    XCTAssertEqual(try pending.outcome().get().status, 200)
    XCTAssertEqual(pending.body.count, 2_000_000)
  }

  func test_noChunkFollowsADisposalDuringAChunk() throws {
    let server = try TestServer { _ in .endless(.init([UInt8](repeating: 1, count: 50_000))) }
    let control = Locked<(any StreamControl)?>(nil)
    let pending = PendingStream(self) { _ in
      var taken = control.withLock { $0 }
      while taken == nil { taken = control.withLock { $0 } }
      taken?.dispose()
      return .continue
    }
    let started = pending.start(Request(url: server.url("/")), on: transport)
    control.withLock { $0 = started }
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    XCTAssertEqual(pending.chunks, 1)
    control.withLock { $0 = nil }
  }

  func test_aDisposalDuringTheHeadFailsWithCancelled() throws {
    for _ in 0..<5 {
      let control = Locked<(any StreamControl)?>(nil)
      let pending = PendingStream(self)
      let started = pending.start(request(.get, "/bytes/100"), on: transport) {
        var taken = control.withLock { $0 }
        while taken == nil { taken = control.withLock { $0 } }
        taken?.dispose()
      }
      control.withLock { $0 = started }
      XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
      XCTAssertEqual(pending.chunks, 0)
      control.withLock { $0 = nil }
    }
  }

  func test_aSizeLimitAppliesToAConsumerThatPausesAtEveryChunk() throws {
    for count in [20_000, 50_000, 200_000, 300_000] {
      var request = request(.get, "/bytes/\(count)")
      request.options.maxBodySize = count - 1
      let pending = PendingStream(self) { _ in .pause }
      let control = pending.start(request, on: transport)
      wait(until: "the stream is over") {
        control.resume()
        return pending.isOver
      }
      guard case .failure(let error) = try pending.outcome() else { return XCTFail("\(count) bytes were let through") }
      XCTAssert(error.reason.contains("maxBodySize"), error.reason)
    }
  }

  func test_shutdownCancelsAPausedStream() throws {
    for path in ["/bytes/3000000", "/bytes/10"] {
      let mine = try makeTransport()
      let pending = PendingStream(self) { _ in .pause }
      pending.start(request(.get, path), on: mine)
      wait(until: "the first chunk has come") { pending.chunks == 1 }
      shutDown(mine)
      if case .failure(let error) = try pending.outcome() { XCTAssertEqual(error.kind, .cancelled) }
      XCTAssertEqual(pending.chunks, 1)
    }
  }

  func test_aDownloadWaitsForTheDiskAndArrives() throws {
    let content = [UInt8](repeating: 7, count: 20_000_000)
    let server = try TestServer { _ in .bytes(content) }
    let file = try temporaryFile(Data("old".utf8))
    var request = Request(url: server.url("/"))
    request.destination = file
    let reply = try response(request)
    XCTAssertEqual(reply.file, file)
    XCTAssertEqual(reply.body, Data())
    XCTAssertEqual(try Data(contentsOf: file), Data(content))
  }

  func test_aFailedDownloadLeavesNoFile() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "downloads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var request = request(.get, "/cut-body")
    request.destination = folder.appending(path: "file")
    try failure(request, .connection)
    request = self.request(.get, "/status/404")
    request.destination = folder.appending(path: "file")
    XCTAssertEqual(try response(request).body, Data("body".utf8))
    request = self.request(.get, "/stall")
    request.destination = folder.appending(path: "file")
    let pending = PendingCall(self)
    let sent = pending.send(request, on: transport)
    wait(until: "it is being written") {
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.count == 1
    }
    sent.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    request = self.request(.get, "/bytes/100")
    request.destination = folder.appending(path: "no/such/folder/file")
    try failure(request, .file)
    try assertStillServes()
  }
}

/// A recorder of one streamed response.
final class PendingStream: Sendable {
  private struct State {
    var order: [String] = []
    var heads: [NetLayer.Response] = []
    var body = Data()
    var chunks = 0
    var outcomes: [TransportSuite.Outcome] = []
    var end: ContinuousClock.Instant?
    var isOnMain = false
  }

  private let state = Locked(State())
  private let completed: XCTestExpectation
  private let reply: @Sendable (Data) -> BodyFlow

  init(_ test: XCTestCase, reply: @escaping @Sendable (Data) -> BodyFlow = { _ in .continue }) {
    completed = test.expectation(description: "stream completed")
    completed.assertForOverFulfill = true
    self.reply = reply
  }

  @discardableResult
  func start(
    _ request: NetLayer.Request, on transport: any Transport, onHead: @escaping @Sendable () -> Void = {}
  ) -> any StreamControl {
    transport.stream(
      request, progress: nil,
      receiver: StreamReceiver(
        head: { [self] head in
          state.withLock { state in
            state.order.append("head")
            state.heads.append(head)
            if Thread.isMainThread { state.isOnMain = true }
          }
          onHead()
        },
        chunk: { [self] data in
          state.withLock { state in
            if state.order.last != "chunk" { state.order.append("chunk") }
            state.body.append(data)
            state.chunks += 1
          }
          return reply(data)
        },
        completion: { [self] outcome in
          state.withLock { state in
            state.order.append("completion")
            state.outcomes.append(outcome)
            state.end = .now
            if Thread.isMainThread { state.isOnMain = true }
          }
          completed.fulfill()
        }))
  }

  /// The events in order; consecutive chunks count as one.
  var order: [String] { state.withLock { $0.order } }
  var heads: [NetLayer.Response] { state.withLock { $0.heads } }
  var body: Data { state.withLock { $0.body } }
  var chunks: Int { state.withLock { $0.chunks } }
  var endedAt: ContinuousClock.Instant? { state.withLock { $0.end } }
  var isOver: Bool { state.withLock { !$0.outcomes.isEmpty } }

  func outcome() throws -> TransportSuite.Outcome {
    guard XCTWaiter().wait(for: [completed], timeout: 90) == .completed else {
      XCTFail("the stream was not completed")
      throw XCTSkip("no outcome to look at")
    }
    let end = state.withLock { $0 }
    XCTAssertFalse(end.isOnMain, "called on the main thread")
    XCTAssertEqual(end.outcomes.count, 1)
    XCTAssertEqual(end.order.last, "completion", "\(end.order)")
    return end.outcomes[0]
  }
}
