import Foundation
import Streams
import XCTest

@testable import HTTPTransport
@testable import NetLayerRecording
@testable import NetLayerTesting

/// Tests of the requests that a recording can replay, and the requests that are sent.
final class RecordingTests: XCTestCase {
  private var file: URL!
  /// A transport that responds with the number of the request.
  private var server: StubTransport!

  override func setUp() {
    let file = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    self.file = file
    let count = Locked(0)
    server = StubTransport { _ in .json("\(count.withLock { $0 += 1; return $0 })") }
  }

  private func transport(_ mode: RecordingTransport.Mode) throws -> RecordingTransport {
    try RecordingTransport(server, to: file, mode: mode)
  }

  /// Sends a POST with `body` and returns the body of the response, or the kind of the error.
  private func outcome(
    _ transport: any Transport, _ body: Request.Body, headers: HTTPHeaders = [:]
  ) throws -> String {
    let url = try XCTUnwrap(URL(string: "http://h/x?token=secret"))
    let pending = PendingCall(self)
    _ = pending.send(Request(method: .post, url: url, headers: headers, body: body), on: transport)
    switch try pending.outcome() {
    case .success(let response): return String(decoding: response.body, as: UTF8.self)
    case .failure(let error): return error.kind.rawValue
    }
  }

  private func outcome(_ transport: any Transport, _ body: String) throws -> String {
    try outcome(transport, .data(Data(body.utf8)))
  }

  func test_requestsWithDifferentBodiesHaveSeparateResponses() throws {
    let live = try transport(.all)
    XCTAssertEqual(try outcome(live, #"{"a":1}"#), "1")
    XCTAssertEqual(try outcome(live, #"{"a":2}"#), "2")
    XCTAssertEqual(try outcome(live, .data(Data([0xff, 0x00]))), "3")
    XCTAssertEqual(try outcome(live, .none), "4")
    let replay = try StubTransport(har: file)
    XCTAssertEqual(try outcome(replay, #"{"a":2}"#), "2")
    XCTAssertEqual(try outcome(replay, #"{"a":1}"#), "1")
    XCTAssertEqual(try outcome(replay, .none), "4")
    XCTAssertEqual(try outcome(replay, .data(Data([0xff, 0x00]))), "3")
    XCTAssertEqual(try outcome(replay, .data(Data([0xff, 0x01]))), "connection")
    XCTAssertEqual(try outcome(replay, #"{"a":3}"#), "connection")
  }

  func test_aRecordedResponse_isStreamedWithoutTheServer() throws {
    XCTAssertEqual(try outcome(try transport(.all), .none), "1")
    let url = try XCTUnwrap(URL(string: "http://h/x?token=secret"))
    for mode in [RecordingTransport.Mode.once, .strict] {
      let pending = PendingStream(self)
      pending.start(Request(method: .post, url: url), on: try transport(mode))
      _ = try pending.outcome()
      XCTAssertEqual(String(decoding: pending.body, as: UTF8.self), "1")
    }
    XCTAssertEqual(server.requests.count, 1)
  }

  func test_aShutdown_reachesTheBaseTransport() throws {
    struct Closing: Transport {
      let isShutDown: Flag
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable { Disposables.create() }
      func shutdown() { isShutDown.raise() }
    }
    let base = Closing(isShutDown: Flag())
    try RecordingTransport(base, to: file, mode: .all).shutdown()
    XCTAssertTrue(base.isShutDown.isRaised)
  }

  func test_secretsInABodyAreNotRecordedNorCompared() throws {
    XCTAssertEqual(try outcome(try transport(.all), #"{"password":"one","a":1}"#), "1")
    XCTAssertFalse(try String(contentsOf: file, encoding: .utf8).contains("one"))
    let replay = try StubTransport(har: file)
    XCTAssertEqual(try outcome(replay, #"{"password":"two","a":1}"#), "1")
    XCTAssertEqual(try outcome(replay, #"{"password":"two","a":2}"#), "connection")
  }

  func test_secretsInABodyThatIsNotUTF8AreNotRecordedNorCompared() throws {
    @Sendable func body(_ secret: String) -> Data {
      Data("name=\u{e9}&access_token=\(secret)".unicodeScalars.map { UInt8($0.value) })
    }
    server = StubTransport { _ in .response(body: body("secret")) }
    _ = try outcome(try transport(.all), .data(body("one")))
    let entry = try XCTUnwrap(HARReader.entries(of: file).first)
    XCTAssertEqual(entry.body, body("***"))
    let replay = try StubTransport(har: file)
    XCTAssertEqual(try outcome(replay, .data(body("two"))), String(decoding: body("***"), as: UTF8.self))
  }

  func test_aRecordingIsReadableForItsOwnerOnly() throws {
    func mode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }
    _ = try transport(.all)
    XCTAssertEqual(try mode(), 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    _ = try transport(.append)
    XCTAssertEqual(try mode(), 0o600)
  }

  func test_aRecordingMatches_ifTheRedactionHasMoreRulesNow() throws {
    var entry = HAREntry(method: "POST", url: "http://h/x?token=b", status: 200)
    (entry.requestBody, entry.body) = (.text("refresh=a", type: ""), Data("old".utf8))
    try HARWriter.archive([entry]).write(to: file)
    XCTAssertEqual(try outcome(try StubTransport(har: file), "refresh=c"), "old")
  }

  func test_aRandomMultipartBoundaryIsNotCompared() throws {
    func form(_ boundary: String, _ value: String) -> (Request.Body, HTTPHeaders) {
      (
        .parts([.data(Data("--\(boundary)\r\n\r\n\(value)\r\n--\(boundary)--".utf8))]),
        ["Content-Type": "multipart/form-data; boundary=\"\(boundary)\""]
      )
    }
    let (body, headers) = form("b1", "7")
    XCTAssertEqual(try outcome(try transport(.all), body, headers: headers), "1")
    let replay = try StubTransport(har: file)
    let (same, others) = form("b2", "7")
    XCTAssertEqual(try outcome(replay, same, headers: others), "1")
    XCTAssertEqual(try outcome(replay, form("b3", "8").0, headers: form("b3", "8").1), "connection")
  }

  func test_aBodyThatIsNotInMemoryMatchesByMethodAndURL() throws {
    let stream = Request.Body.stream(.init(count: nil) { { nil } })
    XCTAssertEqual(try outcome(try transport(.all), stream), "1")
    XCTAssertEqual(try outcome(try StubTransport(har: file), stream), "1")
  }

  func test_aRecordingWithoutBodiesMatchesAnyBody() throws {
    var entry = HAREntry(method: "POST", url: "http://h/x?token=other", status: 200)
    (entry.requestBody, entry.body) = (.unknown, Data("old".utf8))
    try HARWriter.archive([entry]).write(to: file)
    XCTAssertEqual(try outcome(try StubTransport(har: file), "anything"), "old")
  }

  func test_aRecordingBeyondItsSizeFailsTheCall_andKeepsEarlierCalls() throws {
    let live = try RecordingTransport(server, to: file, maxSize: 1_200)
    XCTAssertEqual([try outcome(live, "a"), try outcome(live, "b"), try outcome(live, "c")], ["1", "file", "file"])
    XCTAssertEqual(try HARReader.entries(of: file).map(\.body), [Data("1".utf8)])
  }

  func test_aRecordingThatCannotBeWritten_saysWhatToDo() throws {
    for (isFull, words) in [(true, "it would exceed maxSize; raise maxSize"), (false, "make room on the disk")] {
      let folder = try makeSocketFolder()
      let live = try RecordingTransport(
        server, to: URL(filePath: folder).appending(path: "a.har"), maxSize: isFull ? 200 : 1 << 20)
      if !isFull { try FileManager.default.removeItem(atPath: folder) }
      let pending = PendingCall(self)
      let request = Request(url: try XCTUnwrap(URL(string: "http://h/")))
      _ = pending.send(request, on: live)
      guard case .failure(let error) = try pending.outcome() else { return XCTFail("it was recorded") }
      XCTAssertEqual(error.kind, .file)
      XCTAssert(error.reason.contains(words), error.reason)
      XCTAssertEqual(error.request?.url, request.url)
      XCTAssertEqual(error.response?.status, 200)
    }
  }

  func test_aFileThatIsNotRegularIsNotReplaced() throws {
    let folder = try makeSocketFolder()
    let pipe = URL(filePath: folder).appending(path: "pipe")
    XCTAssertEqual(mkfifo(pipe.path, 0o600), 0)
    XCTAssertThrowsError(try RecordingTransport(server, to: pipe)) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .file)
    }
    var info = stat()
    XCTAssertEqual(lstat(pipe.path, &info), 0)
    XCTAssertEqual(info.st_mode & S_IFMT, S_IFIFO)
  }

  func test_anEmptyRecordingIsAnArchive() throws {
    _ = try transport(.all)
    XCTAssertEqual(try HARReader.entries(of: file), [])
    XCTAssertEqual(try outcome(try StubTransport(har: file), "a"), "connection")
  }

  func test_redirectsAreRecordedAndFollowed() throws {
    let (old, new) = (try XCTUnwrap(URL(string: "http://h/x?token=secret")), try XCTUnwrap(URL(string: "http://h/new")))
    let redirect = Response.Redirect(url: old, status: 303, headers: ["Location": "/new"])
    let base = StubTransport { request in
      .init(delay: .zero) { _ in
        .success(Response(request: request, url: new, body: Data("n".utf8), redirects: [redirect]))
      }
    }
    XCTAssertEqual(try outcome(try RecordingTransport(base, to: file), "a"), "n")
    XCTAssertEqual(try HARReader.entries(of: file).map(\.method), ["POST", "GET"])
    let pending = PendingCall(self)
    _ = pending.send(
      Request(method: .post, url: old, body: .data(Data("a".utf8))), on: try StubTransport(har: file))
    let response = try pending.outcome().get()
    XCTAssertEqual(response.redirects.map(\.status), [303])
    XCTAssertEqual(response.url, new)
    XCTAssertEqual(response.body, Data("n".utf8))
  }

  func test_recordingAReplayGivesTheSameRecordingExceptForTimes() throws {
    server = StubTransport { request in
      switch request.url.path {
      case "/fails": .failure(.timeout, reason: "token=abc is late")
      case "/binary": .response(headers: ["Content-Type": "image/png"], body: Data([0, 255, 128]))
      default:
        .response(
          headers: ["Content-Encoding": "gzip", "Content-Type": "text/plain; charset=iso-8859-1"],
          body: Data("{\"token\":\"x\",\"a\":\"ë\"}".utf8))
      }
    }
    func run(_ transport: any Transport, _ file: URL) throws -> [HAREntry] {
      for path in ["fails", "binary", "text"] {
        let pending = PendingCall(self)
        _ = pending.send(Request(url: try XCTUnwrap(URL(string: "http://h/\(path)"))), on: transport)
        _ = try pending.outcome()
      }
      return try HARReader.entries(of: file).map { entry in
        var entry = entry
        entry.started = nil
        return entry
      }
    }
    let first = try run(try transport(.all), file)
    let second = file.appendingPathExtension("2")
    addTeardownBlock { try? FileManager.default.removeItem(at: second) }
    XCTAssertEqual(try run(try RecordingTransport(StubTransport(har: file), to: second), second), first)
    XCTAssertEqual(first.map(\.failure?.kind), ["timeout", nil, nil])
  }

  func test_strictSendsNothing() throws {
    XCTAssertThrowsError(try transport(.strict)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .file) }
    _ = try outcome(try transport(.all), "a")
    let strict = try transport(.strict)
    XCTAssertEqual(try outcome(strict, "a"), "1")
    XCTAssertEqual(try outcome(strict, "b"), "connection")
    XCTAssertEqual(server.requests.count, 1)
  }

  func test_onceRecordsIfTheFileDoesNotExist_andOtherwiseSendsNothing() throws {
    let first = try transport(.once)
    XCTAssertEqual([try outcome(first, "a"), try outcome(first, "b")], ["1", "2"])
    let second = try transport(.once)
    XCTAssertEqual(
      [try outcome(second, "b"), try outcome(second, "a"), try outcome(second, "c")], ["2", "1", "connection"])
    XCTAssertEqual(server.requests.count, 2)
  }

  func test_appendSendsAndRecordsMissingRequests() throws {
    XCTAssertEqual(try outcome(try transport(.append), "a"), "1")
    let second = try transport(.append)
    XCTAssertEqual([try outcome(second, "a"), try outcome(second, "b")], ["1", "2"])
    let third = try transport(.append)
    XCTAssertEqual([try outcome(third, "b"), try outcome(third, "a")], ["2", "1"])
    XCTAssertEqual(server.requests.count, 2)
  }

  func test_allAlsoSendsRecordedRequests() throws {
    XCTAssertEqual([try outcome(try transport(.all), "a"), try outcome(try transport(.all), "a")], ["1", "2"])
    let replay = try StubTransport(har: file)
    XCTAssertEqual([try outcome(replay, "a"), try outcome(replay, "a")], ["1", "2"])
  }

  func test_fieldsOfTheCodedBody_areNotRecorded() throws {
    server = StubTransport { _ in
      .response(
        headers: ["Content-Encoding": "gzip", "Content-Length": "9", "Transfer-Encoding": "chunked", "X-A": "b"],
        body: Data("decoded".utf8))
    }
    let recording = try transport(.all)
    XCTAssertEqual(try outcome(recording, "a"), "decoded")
    let text = try String(contentsOf: file, encoding: .utf8)
    for name in ["Content-Encoding", "Content-Length", "Transfer-Encoding"] {
      XCTAssertFalse(text.contains(name), name)
    }
    XCTAssertTrue(text.contains("X-A"))
  }
}
