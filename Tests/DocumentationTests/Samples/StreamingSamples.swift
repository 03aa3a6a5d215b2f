import Foundation
import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import XCTest

struct Prompt: Encodable, Sendable {
  var model = "small"
  var stream = true
  var messages: [[String: String]]
}

struct Delta: Decodable, Sendable {
  struct Choice: Decodable, Sendable { var delta: Content }
  struct Content: Decodable, Sendable { var content: String? }
  var choices: [Choice]
  var text: String { choices.first?.delta.content ?? "" }
}

private struct Reading: Encodable, Sendable {
  var celsius: Double
}

/// Runs the samples of the guides on streams.
final class StreamingSamples: XCTestCase {
  func test_streamingAnAnswer() async throws {
    let key = "k"
    let server = try TestServer { request in
      let words = ["Green ", "tea, ", "please."].map { #"{"choices":[{"delta":{"content":"\#($0)"}}]}"# }
      return .stream((words + ["[DONE]"]).map { .init("data: \($0)\n\n", after: 0.01) }, type: "text/event-stream")
    }

    let llm = Network(Backend(baseURL: server.url, headers: ["Authorization": "Bearer \(key)"]))
    let prompt = Prompt(messages: [["role": "user", "content": "Tea or coffee?"]])

    for try await delta in llm.events(.post("/v1/chat", json: prompt), as: Delta.self, until: "[DONE]").values {
      print(delta.text, terminator: "")
    }
    print()
    try assertPrinted(asIn: "StreamingResponses", 0)

    var answer = ""
    for try await delta in llm.events(.post("/v1/chat", json: prompt), as: Delta.self, until: "[DONE]").values {
      answer += delta.text
      if answer.contains(",") { break }
    }
    print(answer)
    try assertPrinted(asIn: "StreamingResponses", 1)

    let cut = try TestServer { _ in
      .stream([.init(#"data: {"choices":[{"delta":{"content":"Green"}}]}"# + "\n\n")], type: "text/event-stream")
    }
    do {
      let half = llm.with { $0.baseURL = cut.url }
      for try await delta in half.events(.post("/v1/chat", json: prompt), as: Delta.self, until: "[DONE]").values {
        print(delta.text)
      }
    } catch let error as NetworkError {
      print(error.kind)
    }
    try assertPrinted(asIn: "StreamingResponses", 2)

    let prices = llm.events(.get("/prices")) { error, pause in
      print("connecting again in \(pause): \(error?.description ?? "the server closed the connection")")
    }
    _ = prices
  }

  func test_uploadingLines() async throws {
    let readings = AsyncStream<Double> { continuation in
      continuation.yield(21.5)
      continuation.finish()
    }
    let server = try TestServer { _ in .status(204) }
    let station = Network(Backend(baseURL: server.url))

    let rows = readings.map { Reading(celsius: $0) }
    try await station.fetch(.post("/readings", .lines(JSONLines(once: rows))))
    XCTAssertEqual(server.requests.map { String(decoding: $0.body, as: UTF8.self) }, ["{\"celsius\":21.5}\n"])
  }
}
