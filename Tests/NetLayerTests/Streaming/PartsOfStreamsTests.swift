import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Events of several types, lines with a mark for the last one, and close codes as data.
final class PartsOfStreamsTests: XCTestCase {
  private struct Price: Decodable, Sendable, Equatable { var lastTrade: Int }

  private func network(_ body: String, _ type: String) -> Network {
    let stub = StubTransport { _ in .response(headers: ["Content-Type": type], body: Data(body.utf8)) }
    return Network(Backend(baseURL: URL(string: "http://h"), coding: .snakeCase, transport: stub))
  }

  func test_manyMessagesWithoutDelay_doNotExhaustTheStack() async throws {
    let stub = StubTransport { _ in
      .socket(.init((0..<50_000).map { .message(.text("\($0)")) } + [.close(.normal)]))
    }
    let session = Network(Backend(baseURL: URL(string: "http://h"), transport: stub)).webSocket(.get("/x"))
    var count = 0
    for try await _ in session.messages.values { count += 1 }
    XCTAssertEqual(count, 50_000)
  }

  func test_eachEvent_isDecodedWithTheBackendsDecoder() async throws {
    let text = "event: price\ndata: {\"last_trade\":7}\n\nevent: note\ndata: \"hi\"\n\ndata: [DONE]\n\n"
    let api = network(text, "text/event-stream")
    var seen: [String] = []
    for try await event in api.events(.post("/x"), until: "[DONE]").values {
      switch event.event {
      case "price": seen.append("\(try event.decode(Price.self).lastTrade)")
      default: seen.append(try event.decode(String.self))
      }
    }
    XCTAssertEqual(seen, ["7", "\"hi\""])
  }

  func test_eventThatIsNotJSON_isAParseErrorWithItsResponse() async throws {
    let api = network("data: {\n\n", "text/event-stream")
    let event = try await api.events(.post("/x")).take(1).asSingle().value
    let error = try failure { try event.decode(Price.self) }
    XCTAssertEqual(error.kind, .parse)
    XCTAssertEqual(error.response?.status, 200)
    XCTAssertEqual(error.request?.url.path, "/x")
  }

  func test_manualEvent_isDecodedAndEqual() async throws {
    XCTAssertEqual(try ServerSentEvent(data: "{\"lastTrade\":1}").decode(Price.self), Price(lastTrade: 1))
    let received = try await network("id: 1\ndata: a\n\n", "text/event-stream").events(.post("/x")).take(1).asSingle()
      .value
    XCTAssertEqual(received, ServerSentEvent(id: "1", data: "a"))
    XCTAssertEqual(Set([received, ServerSentEvent(id: "1", data: "a")]).count, 1)
  }

  private struct Part: Decodable, Sendable, Equatable {
    var id: Int
    var done: Bool?
  }

  private func parts(_ body: String) -> (ids: [Int], error: NetworkError?) {
    let recorded = record(
      network(body, "application/x-ndjson").lines(.get("/x"), as: Part.self, until: { $0.done == true }))
    return (recorded.elements.map(\.id), recorded.error)
  }

  func test_lastLine_isEmitted_andEndsTheStream() {
    let (ids, error) = parts("{\"id\":1}\n{\"id\":2,\"done\":true}\n{\"id\":3}\n")
    XCTAssertEqual(ids, [1, 2])
    XCTAssertNil(error)
    XCTAssertEqual(parts("{\"id\":2,\"done\":true}").ids, [2], "without a line break")
  }

  func test_bodyThatEndsBeforeTheLastLine_isIncomplete() {
    for body in ["{\"id\":1}\n{\"id\":2,\"done\":false}\n", "{\"id\":1}\n{\"id\":2}", ""] {
      let (ids, error) = parts(body)
      XCTAssertEqual(ids, body.isEmpty ? [] : [1, 2])
      XCTAssertEqual(error?.kind, .connection, body)
      XCTAssertTrue(error?.reason.contains("incomplete") == true, error?.reason ?? "")
      XCTAssertEqual(error?.request?.url.path, "/x")
    }
  }

  func test_expectedCloseCode_endsTheLoopAndIsData() async throws {
    let server = try TestServer { _ in
      .socket(TestServer.WebSocketScript(onMessage: { _ in [.text("news"), .close(4001, "signed out")] }))
    }
    let api = Network(Backend(baseURL: server.url))
    let options = WebSocketOptions(expectedCloseCodes: [.normal, 4001])
    let (seen, close) = try await api.withWebSocket(.get("/"), options: options) { socket in
      var seen: [WebSocketMessage] = []
      try await socket.send("go")
      for try await message in socket.messages { seen.append(message) }
      return (seen, socket.serverClose)
    }
    XCTAssertEqual(seen, [.text("news")])
    XCTAssertEqual(close, WebSocketClose(code: 4001, reason: "signed out"))
    do {
      try await api.withWebSocket(.get("/")) { socket in
        try await socket.send("go")
        for try await _ in socket.messages {}
      }
      XCTFail("4001 is an error by default")
    } catch {
      XCTAssertEqual((error as? NetworkError)?.code, 4001)
    }
  }
}
