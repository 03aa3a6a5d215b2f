import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerInspector
@testable import NetLayerRecording

/// Tests of the events of one page, and of the paths below its secret.
final class PageEventsTests: XCTestCase {
  /// The names of the events of one turn.
  private func names(_ events: inout PageEvents) -> [String]? {
    events.next().map { bytes in
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("event: ") }
        .map { String($0.dropFirst(7)) }
    }
  }

  func test_endOfAFile_followsItsLastCalls() {
    for (count, turns) in [
      (0, [["hello", "end"]]), (1, [["hello", "calls", "end"]]), (500, [["hello", "calls", "end"]]),
      (501, [["hello", "calls", "calls", "end"]]), (2_000, [["hello"] + Array(repeating: "calls", count: 4) + ["end"]]),
      (2_001, [["hello"] + Array(repeating: "calls", count: 4), ["calls", "end"]]),
    ] {
      let entries = (0..<count).map { HAREntry(method: "GET", url: "http://h/\($0)", status: 200) }
      var events = PageEvents(.file(ArchivedCalls(entries), name: "a.har"), session: "s")
      XCTAssertEqual(turns.map { _ in names(&events) }, turns, "\(count)")
      XCTAssertNil(events.next())
    }
  }

  func test_aPageLearnsOfCallsThatItHasNotSeen_butOnlyOfThoseThatALimitRemoved() throws {
    let virtual = VirtualNetwork(.json("7"))
    let recorder = Recorder(maxCalls: 1, clock: virtual.scheduler)
    func call() {
      virtual.note("", virtual.network(recorder).responses(.get("/a")))
      virtual.scheduler.start()
    }
    call()
    recorder.clear()
    var cleared = PageEvents(.recorder(recorder), session: "s")
    XCTAssertEqual(names(&cleared), ["hello"], "nothing was dropped")
    for _ in 1...2 { call() }
    var events = PageEvents(.recorder(recorder), session: "s")
    let first = try XCTUnwrap(events.next().map { String(decoding: $0, as: UTF8.self) })
    XCTAssertTrue(
      first.contains(#"data: {"ids":[],"total":1}"#) || first.contains(#"data: {"total":1,"ids":[]}"#), first)
    XCTAssertEqual(names(&events), [], "without a change")
    call()
    XCTAssertEqual(names(&events), ["drop", "calls"])
    XCTAssertEqual(names(&cleared), ["drop", "calls"])
    recorder.clear()
    XCTAssertEqual(names(&events), ["drop"])
    XCTAssertEqual(names(&events), [])
  }

  func test_onlyThePathsOfThePageHaveContent() async throws {
    let recorder = Recorder()
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: StubTransport { _ in .json("7") }, interceptors: [recorder]))
    try await network.fetch(.get("/a"))
    let page = try Page(Inspector(recorder))
    for path in ["", "/", "calls/1", "har", "search?text=a"] { XCTAssertEqual(try page.get(path).status, 200, path) }
    for path in ["other/1", "calls/2", "calls/", "calls", "calls/x", "Calls/1", "search/1", "clear", "import"] {
      XCTAssertEqual(try page.get(path).status, 404, path)
    }
    let origin = ["Origin": page.origin]
    for path in ["", "events", "har", "calls/1", "search"] {
      XCTAssertEqual(try page.post(path, "", origin).status, 404, "POST \(path)")
    }
    XCTAssertEqual(recorder.entries.count, 1, "a GET clears nothing")
  }
}
