import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// The contents that each verb takes, and calls of other methods.
final class EveryVerbTests: XCTestCase {
  private struct Row: Codable, Sendable { var id = 1 }

  private func lines() -> JSONLines {
    JSONLines(
      once: AsyncStream { continuation in
        continuation.yield(Row())
        continuation.finish()
      })
  }

  private var stream: Request.BodyStream { Request.BodyStream(once: AsyncStream<Data> { $0.finish() }) }

  func test_eachVerb_takesEachContent() async throws {
    let form = MultipartForm(["a": 1])
    let rows: [(Call<Response>, String, String?)] = [
      (.options("/a", query: ["q": 1]), "OPTIONS", nil),
      (.delete("/a", json: Row()), "DELETE", "application/json"),
      (.post("/a", .lines(lines())), "POST", "application/x-ndjson"),
      (.put("/a", .lines(lines())), "PUT", "application/x-ndjson"),
      (.patch("/a", .lines(lines())), "PATCH", "application/x-ndjson"),
      (.post("/a", .stream(stream, contentType: "audio/wav")), "POST", "audio/wav"),
      (.put("/a", .stream(stream, contentType: "audio/wav")), "PUT", "audio/wav"),
      (.patch("/a", .stream(stream, contentType: "audio/wav")), "PATCH", "audio/wav"),
      (.put("/a", .multipart(form)), "PUT", "multipart/form-data"),
      (.patch("/a", .multipart(form)), "PATCH", "multipart/form-data"),
      (
        Call("PROPFIND", "/a", task: .data(Data("<x/>".utf8), contentType: "application/xml")), "PROPFIND",
        "application/xml"
      ),
      (Call("REPORT", "/a", task: .json(Row()), query: ["q": 1]), "REPORT", "application/json"),
    ]
    for (call, method, type) in rows {
      let stub = StubTransport { _ in .json("{}") }
      try await Network(Backend(baseURL: URL(string: "http://h"), transport: stub)).fetch(call)
      let request = try XCTUnwrap(stub.requests.first)
      XCTAssertEqual(request.method.rawValue, method)
      XCTAssertEqual(request.headers["Content-Type"]?.prefix { $0 != ";" }.description, type, method)
      if case .none = request.body { XCTAssertNil(type, method) } else { XCTAssertNotNil(type, method) }
    }
  }
}
