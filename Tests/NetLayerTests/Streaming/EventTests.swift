import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private struct Feed: Endpoint {
  var path: String { "/events" }
  var method = HTTPMethod.get
}

final class EventTests: XCTestCase {
  private let scheduler = TestScheduler(resolution: .milliseconds(1))
  private let transport = ScriptedStream()
  private let notes = Notes()

  /// Subscribes with a policy that always uses the longest delay.
  private func subscribe(attempts: Int = .max, lastEventID: String = "") -> any Disposable {
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: transport, timeouts: .init(attempt: .seconds(60)),
        clock: scheduler,
        mapping: scheduler))
    let policy = RetryPolicy(
      attempts: attempts, initialDelay: .seconds(3), maxDelay: .seconds(60), jitter: { $0.upperBound },
      scheduler: scheduler)
    let (notes, scheduler) = (notes, scheduler)
    return network.events(Feed(), lastEventID: lastEventID, reconnect: policy).subscribe(
      onNext: { notes.add("\($0.event) \($0.data) #\($0.id) @\(scheduler.clock)") },
      onError: { notes.add("\(NetworkError.wrapping($0).kind) @\(scheduler.clock)") }, onCompleted: { notes.add("|") })
  }

  /// Subscribes with the usual policy, and collects the errors.
  private func failures() -> (errors: Box<[NetworkError]>, subscription: any Disposable) {
    let errors = Box<[NetworkError]>([])
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let subscription = network.events(Feed()).subscribe(onError: { error in
      errors.update { $0.append(NetworkError.wrapping(error)) }
    })
    scheduler.advanceBy(0)
    return (errors, subscription)
  }

  private func open(_ type: String = "text/event-stream; charset=utf-8") throws -> ScriptedStream.PendingCall {
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(200, ["Content-Type": type])
    scheduler.advanceBy(0)
    return pending
  }

  func test_aBodyThatIsNotEvents_isInTheError_withTheMessageOfTheServer() throws {
    let body = "{\n  \"error\": {\"message\": \"The model does not exist\"}\n}"
    let long = String(repeating: "x", count: 100_000)
    for (type, chunks, ends, kept, message) in [
      ("application/json", [body], true, body, "The model does not exist"),
      (
        "application/json", [String(body.prefix(9)), String(body.dropFirst(9))], true, body, "The model does not exist"
      ),
      ("application/json", [String(body.prefix(9))], false, String(body.prefix(9)), nil),
      ("text/plain", ["Out of quota\nx"], true, "Out of quota\nx", "Out of quota"),
      ("text/html", [long], false, String(long.prefix(65_536)), nil),
    ] as [(String, [String], Bool, String, String?)] {
      let (errors, subscription) = failures()
      let pending = try open(type)
      for chunk in chunks {
        pending.send(chunk)
        scheduler.advanceBy(1)
      }
      if ends { pending.end() }
      scheduler.advanceBy(11_000)
      let error = try XCTUnwrap(errors.value.last, type)
      XCTAssertEqual(error.kind, .parse)
      XCTAssertEqual(error.response.map { String(decoding: $0.body, as: UTF8.self) }, kept)
      XCTAssertEqual(error.message, message ?? NetworkError.Messages.localized.parse)
      XCTAssert(error.reason.contains("\(type) instead of text/event-stream; check the endpoint"), error.reason)
      XCTAssertEqual(error.reason.contains("the server's message"), message != nil, error.reason)
      XCTAssertTrue(pending.isOver)
      subscription.dispose()
    }
  }

  func test_aBodyThatIsNotEvents_isReadUpToItsExcerpt_andNotAwaited() throws {
    let (errors, subscription) = failures()
    let pending = try open("text/html")
    pending.send(String(repeating: "x", count: 65_535))
    scheduler.advanceBy(1)
    XCTAssertEqual(errors.value.count, 0)
    XCTAssertFalse(pending.isOver)
    // The body has no end.
    pending.send("x")
    scheduler.advanceBy(1)
    XCTAssertEqual(errors.value.map { $0.response?.body.count }, [65_536])
    XCTAssertTrue(pending.isOver)
    subscription.dispose()
  }

  func test_eventsOfAnotherType_areAcceptedIfTheCallerSaysSo() async throws {
    for (type, accepts, isRead) in [
      ("text/plain; charset=utf-8", true, true), (nil, true, true), ("text/plain", false, false), (nil, false, false),
      ("application/json", true, false), ("text/html", true, false), ("text/event-stream", true, true),
    ] as [(String?, Bool, Bool)] {
      let stub = StubTransport { _ in
        .response(headers: type.map { ["Content-Type": $0] } ?? [:], body: Data("data: 1\n\ndata: [DONE]\n\n".utf8))
      }
      let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
      let place = "\(type ?? "-") \(accepts)"
      do {
        let numbers = try await network.events(
          .post("/x"), as: Int.self, until: "[DONE]", acceptsPlainText: accepts
        ).toArray().value
        XCTAssertEqual(numbers, [1], place)
        XCTAssertTrue(isRead, place)
      } catch let error as NetworkError {
        XCTAssertFalse(isRead, "\(place): \(error)")
        XCTAssert(error.reason.contains("instead of text/event-stream"), error.reason)
        XCTAssertEqual(error.response?.body.isEmpty, false)
      }
    }
  }

  func test_events_areEmitted_andReconnectionSendsTheLastID() throws {
    let subscription = subscribe()
    let first = try open()
    XCTAssertEqual(first.request.headers["Accept"], "text/event-stream")
    XCTAssertEqual(first.request.headers["Cache-Control"], "no-store")
    XCTAssertNil(first.request.headers["Last-Event-ID"])
    XCTAssertEqual(first.request.timeouts.idle, nil)
    first.send("id: 1\nevent: add\ndata: a\n\nid: 2\ndata: unfinished")
    first.end()
    scheduler.advanceTo(2999)
    XCTAssertEqual(transport.pendingCalls.count, 1)
    scheduler.advanceTo(3000)
    let second = try open()
    XCTAssertEqual(second.request.headers["Last-Event-ID"], "1")
    second.send("data: b\n\n")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["add a #1 @0", "message b #1 @3000"])
    subscription.dispose()
    XCTAssertTrue(second.isOver)
  }

  func test_aServerThatNeverRespondsIsAFailedAttempt_andTheEventsThemselvesHaveNoLimit() throws {
    _ = subscribe(attempts: 2)
    scheduler.advanceTo(59_999)
    XCTAssertFalse(try XCTUnwrap(transport.pendingCalls.first).isOver)
    scheduler.advanceTo(60_000)
    XCTAssertTrue(try XCTUnwrap(transport.pendingCalls.first).isOver)
    scheduler.advanceTo(63_000)
    let second = try open()
    scheduler.advanceBy(10_000_000)
    second.send("data: late\n\n")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["message late # @10063000"])
  }

  func test_streamThatTheServerClosesAgainAndAgain_failsWithANetworkError() throws {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let errors = Box<(any Error)?>(nil)
    let policy = RetryPolicy(attempts: 2, initialDelay: .seconds(3), scheduler: scheduler)
    _ = network.events(Feed(), reconnect: policy).subscribe(onError: { errors.value = $0 })
    for _ in 0..<3 where errors.value == nil {
      try open().end()
      scheduler.advanceBy(60_000)
    }
    let error = try XCTUnwrap(errors.value as? NetworkError)
    XCTAssertEqual(error.kind, .connection)
    XCTAssertTrue(error.reason.contains("h:80 closed the event stream"), error.reason)
  }

  func test_delaysIncreaseWithFailures_andAConnectionWithAnEventThatLastedResetsThem() throws {
    let subscription = subscribe()
    for time in [3000, 9000] {
      transport.pendingCalls.last?.end(.connection)
      scheduler.advanceTo(time - 1)
      let count = transport.pendingCalls.count
      scheduler.advanceTo(time)
      XCTAssertEqual(transport.pendingCalls.count, count + 1, "\(time)")
    }
    let pending = try open()
    pending.send("data: x\n\n")
    scheduler.advanceBy(5000)
    pending.end(.timeout)
    scheduler.advanceTo(17_000)
    XCTAssertEqual(transport.pendingCalls.count, 4)
    subscription.dispose()
  }

  func test_retryDelayOfTheServer_isUsed() throws {
    let subscription = subscribe()
    let pending = try open()
    pending.send("retry: 10000\n\n")
    scheduler.advanceBy(0)
    pending.end()
    scheduler.advanceTo(9999)
    XCTAssertEqual(transport.pendingCalls.count, 1)
    scheduler.advanceTo(10_000)
    XCTAssertEqual(transport.pendingCalls.count, 2)
    subscription.dispose()
  }

  func test_idThatIsInvalidInAHeader_isNotSent() throws {
    let subscription = subscribe()
    let pending = try open()
    pending.send("id: a\u{1}\ndata: x\n\n")
    scheduler.advanceBy(0)
    pending.end()
    scheduler.advanceTo(3000)
    XCTAssertEqual(transport.pendingCalls.count, 2)
    XCTAssertNil(transport.pendingCalls.last?.request.headers["Last-Event-ID"])
    subscription.dispose()
  }

  func test_errorBodyThatNeverEnds_isNotAwaited() throws {
    _ = subscribe()
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(503)
    scheduler.advanceBy(0)
    pending.send("half a")
    scheduler.advanceTo(20_000)
    XCTAssertEqual(notes.all, ["status @10000"])
    XCTAssertTrue(pending.isOver)
  }

  func test_attempts_canBeLimited() throws {
    let subscription = subscribe(attempts: 2, lastEventID: "41")
    XCTAssertEqual(transport.pendingCalls.first?.request.headers["Last-Event-ID"], "41")
    transport.pendingCalls.last?.end(.connection)
    scheduler.advanceTo(3000)
    transport.pendingCalls.last?.end(.connection)
    scheduler.advanceTo(100_000)
    XCTAssertEqual(notes.all, ["connection @3000"])
    subscription.dispose()
  }

  func test_noContent_endsTheStream() throws {
    _ = subscribe()
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(204)
    pending.end()
    scheduler.start()
    XCTAssertEqual(notes.all, ["|"])
    XCTAssertEqual(transport.pendingCalls.count, 1)
  }

  func test_otherStatusOrContentType_isAnError() throws {
    _ = subscribe()
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(500)
    pending.end()
    scheduler.advanceTo(10)
    _ = subscribe()
    try open("text/html").end()
    scheduler.start()
    XCTAssertEqual(notes.all, ["status @0", "parse @10"])
    XCTAssertEqual(transport.pendingCalls.map(\.isOver), [true, true])
  }

  func test_endlessEvent_isAnError() throws {
    _ = subscribe()
    let pending = try open()
    for _ in 0..<20 {
      pending.send("data: " + String(repeating: "x", count: 100_000) + "\n")
      scheduler.advanceBy(0)
    }
    XCTAssertEqual(notes.all, ["parse @0"])
    XCTAssertTrue(pending.isOver)
  }

  /// Subscribes with the default policy, whose delays do not depend on the scheduler of the test.
  private func subscribe(to feed: Feed, until sentinel: String? = nil) -> any Disposable {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let notes = notes
    return network.events(feed, until: sentinel).subscribe(
      onNext: { notes.add($0.data) }, onError: { notes.add("\(NetworkError.wrapping($0).kind)") },
      onCompleted: { notes.add("|") })
  }

  func test_post_isNotResent_whenItsStreamEnds() throws {
    for (end, last) in [(NetworkError.Kind?.none, "|"), (.connection, "connection")] {
      let subscription = subscribe(to: Feed(method: .post))
      let pending = try open()
      pending.send("data: a\n\n")
      scheduler.advanceBy(0)
      pending.end(end)
      scheduler.advanceBy(0)
      XCTAssertEqual(notes.all.suffix(2), ["a", last])
      subscription.dispose()
    }
    XCTAssertEqual(transport.pendingCalls.count, 2)
  }

  func test_sentinel_endsTheStream_andIsNotEmitted() throws {
    for method in [HTTPMethod.get, .post] {
      let subscription = subscribe(to: Feed(method: method), until: "[DONE]")
      let pending = try open()
      pending.send("data: a\n\ndata: [DONE]\n\ndata: b\n\n")
      scheduler.advanceBy(0)
      XCTAssertEqual(notes.all.suffix(2), ["a", "|"])
      XCTAssertTrue(pending.isOver)
      subscription.dispose()
    }
  }

  func test_restartingServer_isRetried_afterTheFirstStream() throws {
    let subscription = subscribe()
    try open().end()
    for (time, status) in [(3000, 502), (9000, 408), (21_000, 425)] {
      scheduler.advanceTo(time)
      let pending = try XCTUnwrap(transport.pendingCalls.last)
      pending.reply(status, [:])
      pending.end()
      scheduler.advanceBy(0)
    }
    scheduler.advanceTo(45_000)
    let pending = try open()
    pending.send("data: back\n\n")
    scheduler.advanceBy(0)
    XCTAssertEqual(notes.all, ["message back # @45000"])
    subscription.dispose()
    // A permanent status ends the stream.
    let permanent = subscribe()
    try open().end()
    scheduler.advanceBy(3000)
    let unknown = try XCTUnwrap(transport.pendingCalls.last)
    unknown.reply(501, [:])
    unknown.end()
    scheduler.advanceBy(0)
    XCTAssertEqual(notes.all.last, "status @48000")
    permanent.dispose()
    // Before the first stream, a temporary status is an error, too.
    let first = subscribe()
    let refused = try XCTUnwrap(transport.pendingCalls.last)
    refused.reply(502, [:])
    refused.end()
    scheduler.advanceBy(0)
    XCTAssertEqual(notes.all.suffix(2), ["status @48000", "status @48000"])
    first.dispose()
  }

  func test_excessiveRetryDelay_isLimited() throws {
    let subscription = subscribe()
    let pending = try open()
    pending.send("retry: 9223372036854775807\n\n")
    scheduler.advanceBy(0)
    pending.end()
    scheduler.advanceTo(599_999)
    XCTAssertEqual(transport.pendingCalls.count, 1)
    scheduler.advanceTo(600_000)
    XCTAssertEqual(transport.pendingCalls.count, 2)
    subscription.dispose()
  }

  func test_eachReconnection_isReportedWithCauseAndDelay() throws {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let policy = RetryPolicy(
      attempts: 4, initialDelay: .seconds(3), maxDelay: .seconds(60), jitter: { $0.upperBound },
      scheduler: scheduler)
    let (notes, scheduler) = (notes, scheduler)
    _ = network.events(Feed(), reconnect: policy) { error, pause in
      notes.add("\(error.map { "\($0.kind)" } ?? "closed"), again after \(pause) @\(scheduler.clock)")
    }
    .subscribe(onNext: { notes.add($0.data) }, onError: { notes.add("failed: \(NetworkError.wrapping($0).kind)") })
    let pending = try open()
    pending.send("data: a\n\n")
    scheduler.advanceBy(0)
    pending.end()
    scheduler.advanceTo(3000)
    transport.pendingCalls.last?.end(.connection)
    scheduler.advanceTo(9000)
    let busy = try XCTUnwrap(transport.pendingCalls.last)
    busy.reply(503, ["Retry-After": "100"])
    busy.end()
    scheduler.advanceTo(109_000)
    transport.pendingCalls.last?.end(.timeout)
    scheduler.advanceTo(1_000_000)
    XCTAssertEqual(
      notes.all,
      [
        "a", "closed, again after 3.0 seconds @0", "connection, again after 6.0 seconds @3000",
        "status, again after 100.0 seconds @9000", "failed: timeout",
      ])
  }

  func test_streamThatEnds_reportsNoReconnection() throws {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    for (method, status) in [(HTTPMethod.post, 200), (.get, 204), (.get, 404)] {
      let subscription = network.events(Feed(method: method)) { _, _ in XCTFail("\(method) \(status)") }
        .subscribe(onError: { _ in })
      let pending = try XCTUnwrap(transport.pendingCalls.last)
      pending.reply(status, ["Content-Type": "text/event-stream"])
      pending.end()
      scheduler.advanceBy(0)
      subscription.dispose()
    }
    XCTAssertEqual(transport.pendingCalls.count, 3)
  }

  // MARK: Models

  private struct Delta: Decodable, Sendable {
    var text: String
    var tokenCount: Int?
  }

  private func deltas(_ feed: Feed = Feed(method: .post)) -> any Disposable {
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), coding: .snakeCase, transport: transport, clock: scheduler,
        mapping: scheduler))
    let notes = notes
    return network.events(feed, as: Delta.self, until: "[DONE]").subscribe(
      onNext: { notes.add("\($0.text) \($0.tokenCount ?? 0)") },
      onError: { error in
        let error = NetworkError.wrapping(error)
        notes.add("\(error.kind) at \(error.index ?? -1) of \(error.request?.url.path ?? "")")
      }, onCompleted: { notes.add("|") })
  }

  func test_events_areDecodedUntilTheSentinel() throws {
    let subscription = deltas()
    let pending = try open()
    pending.send(#"data: {"text":"Hel","token_count":1}"# + "\n\n" + #"data: {"text":"lo"}"# + "\n\ndata: [DONE]\n\n")
    scheduler.advanceBy(0)
    XCTAssertEqual(notes.all, ["Hel 1", "lo 0", "|"])
    XCTAssertTrue(pending.isOver)
    subscription.dispose()
  }

  func test_eventThatCannotBeDecoded_endsTheStreamWithoutReconnection() throws {
    for method in [HTTPMethod.post, .get] {
      let subscription = deltas(Feed(method: method))
      let pending = try open()
      pending.send(#"data: {"text":"a"}"# + "\n\ndata: {}\n\n" + #"data: {"text":"b"}"# + "\n\n")
      scheduler.advanceBy(100_000)
      XCTAssertEqual(notes.all.suffix(2), ["a 0", "parse at 1 of /events"])
      XCTAssertTrue(pending.isOver)
      subscription.dispose()
    }
    XCTAssertEqual(transport.pendingCalls.count, 2)
  }

  func test_postThatEndsBeforeItsSentinel_isIncomplete() throws {
    for ending in ["data: b\n\n", "data: unfinished"] {
      let subscription = subscribe(to: Feed(method: .post), until: "[DONE]")
      let pending = try open()
      pending.send("data: a\n\n" + ending)
      pending.end()
      scheduler.advanceBy(0)
      XCTAssertEqual(notes.all.last, "connection")
      subscription.dispose()
    }
    let subscription = subscribe(to: Feed(method: .post), until: "[DONE]")
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(204)
    pending.end()
    scheduler.advanceBy(0)
    XCTAssertEqual(notes.all.last, "|", "the server has no more")
    subscription.dispose()
    XCTAssertEqual(transport.pendingCalls.count, 3)
  }

  func test_sentinelWithoutBlankLine_endsTheStream() throws {
    for method in [HTTPMethod.get, .post] {
      for ending in ["data: [DONE]\n", "data: [DONE]", "data:[DONE]\r\n"] {
        let subscription = subscribe(to: Feed(method: method), until: "[DONE]")
        let pending = try open()
        pending.send("data: a\n\n" + ending)
        pending.end()
        scheduler.advanceBy(100_000)
        XCTAssertEqual(notes.all.suffix(2), ["a", "|"], "\(method) \(ending.debugDescription)")
        subscription.dispose()
      }
    }
    XCTAssertEqual(transport.pendingCalls.count, 6)
  }

  func test_typedPostWithABrokenStream_failsAndIsNotResent() throws {
    _ = deltas()
    let pending = try open()
    pending.send(#"data: {"text":"a"}"# + "\n\n")
    scheduler.advanceBy(0)
    pending.end(.connection)
    scheduler.advanceBy(100_000)
    XCTAssertEqual(notes.all, ["a 0", "connection at -1 of /events"])
    XCTAssertEqual(transport.pendingCalls.count, 1)
  }
}
