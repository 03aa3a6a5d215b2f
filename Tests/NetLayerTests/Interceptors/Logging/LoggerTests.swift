import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

final class LoggerTests: XCTestCase {
  private let scheduler = TestScheduler(resolution: .milliseconds(1))

  private func log(
    _ level: NetworkLogger.Level,
    reply: StubTransport.StubbedResponse = .json(#"{"token":"s3","id":1}"#, after: .seconds(0.012)),
    curl: Bool = false, dispose: Bool = false, _ call: (Network) -> Observable<Response>
  ) -> [String] {
    let notes = Notes()
    let logger = NetworkLogger(level: level, showsCurl: curl, output: { notes.add($0) })
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), headers: ["Authorization": "Bearer s1"],
        commonParameters: { ["token": "s2"] }, transport: StubTransport(on: scheduler) { _ in reply },
        clock: scheduler, mapping: scheduler, interceptors: [logger]))
    let subscription = call(network).subscribe(onError: { _ in })
    if dispose { subscription.dispose() }
    scheduler.start()
    return notes.all
  }

  func test_row_2_19_eachLevel_logsMore_andNeverASecret() {
    let call: (Network) -> Observable<Response> = { $0.responses(.get, "/a", parameters: ["q": "x"]) }
    XCTAssertEqual(log(.off, call), [])
    XCTAssertEqual(
      log(.basic, call),
      ["--> GET http://h/a?q=x&token=***", "<-- 200 GET http://h/a?q=x&token=*** (12 ms, 21 bytes)"])
    XCTAssertEqual(
      log(.headers, call).first, "--> GET http://h/a?q=x&token=***\nAuthorization: ***")
    XCTAssertEqual(
      log(.body, call).last,
      """
      <-- 200 GET http://h/a?q=x&token=*** (12 ms, 21 bytes)
      Content-Type: application/json

        {"token":"***","id":1}
      """)
  }

  func test_row_2_19_lowerLevels_logNoBodies() {
    for level in [NetworkLogger.Level.basic, .headers] {
      let lines = log(level) { $0.responses(.post, "/a", parameters: ["note": "tea"], encoding: .json) }
      XCTAssertEqual(lines.count, 2)
      for text in ["tea", #""id""#] { XCTAssertFalse(lines.joined().contains(text), "\(lines)") }
    }
  }

  func test_row_2_19_requestBodies_areRedacted_andBinaryOnesSummarized() {
    let form = log(.body) { $0.responses(.post, "/a", parameters: ["password": "s4", "n": 1], encoding: .form) }
    XCTAssertTrue(form[0].hasSuffix("\n\n  n=1&password=***&token=***"), form[0])
    let json = log(.body) { $0.responses(.post, "/a", parameters: ["password": "s\"4", "n": 1], encoding: .json) }
    XCTAssertTrue(json[0].hasSuffix("\n  " + #"{"n":1,"password":"***","token":"***"}"#), json[0])
    let image = StubTransport.StubbedResponse.response(
      headers: ["Content-Type": "image/png"], body: Data([0, 1, 2, 255]))
    XCTAssertTrue(log(.body, reply: image) { $0.responses(.get, "/a") }[1].hasSuffix("\n\n<4 bytes of image/png>"))
    let large = StubTransport.StubbedResponse.json("\"" + String(repeating: "x", count: 5000) + "\"")
    XCTAssertTrue(
      log(.body, reply: large) { $0.responses(.get, "/a") }[1].hasSuffix("<5002 bytes of application/json>"))
  }

  func test_row_2_19_controlCharacters_addNoLinesAndNoTerminalCodes() throws {
    let fields: HTTPHeaders = [
      "X-A": "a\u{1B}[2J\u{9B}1m", "X-B": "\u{202E}b", "Content-Type": "x\r\n<-- 200 GET http://f/",
    ]
    let body = Data("<-- 200 GET http://f/\r\n\u{1B}\u{2028}\t\u{85}".utf8)
    let reply = StubTransport.StubbedResponse.response(headers: fields, body: body, after: .seconds(0.001))
    XCTAssertEqual(
      log(.headers) { $0.responses(.get, "/a", headers: ["X": "x\n<-- 200"]) }.first,
      "--> GET http://h/a?token=***\nAuthorization: ***\nX: x\\n<-- 200")
    XCTAssertEqual(
      log(.body, reply: reply) { $0.responses(.get, "/a") },
      [
        "--> GET http://h/a?token=***\nAuthorization: ***",
        """
        <-- 200 GET http://h/a?token=*** (1 ms, \(body.count) bytes)
        X-A: a\\u{1B}[2J\\u{9B}1m
        X-B: \\u{202E}b
        Content-Type: x\\r\\n<-- 200 GET http://f/

          <-- 200 GET http://f/\\r
          \\u{1B}\\u{2028}\t\\u{85}
        """,
      ])
    XCTAssertEqual(
      log(.basic, reply: .failure(.other, reason: "a\r\n<-- 200", after: .seconds(0))) { $0.responses(.get, "/a") }
        .last,
      "<-- FAILED GET http://h/a?token=*** (0 ms): other -1212: a\\r\\n<-- 200")
    let request = Request(method: "A\nB", url: try XCTUnwrap(URL(string: "http://h")), headers: fields)
    XCTAssertFalse("\(request)\(Response(request: request))".unicodeScalars.contains(where: \.isControl))
    XCTAssertEqual(
      "\(fields)", "X-A: a\\u{1B}[2J\\u{9B}1m\nX-B: \\u{202E}b\nContent-Type: x\\r\\n<-- 200 GET http://f/")
    let error = NetworkError(kind: .rejected, reason: "x\r\n<-- 200 \u{1B}]\u{7F}\u{2066}\0")
    XCTAssertEqual("\(error)", "NetworkError(rejected, -1212): x\\r\\n<-- 200 \\u{1B}]\\u{7F}\\u{2066}\\u{0}")
    XCTAssertEqual(error.failureReason, "x\\r\\n<-- 200 \\u{1B}]\\u{7F}\\u{2066}\\u{0}")
  }

  func test_row_2_19_curlCommand_withoutABody_sendsALengthAsTheTransportDoes() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    for (method, hasData) in [
      (HTTPMethod.post, true), (.put, true), (.patch, true), (.get, false), (.delete, false), (.head, false),
      (.init(rawValue: "OPTIONS"), false),
    ] {
      let command = Request(method: method, url: url).curlCommand()
      XCTAssertEqual(command.hasSuffix(" --data-raw ''"), hasData, command)
      XCTAssertEqual(command.contains("--header 'Content-Type:'"), hasData, command)
    }
    let typed = Request(method: .post, url: url, headers: ["Content-Type": "a/b"]).curlCommand()
    XCTAssertTrue(typed.hasSuffix("--header 'Content-Type: a/b' --data-raw ''"), typed)
  }

  func test_row_2_19_curlCommand_withControlCharacters_runsInAPOSIXShell() throws {
    let value = "a\u{9B}\t'b"
    for body in ["x\n<-- 200\n", "\u{1B}[2J", "\u{202E}x"] {
      let url = try XCTUnwrap(URL(string: "http://h/"))
      let command = Request(method: .post, url: url, headers: ["X": value], body: .data(Data(body.utf8))).curlCommand()
      XCTAssertFalse(command.unicodeScalars.contains(where: \.isControl), command)
      XCTAssertEqual(try output(of: "curl() { cat; }\n" + command), Data(body.utf8))
      XCTAssert(try output(of: "curl() { printf '%s|' \"$@\"; }\n" + command).contains(Data("|X: \(value)|".utf8)))
    }
  }

  /// Runs `script` in a shell and returns its output.
  private func output(of script: String) throws -> Data {
    let (shell, output) = (Process(), Pipe())
    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    defer { try? output.fileHandleForReading.close() }
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script]
    shell.standardOutput = output
    try shell.run()
    defer { shell.waitUntilExit() }
    return try output.fileHandleForReading.readToEnd() ?? Data()
  }

  func test_row_2_19_failuresAndCancellations_areLogged() {
    XCTAssertEqual(
      log(.basic, reply: .failure(.timeout, reason: "slow ?token=s", after: .seconds(0.05))) {
        $0.responses(.get, "/a")
      }.last,
      "<-- FAILED GET http://h/a?token=*** (50 ms): timeout -1212: slow ?token=***")
    XCTAssertEqual(
      log(.basic, reply: .never, dispose: true) { $0.responses(.get, "/a") }.last,
      "<-- CANCELLED GET http://h/a?token=*** (0 ms)")
  }

  /// Returns the entries of a logger at any place among the interceptors.
  private func entries(_ virtual: VirtualNetwork, _ others: [any Interceptor], _ call: (Network) -> Void) -> [String] {
    let notes = Notes()
    let network = virtual.network().with { $0.interceptors = [NetworkLogger { notes.add($0) }] + others }
    call(network)
    virtual.scheduler.start()
    return notes.all
  }

  func test_eachRequestAndResult_areLoggedOnce() {
    let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))
    let failing = VirtualNetwork(.sequence([.json("", status: 503), .failure(.timeout), .json("", status: 404)]))
    let lines = entries(failing, [retry]) { _ = $0.request(.get("/x"), as: Int.self).subscribe(onError: { _ in }) }
    XCTAssertEqual(
      lines.map { $0.prefix(10) },
      ["--> GET ht", "<-- 503 GE", "--> GET ht", "<-- FAILED", "--> GET ht", "<-- 404 GE"], "\(lines)")
  }

  func test_failureBeforeARequest_andACacheHit_areLogged() {
    struct Refusal: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .error(NetworkError(kind: .authentication, reason: "nobody is signed in", request: request))
      }
    }
    let refused = entries(VirtualNetwork(.json("1")), [Refusal()]) {
      _ = $0.responses(.get, "/x").subscribe(onError: { _ in })
    }
    XCTAssertEqual(refused.count, 1)
    XCTAssert(refused[0].hasPrefix("<-- FAILED GET http://h/x"), refused[0])
    let cached = entries(
      VirtualNetwork(.response(headers: ["Cache-Control": "max-age=60"], body: Data("1".utf8))),
      [CacheInterceptor(ResponseCache(storingIn: nil))]
    ) { network in
      _ = network.responses(.get, "/x").concat(network.responses(.get, "/x")).subscribe()
    }
    XCTAssertEqual(cached.map { $0.prefix(7) }, ["--> GET", "<-- 200", "<-- 200"], "\(cached)")
  }

  func test_theRefusalOfATokenServer_isLogged() throws {
    let virtual = VirtualNetwork { request in
      request.url.path == "/token" ? .json(#"{"error":"invalid_grant"}"#, status: 400) : .json("1")
    }
    let server = virtual.network(CallEventHandler { _ in })
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))],
      store: MemoryTokenStore(Token(access: "old", expiresAt: .distantPast))
    ) { _ in server.request(.post("/token"), as: String.self).map { Token(access: $0) } }
    let lines = entries(virtual, [login]) { _ = $0.request(.get("/x"), as: Int.self).subscribe(onError: { _ in }) }
    XCTAssertEqual(lines.map { $0.prefix(10) }, ["<-- FAILED"], "\(lines)")
    XCTAssert(lines.first?.contains("invalid_grant") == true, "\(lines)")
  }

  func test_aStream_isLoggedWhenItsHeadArrives() {
    let virtual = VirtualNetwork { _ in .chunks([Data("a\n".utf8), Data("b\n".utf8)]) }
    let lines = entries(virtual, []) { _ = $0.lines(.get("/x"), as: String.self).subscribe() }
    XCTAssertEqual(lines.map { $0.prefix(7) }, ["--> GET", "<-- 200"], "\(lines)")
  }

  func test_row_2_19_request_canBePrintedAsACurlCommand() throws {
    let entry = log(.basic, curl: true) { $0.responses(.post, "/a", parameters: ["it's": "x"], encoding: .json) }[0]
    XCTAssertEqual(
      entry,
      "curl --globoff --compressed 'http://h/a' --header 'Authorization: ***' --header 'Content-Type: application/json' "
        + #"--data-raw '{"it'\''s":"x","token":"***"}'"#)
    let url = try XCTUnwrap(URL(string: "http://h/"))
    XCTAssertEqual(
      Request(method: .head, url: url).curlCommand(), "curl --globoff --compressed --head 'http://h/'")
    XCTAssertEqual(
      Request(method: .put, url: url, body: .data(Data([0xFF]))).curlCommand(redaction: .none),
      "echo /w== | base64 -d | curl --globoff --compressed --request 'PUT' 'http://h/' --header 'Content-Type:' "
        + "--data-binary @-")
    XCTAssertEqual(
      Request(url: url, headers: ["Cookie": "a"]).curlCommand(redaction: .none),
      "curl --globoff --compressed 'http://h/' --header 'Cookie: a'")
  }

  func test_row_2_19_curlCommand_sendsEmptyFieldsAndHEADWithABody() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    XCTAssertEqual(
      Request(method: .head, url: url, headers: ["X-Empty": "", "Token": ""], body: .data(Data("a".utf8)))
        .curlCommand(redaction: .none),
      "curl --globoff --compressed --request 'HEAD' 'http://h/' --header 'X-Empty;' --header 'Token;' "
        + "--header 'Content-Type:' --data-raw 'a'")
    XCTAssertEqual(
      Request(url: url, headers: ["X-Empty": "  ", "Token": ""]).curlCommand(),
      "curl --globoff --compressed 'http://h/' --header 'X-Empty;' --header 'Token: ***'")
  }

  func test_row_2_19_curlCommand_escapesAQuoteWithACombiningMark() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    XCTAssertEqual(
      Request(method: .post, url: url, body: .data(Data("'\u{301}; rm x".utf8))).curlCommand(),
      "curl --globoff --compressed 'http://h/' --header 'Content-Type:' --data-raw ''\\''\u{301}; rm x'")
  }

  func test_row_2_19_curlCommandWithBodyParts_runsInAPOSIXShell() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("curl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("it's a file")
    try Data("file\n".utf8).write(to: file)
    let url = try XCTUnwrap(URL(string: "http://h/"))
    let body = Request.Body.parts([.data(Data("é'1\n".utf8)), .data(Data([0xFF])), .file(file), .data(Data("3".utf8))])
    let command = Request(method: .post, url: url, body: body).curlCommand(redaction: .none)
    XCTAssertTrue(command.hasSuffix(" --data-binary @-"), command)
    // `cat` in place of `curl` prints the input of curl.
    let sent = try output(of: "curl() { cat; }\n" + command)
    XCTAssertEqual(sent, Data("é'1\n".utf8) + [0xFF] + Data("file\n3".utf8), command)
  }

  func test_row_2_19_curlCommandWithBodyParts_redactsSecretsInBase64() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    let head = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
    let file = URL(fileURLWithPath: "/f")
    let fragments = Request(
      method: .post, url: url,
      body: .parts([.data(Data(head.utf8)), .data(Data("hunter2\r\n--b".utf8)), .file(file), .data(Data([0xFF, 0]))]))
    let hidden = Data((head + "***\r\n--b").utf8).base64EncodedString()
    XCTAssertEqual(
      fragments.curlCommand(),
      "{ echo \(hidden) | base64 -d; cat '/f'; printf %s '<2 bytes>'; } | curl --globoff --compressed 'http://h/' "
        + "--header 'Content-Type:' --data-binary @-")
    let binary = Request(method: .post, url: url, body: .data(Data(head.utf8) + [0xFF]))
    XCTAssertTrue(binary.curlCommand().hasSuffix(" --data-binary '<57 bytes>'"), binary.curlCommand())
    let zero = Request(method: .post, url: url, body: .data(Data("token=x&a=\0".utf8)))
    XCTAssertTrue(
      zero.curlCommand().hasPrefix("echo \(Data("token=***&a=\0".utf8).base64EncodedString()) | base64 -d | curl "),
      zero.curlCommand())
  }
}
