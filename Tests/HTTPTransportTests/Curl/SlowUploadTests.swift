#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of uploads to a server that reads slowly or not at all.
  final class SlowUploadTests: XCTestCase {
    func test_aSlowUploadIsNotIdle() throws {
      let count = 600_000
      let server = try RawServer { connection, _ in
        guard connection.receiveHead() != nil else { return }
        var left = count
        // 80 KB per second: as soon as the socket buffers are full, libcurl requests the next 64 KB only every 0.8 s.
        // The rest is read immediately, because buffered bytes are not reported.
        for _ in 0..<25 {
          left -= connection.skip(Swift.min(left, 4096))
          usleep(50_000)
        }
        while left > 0 {
          let got = connection.skip(left)
          guard got > 0 else { return }
          left -= got
        }
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
      let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(0.5), attempt: .seconds(60))
      let put = Request(method: .put, url: server.url, body: .data(Data(count: count)), timeouts: limits)
      XCTAssertEqual(try outcome(put, on: try CurlTransport()).get().status, 200)
    }

    func test_anUploadThatIsNotReadIsIdle() throws {
      let server = try TestServer.silent()
      let transport = try CurlTransport()
      let calls = [16 << 20, 10].map { size in
        let limits = Request.Timeouts(connect: .seconds(30), idle: .seconds(0.4), attempt: .seconds(60))
        let pending = PendingCall(self)
        _ = pending.send(
          Request(
            method: .put, url: server.url("/"), headers: ["Expect": ""], body: .data(Data(count: size)),
            timeouts: limits), on: transport)
        return pending
      }
      for pending in calls {
        guard case .failure(let error) = try pending.outcome() else { return XCTFail("no error") }
        XCTAssertEqual(error.kind, .timeout)
        XCTAssert(error.reason.contains("Timeouts.idle"), error.reason)
        XCTAssertLessThan(try XCTUnwrap(error.metrics).total, .seconds(10))
      }
    }
  }
#endif
