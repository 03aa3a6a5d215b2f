import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerInspector
@testable import NetLayerRecording

/// Tests of what a page receives: events, details, files.
final class InspectorTests: XCTestCase {
  private struct Summary: Decodable {
    struct Attempt: Decodable {
      var at: Double
      var pause: Double?
      var phases: [Double]
      var time: Double?
      var status: Int
      var error: String?
    }

    var id: Int
    var method: String
    var url: String
    var endpoint: String?
    var kind: String
    var status: Int
    var state: String
    var error: String?
    var code: Int?
    var size: Int
    var time: Double?
    var cache: String?
    var shared: Int?
    var decode: Double?
    var redirects: Int
    var messages: Int
    var ticks: [Double]
    var attempts: [Attempt]
  }

  private struct Detail: Decodable {
    struct Failure: Decodable { var kind: String, code: Int?, reason: String }
    struct Body: Decodable { var text: String?, base64: String?, type: String, size: Int?, note: String? }
    struct Message: Decodable { var sent: Bool, at: Double, name: String, id: String?, data: String }

    struct Redirect: Decodable { var status: Int, url: String }
    struct Attempt: Decodable { var url: String, redirects: [Redirect] }

    var id: Int
    var error: Failure?
    var attempts: [Attempt]
    var requestFields: [[String]]
    var requestBody: Body
    var responseFields: [[String]]
    var responseBody: Body
    var messages: [Message]
    var curl: String?
    var swift: String
  }

  private struct Hello: Decodable { var session: String, now: Double, file: String? }
  private struct Drop: Decodable { var ids: [Int], total: Int }
  private struct Imported: Decodable { var calls: [Summary], details: [Detail] }

  /// A network with a recorder whose transport is a stub.
  private func network(
    _ stub: StubTransport.StubbedResponse, _ recorder: Recorder, _ interceptors: any Interceptor...,
    envelope: Envelope = .none
  ) throws -> Network {
    let url = try XCTUnwrap(URL(string: "https://api.example.com"))
    return Network(
      Backend(
        baseURL: url, envelope: envelope, transport: StubTransport { _ in stub },
        interceptors: interceptors + [recorder]))
  }

  private func assertFails(_ call: () async throws -> Void) async throws {
    do {
      try await call()
      XCTFail("the call must fail")
    } catch is NetworkError {}
  }

  private func calls(_ events: Page.Events) throws -> [Summary] {
    try JSONDecoder().decode([Summary].self, from: events.next("calls"))
  }

  private func recordings(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Recordings/\(name).har").standardized
  }

  // MARK: Events

  func test_thePageReceivesTheCalls_andThenTheirChanges() async throws {
    let recorder = Recorder()
    let app = try network(.json("{}"), recorder)
    try await app.fetch(.get("/a/b?c=d"))
    let page = try Page(Inspector(recorder)), events = try page.events()
    let hello = try JSONDecoder().decode(Hello.self, from: events.next("hello"))
    XCTAssertEqual(hello.session.count, 32)
    XCTAssertNil(hello.file)
    XCTAssertLessThan(abs(hello.now - Date().timeIntervalSince1970 * 1_000), 60_000)
    let first = try calls(events)
    XCTAssertEqual(first.map(\.id), [1])
    XCTAssertEqual(first.first?.url, "https://api.example.com/a/b?c=d")
    XCTAssertEqual(first.first?.state, "done")
    XCTAssertEqual(first.first?.kind, "json")
    XCTAssertEqual(first.first?.size, 2)
    try await app.fetch(.delete("/a"))
    let second = try calls(events)
    XCTAssertEqual(second.map(\.id), [2], "only the call that has changed")
    XCTAssertEqual(second.first?.method, "DELETE")
  }

  func test_aRetriedCallHasItsAttempts_withPausesAndTheFinalError() async throws {
    let recorder = Recorder()
    let retry = RetryInterceptor(
      policy: RetryPolicy(attempts: 2, initialDelay: .milliseconds(3), jitter: { $0.upperBound }))
    let app = try network(.sequence([.json("", status: 503), .failure(.connection)]), recorder, retry)
    try await assertFails { try await app.fetch(.get("/a")) }
    let page = try Page(Inspector(recorder)), call = try XCTUnwrap(calls(page.events()).first)
    XCTAssertEqual(call.attempts.map(\.status), [503, 0])
    XCTAssertEqual(call.attempts.map(\.error), [nil, "connection"])
    XCTAssertNil(call.attempts[0].pause)
    XCTAssertGreaterThanOrEqual(try XCTUnwrap(call.attempts[1].pause), 1)
    XCTAssertGreaterThanOrEqual(call.attempts[1].at, try XCTUnwrap(call.attempts[1].pause) * 0.9)
    XCTAssertEqual(call.attempts.map(\.phases.count), [7, 7])
    XCTAssertEqual(call.state, "failed")
    XCTAssertEqual(call.error, "connection")
    XCTAssertNil(call.code, "only an envelope has a code besides the status")
    let detail = try page.get("calls/1").json(Detail.self)
    XCTAssertEqual(detail.error?.kind, "connection")
    XCTAssertFalse(try XCTUnwrap(detail.error?.reason).isEmpty)
  }

  func test_theCodeOfAnEnvelopeIsPartOfTheCall() async throws {
    let recorder = Recorder()
    let app = try network(.json(#"{"code":4001,"message":"no"}"#), recorder, envelope: .standard)
    try await assertFails { _ = try await app.fetch(.get("/a"), as: Int.self) }
    let call = try XCTUnwrap(calls(Page(Inspector(recorder)).events()).first)
    XCTAssertEqual(call.status, 200)
    XCTAssertEqual(call.code, 4001)
    XCTAssertEqual(call.state, "failed")
  }

  func test_droppedAndClearedCallsAreRemovedFromThePage() async throws {
    let recorder = Recorder(maxCalls: 2)
    let app = try network(.json("{}"), recorder)
    for _ in 1...2 { try await app.fetch(.get("/a")) }
    let page = try Page(Inspector(recorder)), events = try page.events()
    XCTAssertEqual(try calls(events).map(\.id), [1, 2])
    try await app.fetch(.get("/a"))
    let drop = try JSONDecoder().decode(Drop.self, from: events.next("drop"))
    XCTAssertEqual(drop.ids, [1])
    XCTAssertEqual(drop.total, 1)
    XCTAssertEqual(try calls(events).map(\.id), [3])
    XCTAssertEqual(try page.post("clear", "", ["Origin": page.origin]).status, 204)
    XCTAssertEqual(try JSONDecoder().decode(Drop.self, from: events.next("drop")).ids, [2, 3])
    XCTAssertEqual(recorder.entries.count, 0)
    XCTAssertEqual(try page.get("calls/3").status, 404)
  }

  func test_manyCallsArriveInBatches() async throws {
    let recorder = Recorder(maxCalls: 2_000)
    let app = try network(.json("{}"), recorder)
    for number in 1...1_200 {
      try await app.fetch(.get("/a"))
      // A recorder that is too slow on a busy machine drops calls; reading waits for it.
      if number.isMultiple(of: 100) { XCTAssertEqual(recorder.entries.count, number) }
    }
    let events = try Page(Inspector(recorder)).events()
    XCTAssertEqual(try (0..<3).map { _ in try calls(events).count }, [500, 500, 200])
  }

  // MARK: Details

  func test_aDetailHasFieldsBodiesAndCommands_withoutSecrets() async throws {
    let recorder = Recorder()
    let app = try network(
      .response(
        headers: ["Content-Type": "application/json", "Set-Cookie": "s=s3cr3t"],
        body: Data(#"{"token":"s3cr3t","n":9007199254740993}"#.utf8)), recorder)
    try await app.fetch(
      .post("/login?api_key=s3cr3t", json: ["name": "ada", "password": "s3cr3t"]).header(
        "Authorization", "Bearer s3cr3t"))
    let response = try Page(Inspector(recorder)).get("calls/1"), detail = try response.json(Detail.self)
    XCTAssertFalse(response.all.contains("s3cr3t"))
    XCTAssert(detail.requestFields.contains(["Authorization", "***"]))
    XCTAssertEqual(detail.requestBody.text?.contains(#""password":"***""#), true)
    XCTAssertEqual(detail.responseBody.text, #"{"token":"***","n":9007199254740993}"#)
    XCTAssertEqual(detail.responseBody.type, "application/json")
    let curl = try XCTUnwrap(detail.curl)
    XCTAssert(curl.hasPrefix("curl "), curl)
    XCTAssert(curl.contains("'https://api.example.com/login?api_key=***'"), curl)
    XCTAssert(
      detail.swift.hasPrefix(#"let response = try await network.fetch(.post("https://api.example.com/login?"#))
  }

  func test_aSecretThatTheBackendNames_isHiddenOnThePageAndInItsFile() async throws {
    let recorder = Recorder()
    let app = try network(.json(#"{"customer":"lovelace"}"#), recorder)
      .with { $0.redaction = .standard.hiding(["customer"]) }
    try await app.fetch(
      .post("/x", json: ["customer": "lovelace"]).query(["customer": "lovelace"]).header("Customer", "lovelace"))
    let page = try Page(Inspector(recorder))
    for path in ["calls/1", "har"] {
      let response = try page.get(path)
      XCTAssertEqual(response.status, 200, path)
      XCTAssertTrue(response.all.contains("customer"), path)
      XCTAssertFalse(response.all.contains("lovelace"), path)
    }
  }

  func test_aBodyThatIsNotTextIsBase64_andATruncatedOneSaysSo() async throws {
    let recorder = Recorder(maxBodySize: 8)
    let image = Data([0x89, 0x50, 0x4E, 0x47, 0xFF, 0xFE, 0, 1])
    let app = try network(
      .sequence([
        .response(headers: ["Content-Type": "image/png"], body: image),
        .response(headers: ["Content-Type": "text/plain"], body: Data("0123456789".utf8)),
        .response(headers: ["Content-Type": "application/zip"], body: image),
      ]), recorder)
    for _ in 1...3 { try await app.fetch(.get("/a")) }
    let page = try Page(Inspector(recorder))
    let bodies = try (1...3).map { try page.get("calls/\($0)").json(Detail.self).responseBody }
    XCTAssertEqual(bodies[0].base64, image.base64EncodedString())
    XCTAssertNil(bodies[0].note)
    XCTAssertEqual(bodies[1].text, "01234567")
    XCTAssertEqual(bodies[1].size, 10)
    XCTAssertEqual(bodies[1].note, "only the first 8 bytes were recorded")
    XCTAssertEqual(bodies[2].text, "")
    XCTAssertEqual(bodies[2].note, "not recorded: neither UTF-8 nor an image")
  }

  /// The code of "Copy as Swift" is the code below, which compiles.
  func test_copyAsSwiftIsCodeThatSendsTheSameRequest() async throws {
    let recorder = Recorder(redaction: .none)
    let stub = StubTransport { _ in .json("{}") }
    let network = Network(
      Backend(baseURL: try XCTUnwrap(URL(string: "https://api.example.com")), transport: stub, interceptors: [recorder])
    )
    // swift-format-ignore
    let response = try await network.fetch(Call("PROPFIND", "https://api.example.com/a?b=%22", task: .data(Data("\"\\\n\u{7f}é".utf8), contentType: "text/x; charset=utf-8"), headers: ["X-Name": "value"]))
    XCTAssertEqual(response.status, 200)
    let swift = try Page(Inspector(recorder)).get("calls/1").json(Detail.self).swift
    let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let fields = try XCTUnwrap(swift.firstRange(of: ", headers: ["))
    XCTAssert(source.contains(swift[..<fields.lowerBound]), swift)
    XCTAssert(swift[fields.lowerBound...].contains(#""X-Name": "value""#), swift)
    XCTAssertFalse(swift.contains("Content-Type"), "it is in the task")
  }

  // MARK: Files

  func test_filesOfBrowsersAndProxiesAreShown() throws {
    for (name, minimum) in [
      ("chromium", 17), ("firefox", 20), ("mitmproxy", 17), ("playwright", 18), ("example-of-ours", 13),
    ] {
      let inspector = try Inspector(showing: recordings(name)), page = try Page(inspector), events = try page.events()
      XCTAssertEqual(try JSONDecoder().decode(Hello.self, from: events.next("hello")).file, "\(name).har")
      let calls = try calls(events)
      XCTAssertGreaterThanOrEqual(calls.count, minimum, name)
      XCTAssertEqual(calls.map(\.id), Array(1...calls.count))
      for call in calls {
        let response = try page.get("calls/\(call.id)")
        XCTAssertEqual(response.status, 200)
        for secret in ["s3cr3t", "hunter2", "abc.def.ghi", "s3ss10n"] {
          XCTAssertFalse(response.all.contains(secret), "\(name) \(call.url): \(secret)")
        }
        XCTAssertFalse(call.attempts.isEmpty)
        XCTAssert(call.attempts.allSatisfy { $0.phases.count == 7 && $0.phases.allSatisfy { $0 >= 0 } })
      }
    }
  }

  func test_attemptsRedirectsAndFactsOfOurFilesAreJoined() throws {
    let page = try Page(Inspector(showing: recordings("example-of-ours"))), calls = try calls(page.events())
    let retried = try XCTUnwrap(calls.first { $0.url.hasSuffix("/v2/notifications") })
    XCTAssertEqual(retried.attempts.map(\.status), [503, 0, 200])
    XCTAssertEqual(retried.attempts.map(\.pause), [nil, 310, 640])
    XCTAssertEqual(retried.endpoint, "Notifications")
    XCTAssertEqual(calls.filter { $0.shared == 2 }.count, 1)
    XCTAssertEqual(calls.compactMap(\.cache), ["hit", "revalidated"])
    let redirected = try XCTUnwrap(calls.first { $0.redirects == 1 })
    XCTAssertEqual(redirected.attempts.count, 1)
    let attempt = try XCTUnwrap(page.get("calls/\(redirected.id)").json(Detail.self).attempts.first)
    XCTAssertEqual(attempt.redirects.map(\.url), [redirected.url])
    XCTAssertNotEqual(attempt.url, redirected.url, "the final URL")
    XCTAssertEqual(calls.first { $0.code == 4001 }?.status, 200)
    XCTAssertEqual(calls.first { $0.kind == "event" }?.messages, 2)
    XCTAssertEqual(calls.first { $0.kind == "socket" }?.ticks.count, 3)
    XCTAssertEqual(calls.first { $0.error == "timeout" }?.state, "failed")
    XCTAssertEqual(calls.first { $0.error == "cancelled" }?.state, "cancelled")
  }

  func test_aLargeFileIsShownInParts() throws {
    let entries = (0..<10_000).map { HAREntry(method: "GET", url: "http://h/\($0)", status: 200) }
    var events = PageEvents(.file(ArchivedCalls(entries), name: "a.har"), session: "s")
    var parts: [Int] = []
    var text = ""
    while let bytes = events.next() {
      text = String(decoding: bytes, as: UTF8.self)
      parts.append(text.ranges(of: "\"url\"").count)
    }
    XCTAssertEqual(parts, [2_000, 2_000, 2_000, 2_000, 2_000])
    XCTAssert(text.hasSuffix("event: end\ndata: \n\n"), "the page then closes its connection")
  }

  func test_aFileWithoutCallsEnds() {
    var events = PageEvents(.file(ArchivedCalls([]), name: "a.har"), session: "s")
    XCTAssertEqual(events.next().map { String(decoding: $0, as: UTF8.self).contains("event: end") }, true)
    XCTAssertNil(events.next())
  }

  func test_aFileWhoseEntriesAreOneAttemptIsReadInLinearTime() throws {
    // In quadratic time, these 40,000 redirects would be copied 800 million times.
    let entry = #"{"_call":1,"_attempt":1,"request":{"method":"GET","url":"http://h/"},"response":{"status":302}}"#
    let file = "{\"log\":{\"entries\":[" + Array(repeating: entry, count: 40_000).joined(separator: ",") + "]}}"
    let calls = ArchivedCalls(try HARReader.entries(in: Data(file.utf8)))
    XCTAssertEqual(calls.map { $0.attempts.map(\.redirects.count) }, [[39_999]])
  }

  func test_aDroppedFileIsReadByTheServer_withoutSecrets() throws {
    let page = try Page(Inspector(Recorder()))
    let file = try String(contentsOf: recordings("firefox"), encoding: .utf8)
    let response = try page.post("import", file, ["Origin": page.origin, "Sec-Fetch-Site": "same-origin"])
    XCTAssertEqual(response.status, 200)
    for secret in ["s3cr3t", "hunter2", "abc.def.ghi", "s3ss10n"] {
      XCTAssertFalse(response.all.contains(secret), secret)
    }
    let imported = try response.json(Imported.self)
    XCTAssertEqual(imported.calls.map(\.id), imported.details.map(\.id))
    XCTAssertGreaterThan(imported.calls.count, 10)
  }

  func test_aFileThatCannotBeReadIsRefusedWithItsReason() throws {
    struct Refused: Decodable { var reason: String }
    let page = try Page(Inspector(Recorder()))
    for (body, reason) in [
      ("{\"log\":{\"entries\":[", "save it again, or record again"), ("", "save it again"),
      ("[1]", "it has no log.entries"),
      (String(repeating: "[", count: 100_000), "save it again"),
      ("{\"log\":{\"entries\":{}}}", "it has no log.entries"),
    ] {
      let response = try page.post("import", body, ["Origin": page.origin])
      XCTAssertEqual(response.status, 422)
      XCTAssert(try response.json(Refused.self).reason.contains(reason), response.text)
    }
    let odd =
      #"{"log":{"entries":[null,{},{"request":{"method":"GET","url":"http://a/b"},"time":1e300,"_attempt":1e99}]}}"#
    XCTAssertEqual(try page.post("import", odd, ["Origin": page.origin]).json(Imported.self).calls.count, 1)
  }

  func test_aMissingFileFailsWithItsPath() {
    XCTAssertThrowsError(try Inspector(showing: URL(filePath: "/nonexistent/calls.har"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssertEqual((error as? NetworkError)?.reason.contains("/nonexistent/calls.har"), true)
    }
  }

  func test_theExportedFileHasTheCallsOfTheRecorder() async throws {
    let recorder = Recorder()
    try await network(.json("{}"), recorder).fetch(.get("/a"))
    let page = try Page(Inspector(recorder)), response = try page.get("har")
    XCTAssert(response.head.contains("attachment; filename=\"calls.har\""))
    XCTAssertEqual(response.text, String(decoding: recorder.har(), as: UTF8.self))
    let file = try Page(Inspector(showing: recordings("example-of-ours"))).get("har")
    XCTAssertEqual(
      try HARReader.entries(in: Data(file.text.utf8)).count,
      try HARReader.entries(of: recordings("example-of-ours")).count)
  }

  // MARK: Hostile values

  /// Every value is one JSON string of one event, whatever it contains.
  func test_hostileValuesAreDataOfOneEvent() async throws {
    struct Hostile: Decodable {
      struct Value: Decodable { var id: String, text: String?, base64: String? }
      var values: [Value]
    }
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "hostile.json")
    let values = try JSONDecoder().decode(Hostile.self, from: Data(contentsOf: file)).values
    XCTAssertEqual(values.count, 40)
    let recorder = Recorder()
    for value in values {
      let body = value.base64.flatMap { Data(base64Encoded: $0) } ?? Data((value.text ?? "").utf8)
      let app = try network(.response(headers: ["Content-Type": "text/plain"], body: body), recorder)
      try await app.fetch(.get("/a", query: ["value": value.text ?? value.id]))
    }
    let page = try Page(Inspector(recorder)), events = try page.events()
    XCTAssertEqual(try calls(events).count, 40)
    for (index, value) in values.enumerated() {
      let body = try page.get("calls/\(index + 1)").json(Detail.self).responseBody
      // The value of Set-Cookie is a secret, and a text with zeros is not kept.
      guard let text = value.text, !text.contains("\0"), value.id != "crlf-header" else { continue }
      XCTAssertEqual(body.text, text, value.id)
    }
  }
}
