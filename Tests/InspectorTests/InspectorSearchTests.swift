import Foundation
import NetLayer
import NetLayerTesting
import XCTest

@testable import NetLayerInspector
@testable import NetLayerRecording

/// Tests of the search through all calls.
final class InspectorSearchTests: XCTestCase {
  func test_search_readsFieldsBodiesMessagesAndErrors() throws {
    var entries = (0..<10).map { HAREntry(method: "GET", url: "http://h/\($0)", status: 200) }
    entries[0].body = Data("<Code>NoSuchKey</Code>".utf8)
    entries[1].responseHeaders = ["X-Reason": "of type nosuchkey"]
    entries[2].requestBody = .text("{\"find\":\"NOSUCHKEY\"}", type: "application/json")
    entries[3].events = [HAREntry.Event(time: 0, name: "message", id: "", data: "nosuchkey")]
    entries[4].failure = HAREntry.Failure(kind: "connection", reason: "NoSuchKey")
    entries[5].url = "http://h/nosuchkey"
    entries[7].messages = [HAREntry.Message(isSent: true, time: 0, opcode: 1, data: "nosuchkey")]
    // A redirect and its target.
    for index in 8...9 { (entries[index].facts.call, entries[index].facts.attempt) = (1, 1) }
    entries[8].responseHeaders = ["Location": "/nosuchkey"]
    entries[9].requestHeaders = ["nosuchkey": "1"]
    let calls = InspectedCalls.file(ArchivedCalls(entries), name: "a.har")
    XCTAssertEqual(calls.numbers(containing: "noSuchKey"), [1, 2, 3, 4, 5, 6, 8, 9])
    XCTAssertEqual(calls.numbers(containing: "find\":\""), [3])
    XCTAssertEqual(calls.numbers(containing: "nothing"), [])
  }

  func test_search_ofTheRecorder_hasNoSecret() async throws {
    let recorder = Recorder()
    let app = Network(
      Backend(
        baseURL: URL(string: "https://api.example.com"), transport: StubTransport { _ in .json(#"{"title":"Über"}"#) },
        interceptors: [recorder]))
    try await app.fetch(Call(.get, "/a", headers: ["Authorization": "Bearer hunter2"]))
    try await app.fetch(.get("/b"))
    let page = try Page(Inspector(recorder))
    XCTAssertEqual(try page.get("search?text=%C3%9Cber").json([Int].self), [1, 2])
    XCTAssertEqual(try page.get("search?text=hunter2").json([Int].self), [])
    XCTAssertEqual(try page.get("search?text=/b").json([Int].self), [2])
  }
}
