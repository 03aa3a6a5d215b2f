import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// `as: String.self`, `as: Data.self` and `as: JSON.self` mean the same in every function with `as:`, which docs/api lists:
/// the text, the bytes and the JSON, and never a string in JSON.
final class ResultTypeTests: XCTestCase {
  private typealias Results = (text: String, bytes: Data, json: JSON)

  private static let plain = "access_token=017&scope=repo"
  private static let object = #"{"a":[1,null]}"#

  private enum Page: Endpoint {
    case text, json
    var path: String { self == .text ? "/text" : "/json" }
  }

  private let network = Network(
    Backend(
      baseURL: URL(string: "http://h"), coding: .snakeCase,
      transport: StubTransport { request in
        let text = request.url.path == "/text" ? ResultTypeTests.plain : ResultTypeTests.object
        if request.url.query == "socket" { return .socket(.init([.message(.text(text)), .close(.normal)])) }
        let isStream = request.url.query == "events"
        return .response(
          status: request.url.query == "failure" ? 422 : 200,
          headers: ["Content-Type": isStream ? "text/event-stream" : "text/plain"],
          body: Data((isStream ? "data: \(text)\n\n" : text).utf8))
      }))

  /// The functions of docs/api with `as:` and a result, each with its calls for the three types.
  private var spellings: [String: (ResultTypeTests) async throws -> Results] {
    [
      "Network.fetch": { [network] _ in
        (
          try await network.fetch(Page.text, as: String.self), try await network.fetch(Page.text, as: Data.self),
          try await network.fetch(Page.json, as: JSON.self)
        )
      },
      "Network.request": { [network] _ in
        (
          try await network.request(Page.text, as: String.self).value,
          try await network.request(Page.text, as: Data.self).value,
          try await network.request(Page.json, as: JSON.self).value
        )
      },
      "Network.zip": { [network] _ in
        (
          try await network.zip([Page.text], as: String.self).value[0],
          try await network.zip([Page.text], as: Data.self).value[0],
          try await network.zip([Page.json], as: JSON.self).value[0]
        )
      },
      "Network.merge": { [network] _ in
        (
          try await network.merge([Page.text], as: String.self).asSingle().value,
          try await network.merge([Page.text], as: Data.self).asSingle().value,
          try await network.merge([Page.json], as: JSON.self).asSingle().value
        )
      },
      "Network.lines": { [network] _ in
        (
          try await network.lines(Page.text, as: String.self).asSingle().value,
          try await network.lines(Page.text, as: Data.self).asSingle().value,
          try await network.lines(Page.json, as: JSON.self).asSingle().value
        )
      },
      "Network.events": { [network] _ in
        (
          try await network.events(.post("/text?events"), as: String.self).asSingle().value,
          try await network.events(.post("/text?events"), as: Data.self).asSingle().value,
          try await network.events(.post("/json?events"), as: JSON.self).asSingle().value
        )
      },
      "NetworkError.body": { [network] _ in
        // Without a blocked thread: on one processor, there is no other.
        func failure(_ path: String) async throws -> NetworkError {
          do { _ = try await network.request(.get(path)).value } catch let error as NetworkError { return error }
          throw CancellationError()
        }
        let (text, json) = (try await failure("/text?failure"), try await failure("/json?failure"))
        return (try text.body(as: String.self), try text.body(as: Data.self), try json.body(as: JSON.self))
      },
      "Router.request": { [network] _ in
        func value<Value: Sendable>(
          _ start: (Router<Page>, @escaping @Sendable (Result<Value, NetworkError>) -> Void) -> Void
        ) async throws -> Value {
          try await withCheckedThrowingContinuation { continuation in
            start(Router(network)) { continuation.resume(with: $0.mapError { $0 as any Error }) }
          }
        }
        return (
          try await value { $0.request(.text, as: String.self, completion: $1) },
          try await value { $0.request(.text, as: Data.self, completion: $1) },
          try await value { $0.request(.json, as: JSON.self, completion: $1) }
        )
      },
      "Service.request": { [network] _ in
        let service = Service<Page>(network)
        return (
          try await service.request(.text, as: String.self).value,
          try await service.request(.text, as: Data.self).value,
          try await service.request(.json, as: JSON.self).value
        )
      },
      "WebSocket.messages": { [network] _ in
        func first<Value: Decodable & Sendable>(_ path: String, _ type: Value.Type) async throws -> Value {
          try await network.withWebSocket(.get("\(path)?socket")) { socket in
            for try await message in socket.messages(as: type) { return message }
            throw CancellationError()
          }
        }
        return (
          try await first("/text", String.self), try await first("/text", Data.self),
          try await first("/json", JSON.self)
        )
      },
      "WebSocketSession.messages": { [network] _ in
        (
          try await network.webSocket(.get("/text?socket")).messages(as: String.self).take(1).asSingle().value,
          try await network.webSocket(.get("/text?socket")).messages(as: Data.self).take(1).asSingle().value,
          try await network.webSocket(.get("/json?socket")).messages(as: JSON.self).take(1).asSingle().value
        )
      },
    ]
  }

  /// Functions with `as:` whose argument is not the type of a result.
  private let others: Set = ["Response.text", "Outbox.Entry.endpoint"]

  func test_textBytesAndJSON_meanTheSameInEveryFunction() async throws {
    for (name, results) in spellings.sorted(by: { $0.key < $1.key }) {
      do {
        let (text, bytes, json) = try await results(self)
        XCTAssertEqual(text, Self.plain, name)
        XCTAssertEqual(String(decoding: bytes, as: UTF8.self), Self.plain, name)
        XCTAssertEqual(json.description, Self.object, name)
      } catch {
        XCTFail("\(name): \(error)")
      }
    }
  }

  func test_decodeAndOperators_meanTheSame() async throws {
    let (text, json) = try await (network.response(Page.text), network.response(Page.json))
    XCTAssertEqual(try text.decode(String.self), Self.plain)
    XCTAssertEqual(try ServerSentEvent(data: Self.plain).decode(String.self), Self.plain)
    XCTAssertEqual(try ServerSentEvent(data: Self.plain).decode(Data.self), Data(Self.plain.utf8))
    XCTAssertEqual(try ServerSentEvent(data: Self.object).decode(JSON.self).description, Self.object)
    XCTAssertEqual(try text.decode(Data.self), Data(Self.plain.utf8))
    XCTAssertEqual(try text.decode(String?.self), Self.plain)
    XCTAssertEqual(try Response(request: text.request).decode(String?.self), nil)
    XCTAssertEqual(try json.decode(JSON.self).description, Self.object)
    XCTAssertEqual(try json.decode([Int?].self, at: "a"), [1, nil])
    let texts = network.responses(Page.text)
    let (mapped, bytes) = try await (texts.map(String.self).asSingle().value, texts.map(Data.self).asSingle().value)
    XCTAssertEqual([Data(mapped.utf8), bytes], [Data(Self.plain.utf8), Data(Self.plain.utf8)])
    let called = try await network.fetch(Page.text.as(String.self))
    XCTAssertEqual(called, Self.plain)
  }

  func test_table_hasEveryFunctionOfTheAPI() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/api")
    var listed: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard let match = line.firstMatch(of: #/^([\w.]+) \| (?:@\w+ )*func (\w+)(?:<[^>]*>)?\([^)]*\bas(?: \w+)?: /#)
        else { continue }
        listed.insert("\(match.1).\(match.2)")
      }
    }
    XCTAssertEqual(listed, Set(spellings.keys).union(others))
  }
}
