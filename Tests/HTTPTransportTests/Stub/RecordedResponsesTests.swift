import Foundation
import HTTPTransport
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayerRecording
@testable import NetLayerTesting

/// Tests of the matching of requests with recorded ones, and of the responses that a recording contains.
final class RecordedResponsesTests: XCTestCase {
  private func entry(_ url: String, _ body: String = "1", _ change: (inout HAREntry) -> Void = { _ in }) -> HAREntry {
    var entry = HAREntry(method: "GET", url: url, status: 200)
    entry.body = Data(body.utf8)
    change(&entry)
    return entry
  }

  /// Returns the body of the response, or the error.
  private func outcome(
    _ url: String, _ entries: [HAREntry], redaction: Redaction = .inherited, method: HTTPMethod = .get
  ) throws -> String {
    let recorded = try RecordedResponses(entries, of: URL(filePath: "/a.har"), redaction: redaction)
    let request = Request(method: method, url: try XCTUnwrap(URL(string: url)))
    switch recorded.next(for: request)?.result(request) {
    case .success(let response)?: return String(decoding: response.body, as: UTF8.self)
    case .failure(let error)?: return "\(error.kind): \(error.reason)"
    case nil: return "none"
    }
  }

  func test_pathOfABrowser_isThatOfARequestWithoutOne() throws {
    for (recorded, sent, isSame) in [
      ("http://h/", "http://h", true), ("http://h", "http://h/", true), ("http://h", "http://h", true),
      ("http://h/?a=1", "http://h?a=1", true), ("http://h?a=1", "http://h/?a=1", true),
      ("http://u@h:80/", "http://u@h:80", true), ("http://h/?a=1", "http://h?a=2", false),
      ("http://h/", "http://i", false),
      ("http://h/?a=http://i", "http://h?a=http://i", true), ("http://h/#a", "http://h#b", true),
      ("http://h/a", "http://h/a#b", true), ("http://h/a", "http://h/a/", false), ("https://h/", "http://h/", false),
      ("ws://h/a", "http://h/a", true), ("https://h/a", "wss://h/a", true), ("ws://h/a", "https://h/a", false),
    ] {
      XCTAssertEqual(try outcome(sent, [entry(recorded)]), isSame ? "1" : "none", "\(recorded) \(sent)")
    }
    XCTAssertEqual(try outcome("http://h/", [entry("http://h/")], method: .head), "none")
  }

  func test_onlyAWholeBody_isReplayed() throws {
    for (full, text) in [
      (nil, "12"), (2, "12"), (1, "12"),
      (3, "file: the recording has only 2 of the 3 bytes of the response to http://h/a"),
    ] {
      XCTAssertEqual(try outcome("http://h/a", [entry("http://h/a", "12") { $0.fullCount = full }]), text)
    }
    XCTAssertThrowsError(try outcome("http://h/a", [entry("http://h/a") { $0.missingBody = "elsewhere" }])) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssertEqual((error as? NetworkError)?.reason, "the HAR file /a.har can't be replayed: elsewhere")
    }
  }

  func test_failures_areReplayed_unlessTheResponseIsThere() throws {
    func failed(_ kind: String?, status: Int) -> HAREntry {
      entry("http://h/a") { entry in
        entry.status = status
        entry.failure = kind.map { HAREntry.Failure(kind: $0, reason: "r") }
      }
    }
    for (kind, status, text) in [
      ("timeout", 0, "timeout: r"), (nil, 0, "connection: recorded failure"), ("connection", 200, "connection: r"),
      ("rejected", 200, "1"), (nil, 200, "1"),
    ] {
      XCTAssertEqual(try outcome("http://h/a", [failed(kind, status: status)]), text)
    }
  }

  func test_redirects_areFollowedToRecordedRequestsOnly() throws {
    let first = entry("http://h/a", "old") { ($0.status, $0.responseHeaders) = (302, ["Location": "/b"]) }
    let second = entry("http://h/b", "old") { ($0.status, $0.responseHeaders) = (302, ["Location": "/c"]) }
    XCTAssertEqual(try outcome("http://h/a", [first]), "old", "its target is not recorded")
    XCTAssertEqual(try outcome("http://h/a", [first, second, entry("http://h/c", "new")]), "new")
    let loop = entry("http://h/c", "old") { ($0.status, $0.responseHeaders) = (302, ["Location": "/a"]) }
    XCTAssertTrue(try outcome("http://h/a", [first, second, loop]).contains("redirect"))
  }

  func test_secretsOfARecording_areNeitherComparedNorReplayed() throws {
    let own = Redaction.standard.hiding(["shopper"])
    let recorded = entry("http://h/a?shopper=zoe&token=x", #"{"shopper":"zoe","token":"x","n":1}"#) {
      $0.responseHeaders = ["X-Shopper": "zoe", "Set-Cookie": "a=zoe", "Shopper": "zoe"]
    }
    XCTAssertEqual(
      try outcome("http://h/a?shopper=ann&token=y", [recorded], redaction: own),
      #"{"shopper":"***","token":"***","n":1}"#)
    XCTAssertEqual(try outcome("http://h/a?shopper=ann&token=y", [recorded]), "none")
    XCTAssertEqual(
      try outcome("http://h/a?shopper=zoe&token=y", [recorded]), #"{"shopper":"zoe","token":"***","n":1}"#)
    XCTAssertEqual(
      try outcome("http://h/a?shopper=zoe&token=x", [recorded], redaction: .none),
      #"{"shopper":"zoe","token":"x","n":1}"#)
  }

  func test_aRecordingOfAnotherProgram_hasWhatTheBackendHides() throws {
    let recorded = try RecordedResponses(
      [entry("http://h/a?shopper=zoe&token=x")], of: URL(filePath: "/a.har"), redaction: .inherited)
    for (url, isSame) in [("http://h/a?shopper=zoe&token=y", true), ("http://h/a?shopper=ann&token=x", false)] {
      var request = Request(url: try XCTUnwrap(URL(string: url)))
      request.options.redaction = .standard.hiding(["shopper"])
      XCTAssertEqual(recorded.contains(request), isSame, url)
    }
  }

  /// Connects to the recorded socket and returns its events.
  private func events(_ entry: HAREntry) throws -> [String] {
    let scheduler = TestScheduler()
    let recorded = try RecordedResponses([entry], of: URL(filePath: "/a.har"), redaction: .inherited)
    let stub = StubTransport(on: scheduler) { recorded.next(for: $0) }
    let notes = Notes()
    _ = stub.connect(
      Request(url: try XCTUnwrap(URL(string: "https://h/room"))), options: WebSocketOptions(),
      receiver: WebSocketReceiver(
        response: { notes.add("\($0.status) \($0.headers["A"] ?? "")") },
        message: { message in
          switch message {
          case .text(let text): notes.add("text \(text)")
          case .binary(let bytes): notes.add("binary \(Array(bytes))")
          }
          return .continue
        },
        closed: { result in
          if case .failure(let error) = result { notes.add("\(error.kind)") } else { notes.add("closed") }
        }))
    scheduler.start()
    return notes.all
  }

  func test_socketOfARecording_deliversItsReceivedMessages() throws {
    let messages = [
      (false, 1, "a"), (true, 1, "sent"), (false, 2, "AAE="), (false, 2, "no base64"), (false, 8, "closed"),
      (false, 1, "b"),
    ].map { HAREntry.Message(isSent: $0, time: 0, opcode: $1, data: $2) }
    let socket = entry("wss://h/room", "") {
      ($0.status, $0.resourceType, $0.messages, $0.responseHeaders) = (101, "websocket", messages, ["A": "b"])
    }
    XCTAssertEqual(try events(socket), ["101 b", "text a", "binary [0, 1]", "text b"])
    for (status, type) in [(403, "websocket"), (200, "fetch")] {
      let refused = entry("wss://h/room") { ($0.status, $0.resourceType, $0.messages) = (status, type, messages) }
      XCTAssertEqual(try events(refused), ["\(status) ", "status"])
    }
  }
}
