import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerRecording

/// Tests of the facts that a recorder keeps about a call.
final class RecorderTests: XCTestCase {
  private func recorder(_ virtual: VirtualNetwork, maxCalls: Int = 500, maxSize: Int = 16 << 20) -> Recorder {
    Recorder(maxCalls: maxCalls, maxSize: maxSize, maxBodySize: 1_000, clock: virtual.scheduler)
  }

  private struct Feed: Endpoint {
    let path = "feed"
  }

  func test_attemptsAndPauses_areRecordedAtAnyPosition() throws {
    for isFirst in [true, false] {
      let virtual = VirtualNetwork(
        .sequence([.json("", status: 503), .failure(.timeout, after: .milliseconds(5)), .json("7")]))
      let recorder = recorder(virtual)
      let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))
      let network = isFirst ? virtual.network(recorder, retry) : virtual.network(retry, recorder)
      virtual.note("", network.responses(Feed()))
      virtual.scheduler.start()
      let entry = try XCTUnwrap(recorder.entries.first)
      XCTAssertEqual(recorder.entries.count, 1)
      XCTAssertEqual(entry.attempts.map(\.status), [503, nil, 200])
      XCTAssertEqual(entry.attempts.map(\.pause), [nil, .milliseconds(500), .seconds(1)])
      XCTAssertEqual(entry.attempts.map(\.failure?.kind), [nil, .timeout, nil])
      XCTAssertEqual(entry.state, .done)
      XCTAssertEqual(entry.endpoint, "Feed")
      XCTAssertEqual(entry.duration, entry.attempts.compactMap(\.duration).reduce(.milliseconds(1_500), +))
      XCTAssertGreaterThanOrEqual(entry.attempts[1].duration ?? .zero, .milliseconds(5))
    }
  }

  func test_sharedCalls_haveTheNumberOfTheCallThatWasSent_andTheirOwnDecoding() throws {
    let virtual = VirtualNetwork(.json("7"))
    let recorder = recorder(virtual)
    let network = virtual.network(CoalescingInterceptor(), recorder)
    for _ in 1...2 { _ = network.request(.get("/a"), as: Int.self).subscribe(onSuccess: { _ in }, onError: { _ in }) }
    virtual.scheduler.start()
    let entries = recorder.entries
    XCTAssertEqual(entries.map(\.sharedWith), [nil, 1])
    XCTAssertEqual(entries.map(\.state), [.done, .done])
    XCTAssertEqual(entries.map { $0.decoding != nil }, [true, true])
    XCTAssertEqual(entries.map(\.attempts.count), [1, 1])
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_errorsOfSharedCalls_belongToEachCall() throws {
    let virtual = VirtualNetwork(.failure(.connection))
    let recorder = recorder(virtual)
    let network = virtual.network(CoalescingInterceptor(), recorder)
    for _ in 1...2 { _ = network.request(.get("/a"), as: Int.self).subscribe(onSuccess: { _ in }, onError: { _ in }) }
    virtual.scheduler.start()
    XCTAssertEqual(recorder.entries.map(\.failure?.kind), [.connection, .connection])
    XCTAssertEqual(recorder.entries.map(\.state), [.failed, .failed])
  }

  func test_cacheHits_areAttemptsWithoutARequest() throws {
    let virtual = VirtualNetwork(.response(headers: ["Cache-Control": "max-age=60"], body: Data("7".utf8)))
    let recorder = recorder(virtual)
    let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil)), recorder)
    for _ in 1...2 {
      virtual.note("", network.responses(.get("/a")))
      virtual.scheduler.start()
    }
    XCTAssertEqual(recorder.entries.map(\.source?.kind), [.network, .cache])
    XCTAssertEqual(recorder.entries.map(\.status), [200, 200])
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_finalErrors_ofEnvelopesAndModels_areRecorded() throws {
    let virtual = VirtualNetwork { request in
      request.url.path == "/like"
        ? .json(#"{"code":4001,"message":"no","data":null}"#) : .json(#"{"code":200,"data":"x"}"#)
    }
    let recorder = recorder(virtual)
    let network = virtual.network(recorder).with { $0.envelope = .standard }
    for path in ["/like", "/count"] {
      _ = network.request(.get(path), as: Int.self).subscribe(onSuccess: { _ in }, onError: { _ in })
      virtual.scheduler.start()
    }
    let entries = recorder.entries
    XCTAssertEqual(entries.map(\.failure?.kind), [.rejected, .parse])
    XCTAssertEqual(entries.map(\.failure?.code), [4_001, -1_213])
    XCTAssertEqual(entries.map(\.state), [.failed, .failed])
    XCTAssertEqual(entries.map(\.status), [200, 200])
  }

  func test_aFetch_isRecordedWithItsDecoding() async throws {
    let recorder = Recorder()
    let network = Network(
      Backend(baseURL: URL(string: "http://h/"), transport: StubTransport { _ in .json("7") }, interceptors: [recorder])
    )
    let value: Int = try await network.fetch(.get("/a"))
    XCTAssertEqual(value, 7)
    XCTAssertEqual(recorder.entries.map(\.state), [.done])
    XCTAssertNotNil(recorder.entries.first?.decoding)
    do {
      _ = try await network.fetch(.get("/a"), as: [Int].self)
      XCTFail("not an array")
    } catch { XCTAssertEqual(recorder.entries.last?.failure?.kind, .parse) }
  }

  func test_cancelledCalls_areRecorded_alsoDuringAPause() throws {
    let virtual = VirtualNetwork(.sequence([.json("", status: 503), .never]))
    let recorder = recorder(virtual)
    let network = virtual.network(RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound })), recorder)
    let paused = virtual.note("", network.responses(.get("/a")))
    virtual.scheduler.advanceTo(100)
    paused.dispose()
    XCTAssertEqual(recorder.entries.map(\.state), [.cancelled])
    let waiting = virtual.note("", network.responses(.get("/b")))
    virtual.scheduler.advanceTo(200)
    XCTAssertEqual(recorder.entries.last?.state, .open)
    waiting.dispose()
    virtual.scheduler.advanceTo(300)
    XCTAssertEqual(recorder.entries.last?.state, .cancelled)
  }

  func test_streams_haveTheStartOfTheirBody() throws {
    let virtual = VirtualNetwork(.chunks((0..<4).map { Data(repeating: 0x61 + $0, count: 400) }))
    let recorder = recorder(virtual)
    var count = Data()
    let seen = Locked(Data())
    _ = virtual.network(recorder).stream(.get("/a")).subscribe(onNext: { chunk in seen.withLock { $0 += chunk } })
    virtual.scheduler.start()
    count = seen.withLock { $0 }
    XCTAssertEqual(count.count, 1_600)
    let entry = try XCTUnwrap(recorder.entries.first)
    XCTAssertEqual(entry.state, .done)
    XCTAssertEqual(entry.attempts.first?.bodySize, 1_600)
    XCTAssertEqual(entry.attempts.first?.responseBody, count.prefix(1_000))
    XCTAssertEqual(try HARReader.entries(in: recorder.har()).first?.fullCount, 1_600)
  }

  func test_aRecorder_doesNotKeepAStreamAlive() throws {
    let virtual = VirtualNetwork(.chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(9)))
    let recorder = recorder(virtual)
    let held = Locked<StreamedResponse?>(nil)
    _ = virtual.network(recorder).response(streaming: .get("/a")).subscribe(
      onSuccess: { response in held.withLock { $0 = response } })
    virtual.scheduler.advanceTo(1_000)
    XCTAssertEqual(recorder.entries.first?.state, .open)
    held.withLock { $0 = nil }
    virtual.scheduler.advanceTo(2_000)
    XCTAssertEqual(virtual.stub.cancelled.count, 1)
    XCTAssertEqual(recorder.entries.first?.state, .cancelled)
  }

  func test_eventsAndMessages_areRecorded() throws {
    let virtual = VirtualNetwork { request in
      if request.url.path == "/events" {
        return .chunks(
          [Data("id: 7\ndata: {\"token\":\"abc\"}\n\n".utf8)], headers: ["Content-Type": "text/event-stream"])
      }
      return .socket(.init([.message(.text("hi"))]) { [.message($0), .close(.normal)] })
    }
    let recorder = recorder(virtual)
    let network = virtual.network(recorder)
    let events = network.events(.get("/events"), reconnect: RetryPolicy(attempts: 0)).subscribe(onError: { _ in })
    virtual.scheduler.advanceTo(100)
    events.dispose()
    let session = network.webSocket(.get("/socket"), reconnect: nil) { $0.sending("topic") }
    let messages = session.messages.subscribe()
    virtual.scheduler.advanceTo(200)
    messages.dispose()
    let entries = recorder.entries
    let archived = entries.flatMap(\.archived)
    XCTAssertEqual(archived.first?.events.map(\.data), [#"{"token":"***"}"#])
    XCTAssertEqual(archived.last?.messages.map(\.data), ["hi", "topic", "topic"])
    XCTAssertEqual(archived.last?.messages.map(\.isSent), [false, true, false])
    XCTAssertEqual(entries.last?.state, .done)
  }

  func test_limits_dropTheOldestFinishedCalls() throws {
    let virtual = VirtualNetwork { $0.url.path == "/open" ? .never : .json(String(repeating: "7", count: 900)) }
    let few = recorder(virtual, maxCalls: 3)
    let network = virtual.network(few)
    let open = virtual.note("", network.responses(.get("/open")))
    for _ in 1...5 { virtual.note("", network.responses(.get("/a"))) }
    virtual.scheduler.advanceTo(100)
    XCTAssertEqual(few.entries.map(\.number), [1, 5, 6])
    XCTAssertEqual(few.dropped, 3)
    open.dispose()
    let small = recorder(virtual, maxSize: 8_000)
    let other = virtual.network(small)
    for _ in 1...20 { virtual.note("", other.responses(.get("/a"))) }
    virtual.scheduler.advanceTo(200)
    XCTAssertEqual(small.entries.map(\.number), [17, 18, 19, 20])
    XCTAssertLessThanOrEqual(small.entries.reduce(0) { $0 + $1.size }, 8_000)
    small.clear()
    XCTAssertEqual(small.entries.count, 0)
  }

  func test_secrets_areNeitherInEntriesNorInFiles() throws {
    let utf16 = Data("{\"token\":\"s3cr3t\"}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
    let virtual = VirtualNetwork { request in
      switch request.url.path {
      case "/utf16": .response(headers: ["Content-Type": "application/json"], body: utf16)
      case "/latin1":
        .response(headers: ["Content-Type": "text/plain"], body: Data([0xE9]) + Data("&token=s3cr3t".utf8))
      case "/cut": .response(body: Data((String(repeating: "a", count: 980) + "&token=s3cr3ts3cr3ts3cr3t").utf8))
      case "/error": .failure(.connection, reason: "password=s3cr3t")
      default:
        .response(headers: ["Set-Cookie": "a=s3cr3t", "Location": "/?token=s3cr3t"], body: Data("token=s3cr3t".utf8))
      }
    }
    let recorder = recorder(virtual)
    let network = virtual.network(recorder)
    for path in ["utf16", "latin1", "cut", "error", "other"] {
      let call = Call(
        .post, "/\(path)?token=s3cr3t", task: .data(Data("password=s3cr3t".utf8), contentType: "text/plain"),
        headers: ["Authorization": "Bearer s3cr3t"])
      virtual.note("", network.responses(call))
    }
    virtual.scheduler.start()
    let file = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID().uuidString).har")
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    try recorder.write(to: file)
    let text = try String(contentsOf: file, encoding: .utf8) + "\(recorder.entries)"
    XCTAssertEqual(recorder.entries.count, 5)
    XCTAssertEqual(recorder.entries.prefix(2).compactMap { $0.attempts.first?.responseBody }, [Data(), Data()])
    XCTAssertEqual(recorder.entries.prefix(2).compactMap { $0.attempts.first?.bodySize }, [utf16.count, 14])
    for secret in ["s3cr3t", "s3cr3", utf16.base64EncodedString(), "s\0003"] {
      XCTAssertFalse(text.contains(secret), text)
    }
    XCTAssertEqual(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int, 0o600)
  }

  func test_secretsOfBinaryBodies_areHiddenOrTheBodyIsNotKept() throws {
    func utf16(_ text: String, isLittle: Bool) -> Data {
      Data(text.utf16.flatMap { isLittle ? [UInt8($0 & 255), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 255)] })
    }
    let secret = #"{"name":"ä","access_token":"s3cr3t"}"#
    let latin1 = Data(secret.unicodeScalars.map { UInt8($0.value) })
    let cut = String(repeating: "é", count: 480) + #""token":"s3cr3ts3cr3ts3cr3ts3cr3ts3cr3ts3cr3t"#
    let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data(repeating: 0xFE, count: 100)
    // Bodies, and whether they are kept unchanged.
    let bodies: [(String, Data, isKept: Bool)] = [
      ("application/octet-stream", latin1, false), ("application/octet-stream", Data("token=s3cr3t&x=\0".utf8), false),
      ("application/octet-stream", utf16(secret, isLittle: true), false),
      ("application/octet-stream", utf16(secret, isLittle: false), false),
      ("application/octet-stream", Data([0xFE, 0xFF]) + utf16(secret, isLittle: false), false),
      ("application/octet-stream", utf16("日本" + secret, isLittle: true), false),
      ("application/octet-stream", Data(cut.unicodeScalars.map { UInt8($0.value) }), false),
      ("application/octet-stream", utf16(String(cut.dropFirst(30)), isLittle: true), false),
      ("image/svg+xml", Data("<svg><token>s3cr3t</token>".utf8) + Data([0xE9]) + Data("</svg>".utf8), false),
      ("application/octet-stream", png, true), ("image/png", png, true),
      ("application/octet-stream", Data((0..<999).map { UInt8(truncatingIfNeeded: $0 &* 167) }), true),
    ]
    let virtual = VirtualNetwork { request in
      let (type, body, _) = bodies[Int(request.url.lastPathComponent) ?? 0]
      return .response(headers: ["Content-Type": type], body: body)
    }
    let recorder = recorder(virtual)
    for index in bodies.indices { virtual.note("", virtual.network(recorder).responses(.get("/\(index)"))) }
    virtual.scheduler.start()
    XCTAssertEqual(recorder.entries.count, bodies.count)
    for (entry, (type, body, isKept)) in zip(recorder.entries, bodies) {
      let kept = try XCTUnwrap(entry.attempts.first?.responseBody)
      if isKept { XCTAssertEqual(kept, body, type) }
      let text = String(decoding: kept.filter { $0 != 0 }, as: UTF8.self)
      XCTAssertFalse(text.contains("s3cr3"), "\(type): \(text)")
    }
  }

  /// A part of a body, or its digest, would match no request of a replay.
  func test_longBodiesOfRequests_areNotKept() throws {
    let virtual = VirtualNetwork(.failure(.timeout))
    let recorder = recorder(virtual)
    let tasks: [HTTPTask] = [
      .data(Data(repeating: 0x61, count: 1_000), contentType: "text/plain"),
      .data(Data(repeating: 0x61, count: 1_001), contentType: "text/plain"),
      .data(Data(repeating: 0xFF, count: 1_001), contentType: "image/png"),
      .form(["a": String(repeating: "x", count: 2_000)]),
    ]
    for task in tasks { virtual.note("", virtual.network(recorder).responses(Call(.post, "/a", task: task))) }
    virtual.scheduler.start()
    XCTAssertEqual(recorder.entries.map { $0.attempts.first?.requestBody?.count }, [1_000, nil, nil, nil])
    XCTAssertEqual(
      try HARReader.entries(in: recorder.har()).map(\.requestBody),
      [.text(String(repeating: "a", count: 1_000), type: "text/plain"), .unknown, .unknown, .unknown])
  }

  func test_binaryMessages_areKeptOnlyAsTextWithoutSecrets() throws {
    let messages = ["{\"token\":\"s3cr3t\"}", "\u{10}\u{0}user s3cr3t"].map { Data($0.utf8) } + [Data([0xFF, 0xFE])]
    var calls = RecordedCalls(maxCalls: 1, maxSize: 1 << 20, maxBodySize: 100, redaction: .standard)
    let url = try XCTUnwrap(URL(string: "wss://a.example/room"))
    func event(_ kind: CallEvent.Kind, _ message: WebSocketMessage? = nil) -> CallEvent {
      var event = CallEvent(kind, of: CallNumber(value: 1, start: .zero), at: .zero, Request(url: url))
      event.message = message
      return event
    }
    for event in [event(.started), event(.sent)] + messages.map({ event(.messageSent, .binary($0)) }) {
      calls.apply(RecordedCalls.Noted(event, at: Date(), uptime: .zero, keeping: 100))
    }
    let kept = calls.all.first?.attempts.first?.archived.messages.map(\.data)
    XCTAssertEqual(kept, [Data("{\"token\":\"***\"}".utf8).base64EncodedString(), "", ""])
  }

  func test_secretsWhoseEndWasCut_areNotKept() throws {
    var calls = RecordedCalls(maxCalls: 1, maxSize: 1 << 20, maxBodySize: 100, redaction: .standard)
    let url = try XCTUnwrap(URL(string: "https://a.example/room"))
    let request = Request(url: url)
    let message = String(repeating: "-", count: 4_000) + "<password>" + String(repeating: "s3cr3t", count: 100)
    func keep(_ kind: CallEvent.Kind, _ fill: (inout CallEvent) -> Void = { _ in }) -> HAREntry? {
      var event = CallEvent(kind, of: CallNumber(value: 1, start: .zero), at: .zero, request)
      fill(&event)
      calls.apply(RecordedCalls.Noted(event, at: Date(), uptime: .zero, keeping: 100))
      return calls.all.first?.attempts.first?.archived
    }
    _ = keep(.started)
    _ = keep(.sent)
    _ = keep(.messageSent) { $0.message = .text(message) }
    _ = keep(.messageSent) { $0.message = .binary(Data(message.utf8)) }
    let event = ServerSentEvent(id: "token=s3cr3t", event: "token=s3cr3t", data: message)
    let streamed = try XCTUnwrap(keep(.event) { $0.serverEvent = event })
    let hidden = String(repeating: "-", count: 4_000) + "<password>***"
    XCTAssertEqual(streamed.messages.map(\.data), [hidden, Data(hidden.utf8).base64EncodedString()])
    XCTAssertEqual(streamed.events.map { [$0.id, $0.name, $0.data] }, [["token=***", "token=***", hidden]])
    let start = String(repeating: "-", count: 85) + "<password>"
    let body = Data((start + "s3cr3t</password>").utf8)
    let kept = try XCTUnwrap(keep(.finished) { $0.response = Response(request: request, status: 200, body: body) })
    XCTAssertEqual(String(decoding: kept.body, as: UTF8.self), start + "***")
  }

  /// A recorder that is too slow does not fill the memory, and the calls that it has begun get their ends.
  func test_aFloodOfCalls_isCountedAndNotKept() throws {
    let virtual = VirtualNetwork(.json("7"))
    let recorder = recorder(virtual, maxCalls: 100_000)
    let network = virtual.network(recorder)
    let queue = try XCTUnwrap(Mirror(reflecting: recorder).descendant("queue") as? DispatchQueue)
    queue.sync {
      for _ in 0..<3_000 { virtual.note("", network.responses(.get("/a"))) }
      virtual.scheduler.start()
    }
    XCTAssertEqual(recorder.entries.count + recorder.dropped, 3_000)
    XCTAssertGreaterThan(recorder.dropped, 100)
    XCTAssertEqual(Set(recorder.entries.map(\.state)), [.done])
  }

  func test_namesThatTheBackendHides_areHidden() throws {
    let virtual = VirtualNetwork(.json(#"{"shopper":"zoe"}"#))
    let (recorder, open) = (recorder(virtual), Recorder(redaction: .none, clock: virtual.scheduler))
    for each in [recorder, open] {
      let network = virtual.network(each).with { $0.redaction = .standard.hiding(["shopper"]) }
      virtual.note("", network.responses(.get("/a")))
    }
    virtual.scheduler.start()
    XCTAssertEqual(recorder.entries.first?.attempts.first?.responseBody, Data(#"{"shopper":"***"}"#.utf8))
    XCTAssertEqual(open.entries.first?.attempts.first?.responseBody, Data(#"{"shopper":"zoe"}"#.utf8))
  }

  func test_anArchive_isReplayed() throws {
    let virtual = VirtualNetwork(.sequence([.json("", status: 503), .json(#"{"a":7}"#)]))
    let recorder = recorder(virtual)
    virtual.note("live ", virtual.network(RetryInterceptor(), recorder).responses(.get("/a")))
    virtual.scheduler.start()
    let file = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID().uuidString).har")
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    try recorder.write(to: file)
    let entries = try HARReader.entries(of: file)
    XCTAssertEqual(entries.map(\.facts.attempt), [1, 2])
    XCTAssertEqual(entries.map(\.facts.call), [1, 1])
    let network = Network(Backend(baseURL: URL(string: "http://h/"), transport: try StubTransport(har: file)))
    let replayed = try (1...2).flatMap { _ in try network.responses(.get("/a")).toBlocking().toArray() }
    XCTAssertEqual(replayed.map(\.status), [503, 200])
    XCTAssertEqual(replayed.last?.body, Data(#"{"a":7}"#.utf8))
  }

  func test_updates_areTheSnapshotAndThenBatches() throws {
    let virtual = VirtualNetwork(.json("7", after: .seconds(1)))
    let recorder = recorder(virtual)
    let network = virtual.network(recorder)
    virtual.note("", network.responses(.get("/a")))
    let seen = Locked([[String]]())
    let subscription = recorder.updates.subscribe(onNext: { batch in
      let texts = batch.map { "\($0.number) \($0.state)" }
      seen.withLock { $0.append(texts) }
    })
    XCTAssertEqual(seen.withLock { $0 }, [["1 open"]])
    virtual.scheduler.advanceTo(1_050)
    XCTAssertEqual(seen.withLock { $0 }, [["1 open"]])
    virtual.scheduler.start()
    subscription.dispose()
    XCTAssertEqual(seen.withLock { $0 }, [["1 open"], ["1 done"]])
  }

  func test_aNetworkWithoutARecorder_hasNoObserver() {
    XCTAssertNil(VirtualNetwork(.json("7")).network(RetryInterceptor()).observers)
    XCTAssertNotNil(VirtualNetwork(.json("7")).network(RetryInterceptor(), Recorder()).observers)
  }

  func test_timeOfAnAttempt_isThatOfItsMetrics_orElseThatOfTheCall() throws {
    struct Measured: Transport {
      let base: StubTransport
      let metrics: TransferMetrics?

      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable {
        base.send(request) { result in
          completion(
            result.map { response in
              var response = response
              response.metrics = metrics
              return response
            })
        }
      }
    }
    let metrics = TransferMetrics(firstByte: .milliseconds(30), total: .milliseconds(40))
    for (metrics, time, wait) in [(metrics, 40, 30), (nil, 50, 50)] as [(TransferMetrics?, Double, Double)] {
      let virtual = VirtualNetwork(.json("7", after: .milliseconds(50)))
      let recorder = recorder(virtual)
      let network = virtual.network(recorder).with { $0.transport = Measured(base: virtual.stub, metrics: metrics) }
      virtual.note("", network.responses(.get("/a")))
      virtual.scheduler.start()
      let attempt = try XCTUnwrap(recorder.entries.first?.attempts.first)
      XCTAssertEqual(attempt.duration, .milliseconds(50))
      XCTAssertEqual(attempt.archived.time, time)
      XCTAssertEqual(attempt.archived.timings.wait, wait)
    }
  }
}
