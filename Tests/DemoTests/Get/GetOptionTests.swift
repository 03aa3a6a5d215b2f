import LoopbackServer
import Synchronization
import XCTest

final class GetOptionTests: XCTestCase {
  private func serve(_ change: (inout TestServer.Routes) -> Void) throws -> TestServer {
    var routes = TestServer.Routes()
    change(&routes)
    return try TestServer(routes: routes)
  }

  private func url(_ server: TestServer, _ path: String) -> String { server.url(path).absoluteString }

  private func error(_ line: String?) throws -> [String: Any] {
    try XCTUnwrap(try object(line)["error"] as? [String: Any], line ?? "")
  }

  func test_methodHeadersAndBody_areSentUnchanged() throws {
    let server = try serve { routes in routes.on(nil, "/echo") { _ in .json("1") } }
    let echo = url(server, "/echo")
    XCTAssertEqual(try DemoProcess.run("get", "-XPUT", "-H", "X-A: b: c", "-d", #"{"a":1}"#, echo).code, 0)
    XCTAssertEqual(try DemoProcess.run("get", "-d", "a=1", echo).code, 0)
    XCTAssertEqual(try DemoProcess.run("get", "-d", "a", "-H", "content-type: text/x", echo).code, 0)
    XCTAssertEqual(server.requests.map(\.method), ["PUT", "POST", "POST"])
    XCTAssertEqual(server.requests.map(\.text), [#"{"a":1}"#, "a=1", "a"])
    XCTAssertEqual(server.requests[0].header("X-A"), "b: c")
    XCTAssertEqual(
      server.requests.map { $0.headerValues("Content-Type") },
      [["application/json"], ["application/x-www-form-urlencoded"], ["text/x"]])
  }

  func test_har_writesEachAttemptWithoutSecrets() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try serve { routes in
      routes.on("GET", "/") { _ in .json(#"{"token":"s3cr3t"}"#) }
      routes.on("GET", "/down") { _ in .status(503) }
    }
    XCTAssertEqual(
      try DemoProcess.run(
        "get", "--har", file.path, "--retry", "1", url(server, "/?token=s3cr3t"), url(server, "/down")
      )
      .code, 1)
    let text = try String(contentsOf: file, encoding: .utf8)
    XCTAssertFalse(text.contains("s3cr3t"))
    let log = try XCTUnwrap(try object(text)["log"] as? [String: Any])
    let entries = try XCTUnwrap(log["entries"] as? [[String: Any]])
    XCTAssertEqual(
      entries.compactMap { ($0["response"] as? [String: Any])?["status"] as? Int }.sorted(), [200, 503, 503])
    XCTAssertEqual(try DemoProcess.run("get", "--har", "/nowhere/a.har", url(server, "/")).code, 1)
  }

  func test_dataFile_isSentAsBody() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
    let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try serve { routes in routes.on("POST", "/") { _ in .json("1") } }
    XCTAssertEqual(try DemoProcess.run("get", "--data-file", file.path, url(server, "/")).code, 0)
    XCTAssertEqual(server.requests.first.map { Data($0.body) }, bytes)
  }

  func test_atSign_namesAFile_asInCurl() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
    try Data("{\"a\": 1}\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try serve { routes in routes.on("POST", "/") { _ in .json("1") } }
    XCTAssertEqual(try DemoProcess.run("get", "-d", "@\(file.path)", url(server, "/")).code, 0)
    XCTAssertEqual(try DemoProcess.run("get", "--data-raw", "@home", url(server, "/")).code, 0)
    let piped = try DemoProcess(["get", "-d@-", url(server, "/")], readsInput: true)
    piped.write("piped=1")
    try piped.endInput()
    XCTAssertEqual(piped.finish().code, 0)
    XCTAssertEqual(server.requests.map(\.text), ["{\"a\": 1}\n", "@home", "piped=1\n"])
    XCTAssertEqual(
      server.requests.map { $0.header("Content-Type") },
      ["application/json"] + Array(repeating: "application/x-www-form-urlencoded", count: 2))
  }

  func test_include_printsHeaders() throws {
    let server = try serve { routes in
      routes.on("GET", "/") { _ in
        .json("1").header("Set-Cookie", "a=1").header("X-A", "\"q\"").header("set-cookie", "b")
      }
      routes.on("GET", "/down") { _ in .status(503).header("Retry-After", "7") }
      routes.on("GET", "/late") { _ in
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: ETag\r\n\r\n"
        return TestServer.Response(body: .raw([.init(head + "1\r\n7\r\n0\r\nETag: \"t\"\r\n\r\n")]))
      }
    }
    let late = try object(DemoProcess.run("get", "-i", url(server, "/late")).lines.first)
    XCTAssertEqual((late["headers"] as? [String: [String]])?["etag"], ["\"t\""])
    let shown = try object(DemoProcess.run("get", "-i", url(server, "/")).lines.first)
    let headers = try XCTUnwrap(shown["headers"] as? [String: [String]])
    XCTAssertEqual(headers["set-cookie"], ["a=1", "b"])
    XCTAssertEqual(headers["x-a"], ["\"q\""])
    XCTAssertEqual(headers["content-type"], ["application/json"])
    XCTAssertEqual(shown["body"] as? Int, 1)
    XCTAssertNil(try object(DemoProcess.run("get", url(server, "/")).lines.first)["headers"])
    let failed = try DemoProcess.run("get", "--include", url(server, "/down"))
    XCTAssertEqual((try object(failed.lines.first)["headers"] as? [String: [String]])?["retry-after"], ["7"])
    let text = try serve { $0.on("GET", "/") { _ in .json(#"{"a":"x\"y","b":{"c": 1}}"#) } }
    for (path, output) in [("a", "x\"y\n"), ("b", "{\"c\": 1}\n"), ("b.c", "1\n")] {
      let selected = try DemoProcess.run("get", "--raw", "--at", path, url(text, "/"))
      XCTAssertEqual(String(decoding: selected.output, as: UTF8.self), output)
    }
    let raw = try DemoProcess.run("get", "-i", "--raw", url(server, "/"))
    XCTAssertEqual(raw.lines.first, "HTTP 200")
    XCTAssertTrue(raw.lines.contains("Set-Cookie: a=1"))
    XCTAssertTrue(String(decoding: raw.output, as: UTF8.self).hasSuffix("\n\n1"))
  }

  func test_raw_printsUnchangedBytes_andErrorsOnStandardError() throws {
    let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let server = try serve { routes in routes.on("GET", "/bytes") { _ in .bytes(bytes) } }
    let result = try DemoProcess.run("get", "--raw", url(server, "/bytes"))
    XCTAssertEqual(result.output, Data(bytes))
    let failed = try DemoProcess.run("get", "--raw", url(server, "/none"))
    XCTAssertEqual(failed.code, 1)
    XCTAssertEqual(String(decoding: failed.output, as: UTF8.self), "no route for GET /none")
    XCTAssertTrue(failed.errors.contains("404"), failed.errors)
    let binary = try DemoProcess.run("get", url(server, "/bytes"))
    XCTAssertEqual(try object(binary.lines.first)["base64"] as? String, Data(bytes).base64EncodedString())
  }

  func test_bodyOfAFailure_isShownBesideTheError() throws {
    let server = try serve { routes in
      routes.on("GET", "/taken") { _ in .json(#"{ "message": "taken" }"#, status: 422) }
      routes.on("GET", "/down") { _ in .text("down\n", status: 503) }
      routes.on("GET", "/empty") { _ in .status(500) }
    }
    let taken = try object(DemoProcess.run("get", url(server, "/taken")).lines.first)
    XCTAssertEqual(taken["body"] as? [String: String], ["message": "taken"])
    XCTAssertEqual((taken["error"] as? [String: Any])?["code"] as? Int, 422)
    XCTAssertEqual(try object(DemoProcess.run("get", url(server, "/down")).lines.first)["body"] as? String, "down\n")
    XCTAssertNil(try object(DemoProcess.run("get", url(server, "/empty")).lines.first)["body"])
    let pages = try DemoProcess.run("pages", url(server, "/taken"))
    XCTAssertTrue(pages.errors.contains(#"{"message":"taken"}"#), pages.errors)
    let line = try object(DemoProcess.run("pages", "--json", url(server, "/taken")).lines.first)
    XCTAssertEqual(line["body"] as? [String: String], ["message": "taken"])
  }

  func test_urlWithoutAScheme_isAnHTTPURL() throws {
    let server = try serve { routes in routes.on("GET", "/x") { .json("\"\($0.query("at") ?? "")\"") } }
    for host in ["127.0.0.1", "localhost"] {
      let result = try DemoProcess.run("get", "\(host):\(server.port)/x?at=http://y")
      XCTAssertEqual(try object(result.lines.first)["body"] as? String, "http://y", result.errors)
    }
  }

  func test_envelope_isUnwrapped_orItsMessageIsTheError() throws {
    let server = try serve { routes in
      routes.on("GET", "/ok") { _ in .json(#"{"status":"0","msg":"","result":{"a":[1,2]},"next":5}"#) }
      routes.on("GET", "/no") { _ in .json(#"{"status":17,"msg":"declined"}"#) }
      routes.on("GET", "/bad") { _ in .json("[]") }
    }
    func get(_ path: String, _ options: String...) throws -> DemoProcess.Result {
      try DemoProcess(["get", "--envelope", "status=0,msg,result,next"] + options + [url(server, path)]).finish()
    }
    let ok = try object(get("/ok").lines.first)
    XCTAssertEqual(ok["body"] as? [String: [Int]], ["a": [1, 2]])
    XCTAssertEqual(ok["cursor"] as? String, "5")
    XCTAssertEqual(try object(get("/ok", "--at", "a[1]").lines.first)["body"] as? Int, 2)
    XCTAssertEqual(try error(get("/ok", "--at", "b").lines.first)["kind"] as? String, "parse")
    let refused = try error(get("/no").lines.first)
    XCTAssertEqual(refused["message"] as? String, "declined")
    XCTAssertEqual(refused["code"] as? Int, 17)
    XCTAssertEqual(try error(get("/bad").lines.first)["kind"] as? String, "parse")
    let attached = try DemoProcess.run("get", "--envelope=status=0,msg,result,next", url(server, "/ok"))
    XCTAssertEqual(try object(attached.lines.first)["cursor"] as? String, "5")
  }

  func test_followPages_stopsWithoutCursor_andFailsOnRepeatedCursor() throws {
    let server = try serve { routes in
      routes.on("GET", "/feed") { request in
        switch request.query("cursor") {
        case nil: .json(#"{"code":200,"data":[1],"cursor":"a&b +c"}"#)
        case "a&b +c": .json(#"{"code":200,"data":[2],"cursor":7}"#)
        default: .json(#"{"code":200,"data":[3],"cursor":null}"#)
        }
      }
      routes.on("GET", "/loop") { _ in .json(#"{"code":200,"data":[],"cursor":"same"}"#) }
    }
    let feed = try DemoProcess.run("get", "--follow-pages", url(server, "/feed?tag=x"))
    XCTAssertEqual(feed.code, 0)
    XCTAssertEqual(try feed.lines.map { try object($0)["body"] as? [Int] }, [[1], [2], [3]])
    XCTAssertEqual(server.requests.map { $0.query("tag") }, ["x", "x", "x"])
    let loop = try DemoProcess.run("get", "--follow-pages", url(server, "/loop"))
    XCTAssertEqual(loop.code, 1)
    XCTAssertEqual(loop.lines.count, 3)
    XCTAssertEqual((try error(loop.lines.last)["reason"] as? String)?.contains("same"), true)
  }

  func test_followPages_fetchesAThousandPages() throws {
    let server = try serve { routes in
      routes.on("GET", "/feed") { request in
        let page = request.query("cursor").flatMap { Int($0) } ?? 0
        return .json("{\"code\":200,\"data\":\(page),\"cursor\":\(page < 1_000 ? "\(page + 1)" : "null")}")
      }
    }
    let feed = try DemoProcess.run("get", "--follow-pages", url(server, "/feed"))
    XCTAssertEqual(feed.code, 0)
    XCTAssertEqual(feed.lines.count, 1_001)
  }

  func test_retry_retriesOnlyTransientFailures() throws {
    let count = Counter()
    let server = try TestServer { request in
      if request.path == "/gone" { return .status(404) }
      let attempt = count.next()
      return attempt == 1 ? .closeBeforeHead : attempt == 2 ? .status(503) : .json("1")
    }
    let flaky = try DemoProcess.run("get", "--retry", "2", url(server, "/flaky"))
    XCTAssertEqual(flaky.code, 0)
    XCTAssertEqual(flaky.errors.components(separatedBy: "/flaky: again in ").count, 3, flaky.errors)
    XCTAssertEqual(count.next(), 4)
    XCTAssertEqual(try DemoProcess.run("get", "--retry", "2", url(server, "/gone")).code, 1)
    XCTAssertEqual(server.requests.filter { $0.path == "/gone" }.count, 1)
  }

  func test_concurrency_limitsConcurrentRequests() throws {
    let server = try serve { routes in routes.on("GET", "/:n") { _ in .json("1").delayed(by: 0.05) } }
    let urls = (0..<8).map { url(server, "/\($0)") }
    XCTAssertEqual(try DemoProcess(["get", "--concurrency", "2"] + urls).finish().lines.count, 8)
    XCTAssertLessThanOrEqual(server.connectionCount, 2)
    XCTAssertEqual(try DemoProcess(["get", "--concurrency", "8"] + urls).finish().lines.count, 8)
    XCTAssertGreaterThan(server.connectionCount, 4)
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
