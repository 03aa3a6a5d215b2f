import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerInspector
@testable import NetLayerRecording

/// Tests of what a row and the details of a call contain, and when a page receives them.
final class InspectedCallTests: XCTestCase {
  private struct Feed: Endpoint {
    typealias Output = Int
    let path = "feed"
  }

  // MARK: Calls of a recorder

  func test_rowsOfARecorder_haveEachFact() throws {
    let virtual = VirtualNetwork(
      .response(
        headers: ["Cache-Control": "max-age=60", "Content-Type": "application/json"], body: Data("7".utf8),
        after: .milliseconds(30)))
    let recorder = Recorder(clock: virtual.scheduler)
    let cache = ResponseCache(storingIn: nil, clock: virtual.scheduler)
    let network = virtual.network(CoalescingInterceptor(), CacheInterceptor(cache), recorder)
    let start = virtual.scheduler.now.timeIntervalSince1970 * 1_000
    // Two calls share a response, and the third one is a cache hit.
    for times in [2, 1] {
      for _ in 0..<times { _ = network.request(Feed()).subscribe(onSuccess: { _ in }, onError: { _ in }) }
      virtual.scheduler.advanceBy(100)
    }
    let rows = recorder.entries.map { InspectedCall($0).summary }
    XCTAssertEqual(rows.map(\.id), [1, 2, 3])
    XCTAssertEqual(rows.map { ($0.at - start).rounded() }, [0, 0, 100])
    XCTAssertEqual(rows.map(\.method), ["GET", "GET", "GET"])
    XCTAssertEqual(rows.map(\.url), Array(repeating: "http://h/feed", count: 3))
    XCTAssertEqual(rows.map(\.endpoint), ["Feed", "Feed", "Feed"])
    XCTAssertEqual(rows.map(\.kind), ["json", "json", "json"])
    XCTAssertEqual(rows.map(\.status), [200, 200, 200])
    XCTAssertEqual(rows.map(\.state), ["done", "done", "done"])
    XCTAssertEqual(rows.map(\.error), [nil, nil, nil])
    XCTAssertEqual(rows.map(\.code), [nil, nil, nil])
    XCTAssertEqual(rows.map(\.size), [1, 1, 1])
    XCTAssertEqual(rows.map(\.time), [30, 30, 0])
    XCTAssertEqual(rows.map(\.cache), [nil, nil, "hit"])
    XCTAssertEqual(rows.map(\.shared), [nil, 1, nil])
    XCTAssertEqual(rows.map(\.decode), [0, 0, 0])
    XCTAssertEqual(rows.map(\.attempts.count), [1, 1, 1])
    XCTAssertEqual(rows.first?.attempts.first?.time, 30)
  }

  func test_openCall_hasNoTime() throws {
    let virtual = VirtualNetwork(.never)
    let recorder = Recorder(clock: virtual.scheduler)
    let call = virtual.note("", virtual.network(recorder).responses(.get("/a")))
    virtual.scheduler.advanceBy(5)
    let row = try XCTUnwrap(recorder.entries.map { InspectedCall($0).summary }.first)
    XCTAssertEqual([row.time, row.attempts.first?.time], [nil, nil])
    XCTAssertEqual(row.state, "open")
    XCTAssertEqual(row.status, 0)
    XCTAssertEqual(row.kind, "other")
    call.dispose()
  }

  func test_callThatWasNotSent_hasNoAttempt() throws {
    struct Refusing: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .error(NetworkError(kind: .other, reason: "refused"))
      }
    }
    let virtual = VirtualNetwork(.never)
    let recorder = Recorder(clock: virtual.scheduler)
    virtual.note("", virtual.network(Refusing(), recorder).request(.get("/a")).asObservable())
    virtual.scheduler.start()
    let call = try XCTUnwrap(recorder.entries.map { InspectedCall($0) }.first)
    XCTAssertEqual([call.summary.state, call.summary.error, call.summary.kind], ["failed", "other", "other"])
    XCTAssertEqual([call.summary.status, call.summary.size, call.summary.messages], [0, 0, 0])
    XCTAssertEqual([call.summary.attempts.count, call.detail.attempts.count, call.entries.count], [0, 0, 0])
    XCTAssertEqual(call.detail.error?.reason, "refused")
    XCTAssertEqual(call.detail.responseBody.size, 0)
    XCTAssertNil(call.detail.responseBody.note)
    XCTAssertEqual(call.detail.swift, #"let response = try await network.fetch(Call("GET", "http://h/a"))"#)
    XCTAssertEqual(call.detail.curl?.contains("http://h/a"), true)
  }

  // MARK: Calls of a file

  private func entry(_ attempt: Int, at seconds: Double?, _ change: (inout HAREntry) -> Void = { _ in }) -> HAREntry {
    var entry = HAREntry(method: "GET", url: "http://h/a", status: 200)
    entry.started = seconds.map { Date(timeIntervalSince1970: $0) }
    entry.time = 20
    (entry.facts.call, entry.facts.attempt) = (7, attempt)
    change(&entry)
    return entry
  }

  func test_callOfAFile_hasTheFactsOfItsLastEntry() {
    let first = entry(1, at: 1_000) { $0.facts.endpoint = "Feed" }
    func row(_ change: (inout HAREntry) -> Void) -> [InspectedCall.Summary] {
      ArchivedCalls([first, entry(2, at: 1_000.5, change)]).map(\.summary)
    }
    let done = row {
      ($0.facts.cache, $0.facts.coalesced, $0.facts.decoding, $0.facts.pause) = ("stale", 3, 4, 480)
      ($0.fullCount, $0.body) = (9, Data("12".utf8))
    }
    XCTAssertEqual(done.map(\.at), [1_000_000])
    XCTAssertEqual(done.map(\.endpoint), ["Feed"])
    XCTAssertEqual(done.map(\.cache), ["stale"])
    XCTAssertEqual(done.map(\.shared), [3])
    XCTAssertEqual(done.map(\.decode), [4])
    XCTAssertEqual(done.map(\.time), [524])
    XCTAssertEqual(done.map(\.size), [9])
    XCTAssertEqual(done.map(\.state), ["done"])
    XCTAssertEqual(done.first?.attempts.map(\.at), [0, 500])
    XCTAssertEqual(done.first?.attempts.map(\.pause), [nil, 480])
    XCTAssertEqual(done.first?.attempts.map(\.time), [20, 20])
    for (kind, state) in [("timeout", "failed"), ("cancelled", "cancelled"), ("rejected", "failed")] {
      let failed = row { $0.failure = HAREntry.Failure(kind: kind, code: 4001, reason: "r") }
      XCTAssertEqual(failed.map(\.state), [state])
      XCTAssertEqual(failed.map(\.error), [kind])
      XCTAssertEqual(failed.map(\.code), [kind == "rejected" ? 4001 : nil])
      XCTAssertEqual(failed.first?.attempts.map(\.error), [nil, kind])
    }
  }

  func test_entriesWithoutADate_orWithoutACall_areRows() {
    let loose = [entry(1, at: nil) { $0.facts.call = nil }, entry(1, at: nil) { $0.facts.call = nil }]
    let rows = ArchivedCalls(loose + [entry(1, at: nil)]).map(\.summary)
    XCTAssertEqual(rows.map(\.id), [1, 2, 3])
    XCTAssertEqual(rows.map(\.at), [0, 0, 0], "the start of 1970")
    XCTAssertEqual(rows.map(\.time), [20, 20, 20])
    XCTAssertEqual(rows.map(\.attempts.count), [1, 1, 1])
  }

  func test_redirectsOfAnAttempt_areNotAttempts() throws {
    let call = ArchivedCalls([
      entry(1, at: 1) { ($0.status, $0.url) = (302, "http://h/old") }, entry(1, at: 2) { $0.body = Data("1".utf8) },
      entry(2, at: 3) { $0.status = 500 },
    ])
    let row = try XCTUnwrap(call.first?.summary)
    XCTAssertEqual(call.count, 1)
    XCTAssertEqual(row.redirects, 1)
    XCTAssertEqual(row.attempts.map(\.status), [200, 500])
    XCTAssertEqual(row.attempts.map(\.at), [0, 2_000], "an attempt starts with its first redirect")
    XCTAssertEqual(call.first?.detail.attempts.map(\.url), ["http://h/a", "http://h/a"])
    XCTAssertEqual(call.first?.detail.attempts.map { $0.redirects.map(\.url) }, [["http://h/old"], []])
    XCTAssertEqual(call.first?.entries.map(\.status), [302, 200, 500])
  }

  func test_kindOfARow_isThatOfItsContent() {
    let kinds = [
      ("application/json", "json"), ("application/problem+json; a=b", "json"), ("image/png", "image"),
      ("text/event-stream", "event"), ("text/plain", "other"), (nil, "other"),
    ]
    for (type, kind) in kinds {
      let entry = entry(1, at: 1) { $0.responseHeaders["Content-Type"] = type }
      XCTAssertEqual(ArchivedCalls([entry]).map(\.summary.kind), [kind], "\(type ?? "none")")
    }
    for (resource, kind) in [("websocket", "socket"), ("eventsource", "event"), ("fetch", "other")] {
      XCTAssertEqual(
        ArchivedCalls([entry(1, at: 1) { $0.resourceType = resource }]).map(\.summary.kind), [kind])
    }
  }

  func test_phasesOfARow_haveTheHandshakeApart_andNoneIsNegative() {
    let known = entry(1, at: 1) { entry in
      entry.timings.blocked = 1
      (entry.timings.dns, entry.timings.connect, entry.timings.ssl) = (2, 7, 4)
      (entry.timings.send, entry.timings.wait, entry.timings.receive) = (5, 6, 0.0006)
    }
    let rows = ArchivedCalls([known, entry(2, at: 2)]).map(\.summary)
    XCTAssertEqual(rows.first?.attempts.map(\.phases), [[1, 2, 3, 4, 5, 6, 0.001], [0, 0, 0, 0, 0, 0, 0]])
  }

  func test_ticksOfARow_areTheLastMessages() throws {
    let call = entry(1, at: 10) { entry in
      entry.messages = (0..<70).map { HAREntry.Message(isSent: false, time: 9.95 + Double($0), opcode: 1, data: "") }
    }
    let row = try XCTUnwrap(ArchivedCalls([call]).first?.summary)
    XCTAssertEqual(row.messages, 70)
    XCTAssertEqual(row.ticks.count, 64)
    XCTAssertEqual(row.ticks.first.map { $0.rounded() }, 5_950)
    let early = entry(1, at: 10) { $0.events = [HAREntry.Event(time: 9, name: "", id: "", data: "")] }
    XCTAssertEqual(ArchivedCalls([early]).first?.summary.ticks, [0])
  }

  // MARK: Details

  func test_messagesOfADetail_areThoseOfSocketsAndEvents() {
    let call = entry(1, at: 1) { entry in
      entry.messages = [
        HAREntry.Message(isSent: true, time: 1, opcode: 1, data: "a"),
        HAREntry.Message(isSent: false, time: 2, opcode: 2, data: "YQ=="),
        HAREntry.Message(isSent: false, time: 3, opcode: 2, data: ""),
      ]
      entry.events = [HAREntry.Event(time: 4, name: "tick", id: "5", data: "b")]
    }
    let messages = ArchivedCalls([call]).first?.detail.messages ?? []
    XCTAssertEqual(messages.map(\.sent), [true, false, false, false])
    XCTAssertEqual(messages.map(\.at), [1_000, 2_000, 3_000, 4_000])
    XCTAssertEqual(messages.map(\.name), ["text", "binary", "binary, not recorded", "tick"])
    XCTAssertEqual(messages.map(\.id), [nil, nil, nil, "5"])
    XCTAssertEqual(messages.map(\.data), ["a", "YQ==", "", "b"])
  }

  func test_codeOfADetail_hasOnlyWhatTheRequestHas() {
    func swift(_ change: (inout HAREntry) -> Void) -> String? {
      ArchivedCalls([entry(1, at: 1, change)]).first?.detail.swift
    }
    let start = #"let response = try await network.fetch(Call("GET", "http://h/a""#
    XCTAssertEqual(swift { _ in }, start + "))")
    XCTAssertEqual(swift { $0.requestHeaders = ["A": "b", "C": "d"] }, start + #", headers: ["A": "b", "C": "d"]))"#)
    XCTAssertEqual(swift { $0.requestHeaders = ["content-type": "a/b"] }, start + "))", "a type without a body")
    XCTAssertEqual(
      swift { ($0.requestBody, $0.requestHeaders) = (.unknown, ["Content-Type": "a/b"]) },
      start + #", task: .data(body, contentType: "a/b")))"#)
    XCTAssertEqual(
      swift { $0.requestBody = .digest("00", count: 1, type: "") },
      start + #", task: .data(body, contentType: "application/octet-stream")))"#)
    XCTAssertEqual(
      swift { $0.resourceType = "websocket" },
      #"try await network.withWebSocket(Call("GET", "http://h/a")) { socket in }"#)
  }

  func test_codeOfADetail_hasJSONAsALiteral() {
    func swift(_ text: String, type: String = "application/json", method: String = "POST") -> String? {
      ArchivedCalls([entry(1, at: 1) { ($0.method, $0.requestBody) = (method, .text(text, type: type)) }])
        .first?.detail.swift
    }
    func call(_ arguments: String) -> String { "let response = try await network.fetch(\(arguments))" }
    let text = #"{"a b":"\"é","n":[1,-2.5,1e2,true,null,[],{}],"x":{"y":9007199254740993}}"#
    let literal = #"["a b": "\"é", "n": [1, -2.5, 1e2, true, nil, [], [:]], "x": ["y": 9007199254740993]]"#
    // The literal compiles, and is the same JSON.
    let json: JSON = ["a b": "\"é", "n": [1, -2.5, 1e2, true, nil, [], [:]], "x": ["y": 9_007_199_254_740_993]]
    XCTAssertEqual(json, try JSON(parsing: text))
    XCTAssertEqual(swift(text), call(#".post("http://h/a", json: \#(literal))"#))
    XCTAssertEqual(swift("{}", method: "DELETE"), call(#".delete("http://h/a", json: [:])"#))
    let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
    XCTAssertEqual(swift(deep)?.contains("json: \(deep)"), true)
    for other in ["{", "[\(deep)]", #"{"a":1,"a":2}"#, "123456789012345678901234567890", "1e999", #""\ud800""#] {
      XCTAssertEqual(swift(other)?.contains(".data(Data("), true, other)
    }
    XCTAssertEqual(swift("{}", type: "application/json; charset=utf-8")?.contains(".data("), true)
    XCTAssertEqual(swift("{}", method: "REPORT")?.contains(#"Call("REPORT""#), true)
  }

  func test_aSocketHasNoCurlCommand() throws {
    let detail = try XCTUnwrap(
      ArchivedCalls([entry(1, at: 1) { $0.resourceType = "websocket" }]).first?.detail)
    XCTAssertNil(detail.curl, "curl cannot open one")
  }

  func test_bodiesOfADetail_sayWhatIsNotRecorded() {
    func detail(_ change: (inout HAREntry) -> Void) -> InspectedCall.Detail? {
      ArchivedCalls([entry(1, at: 1, change)]).first?.detail
    }
    let sent: [(HAREntry.SentBody, text: String?, size: Int?, note: String?)] = [
      (.none, nil, 0, nil), (.text("é", type: "a/b"), "é", 2, nil),
      (.digest("ab", count: 5, type: ""), nil, 5, "not text, and thus not recorded; SHA-256 ab"),
      (.unknown, nil, nil, "a file or stream, or not part of the recording"),
    ]
    for (body, text, size, note) in sent {
      let shown = detail { $0.requestBody = body }?.requestBody
      XCTAssertEqual(shown?.text, text)
      XCTAssertEqual(shown?.size, size)
      XCTAssertEqual(shown?.note, note)
    }
    let received: [(Data, full: Int?, missing: String?, note: String?)] = [
      (Data("ab".utf8), nil, nil, nil), (Data("ab".utf8), 2, nil, nil),
      (Data("ab".utf8), 3, nil, "only the first 2 bytes were recorded"),
      (Data(), 3, nil, "not recorded: neither UTF-8 nor an image"), (Data(), 3, "elsewhere", "elsewhere"),
    ]
    for (body, full, missing, note) in received {
      let shown = detail { ($0.body, $0.fullCount, $0.missingBody) = (body, full, missing) }?.responseBody
      XCTAssertEqual(shown?.text, String(decoding: body, as: UTF8.self))
      XCTAssertEqual(shown?.size, full ?? body.count)
      XCTAssertEqual(shown?.note, note)
    }
  }
}
