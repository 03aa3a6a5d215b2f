import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import Synchronization
import XCTest

/// Tests of bodies that asynchronous sequences generate during the upload, and of their release.
extension TransportSuite {
  private static func sequence(_ count: Int, of size: Int) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for index in 0..<count { continuation.yield(Data(repeating: UInt8(truncatingIfNeeded: index), count: size)) }
      continuation.finish()
    }
  }

  func test_aBodyFromASequenceArrives() throws {
    for (count, size) in [(0, 0), (1, 1), (3, 100), (300, 4_000), (7, 300_000)] {
      let whole = Data((0..<count).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size) })
      for length in [nil, Int64(count * size)] {
        for stream in [
          Request.BodyStream(count: length, sequence: { Self.sequence(count, of: size) }),
          Request.BodyStream(count: length, once: Self.sequence(count, of: size)),
        ] {
          let reply = try response(request(.put, "/echo", body: .stream(stream)))
          XCTAssertEqual(reply.body, whole, "\(count) × \(size)")
          if let length { XCTAssertEqual(reply.headers["X-Length"], "\(length)") }
        }
      }
    }
  }

  func test_aRepeatableSequenceIsSentAgainAfterARedirect() throws {
    let stream = Request.BodyStream(sequence: { Self.sequence(20, of: 10_000) })
    XCTAssertEqual(try response(request(.post, "/redirect/307", body: .stream(stream))).body.count, 200_000)
    let once = Request.BodyStream(once: Self.sequence(20, of: 10_000))
    try failure(request(.post, "/redirect/307", body: .stream(once)), .redirect)
    try assertStillServes()
  }

  func test_aSequenceThatThrowsOrHasAnotherLengthFailsItsRequest() throws {
    struct Broken: Error {}
    let failing = Request.BodyStream(sequence: {
      AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(Data(count: 1000))
        continuation.finish(throwing: Broken())
      }
    })
    let error = try failure(request(.put, "/echo", body: .stream(failing)), .invalidRequest)
    XCTAssert(error.reason.contains("Broken"), error.reason)
    for length in [Int64(999), 1001] {
      let wrong = Request.BodyStream(count: length, sequence: { Self.sequence(1, of: 1000) })
      try failure(request(.put, "/echo", body: .stream(wrong)), .invalidRequest)
    }
    try assertStillServes()
  }

  func test_aCancelledCallCancelsTheTaskThatAwaitsTheNextChunk() throws {
    let waiting = WaitingChunks(self)
    let pending = PendingCall(self)
    let body = Request.Body.stream(.init(once: waiting.chunks))
    let sent = pending.send(request(.put, "/echo", body: body), on: transport)
    wait(for: [waiting.awaited], timeout: 20)
    sent.dispose()
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    wait(for: [waiting.cancelled], timeout: 20)
    try assertStillServes()
  }

  func test_aTimedOutCallCancelsTheTaskThatAwaitsTheNextChunk() throws {
    let waiting = WaitingChunks(self)
    let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.3))
    let body = Request.Body.stream(.init(once: waiting.chunks))
    let error = try failure(request(.put, "/echo", body: body, timeouts: limits), .timeout)
    XCTAssert(error.reason.contains("Timeouts.attempt"), error.reason)
    wait(for: [waiting.awaited, waiting.cancelled], timeout: 20)
    try assertStillServes()
  }

  func test_aShutdownCancelsTheTaskThatAwaitsTheNextChunk() throws {
    let waiting = WaitingChunks(self)
    let mine = try makeTransport()
    let pending = PendingCall(self)
    _ = pending.send(request(.put, "/echo", body: .stream(.init(once: waiting.chunks))), on: mine)
    wait(for: [waiting.awaited], timeout: 20)
    shutDown(mine)
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    wait(for: [waiting.cancelled], timeout: 20)
  }

  func test_aSilentBodySourceFailsItsRequestAtTheChunkTimeout() throws {
    let unlimited = Request.Timeouts(connect: .seconds(30), idle: .seconds(0.1), attempt: nil)
    let waiting = WaitingChunks(self)
    var sequence = Request.BodyStream(once: waiting.chunks)
    sequence.chunkTimeout = .seconds(0.25)
    let error = try failure(request(.put, "/echo", body: .stream(sequence), timeouts: unlimited), .timeout)
    XCTAssert(error.reason.contains("BodyStream.chunkTimeout"), error.reason)
    wait(for: [waiting.awaited, waiting.cancelled], timeout: 20)

    let blocked = DispatchSemaphore(value: 0)
    defer { blocked.signal() }
    var reader = Request.BodyStream(open: {
      {
        blocked.wait()
        return nil
      }
    })
    reader.chunkTimeout = .seconds(0.15)
    let second = try failure(request(.put, "/echo", body: .stream(reader), timeouts: unlimited), .timeout)
    XCTAssert(second.reason.contains("BodyStream.chunkTimeout"), second.reason)
    try assertStillServes()
  }

  func test_aChunkTimeoutOfZeroOrANegativeLengthIsRejected() throws {
    let negative = Request.BodyStream(count: -1, open: { { nil } })
    let length = try failure(request(.put, "/echo", body: .stream(negative)), .invalidRequest)
    XCTAssert(length.reason.contains("BodyStream.count is -1"), length.reason)
    for limit in [Duration.seconds(-1), .zero] {
      var stream = Request.BodyStream(open: { { nil } })
      stream.chunkTimeout = limit
      let error = try failure(request(.put, "/echo", body: .stream(stream)), .invalidRequest)
      XCTAssert(error.reason.contains("BodyStream.chunkTimeout is \(limit / .seconds(1)) s"), error.reason)
    }
    XCTAssertEqual(server.requestCount, 0)
  }

  func test_aCancelledUploadReleasesItsBodySourceWithoutWaiting() throws {
    let maker = CountedMaker(self)
    let blocked = DispatchSemaphore(value: 0)
    let stream = Request.BodyStream(open: maker.open { _ in blocked.wait() })
    let pending = PendingCall(self)
    let sent = pending.send(request(.put, "/echo", body: .stream(stream)), on: transport)
    wait(until: "the maker is asked") { maker.calls == 1 }
    sent.dispose()
    // The request ends while the body source still blocks its thread.
    XCTAssertEqual(Self.kind(try pending.outcome()), .cancelled)
    try assertStillServes()
    blocked.signal()
    wait(for: [maker.released], timeout: 20)
    XCTAssertEqual(maker.calls, 1)
  }

  func test_uploadsCancelledAtAnyTimeEndOnceAndReleaseTheirSequences() throws {
    let count = 60
    let released = expectation(description: "every sequence is released")
    released.expectedFulfillmentCount = count
    let pendingCalls = (0..<count).map { _ in PendingCall(self) }
    let queue = DispatchQueue(label: "callers", attributes: .concurrent)
    for (index, pending) in pendingCalls.enumerated() {
      let sent = Locked<(any Disposable)?>(nil)
      let token = Token(released)
      let asked = Atomic<Int>(0)
      let body = Request.Body.stream(
        .init(
          once: AsyncStream(unfolding: {
            withExtendedLifetime(token) {}
            let call = asked.add(1, ordering: .acquiringAndReleasing).newValue
            // Some are disposed in the middle of their body, from a separate thread.
            if index % 3 == 1, call == index % 8 { queue.async { sent.withLock { $0 }?.dispose() } }
            return call <= 20 ? Data(count: 5_000) : nil
          })))
      let control = pending.send(request(.put, "/echo", body: body), on: transport)
      sent.withLock { $0 = control }
      if index % 3 == 0 { control.dispose() }
    }
    for (index, pending) in pendingCalls.enumerated() {
      switch try pending.outcome() {
      case .success(let response): XCTAssertEqual(response.body.count, 100_000)
      case .failure(let error):
        XCTAssertEqual(error.kind, .cancelled, error.reason)
        XCTAssertNotEqual(index % 3, 2, error.reason)
      }
    }
    // Releases the requests, which the outcomes contain.
    for pending in pendingCalls { pending.forget() }
    wait(for: [released], timeout: 20)
    try assertStillServes()
  }

  func test_aBodySourceIsNotCalledAfterTheUploadHasEnded() throws {
    for isCancelled in [true, false] {
      let maker = CountedMaker(self)
      // Produces chunks as fast as they are read, endlessly.
      let stream = Request.BodyStream(open: maker.open { _ in })
      let pending = PendingCall(self)
      let limits = Request.Timeouts(
        connect: .seconds(30), idle: .seconds(30), attempt: isCancelled ? nil : .seconds(0.3))
      let sent = pending.send(request(.put, "/never", body: .stream(stream), timeouts: limits), on: transport)
      if isCancelled {
        wait(until: "chunks are made") { maker.calls >= 3 }
        sent.dispose()
      }
      XCTAssertEqual(Self.kind(try pending.outcome()), isCancelled ? .cancelled : .timeout)
      // A released closure cannot be called.
      wait(for: [maker.released], timeout: 20)
    }
  }
}

/// An object that reports its release.
private final class Token: Sendable {
  private let released: XCTestExpectation
  init(_ released: XCTestExpectation) { self.released = released }
  deinit { released.fulfill() }
}

/// An endless body source that counts its calls and reports its release.
private final class CountedMaker: Sendable {
  let released: XCTestExpectation
  private let count = Atomic<Int>(0)

  init(_ test: XCTestCase) { released = test.expectation(description: "the maker is released") }

  var calls: Int { count.load(ordering: .acquiring) }

  /// Returns a function that opens a reader, which calls `pause` before each chunk.
  func open(_ pause: @escaping @Sendable (Int) -> Void) -> @Sendable () -> Request.BodyStream.Reader {
    { [self] in
      let token = Token(released)
      return { [self] in
        withExtendedLifetime(token) {}
        pause(count.add(1, ordering: .acquiringAndReleasing).newValue)
        return Data(count: 1 << 12)
      }
    }
  }
}
