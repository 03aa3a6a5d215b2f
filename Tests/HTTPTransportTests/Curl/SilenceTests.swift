#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of idle time: only the time in which the server sends nothing counts.
  final class SilenceTests: XCTestCase {
    /// Returns `bytes` one at a time, spread over three times the idle limit.
    private func dribbled(_ bytes: String, idle: Double) -> [TestServer.Response.Chunk] {
      bytes.utf8.map { .init([$0], after: 3 * idle / Double(bytes.utf8.count)) }
    }

    func test_bytesThatLibcurlBuffersAreNotIdleTime() throws {
      let idle = 0.4
      let field = "X-Long: " + String(repeating: "x", count: 40) + "\r\n"
      let extended = "2;" + String(repeating: "x", count: 40) + "\r\nok\r\n0\r\n\r\n"
      let responses: [(String, [TestServer.Response.Chunk])] = [
        (
          "a long line",
          [.init("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n")] + dribbled(field, idle: idle) + [.init("\r\nok")]
        ),
        (
          "a chunk's extension",
          [.init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")] + dribbled(extended, idle: idle)
        ),
        ("a head", dribbled("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\n\r\nok", idle: idle)),
        (
          "zstd",
          [.init("HTTP/1.1 200 OK\r\nContent-Length: 40\r\nContent-Encoding: zstd\r\n\r\n")]
            + TestRoutes.bytes("28b52ffd2428dd0000a87b226d657373616765223a2268656c6c6f2c20227d01009594307beb9904").map {
              .init([$0], after: 3 * idle / 40)
            }
        ),
      ]
      let transport = try CurlTransport()
      let calls = try responses.map { name, chunks in
        let server = try TestServer { _ in .init(body: .raw(chunks)) }
        let request = Request(
          url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(idle), attempt: .seconds(60)))
        let pending = PendingCall(self)
        _ = pending.send(request, on: transport)
        return (name, server, pending)
      }
      for (name, server, pending) in calls {
        XCTAssertEqual(try pending.outcome().get().status, 200, name)
        server.stop()
      }
    }

    func test_aPauseEndsWhenTheLoopProcessesTheResume() throws {
      let server = try TestServer { request in
        request.path == "/text"
          ? .text("ok") : .stream((0..<8).map { _ in .init([UInt8](repeating: 1, count: 1 << 16)) })
      }
      let transport = try CurlTransport()
      let isPaused = expectation(description: "paused")
      let ended = expectation(description: "ended")
      let seen = Locked((count: 0, outcome: TransportSuite.Outcome?.none))
      let stream = transport.stream(
        Request(
          url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(0.2), attempt: .seconds(60))),
        progress: nil,
        receiver: StreamReceiver(
          head: { _ in },
          chunk: { chunk in
            let isFirst = seen.withLock { seen in
              seen.count += chunk.count
              return seen.count == chunk.count
            }
            if isFirst { isPaused.fulfill() }
            return isFirst ? .pause : .continue
          },
          completion: { result in
            seen.withLock { $0.outcome = result }
            ended.fulfill()
          }))
      wait(for: [isPaused], timeout: 20)
      // The pause ends while the loop is busy, after more time than the limit has passed since the last byte.
      _ = transport.send(Request(url: server.url("/text"))) { _ in
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.4)
        stream.resume()
      }
      wait(for: [ended], timeout: 20)
      XCTAssertNoThrow(try seen.withLock { try XCTUnwrap($0.outcome).get() })
      XCTAssertEqual(seen.withLock { $0.count }, 8 << 16)
    }

    func test_aReaderMayPauseForLongerThanTheLimit() throws {
      let server = try TestServer { request in
        request.path == "/silent"
          ? .init(body: .raw([.init("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")]), ending: .hang)
          : .stream((0..<8).map { _ in .init([UInt8](repeating: 1, count: 1 << 16)) })
      }
      let transport = try CurlTransport()
      func request(_ path: String) -> NetLayer.Request {
        Request(
          url: server.url(path), timeouts: .init(connect: .seconds(20), idle: .seconds(1), attempt: .seconds(60)))
      }
      let chunks = Counter()
      let paused = PendingStream(self) { _ in chunks.next() == 1 ? .pause : .continue }
      let control = paused.start(request("/"), on: transport)
      XCTAssertTrue(holds { chunks.value == 1 })
      // The limit of another request, which begins later, shows that the pause is longer than the limit.
      XCTAssertEqual(TransportSuite.kind(try outcome(request("/silent"), on: transport)), .timeout)
      XCTAssertEqual(chunks.value, 1)
      control.resume()
      XCTAssertEqual(try paused.outcome().get().status, 200)
      XCTAssertEqual(paused.body.count, 8 << 16)
    }

    func test_aResponseThatArrivedWhileTheProcessWasSuspendedIsDelivered() throws {
      let idle = 0.3
      let server = try TestServer { request in
        request.path == "/slow" ? TestServer.Response.text("there").delayed(by: 0.1) : .text("ok")
      }
      let transport = try CurlTransport()
      // The loop is blocked for longer than the limit, as in a suspended process. The response arrives in the meantime.
      let calls = [
        ("idle", Request.Timeouts(connect: .seconds(20), idle: .seconds(idle), attempt: .seconds(60))),
        ("total", .init(connect: .seconds(20), idle: .seconds(60), attempt: .seconds(idle))),
      ].map { limit, timeouts in
        let pending = PendingCall(self)
        _ = pending.send(Request(url: server.url("/slow"), timeouts: timeouts), on: transport)
        return (limit, pending)
      }
      let never = DispatchSemaphore(value: 0)
      _ = transport.send(Request(url: server.url("/fast"))) { _ in _ = never.wait(timeout: .now() + 3 * idle) }
      for (limit, pending) in calls {
        XCTAssertEqual(try pending.outcome().get().body, Data("there".utf8), "the \(limit) limit")
      }
    }

    func test_theConnectLimitAppliesToAllRequestsThatWaitForOneStalledHandshake() throws {
      let silent = try TestServer.silent()
      let url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(silent.port)/"))
      let transport = try makeTrustingTransport()
      let pendingCalls = (0..<6).map { _ in PendingCall(self) }
      for pending in pendingCalls {
        // If more than two handshakes ran in sequence, requests would reach the total limit instead.
        _ = pending.send(
          Request(url: url, timeouts: .init(connect: .seconds(0.5), idle: .seconds(20), attempt: .seconds(1.5))),
          on: transport)
      }
      for pending in pendingCalls {
        guard case .failure(let error) = try pending.outcome() else { return XCTFail("connected") }
        XCTAssert(error.reason.contains("Timeouts.connect"), error.reason)
      }
    }

    func test_waitingFor100ContinueIsNotIdleTimeAndHappensOncePerOrigin() throws {
      let waits = Locked(0)
      let server = try RawServer { client, _ in
        while let head = client.receiveHead() {
          if head.contains("100-continue") { waits.withLock { $0 += 1 } }
          var left = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
          while left > 0, case let count = client.skip(Swift.min(left, 1 << 16)), count > 0 { left -= count }
          client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
      let transport = try CurlTransport()
      let body = Request.Body.data(Data(count: (1 << 20) + 1))
      for _ in 0..<3 {
        let put = Request(
          method: .put, url: server.url, body: body,
          timeouts: .init(connect: .seconds(20), idle: .seconds(0.7), attempt: .seconds(60)))
        XCTAssertEqual(try outcome(put, on: transport).get().status, 200)
      }
      XCTAssertEqual(waits.withLock { $0 }, 1)
    }
  }
#endif
