import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import LoopbackServer
@testable import NetLayer

private struct Row: Encodable, Sendable {
  var rowNumber: Int
  var note: String?
}

final class JSONLinesTests: XCTestCase {
  /// A stream of `count` rows, which counts the rows that are pulled.
  private func rows(_ count: Int, _ pulled: Counter = Counter(), note: String? = nil) -> AsyncStream<Row> {
    AsyncStream(unfolding: {
      let number = pulled.next()
      return number <= count ? Row(rowNumber: number, note: note) : nil
    })
  }

  func test_elements_areLinesWrittenByTheBackendsEncoder() async throws {
    let server = try TestServer { _ in .status(204) }
    let network = Network(
      Backend(
        baseURL: server.url, commonParameters: { ["key": 1] },
        coding: .init(encoder: .init(keys: .snakeCase, prettyPrinted: true))))
    let rows = rows(3, note: "two\nlines, \u{2028} and /")
    try await withTimeLimit { _ = try await network.fetch(.post("/import", .lines(JSONLines(once: rows)))) }
    let request = try XCTUnwrap(server.requests.first)
    XCTAssertEqual(
      String(decoding: request.body, as: UTF8.self),
      (1...3).map { #"{"note":"two\nlines, \#u{2028} and /","row_number":\#($0)}"# + "\n" }.joined())
    XCTAssertEqual(request.target, "/import?key=1")
    XCTAssertEqual(request.headers.first { $0.name == "Content-Type" }?.value, "application/x-ndjson")
  }

  func test_contentTypeOfTheCaller_isKept() async throws {
    let server = try TestServer { _ in .status(204) }
    let rows = rows(0)
    try await withTimeLimit {
      _ = try await Network(Backend(baseURL: server.url)).fetch(
        .post("/", .lines(JSONLines(once: rows)), headers: ["Content-Type": "application/jsonl"]))
    }
    let request = try XCTUnwrap(server.requests.first)
    XCTAssertEqual(request.body, [])
    XCTAssertEqual(request.headers.first { $0.name == "Content-Type" }?.value, "application/jsonl")
  }

  func test_manyElements_areSentUnchanged() async throws {
    let server = try TestServer { _ in .status(204) }
    let rows = rows(20_000)
    try await withTimeLimit {
      _ = try await Network(Backend(baseURL: server.url)).fetch(.post("/", .lines(JSONLines(once: rows))))
    }
    let lines = try XCTUnwrap(server.requests.first).body.split(separator: UInt8(ascii: "\n"))
    XCTAssertEqual(lines.count, 20_000)
    XCTAssertEqual(lines.last.map { String(decoding: $0, as: UTF8.self) }, #"{"rowNumber":20000}"#)
  }

  func test_elements_arePulledAsTheServerReads() async throws {
    // The system accepts the connection, and the server reads nothing.
    let server = try TestServer(isSilent: true)
    let network = Network(Backend(baseURL: server.url))
    let pulled = Counter()
    let note = String(repeating: "x", count: 10_000)
    weak var held: Counter?
    let memory = residentBytes()
    let task = {
      let owner = Counter()
      held = owner
      let endless = AsyncStream<Row>(unfolding: {
        owner.next()
        return Row(rowNumber: pulled.next(), note: note)
      })
      return Task { _ = try await network.fetch(.post("/", .lines(JSONLines(once: endless)))) }
    }()
    var (last, unchanged) = (0, 0)
    while unchanged < 20 {
      try await Task.sleep(for: .milliseconds(5))
      unchanged = pulled.value == last && last > 0 ? unchanged + 1 : 0
      last = pulled.value
    }
    XCTAssertLessThan(last, 1600, "16 MB, most of them in the system's own buffers")
    if let memory, let now = residentBytes() { XCTAssertLessThan(now - memory, 40 << 20) }
    task.cancel()
    let result = try await withTimeLimit { await task.result }
    XCTAssertThrowsError(try result.get()) { XCTAssertEqual(NetworkError.wrapping($0).kind, .cancelled) }
    try await eventually("the sequence is left") { held == nil }
  }

  func test_cancelling_endsTheIteration_whileTheNextElementIsAwaited() async throws {
    let server = try TestServer { _ in .status(204) }
    let network = Network(Backend(baseURL: server.url))
    let (asked, isCancelled) = (Counter(), Box(false))
    let (silence, continuation) = AsyncStream.makeStream(of: Int.self)
    continuation.onTermination = { if case .cancelled = $0 { isCancelled.value = true } }
    let elements = AsyncStream<Int>(unfolding: {
      if asked.next() == 1 { return 1 }
      for await element in silence { return element }
      withExtendedLifetime(continuation) {}
      return nil
    })
    let task = Task { _ = try await network.fetch(.post("/", .lines(JSONLines(once: elements)))) }
    try await eventually("the second element is awaited") { asked.value == 2 }
    task.cancel()
    _ = try await withTimeLimit { await task.result }
    try await eventually("the sequence is left") { isCancelled.value }
    try await eventually("the connection is closed") { server.openConnectionCount == 0 }
  }

  func test_elementThatCannotBeEncoded_failsTheRequest() async throws {
    let server = try TestServer { _ in .status(204) }
    let values = AsyncStream<Double> { continuation in
      for value in [1, .nan, 2] { continuation.yield(value) }
      continuation.finish()
    }
    do {
      try await withTimeLimit {
        _ = try await Network(Backend(baseURL: server.url)).fetch(.post("/", .lines(JSONLines(once: values))))
      }
      XCTFail("NaN has no JSON")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .encoding)
    }
  }

  func test_repeatableSequence_isSentAgainOnRetry() async throws {
    let server = try TestServer { request in
      request.path == "/old" ? .redirect(to: "/new", status: 307) : .status(204)
    }
    let network = Network(Backend(baseURL: server.url))
    let lines = JSONLines(sequence: {
      AsyncStream<Int> {
        $0.yield(1); $0.finish()
      }
    })
    try await withTimeLimit { _ = try await network.fetch(.post("/old", .lines(lines))) }
    XCTAssertEqual(server.requests.map { String(decoding: $0.body, as: UTF8.self) }, ["1\n", "1\n"])
    do {
      let once = JSONLines(
        once: AsyncStream<Int> {
          $0.yield(1); $0.finish()
        })
      try await withTimeLimit { _ = try await network.fetch(.post("/old", .lines(once))) }
      XCTFail("it exists once")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .redirect)
    }
  }

  func test_stalledSequence_failsTheRequestAtTheElementTimeout() async throws {
    let server = try TestServer { _ in .status(204) }
    var lines = JSONLines(once: AsyncStream<Int> { $0.yield(1) })
    lines.elementTimeout = .seconds(0.05)
    do {
      try await withTimeLimit { [lines] in
        _ = try await Network(Backend(baseURL: server.url)).fetch(.post("/", .lines(lines)))
      }
      XCTFail("the sequence is silent")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .timeout)
    }
  }
}
