import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

#if canImport(CLibcurl)
  /// Tests of the outcome of a WebSocket whose server ends the connection abruptly.
  final class CurlWebSocketEndingTests: XCTestCase {
    private typealias Script = TestServer.WebSocketScript
    private typealias End = Result<WebSocketClose, NetworkError>

    private let notes = Notes()
    private let statuses = Box<[Int]>([])
    private let end = Box<End?>(nil)

    /// Returns a message handler that blocks the client's reads and writes until the server has closed all connections.
    private static func busy(until server: TestServer) -> @Sendable () -> BodyFlow {
      {
        _ = holds(within: 10) { server.openConnectionCount == 0 }
        return .continue
      }
    }

    private func connect(
      _ transport: CurlTransport, _ server: TestServer, timeouts: Request.Timeouts = .init(),
      flow: @escaping @Sendable () -> BodyFlow = { .continue }
    ) -> any WebSocketControl {
      let (notes, statuses, end) = (notes, statuses, end)
      let receiver = WebSocketReceiver(
        response: { response in statuses.update { $0.append(response.status) } },
        message: { message in
          notes.add(message.text ?? "\(message.byteCount) bytes")
          return flow()
        },
        closed: { result in end.value = result })
      return transport.connect(
        Request(url: server.url("/"), timeouts: timeouts), options: WebSocketOptions(), receiver: receiver)
    }

    private var error: NetworkError? { if case .failure(let error)? = end.value { error } else { nil } }

    func test_aCloseFrameIsDelivered_thoughTheConnectionWasResetDuringASend() throws {
      let transport = try CurlTransport()
      // The server sends the reason right before the reset.
      let server = try TestServer { _ in
        .socket(
          Script(onMessage: { _ in
            [.text("go"), .wait(0.1), .raw(Script.frame(8, [3, 0xF1])), .wait(0.05), .reset]
          }))
      }
      // The client is blocked until all of this has happened, so that it writes before it reads.
      let control = connect(transport, server, flow: Self.busy(until: server))
      until { !statuses.value.isEmpty }
      control.send(.text("begin")) { _ in }
      until { !notes.all.isEmpty }
      let sent = Box<NetworkError??>(nil)
      control.send(.binary(Data(repeating: 1, count: 1 << 20))) { sent.value = .some($0) }
      until { end.value != nil && sent.value != nil }
      XCTAssertEqual(try end.value?.get().code, .tooLarge)
      XCTAssertEqual(sent.value??.kind, .socketClosed)
      XCTAssertEqual(sent.value??.code, 1009)
    }

    func test_aPausedReaderReceivesAllMessagesSentBeforeTheReset() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in
        .socket(
          Script(onMessage: { _ in
            [.text("a"), .text("b"), .wait(0.1), .text("c"), .raw(Script.frame(8, [3, 0xE8])), .wait(0.05), .reset]
          }))
      }
      let isFirst = Box(true)
      let control = connect(transport, server) {
        isFirst.update { isFirst in
          defer { isFirst = false }
          return isFirst ? .pause : .continue
        }
      }
      until { !statuses.value.isEmpty }
      control.send(.text("begin")) { _ in }
      until { !notes.all.isEmpty && server.openConnectionCount == 0 }
      let sent = Box<[NetworkError?]>([])
      for _ in 0..<2 { control.send(.text("lost")) { error in sent.update { $0.append(error) } } }
      until { sent.value.count == 2 }
      XCTAssertEqual(sent.value.map { $0?.kind }, [.connection, .connection])
      XCTAssertEqual(notes.all, ["a"])
      XCTAssertNil(end.value)
      control.resume()
      until { end.value != nil }
      XCTAssertEqual(notes.all, ["a", "b", "c"])
      XCTAssertEqual(try end.value?.get().code, .normal)
    }

    func test_aResetWithoutACloseFrameFailsTheSocketAndItsSends() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(Script(onMessage: { _ in [.text("go"), .wait(0.05), .reset] })) }
      let control = connect(transport, server, flow: Self.busy(until: server))
      until { !statuses.value.isEmpty }
      control.send(.text("begin")) { _ in }
      until { !notes.all.isEmpty }
      let sent = Box<NetworkError??>(nil)
      control.send(.text("lost")) { sent.value = .some($0) }
      until { end.value != nil && sent.value != nil }
      XCTAssertEqual(error?.kind, .connection)
      XCTAssertEqual(sent.value??.kind, .connection)
    }

    func test_aRejectedHandshakeKeepsItsStatus_thoughItsBodyIsTruncatedOrEndless() throws {
      let head = "HTTP/1.1 401 No\r\nContent-Length: 50\r\n\r\nno"
      let chunk = "HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nno"
      for text in [head, chunk] {
        for ending in [TestServer.Response.Ending.close, .hang] {
          let transport = try CurlTransport()
          let server = try TestServer { _ in .init(body: .raw([.init(text)]), ending: ending) }
          (end.value, statuses.value) = (nil, [])
          let control = connect(transport, server, timeouts: .init(idle: .seconds(0.2)))
          until { end.value != nil }
          XCTAssertEqual(statuses.value, [401])
          XCTAssertEqual(error?.kind, .status, error?.reason ?? "")
          XCTAssertEqual(error?.response?.body, Data("no".utf8))
          withExtendedLifetime(control) {}
        }
      }
    }

    func test_aHandshakeThatTrickles_endsWithTheIdleLimit() throws {
      let trickle = (0..<600).map { _ in TestServer.Response.Chunk("x", after: 0.05) }
      let server = try TestServer { _ in .init(body: .raw([.init("HTTP/1.1 101 Go\r\nX-A: ")] + trickle)) }
      let transport = try CurlTransport()
      let control = connect(transport, server, timeouts: .init(idle: .seconds(0.3)))
      until { end.value != nil }
      XCTAssertEqual(error?.kind, .timeout)
      XCTAssertTrue(error?.reason.contains("did not open the socket within 0.3 s (Timeouts.idle)") == true)
      withExtendedLifetime(control) {}
    }

    func test_theLoopServesAQueuedSocketOncePerTurn() throws {
      let loop = try XCTUnwrap(CurlWebSocketLoop(CurlTransport.Configuration()))
      let url = try XCTUnwrap(URL(string: "http://127.0.0.1/"))
      let receiver = WebSocketReceiver(response: { _ in }, message: { _ in .continue }, closed: { _ in })
      let socket = CurlWebSocket(Request(url: url), WebSocketOptions(), receiver, loop: loop)
      loop.serveNextTurn(socket)
      loop.serveNextTurn(socket)
      XCTAssertEqual(loop.eager.count, 1)
      // The turn that serves the socket also ends the loop.
      let ended = expectation(description: "ended")
      loop.whenEnded { ended.fulfill() }
      loop.shutDown()
      XCTAssertEqual(loop.start("test"), 0)
      wait(for: [ended], timeout: 60)
    }
  }
#endif
