import Foundation
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class ServerSentEventParserTests: XCTestCase {
  private func events(_ text: String, fragments: Int = .max, lastID: String = "") throws -> [ServerSentEvent] {
    var parser = ServerSentEventParser(lastID: lastID)
    var events: [ServerSentEvent] = []
    var rest = Data(text.utf8)
    while !rest.isEmpty {
      let fragment = rest.prefix(fragments)
      try parser.feed(Data(fragment)) { events.append($0) }
      rest = rest.dropFirst(fragment.count)
    }
    return events
  }

  /// The examples of the HTML standard, §9.2.6, and edge cases.
  private let cases: [(String, [ServerSentEvent])] = [
    ("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
    (
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      [.init(id: "1", data: "first event"), .init(data: "second event"), .init(data: " third event")]
    ),
    ("data\n\ndata\ndata\n\ndata:", [.init(data: ""), .init(data: "\n")]),
    ("data:test\n\ndata: test\n\n", [.init(data: "test"), .init(data: "test")]),
    ("event: add\ndata: 73\n\nevent: remove\n\ndata: x\n\n", [.init(event: "add", data: "73"), .init(data: "x")]),
    ("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [.init(data: "a"), .init(data: "b"), .init(data: "c")]),
    ("data: a\r\ndata: b\r\n\r\n", [.init(data: "a\nb")]),
    ("\u{FEFF}data: bom\n\n\u{FEFF}data: not the first\n\n", [.init(data: "bom")]),
    ("id: 7\n\ndata: later\n\n", [.init(id: "7", data: "later")]),
    ("id: a\0b\ndata: x\n\n", [.init(data: "x")]),
    ("foo: bar\n: comment\ndata: é漢\n\n", [.init(data: "é漢")]),
    ("data: cut off\n", []),
    ("DATA: x\n\n", []),
    ("data: {\"a\": 1}\n\n", [.init(data: "{\"a\": 1}")]),
  ]

  func test_events_areParsedAsInTheStandard() throws {
    for (text, expected) in cases { XCTAssertEqual(try events(text), expected, text.debugDescription) }
  }

  func test_events_areIndependentOfChunkSizes() throws {
    for (text, expected) in cases {
      for size in 1...7 {
        XCTAssertEqual(try events(text, fragments: size), expected, "\(text.debugDescription) by \(size)")
      }
    }
  }

  func test_lastID_isThatOfTheLastEmittedEvent() throws {
    var parser = ServerSentEventParser(lastID: "3")
    XCTAssertEqual(parser.lastID, "3")
    try parser.feed(Data("id: 4\ndata: x\n".utf8)) { _ in }
    XCTAssertEqual(parser.lastID, "3", "the event has not ended")
    try parser.feed(Data("\n".utf8)) { XCTAssertEqual($0.id, "4") }
    XCTAssertEqual(parser.lastID, "4")
  }

  func test_retry_isMillisecondsInDigits() throws {
    var parser = ServerSentEventParser()
    for (value, expected) in [
      ("1500", 1500), ("-1", 1500), ("1.5", 1500), ("", 1500), ("0", 0), ("99999999999999999999", 0),
    ] {
      try parser.feed(Data("retry: \(value)\n".utf8)) { _ in }
      XCTAssertEqual(parser.retry, .milliseconds(expected), value)
    }
  }

  func test_endlessEvent_isAnError_withBoundedMemory() {
    var parser = ServerSentEventParser(limit: 1000)
    XCTAssertThrowsError(try parser.feed(Data(("data: " + String(repeating: "x", count: 1000)).utf8)) { _ in })
    parser = ServerSentEventParser(limit: 1000)
    XCTAssertThrowsError(
      try parser.feed(Data(String(repeating: "data: xxxxxxxxx\n", count: 1000).utf8)) { _ in })
  }

  func test_jsonLines_endWithLineFeeds_exceptTheLast() throws {
    var parser = LineParser(.lineFeed, limit: 100)
    var lines: [String] = []
    for fragment in ["\u{FEFF}{\"a\"", ":1}\r\n\n", "[2", "]\n3"] {
      try parser.feed(Data(fragment.utf8)) { lines.append(String(decoding: $0, as: UTF8.self)) }
    }
    parser.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
    parser.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
    XCTAssertEqual(lines, ["{\"a\":1}", "", "[2]", "3"])
  }
}
