import Foundation
import LoopbackServer
import NetLayer
import NetLayerInspector
import NetLayerRecording
import NetLayerTesting
import Streams
import XCTest

/// Runs the samples of the guide on recording calls.
final class RecordingSamples: XCTestCase {
  func test_recording() async throws {
    let count = Locked(0)
    let server = try TestServer { _ in
      count.withLock {
        $0 += 1; return $0
      } == 1 ? .status(503).header("Retry-After", "0") : .json("{}")
    }
    let recorder = Recorder()
    let app = Network(Backend(baseURL: server.url, interceptors: [RetryInterceptor(), recorder]))

    let feed = try await app.fetch(.get("/feed?token=secret"), as: Data.self)

    for call in recorder.entries {
      print(call.number, call.method, call.url.suffix(15), call.attempts.compactMap(\.status), call.state)
    }
    XCTAssertEqual(feed, Data("{}".utf8))
    try assertPrinted(asIn: "SeeEveryCall", 0)

    let file = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    let inspector = try Inspector(recorder)
    print(inspector.url)

    XCTAssertEqual(Printed.take(), ["\(inspector.url)"])
    try recorder.write(to: file)

    let stub = try StubTransport(har: file)
    let replayed = Network(Backend(baseURL: server.url, transport: stub, interceptors: [RetryInterceptor()]))
    let again = try await replayed.fetch(.get("/feed?token=other"), as: Data.self)
    XCTAssertEqual(again, feed)
  }
}
