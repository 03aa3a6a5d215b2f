import XCTest

final class EventsTests: XCTestCase {
  func test_events_resumeAfterTheLastOne_whenTheConnectionEnds() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("events", "-n", "6", "--json", "\(server.url)/events?ms=1")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try result.lines.map { try object($0)["id"] as? String }, ["1", "2", "3", "4", "5", "6"])
    XCTAssertEqual(try object(result.lines[0])["event"] as? String, "like")
    XCTAssertEqual(try object(result.lines[0])["data"] as? String, #"{"n":1}"#)
  }

  func test_events_arePrintedUntilInterrupt() throws {
    let server = try PlayServer()
    let events = try DemoProcess(["events", "--last-event-id=40", "\(server.url)/events"])
    XCTAssertEqual(events.line(), #"comment #41  {"n":41}"#)
    events.interrupt()
    XCTAssertEqual(events.finish().code, 130)
  }

  func test_unreachableServer_isNamedAndRetried() throws {
    let terminal = try Terminal()
    // No server listens on this port.
    let events = try DemoProcess(["events", "http://127.0.0.1:9/events"], terminal: terminal)
    let shown = terminal.text { $0.contains("reconnecting") }
    XCTAssertTrue(shown.contains("could not connect to 127.0.0.1:9"), shown)
    events.interrupt()
    XCTAssertEqual(events.wait(), 130)
  }

  func test_otherContentType_isAnError() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("events", "\(server.url)/cart")
    XCTAssertEqual(result.code, 1)
    XCTAssertTrue(result.errors.contains("text/event-stream"), result.errors)
    XCTAssertEqual(result.lines, [])
  }
}
