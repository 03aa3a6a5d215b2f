import Streams
import StreamsTesting
import XCTest

final class DebugTests: StreamsTestCase {
  func test_debugPrintsEvents() {
    let lines = Log<String>()
    _ = Observable.just(1).debug("x", print: { lines.add($0) }).subscribe()
    XCTAssertEqual(lines.all, ["x -> subscribed", "x -> next(1)", "x -> completed", "x -> disposed"])
    let failing = Log<String>()
    _ = Observable<Int>.error(TestError()).debug(print: { failing.add($0) }).subscribe(onError: { _ in })
    XCTAssertTrue(failing.all[0].hasPrefix("StreamsTests/DebugTests.swift:"), failing.all[0])
    XCTAssertTrue(failing.all[1].hasSuffix("-> error(TestError(name: \"#\"))"), failing.all[1])
  }
}
