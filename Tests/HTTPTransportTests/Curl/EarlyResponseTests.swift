#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of responses that are complete before the request's body: the response is delivered, and the upload stops
  /// (RFC 9112 §9.3).
  final class EarlyResponseTests: XCTestCase {
    private static let responses = [
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone", "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n",
      "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\ndone",
    ]

    /// Creates a server that responds to each head with `response`, and then reads forever.
    private func server(_ response: String) throws -> RawServer {
      try RawServer { client, _ in
        while let head = client.receiveHead() {
          client.send(response)
          if head.contains("Transfer-Encoding") || head.contains("Content-Length: 1000000000") {
            while client.skip(1 << 16) > 0 {}
          }
        }
      }
    }

    /// Creates a body that produces one chunk and then blocks until the test ends.
    private func silent() -> (Request.BodyStream, DispatchSemaphore) {
      let go = DispatchSemaphore(value: 0)
      return (
        Request.BodyStream(open: {
          let calls = Locked(0)
          return {
            let call = calls.withLock { calls in
              calls += 1
              return calls
            }
            if call > 1 { go.wait() }
            return call > 1 ? nil : Data("first".utf8)
          }
        }), go
      )
    }

    func test_aResponseBeforeTheEndOfAnEndlessBodyIsDelivered() throws {
      for response in Self.responses {
        let server = try server(response)
        let transport = try CurlTransport()
        let endless = Request.BodyStream(open: { { Data(count: 1 << 14) } })
        let (silent, go) = silent()
        for stream in [endless, silent] {
          for method in [HTTPMethod.post, .put] {
            let pending = PendingCall(self)
            let request = Request(
              method: method, url: server.url, headers: ["Expect": ""], body: .stream(stream),
              timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(30)))
            _ = pending.send(request, on: transport)
            let reply = try pending.outcome().get()
            XCTAssertEqual(reply.body, Data((response.contains("done") ? "done" : "").utf8), response)
          }
        }
        for _ in 0..<4 { go.signal() }
      }
    }

    func test_anEarlyResponseIsAlsoDeliveredAsAStream() throws {
      for response in Self.responses {
        let server = try server(response)
        let transport = try CurlTransport()
        let stream = PendingStream(self)
        let endless = Request.BodyStream(open: { { Data(count: 1 << 14) } })
        stream.start(
          Request(
            method: .post, url: server.url, body: .stream(endless),
            timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(30))),
          on: transport)
        XCTAssertNoThrow(try stream.outcome().get(), response)
        XCTAssertEqual(stream.body, Data((response.contains("done") ? "done" : "").utf8), response)
      }
    }

    func test_anIncompleteEarlyResponseIsAwaited() throws {
      let server = try RawServer { client, _ in
        while let head = client.receiveHead() {
          client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n")
          var left = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
          while left > 0, case let count = client.skip(Swift.min(left, 1 << 14)), count > 0 { left -= count }
          client.send(left == 0 ? "3\r\nall\r\n0\r\n\r\n" : "4\r\nlost\r\n0\r\n\r\n")
        }
      }
      let transport = try CurlTransport()
      let pending = PendingCall(self)
      let request = Request(
        method: .post, url: server.url, headers: ["Expect": ""], body: .data(Data(count: 4 << 20)),
        timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(40)))
      _ = pending.send(request, on: transport)
      XCTAssertEqual(try pending.outcome().get().body, Data("partall".utf8))
    }

    func test_aRedirectBeforeTheEndOfTheBodyIsFollowed() throws {
      let target = try TestServer { request in .text(request.method) }
      let server = try server("HTTP/1.1 303 See Other\r\nLocation: \(target.url("/"))\r\nContent-Length: 0\r\n\r\n")
      let endless = Request.BodyStream(open: { { Data(count: 1 << 14) } })
      let transport = try CurlTransport()
      let pending = PendingCall(self)
      _ = pending.send(
        Request(
          method: .post, url: server.url, body: .stream(endless),
          timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(30))),
        on: transport)
      XCTAssertEqual(try pending.outcome().get().body, Data("GET".utf8))
    }
  }
#endif
