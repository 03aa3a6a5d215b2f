import LoopbackServer
import XCTest

final class GetTests: XCTestCase {
  private func serve(_ change: (inout TestServer.Routes) -> Void) throws -> TestServer {
    var routes = TestServer.Routes()
    change(&routes)
    return try TestServer(routes: routes)
  }

  private func url(_ server: TestServer, _ path: String) -> String { server.url(path).absoluteString }

  func test_eachResult_isPrintedAsJSONLine_whenItArrives() throws {
    let server = try serve { routes in
      routes.on("GET", "/slow") { _ in .json("{\"n\" :\n 1}").delayed(by: 0.4) }
      routes.on("GET", "/fast") { _ in .text("plain\ntext") }
    }
    let result = try DemoProcess.run("get", url(server, "/slow"), url(server, "/fast"))
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(result.lines.count, 2)
    let fast = try object(result.lines.first)
    XCTAssertEqual(fast["url"] as? String, url(server, "/fast"))
    XCTAssertEqual(fast["status"] as? Int, 200)
    XCTAssertEqual(fast["bytes"] as? Int, 10)
    XCTAssertEqual(fast["body"] as? String, "plain\ntext")
    let slow = try object(result.lines.last)
    XCTAssertEqual(slow["body"] as? [String: Int], ["n": 1])
    XCTAssertGreaterThanOrEqual(slow["ms"] as? Double ?? 0, 400)
  }

  func test_standardInput_isReadLineByLine_beforeItEnds() throws {
    let server = try serve { routes in routes.on("GET", "/:n") { .json($0.parameters["n"] ?? "") } }
    let get = try DemoProcess(["get", "-"], readsInput: true)
    for number in 1...3 {
      // A line ending as in files from Windows.
      get.write(url(server, "/\(number)") + "\r")
      XCTAssertEqual(try object(get.line())["body"] as? Int, number)
    }
    get.write("")
    get.write("http:///no-host")
    XCTAssertEqual((try object(get.line())["error"] as? [String: Any])?["kind"] as? String, "invalidRequest")
    try get.endInput()
    XCTAssertEqual(get.finish().code, 1)
  }

  func test_failures_arePrintedWithTheirKind_andExitWith1() throws {
    let server = try serve { routes in
      routes.on("GET", "/down") { _ in .json(#"{"message":"down"}"#, status: 503) }
      routes.on("GET", "/cut") { _ in .truncatedBody() }
      routes.on("GET", "/never") { _ in .neverResponding }
      routes.on("GET", "/ok") { _ in .json("1") }
    }
    let result = try DemoProcess.run(
      "get", "--timeout=0.4", url(server, "/down"), url(server, "/cut"), url(server, "/never"), url(server, "/ok"),
      "http://no-such-host.invalid/")
    XCTAssertEqual(result.code, 1)
    var kinds: [String: String] = [:]
    for line in result.lines {
      let line = try object(line)
      let error = line["error"] as? [String: Any]
      kinds[(line["url"] as? String ?? "").replacing(url(server, ""), with: "")] = error?["kind"] as? String ?? "ok"
    }
    XCTAssertEqual(
      kinds,
      [
        "/down": "status", "/cut": "connection", "/never": "timeout", "/ok": "ok",
        "http://no-such-host.invalid/": "unknownHost",
      ])
  }

  func test_interrupt_keepsPrintedResults_andExitsWith130() throws {
    let server = try serve { routes in
      routes.on("GET", "/ok") { _ in .json("1") }
      routes.on("GET", "/never") { _ in .neverResponding }
    }
    let get = try DemoProcess(["get", url(server, "/ok"), url(server, "/never")])
    XCTAssertEqual(try object(get.line())["body"] as? Int, 1)
    get.interrupt()
    let result = get.finish()
    XCTAssertEqual(result.code, 130)
    XCTAssertEqual(result.lines, [])
    XCTAssertEqual(result.errors, "")
  }

  func test_closedPipe_endsWithoutError() throws {
    let server = try serve { routes in routes.on("GET", "/ok") { _ in .json("1") } }
    let get = try DemoProcess(["get", "-"], readsInput: true)
    get.write(url(server, "/ok"))
    XCTAssertNotNil(get.line())
    try get.closeOutput()
    get.write(url(server, "/ok"))
    let result = get.finish(readingOutput: false)
    XCTAssertEqual(result.code, 0)
    XCTAssertEqual(result.errors, "")
  }

  func test_badUsage_printsOneLineWithTheValue_andExitsWith2() throws {
    let file = "/no/such/file"
    for (arguments, named) in [
      (["two words"], "\"two words\""), ([""], "\"\""), (["example.com:x/"], "\"example.com:x/\""),
      (["ftp://h/x"], "ftp"), (["http:///x"], "\"http:///x\""),
      (["--bogus", "http://h"], "--bogus"), (["-Q", "http://h"], "-Q"), (["-H", "NoColon", "http://h"], "\"NoColon\""),
      (["-H", ": x", "http://h"], "\": x\""), (["-H", "A: b\r\nC: d", "http://h"], "\"A: b\\r\\nC: d\""),
      (["-X", "GET /", "http://h"], "\"GET /\""), (["--data-file", file, "http://h"], file),
      (["-d@\(file)", "http://h"], file), (["-d", "a", "--data-raw", "b", "http://h"], "--data-raw"),
      (["--cacert", file, "http://h"], file), (["--envelope", "code", "http://h"], "\"code\""),
      (["--concurrency", "0", "http://h"], "\"0\""), (["--retry", "x", "http://h"], "\"x\""),
      (["--retry", "-1", "http://h"], "\"-1\""),
      (["--timeout", "-1", "http://h"], "\"-1\""), (["--raw=1", "http://h"], "--raw"), (["http://h", "-X"], "-X"),
      (["-d", "a", "-d", "b", "http://h"], "-d"), ([], "URL"),
    ] {
      let result = try DemoProcess(["get"] + arguments).finish()
      XCTAssertEqual(result.code, 2, "\(arguments)")
      XCTAssertEqual(result.lines, [], "\(arguments)")
      XCTAssertEqual(result.errors.split(separator: "\n").count, 1, result.errors)
      XCTAssertTrue(result.errors.contains(named), result.errors)
    }
  }

  func test_help_listsEveryOption() throws {
    let result = try DemoProcess.run("get", "--help")
    XCTAssertEqual(result.code, 0)
    let text = String(decoding: result.output, as: UTF8.self)
    for option in [
      "-X", "-H", "-d", "--data-raw", "--data-file", "-i,", "--envelope", "--at", "--concurrency", "--timeout",
      "--retry", "--raw",
      "--follow-pages", "--cacert", "--help",
    ] {
      XCTAssertTrue(text.contains(option), option)
    }
  }

  func test_compactJSON_keepsSpacesInStrings() throws {
    let server = try serve { routes in routes.on("GET", "/") { _ in .json("[ \"a  b\", \"c\\\" d\" ,\n 1 ]") } }
    let result = try DemoProcess.run("get", url(server, "/"))
    XCTAssertEqual(try object(result.lines.first)["body"] as? [AnyHashable], ["a  b", "c\" d", 1])
  }
}
