import Foundation
import Streams
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerRecording

/// The memory of a recorder and of an archive that is read has a limit, whatever the shape of the calls.
final class RecorderLimitTests: XCTestCase {
  private let request = Request(url: URL(string: "http://h/x") ?? URL(filePath: "/"))

  private func event(_ kind: CallEvent.Kind, call: Int = 1, _ change: (inout CallEvent) -> Void = { _ in }) -> CallEvent
  {
    var event = CallEvent(kind, of: CallNumber(value: call, start: .zero), at: .zero, request)
    change(&event)
    return event
  }

  private func noted(_ event: CallEvent, keeping limit: Int = 1000) -> RecordedCalls.Noted {
    RecordedCalls.Noted(event, at: Date(), uptime: .zero, keeping: limit)
  }

  func test_nothingIsKeptOfCallsThatAreSkipped() {
    XCTAssertEqual([Recorder.Pending.maxSize, Recorder.Pending.maxCount], [16 << 20, 4_096])
    var pending = Recorder.Pending()
    pending.size = Recorder.Pending.maxSize + 1
    XCTAssertFalse(pending.accepts(event(.started)))
    for kind in [CallEvent.Kind.sent, .finished, .received] { XCTAssertFalse(pending.accepts(event(kind)), "\(kind)") }
    XCTAssertEqual(pending.skipped, 1)
    XCTAssertEqual(pending.skippedCalls, [], "the call has its result")
    // A call that was accepted keeps its results.
    XCTAssertTrue(pending.accepts(event(.received, call: 2)))
    XCTAssertFalse(pending.accepts(event(.chunk, call: 2)))
    pending.size = 0
    XCTAssertTrue(pending.accepts(event(.started, call: 3)))
  }

  func test_eventsThatWereProcessed_doNotCount() {
    let recorder = Recorder(maxBodySize: 1 << 20)
    // Events of a call that is not recorded, 20 MB in all.
    for _ in 0..<20 {
      recorder.observe(event(.chunk, call: 99) { $0.data = Data(count: 1 << 20) })
      XCTAssertEqual(recorder.entries.count, 0)
    }
    recorder.observe(event(.started))
    XCTAssertEqual(recorder.entries.count, 1)
    XCTAssertEqual(recorder.dropped, 0)
  }

  func test_theStartOfABody_doesNotKeepTheWholeOne() throws {
    let body = Data(repeating: 65, count: 1 << 20)
    for kind in [CallEvent.Kind.finished, .chunk] {
      let noted = noted(
        event(kind) {
          if kind == .chunk {
            $0.data = body
          } else {
            $0.response = Response(request: request, status: 200, body: body)
          }
        })
      let kept = try XCTUnwrap(kind == .chunk ? noted.event.data : noted.event.response?.body)
      XCTAssertEqual(kept.count, 1000)
      let isShared = body.withUnsafeBytes { all in kept.withUnsafeBytes { $0.baseAddress == all.baseAddress } }
      XCTAssertFalse(isShared, "\(kind)")
      XCTAssertEqual(noted.bodySize, 1 << 20)
      XCTAssertGreaterThanOrEqual(noted.size, 1000)
    }
  }

  func test_openStreams_areKeptWithinTheLimit() {
    var calls = RecordedCalls(maxCalls: 100, maxSize: 50_000, maxBodySize: 1000, redaction: .standard)
    for call in 1...20 {
      calls.apply(noted(event(.started, call: call)))
      calls.apply(noted(event(.sent, call: call)))
      calls.apply(noted(event(.head, call: call) { $0.response = Response(request: request, status: 200) }))
    }
    let text = String(repeating: "a", count: 900)
    for round in 0..<50 {
      for call in 1...20 {
        calls.apply(
          noted(event(.event, call: call) { $0.serverEvent = ServerSentEvent(id: "\(round)", data: text) }))
        XCTAssertLessThanOrEqual(calls.all.reduce(0) { $0 + $1.size }, 50_000)
      }
    }
    XCTAssertEqual(calls.all.count, 20, "open calls stay")
    XCTAssertEqual(calls.all.last?.attempts.first?.archived.events.last?.id, "49", "the last event stays")
  }

  func test_callsThatEnd_leaveInTheirOrder_andOpenOnesStay() {
    var calls = RecordedCalls(maxCalls: 3, maxSize: .max, maxBodySize: 10, redaction: .standard)
    for call in 1...6 { calls.apply(noted(event(.started, call: call))) }
    XCTAssertEqual(calls.all.map(\.number), [1, 2, 3, 4, 5, 6], "all are open")
    for call in [4, 2, 6, 5] {
      calls.apply(noted(event(.failed, call: call) { $0.error = NetworkError(kind: .timeout, reason: "") }))
    }
    XCTAssertEqual(calls.all.map(\.number), [1, 3, 5])
    XCTAssertEqual(calls.dropped, 3)
  }

  func test_streamedBody_isKeptUpToItsLimit_andItsSizeIsThatOfAll() {
    var calls = RecordedCalls(maxCalls: 3, maxSize: .max, maxBodySize: 10, redaction: .standard)
    for kind in [CallEvent.Kind.started, .sent] { calls.apply(noted(event(kind))) }
    calls.apply(noted(event(.head) { $0.response = Response(request: request, status: 200) }))
    for (chunks, kept) in [(1, 4), (2, 8), (3, 10), (4, 10)] {
      calls.apply(noted(event(.chunk) { $0.data = Data("abcd".utf8) }))
      XCTAssertEqual(calls.all.first?.attempts.first?.streamed?.count, kept, "\(chunks) chunks")
    }
    calls.apply(noted(event(.finished) { $0.response = Response(request: request, status: 200) }))
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.body, Data("abcdabcdab".utf8))
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.fullCount, 16)
  }

  func test_bodyThatIsNotKept_hasItsSize() {
    let bytes = Data([0xFF, 0, 0xFE])
    for (type, kept) in [("application/octet-stream", 3), ("application/x-own", 0)] {
      var calls = RecordedCalls(maxCalls: 3, maxSize: .max, maxBodySize: 10, redaction: .standard)
      for kind in [CallEvent.Kind.started, .sent] { calls.apply(noted(event(kind))) }
      let response = Response(request: request, status: 200, headers: ["Content-Type": type], body: bytes)
      calls.apply(noted(event(.finished) { $0.response = response }))
      XCTAssertEqual(calls.all.first?.attempts.first?.archived.body.count, kept, type)
      XCTAssertEqual(calls.all.first?.attempts.first?.archived.fullCount, kept == 3 ? nil : 3, type)
    }
  }

  func test_callsThatWereCleared_areNotDroppedAgain() {
    var calls = RecordedCalls(maxCalls: 2, maxSize: .max, maxBodySize: 10, redaction: .standard)
    func end(_ numbers: Range<Int>) {
      for call in numbers {
        calls.apply(noted(event(.started, call: call)))
        calls.apply(noted(event(.failed, call: call) { $0.error = NetworkError(kind: .timeout, reason: "") }))
      }
    }
    end(1..<3)
    calls.clear()
    end(3..<6)
    XCTAssertEqual(calls.all.map(\.number), [4, 5])
    XCTAssertEqual(calls.dropped, 1)
  }

  /// Returns a recording with one open stream.
  private func stream(maxSize: Int = .max, maxBodySize: Int = 10) -> RecordedCalls {
    var calls = RecordedCalls(maxCalls: 3, maxSize: maxSize, maxBodySize: maxBodySize, redaction: .standard)
    for kind in [CallEvent.Kind.started, .sent] { calls.apply(noted(event(kind))) }
    calls.apply(noted(event(.head) { $0.response = Response(request: request, status: 200) }))
    return calls
  }

  func test_bodyThatIsCutInsideACharacter_isKeptUpToIt() {
    var calls = RecordedCalls(maxCalls: 3, maxSize: .max, maxBodySize: 10, redaction: .standard)
    for kind in [CallEvent.Kind.started, .sent] { calls.apply(noted(event(kind))) }
    let body = Data("123456789é and more".utf8)
    calls.apply(noted(event(.finished) { $0.response = Response(request: request, status: 200, body: body) }))
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.body, Data("123456789".utf8))
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.fullCount, body.count)
  }

  func test_eventsOfAStream_areTheLast200() {
    var calls = stream()
    for number in 1...201 {
      calls.apply(noted(event(.event) { $0.serverEvent = ServerSentEvent(id: "\(number)", data: "x") }))
    }
    XCTAssertEqual(calls.all.first?.attempts.first?.archived.events.map(\.id), (2...201).map { "\($0)" })
  }

  func test_openStreamBeyondTheLimit_losesEventsBeforeItsBody() {
    var calls = stream(maxSize: 50_000, maxBodySize: 20_000)
    calls.apply(noted(event(.chunk) { $0.data = Data(count: 20_000) }, keeping: 20_000))
    let text = String(repeating: "a", count: 900)
    for number in 1...100 {
      calls.apply(noted(event(.event) { $0.serverEvent = ServerSentEvent(id: "\(number)", data: text) }))
      XCTAssertEqual(calls.all.first?.attempts.first?.streamed?.count, 20_000, "event \(number)")
    }
    let events = calls.all.first?.attempts.first?.archived.events ?? []
    XCTAssertLessThan(events.count, 50)
    XCTAssertEqual(events.last?.id, "100")
  }

  func test_archiveBeyondTheLimit_isRefusedBeforeItIsRead() {
    XCTAssertThrowsError(try HARReader.entries(in: Data(count: HARReader.maxSize + 1))) {
      XCTAssertEqual(($0 as? HARReader.Invalid)?.reason, "it is larger than \(HARReader.maxSize >> 20) MB")
    }
  }

  func test_shortArchive_withManyFields_isRefused() throws {
    let value = String(repeating: #"\n"#, count: 999)
    let field = #"{"name":"Set-Cookie","value":"\#(value)"}"#
    func archive(_ entries: Int) -> Data {
      let entry =
        #"{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"http://h/","headers":[]},"#
        + #""response":{"status":200,"headers":[\#(field)]}}"#
      return Data(#"{"log":{"entries":[\#(Array(repeating: entry, count: entries).joined(separator: ","))]}}"#.utf8)
    }
    XCTAssertEqual(try HARReader.entries(in: archive(400)).count, 400)
    XCTAssertThrowsError(try HARReader.entries(in: archive(600))) {
      XCTAssertEqual(($0 as? HARReader.Invalid)?.reason, "it has more than 500000 header fields; save fewer calls")
    }
    let other =
      #"{"log":{"entries":[{"request":{"method":"GET","url":"http://h/","headers":[{"name":"a","value":"1\n2"}]}}]}}"#
    XCTAssertEqual(try HARReader.entries(in: Data(other.utf8)).first?.requestHeaders.values(of: "a"), ["1, 2"])
  }

  func test_tablesHaveNothingOfCallsThatWereRemoved() {
    func counts(_ calls: RecordedCalls) -> [String: Int] {
      let tables = Mirror(reflecting: calls).children.filter {
        ["revisions", "entries", "numbers", "sizes", "ended"].contains($0.label)
      }
      return Dictionary(
        uniqueKeysWithValues: tables.map { label, table in
          (label ?? "", (table as? Heap<Int>)?.elements.count ?? Mirror(reflecting: table).children.count)
        })
    }
    func run(_ calls: inout RecordedCalls, _ numbers: Range<Int>) {
      for call in numbers {
        for kind in [CallEvent.Kind.started, .sent, .finished] { calls.apply(noted(event(kind, call: call))) }
        for _ in 1...2 {
          calls.apply(noted(event(.failed, call: call) { $0.error = NetworkError(kind: .timeout, reason: "late") }))
        }
      }
    }
    var calls = RecordedCalls(maxCalls: 10, maxSize: 1 << 20, maxBodySize: 100, redaction: .standard)
    run(&calls, 1..<1000)
    XCTAssertEqual(calls.all.count, 10)
    XCTAssertEqual(Set(counts(calls).values), [10], "\(counts(calls))")
    for round in 1..<100 {
      run(&calls, 10 * round + 1000..<10 * round + 1005)
      calls.clear()
    }
    XCTAssertEqual(Set(counts(calls).values), [0], "\(counts(calls))")
  }
}
