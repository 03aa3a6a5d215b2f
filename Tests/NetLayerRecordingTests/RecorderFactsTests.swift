import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerRecording

/// Tests that each fact of a call is written, read, counted and emitted.
final class RecorderFactsTests: XCTestCase {
  private let request = Request(url: URL(string: "http://h/x") ?? URL(filePath: "/"))

  private func noted(
    _ kind: CallEvent.Kind, call: Int = 1, at uptime: Int = 0, keeping limit: Int = 1_000, _ request: Request? = nil,
    _ change: (inout CallEvent) -> Void = { _ in }
  ) -> RecordedCalls.Noted {
    var event = CallEvent(kind, of: CallNumber(value: call, start: .zero), at: .zero, request ?? self.request)
    change(&event)
    return RecordedCalls.Noted(
      event, at: Date(timeIntervalSince1970: Double(uptime)), uptime: .seconds(uptime), keeping: limit)
  }

  private func calls(maxSize: Int = 1 << 20) -> RecordedCalls {
    RecordedCalls(maxCalls: 9, maxSize: maxSize, maxBodySize: 1_000, redaction: .standard)
  }

  // MARK: Files

  func test_everyFieldOfAnEntry_isWrittenAndRead() throws {
    var whole = HAREntry(method: "PATCH", url: "http://h/a?b=c", status: 207)
    whole.started = Date(timeIntervalSince1970: 1_795_544_859.25)
    whole.time = 1.5
    whole.timings.blocked = 2.5
    (whole.timings.dns, whole.timings.connect, whole.timings.ssl) = (3.5, 4.5, 4.25)
    (whole.timings.send, whole.timings.wait, whole.timings.receive) = (5.5, 6.5, 7.5)
    (whole.httpVersion, whole.address, whole.resourceType) = ("HTTP/2", "::1", "xhr")
    (whole.requestHeaders, whole.responseHeaders) = (["A": "b"], ["C": "d", "Content-Type": "e/f"])
    (whole.requestBody, whole.body) = (.text("g", type: "h/i"), Data("j".utf8))
    whole.facts.call = 8
    (whole.facts.attempt, whole.facts.pause, whole.facts.cache, whole.facts.coalesced) = (9, 10.5, "hit", 11)
    (whole.facts.endpoint, whole.facts.decoding) = ("Feed", 12.5)
    func changed(_ change: (inout HAREntry) -> Void) -> HAREntry {
      var entry = whole
      change(&entry)
      return entry
    }
    let entries = [
      whole, changed { $0.fullCount = 5 }, changed { $0.requestBody = .digest("ab", count: 6, type: "x") },
      changed { $0.requestBody = .unknown }, changed { $0.requestBody = .none },
      changed { $0.body = Data([0, 255]) }, changed { $0.facts.cache = "stale" }, changed { $0.facts.cache = nil },
      changed { $0.failure = HAREntry.Failure(kind: "rejected", code: 7, reason: "r") },
      changed { $0.failure = HAREntry.Failure(kind: "rejected", reason: "r") },
      changed { entry in
        (entry.status, entry.body, entry.responseHeaders) = (0, Data(), [:])
        (entry.httpVersion, entry.failure) = ("", HAREntry.Failure(kind: "timeout", code: -1, reason: "late"))
      },
      changed { entry in
        (entry.status, entry.resourceType, entry.body) = (101, "websocket", Data())
        entry.messages = [(true, 1, "a"), (false, 2, "AA==")].map {
          HAREntry.Message(isSent: $0, time: 1_795_544_859.5, opcode: $1, data: $2)
        }
      },
      changed { entry in
        entry.resourceType = "eventsource"
        entry.events = [HAREntry.Event(time: 1_795_544_859.5, name: "n", id: "i", data: "d")]
      },
    ]
    let read = try HARReader.entries(in: HARWriter.archive(entries))
    XCTAssertEqual(read.count, entries.count)
    for (read, entry) in zip(read, entries) { XCTAssertEqual(read, entry) }
  }

  func test_phasesOfMetrics() throws {
    func phases(_ metrics: TransferMetrics, status: Int = 200) -> [Double] {
      let timings = HAREntry.Timings(metrics, hasResponse: status > 0)
      return [
        timings.blocked, timings.dns, timings.connect, timings.ssl, timings.send, timings.wait, timings.receive,
      ].map { ($0 * 1_000).rounded() / 1_000 }
    }
    func ms(_ value: Int) -> Duration { .milliseconds(value) }
    XCTAssertEqual(phases(TransferMetrics(total: ms(9))), [-1, -1, -1, -1, 0, 9, 0])
    // A connection that is reused has no time, and neither has a handshake without TLS.
    XCTAssertEqual(
      phases(TransferMetrics(connect: ms(0), tls: ms(0), firstByte: ms(4), total: ms(9))), [-1, -1, -1, -1, 0, 4, 5])
    XCTAssertEqual(
      phases(TransferMetrics(connect: ms(1), firstByte: ms(4), total: ms(9))), [-1, -1, 1, -1, 0, 3, 5])
    XCTAssertEqual(
      phases(TransferMetrics(connect: ms(0), tls: ms(1), firstByte: ms(4), total: ms(9))), [-1, -1, 1, 1, 0, 3, 5])
    // The body is still being sent when the response arrives.
    XCTAssertEqual(
      phases(TransferMetrics(queued: ms(1), nameLookup: ms(1), send: ms(8), firstByte: ms(4), total: ms(9))),
      [1, 1, -1, -1, 2, 0, 5])
    // A failure has no first byte.
    XCTAssertEqual(
      phases(TransferMetrics(send: ms(1), firstByte: ms(4), total: ms(9)), status: 0), [-1, -1, -1, -1, 1, 8, 0])
  }

  // MARK: Limits

  /// The number of bytes by which a text makes an event or an attempt larger.
  func test_everyTextCounts() throws {
    let text = String(repeating: "é", count: 50)
    func noted(_ change: (inout CallEvent) -> Void) -> Int { self.noted(.event, nil, change).size }
    let empty = noted { _ in }
    XCTAssertEqual(noted { $0.message = .text(text) }, empty + 100)
    XCTAssertEqual(noted { $0.message = .binary(Data(text.utf8)) }, empty + 100)
    XCTAssertEqual(noted { $0.data = Data(text.utf8) }, empty + 100)
    XCTAssertEqual(noted { $0.serverEvent = ServerSentEvent(data: text) }, empty + 100)
    XCTAssertEqual(noted { $0.response = Response(request: request, body: Data(text.utf8)) }, empty + 100)
    let sent = Request(url: request.url, body: .data(Data(text.utf8)))
    XCTAssertEqual(self.noted(.sent, sent).size, empty + 100)

    func attempt(_ change: (inout Recorder.Entry.Attempt) -> Void) -> Int {
      var attempt = Recorder.Entry.Attempt(
        HAREntry(method: "GET", url: "", status: 200), started: Date(), begin: .zero, pause: nil)
      change(&attempt)
      return attempt.size
    }
    let none = attempt { _ in }
    let places: [(inout Recorder.Entry.Attempt) -> Void] = [
      { $0.archived.url = text }, { $0.archived.requestHeaders = ["A": String(text.dropLast()) + "b"] },
      { $0.archived.responseHeaders = ["A": String(text.dropLast()) + "b"] },
      { $0.archived.requestBody = .text(text, type: "") }, { $0.archived.body = Data(text.utf8) },
      { $0.streamed = Data(text.utf8) },
      { $0.archived.messages = [HAREntry.Message(isSent: true, time: 0, opcode: 1, data: text)] },
      { $0.archived.events = [HAREntry.Event(time: 0, name: "", id: "", data: text)] },
    ]
    for (index, place) in places.enumerated() { XCTAssertEqual(attempt(place), none + 100, "place \(index)") }
    let redirect = attempt {
      var redirect = HAREntry(method: "GET", url: text, status: 302)
      redirect.responseHeaders = ["A": String(text.dropLast()) + "b"]
      $0.redirects = [redirect]
    }
    XCTAssertEqual(redirect, none + 512 + 200)
  }

  func test_eventThatWaits_keepsOnlyTheFactsOfItsErrorAndResponse() throws {
    var error = NetworkError(kind: .status, code: 7, message: "words", reason: "r", request: request)
    error.response = Response(request: request, body: Data(count: 9))
    error.metrics = TransferMetrics(total: .seconds(1))
    let kept = try XCTUnwrap(noted(.finished) { $0.error = error }.event.error)
    XCTAssertEqual([kept.kind.rawValue, "\(kept.code)", kept.message, kept.reason], ["status", "7", "", "r"])
    XCTAssertEqual(kept.metrics?.total, .seconds(1))
    XCTAssertNil(kept.request)
    XCTAssertNil(kept.response)
    let sent = Request(url: request.url, body: .data(Data(count: 9)))
    for (kind, count) in [(CallEvent.Kind.sent, 9), (.received, 9), (.started, 0), (.finished, 0)] {
      XCTAssertEqual(noted(kind, sent).event.request.body.byteCount ?? 0, Int64(count), "\(kind)")
      XCTAssertEqual(noted(kind, keeping: 8, sent).event.request.body.byteCount ?? 0, 0, "\(kind)")
    }
    XCTAssertEqual([8, 9].map { noted(.sent, keeping: $0, sent).hidesBody }, [true, false])
  }

  func test_openCallThatGrows_dropsItsFormerHalf() throws {
    func open(_ calls: inout RecordedCalls) {
      calls.apply(noted(.started))
      calls.apply(noted(.sent))
      calls.apply(noted(.head) { $0.response = Response(request: request) })
    }
    let text = String(repeating: "a", count: 900)
    // The bytes of a stream are dropped as a whole.
    var calls = calls(maxSize: 2_000)
    open(&calls)
    calls.apply(noted(.chunk) { $0.data = Data(text.utf8) })
    XCTAssertEqual(calls.all.first?.attempts.first?.streamed?.count, 900)
    calls.apply(noted(.chunk) { $0.data = Data(text.utf8) })
    XCTAssertEqual(calls.all.first?.attempts.first?.streamed, Data())
    XCTAssertEqual(calls.all.first?.attempts.first?.bodySize, 1_800)
    // Messages and events lose the older half each.
    calls = self.calls(maxSize: 4_200)
    open(&calls)
    for number in 1...4 {
      let event = ServerSentEvent(id: "\(number)", data: text)
      calls.apply(noted(.event) { $0.serverEvent = event })
    }
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.events.map(\.id), ["3", "4"])
    calls.apply(noted(.messageReceived) { $0.message = .text(text) })
    calls.apply(noted(.messageReceived) { $0.message = .text(text) })
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.events.map(\.id), ["4"])
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.messages.count, 1)
    // Attempts are dropped when nothing else is left.
    calls = self.calls(maxSize: 3_000)
    calls.apply(noted(.started))
    for _ in 1...5 { calls.apply(noted(.sent)) }
    XCTAssertEqual(calls.all.first?.attempts.count, 3, "the newer half")
  }

  func test_clear_removesWhatHasEnded_andItsCount() {
    var calls = RecordedCalls(maxCalls: 2, maxSize: 1 << 20, maxBodySize: 10, redaction: .standard)
    for call in 1...4 { calls.apply(noted(.started, call: call)) }
    for call in [1, 2, 3] {
      calls.apply(noted(.failed, call: call) { $0.error = NetworkError(kind: .timeout, reason: "") })
    }
    calls.skip(5)
    calls.skip(0)
    XCTAssertEqual(calls.all.map(\.number), [3, 4])
    XCTAssertEqual(calls.dropped, 7)
    calls.clear()
    XCTAssertEqual(calls.all.map(\.number), [4])
    XCTAssertEqual(calls.dropped, 0)
    XCTAssertNil(calls[3])
    XCTAssertEqual(calls[4]?.state, .open)
  }

  func test_changes_areThoseAfterARevision() {
    var calls = calls()
    var last = Recorder.Revision()
    func next() -> [[Int]?] {
      let changes = calls.changes(since: last)
      last = changes.revision
      return [changes.entries.map(\.number), changes.numbers?.sorted()]
    }
    XCTAssertEqual(next(), [[], nil])
    for call in 1...2 { calls.apply(noted(.started, call: call)) }
    XCTAssertEqual(next(), [[1, 2], nil])
    calls.apply(noted(.sent, call: 2))
    XCTAssertEqual(next(), [[2], nil])
    XCTAssertEqual(next(), [[], nil])
    calls.apply(noted(.cancelled, call: 1))
    calls.clear()
    XCTAssertEqual(next(), [[], [2]])
    calls.skip(1)
    XCTAssertEqual(next(), [[], [2]], "the number of calls that are missing")
    XCTAssertEqual(next(), [[], nil])
  }

  // MARK: Calls

  func test_callHasTheTimesOfItsEvents() throws {
    var calls = calls()
    calls.apply(noted(.started, at: 1) { $0.endpoint = Int.self })
    calls.apply(noted(.pause, at: 2) { $0.duration = .seconds(7) })
    calls.apply(noted(.sent, at: 3))
    calls.apply(noted(.finished, at: 5) { $0.response = Response(request: request, body: Data("ab".utf8)) })
    calls.apply(noted(.received, at: 6) { $0.response = Response(request: request) })
    for seconds in [2, 3] { calls.apply(noted(.decoded, at: 7) { $0.duration = .seconds(seconds) }) }
    let entry = try XCTUnwrap(calls.all.first)
    XCTAssertEqual(entry.started.timeIntervalSince1970, 1)
    XCTAssertEqual(entry.duration, .seconds(5))
    XCTAssertEqual(entry.endpoint, "Int")
    XCTAssertEqual(entry.decoding, .seconds(5))
    XCTAssertEqual(entry.state, .done)
    let attempt = try XCTUnwrap(entry.attempts.first)
    XCTAssertEqual(attempt.started.timeIntervalSince1970, 3)
    XCTAssertEqual(attempt.duration, .seconds(2))
    XCTAssertEqual(attempt.pause, .seconds(7))
    XCTAssertEqual(attempt.bodySize, 2)
    XCTAssertEqual(attempt.archived.time, 2_000)
    XCTAssertEqual(attempt.archived.timings.wait, 2_000)
    XCTAssertEqual(entry.archived.map(\.facts.pause), [7_000])
    XCTAssertEqual(entry.archived.map(\.facts.decoding), [5_000])
  }

  func test_archiveOfACall_hasItsFactsInTheLastEntry() throws {
    var calls = calls()
    calls.apply(noted(.started, call: 5))
    calls.apply(noted(.started, call: 6) { $0.endpoint = Int.self })
    for _ in 1...2 { calls.apply(noted(.sent, call: 6)) }
    var stored = Response(request: request)
    stored.source = .cache(age: .seconds(9), isStale: true)
    calls.apply(noted(.received, call: 6) { ($0.response, $0.sharedFrom) = (stored, 5) })
    calls.apply(noted(.decoded, call: 6) { $0.duration = .seconds(1) })
    calls.apply(noted(.failed, call: 6) { $0.error = NetworkError(kind: .parse, code: 3, reason: "r") })
    let facts = try XCTUnwrap(calls.all.last).archived.map(\.facts)
    XCTAssertEqual(facts.map(\.call), [2, 2])
    XCTAssertEqual(facts.map(\.attempt), [1, 2])
    XCTAssertEqual(facts.map(\.endpoint), ["Int", "Int"])
    XCTAssertEqual(facts.map(\.cache), [nil, "stale"])
    XCTAssertEqual(facts.map(\.coalesced), [nil, 1])
    XCTAssertEqual(facts.map(\.decoding), [nil, 1_000])
    let failures = try XCTUnwrap(calls.all.last).archived.map(\.failure)
    XCTAssertEqual(failures, [nil, HAREntry.Failure(kind: "parse", code: 3, reason: "r")])
  }

  func test_socketThatFails_hasItsErrorAndItsMessages() throws {
    var calls = calls()
    calls.apply(noted(.started))
    calls.apply(noted(.sent))
    calls.apply(noted(.head) { $0.response = Response(request: request, status: 101, headers: ["A": "b"]) })
    for number in 0..<201 { calls.apply(noted(.messageReceived, at: number) { $0.message = .text("\(number)") }) }
    XCTAssertEqual(calls.all.first?.state, .open)
    calls.apply(
      noted(.closed, at: 300) { $0.error = NetworkError(kind: .connection, code: 5, reason: "token=s3cr3t") })
    let entry = try XCTUnwrap(calls.all.first), attempt = try XCTUnwrap(entry.attempts.first)
    XCTAssertEqual(entry.state, .failed)
    XCTAssertEqual(attempt.failure, Recorder.Entry.Failure(kind: .connection, code: 5, reason: "token=***"))
    XCTAssertEqual(attempt.duration, .seconds(300))
    XCTAssertEqual([attempt.status, attempt.archived.messages.count], [101, 200])
    XCTAssertEqual(attempt.archived.messages.first?.data, "1")
    XCTAssertEqual(attempt.archived.messages.first?.time, 1)
    XCTAssertEqual(attempt.archived.resourceType, "websocket")
    XCTAssertEqual(attempt.responseHeaders["A"], "b")
    XCTAssertTrue(attempt.isSocket)
  }

  func test_streamThatFails_keepsItsBody_andACallWithoutAResponseItsRequest() throws {
    let lost = NetworkError(kind: .connection, code: 5, reason: "lost")
    var calls = calls()
    let sent = Request(method: .post, url: request.url, body: .data(Data("b".utf8)))
    for call in 1...2 {
      calls.apply(noted(.started, call: call, sent))
      calls.apply(noted(.sent, call: call, sent))
      if call == 1 {
        calls.apply(noted(.head, call: call) { $0.response = Response(request: sent, status: 206) })
        calls.apply(noted(.received, call: call) { $0.response = Response(request: sent, status: 206) })
        calls.apply(noted(.chunk, call: call) { $0.data = Data("abc".utf8) })
        XCTAssertEqual(calls.all.first?.state, .open)
      }
      calls.apply(noted(.finished, call: call, at: 4) { $0.error = lost })
      if call == 2 { calls.apply(noted(.failed, call: call, at: 4) { $0.error = lost }) }
    }
    XCTAssertEqual(calls.all.map(\.state), [.failed, .failed])
    XCTAssertEqual(calls.all.map(\.failure?.reason), ["lost", "lost"])
    XCTAssertEqual(calls.all.map(\.duration), [.seconds(4), .seconds(4)])
    let attempts = calls.all.compactMap(\.attempts.first)
    XCTAssertEqual(attempts.map(\.status), [206, nil])
    XCTAssertEqual(attempts.map(\.responseBody), [Data("abc".utf8), Data()])
    XCTAssertEqual(attempts.map(\.requestBody), ["b", "b"])
    XCTAssertEqual(attempts.map(\.archived.failure?.reason), ["lost", "lost"])
    XCTAssertEqual(attempts.map(\.streamed), [nil, nil])
  }

  // MARK: Updates

  func test_updatesAreAtMostTenASecond_andCostNothingWithoutASubscriber() throws {
    let scheduler = TestScheduler(resolution: .milliseconds(1))
    let recorder = Recorder(clock: scheduler)
    func start(_ call: Int) {
      recorder.observe(CallEvent(.started, of: CallNumber(value: call, start: .zero), at: .zero, request))
    }
    start(1)
    scheduler.start()
    XCTAssertEqual(scheduler.clock, 0, "nothing is scheduled")
    let notes = Notes()
    let subscription = recorder.updates.subscribe(onNext: { entries in
      notes.add("\(scheduler.clock): \(entries.map(\.number))")
    })
    for (call, time) in [(2, 0), (3, 50), (4, 120), (5, 130)] {
      scheduler.advanceTo(time)
      start(call)
    }
    scheduler.start()
    XCTAssertEqual(notes.all, ["0: [1]", "100: [2, 3]", "220: [4, 5]"])
    subscription.dispose()
    start(6)
    scheduler.start()
    XCTAssertEqual(scheduler.clock, 220)
    let empty = Notes()
    _ = Recorder(clock: scheduler).updates.subscribe(onNext: { empty.add("\($0.count)") })
    XCTAssertEqual(empty.all, ["0"], "a recorder without calls emits, too")
  }
}
