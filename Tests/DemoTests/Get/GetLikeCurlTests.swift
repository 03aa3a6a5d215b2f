import LoopbackServer
import XCTest

/// Options of `Demo get` that users know from curl.
final class GetLikeCurlTests: XCTestCase {
  private func serve(_ change: (inout TestServer.Routes) -> Void) throws -> TestServer {
    var routes = TestServer.Routes()
    change(&routes)
    return try TestServer(routes: routes)
  }

  private func url(_ server: TestServer, _ path: String) -> String { server.url(path).absoluteString }

  private var file: URL { FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)") }

  func test_raw_printsAnEndlessBody_whileItArrives() throws {
    let server = try TestServer { _ in .endless(.init("tick\n", after: 0.02)) }
    let get = try DemoProcess(["get", "--raw", url(server, "/")])
    for _ in 1...3 { XCTAssertEqual(get.line(), "tick") }
    XCTAssertTrue(get.isRunning)
    get.interrupt()
    XCTAssertEqual(get.finish().code, 130)
  }

  func test_raw_hasNoLimitOfSize_andAJSONLineNamesTheOption() throws {
    let size = 40 << 20
    let server = try serve { routes in
      routes.on("GET", "/large") { _ in .bytes([UInt8](repeating: 0x61, count: size)) }
    }
    let raw = try DemoProcess.run("get", "--raw", url(server, "/large"))
    XCTAssertEqual(raw.code, 0, raw.errors)
    XCTAssertEqual(raw.output.count, size)
    let line = try DemoProcess.run("get", url(server, "/large"))
    let reason = (try object(line.lines.first)["error"] as? [String: Any])?["reason"] as? String ?? ""
    XCTAssertTrue(reason.contains("pass --raw or -o FILE"), reason)
    XCTAssertFalse(reason.contains("maxBodySize"), reason)
  }

  func test_raw_printsTheBodyOfAFailure_andExitsWith1() throws {
    let server = try serve { routes in
      routes.on("GET", "/down") { _ in .json(#"{"message":"down"}"#, status: 503) }
      routes.on("GET", "/cut") { _ in .truncatedBody(promised: 10, sent: 4) }
    }
    let down = try DemoProcess.run("get", "--raw", "-i", url(server, "/down"))
    XCTAssertEqual(down.code, 1)
    XCTAssertTrue(down.lines.first?.hasPrefix("HTTP 503") == true)
    XCTAssertEqual(down.lines.last, #"{"message":"down"}"#)
    XCTAssertTrue(down.errors.contains("with status 503: down"), down.errors)
    let cut = try DemoProcess.run("get", "--raw", url(server, "/cut"))
    XCTAssertEqual(cut.code, 1)
    XCTAssertEqual(cut.output, Data("xxxx".utf8))
    XCTAssertTrue(cut.errors.contains("connection"), cut.errors)
  }

  func test_output_isAFile_onlyOfAnUnbrokenSuccess() throws {
    let server = try serve { routes in
      routes.on("GET", "/ok") { _ in .text("body") }
      routes.on("GET", "/down") { _ in .text("no", status: 404) }
      routes.on("GET", "/cut") { _ in .truncatedBody() }
    }
    let file = file
    defer { try? FileManager.default.removeItem(at: file) }
    let ok = try DemoProcess.run("get", "-o", file.path, url(server, "/ok"))
    XCTAssertEqual(ok.code, 0, ok.errors)
    XCTAssertEqual(ok.output, Data())
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "body")
    for path in ["/down", "/cut"] {
      let failed = try DemoProcess.run("get", "-o", file.path, url(server, path))
      XCTAssertEqual(failed.code, 1)
      XCTAssertEqual(failed.output, Data())
      XCTAssertTrue(failed.errors.contains(path == "/down" ? "with status 404: no" : "connection"), failed.errors)
      XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "body", "the former file stays")
    }
    let nowhere = try DemoProcess.run("get", "-o", "/no/such/folder/file", url(server, "/ok"))
    XCTAssertEqual(nowhere.code, 1)
    XCTAssertTrue(nowhere.errors.contains("/no/such/folder/file"), nowhere.errors)
    for arguments in [["a.example", "b.example"], ["-"], ["--at", "x", "a.example"]] {
      let misuse = try DemoProcess(["get", "-o", file.path] + arguments).finish()
      XCTAssertEqual(misuse.code, 2, "\(arguments)")
      XCTAssertTrue(misuse.errors.contains("-o"), misuse.errors)
    }
  }

  func test_user_isSentAsBasic_andNoPasswordIsPrinted() throws {
    let server = try serve { routes in
      routes.on("GET", "/a") { _ in .json("1") }
      routes.on("GET", "/to") { .redirect(to: "http://ada:secret@\($0.header("Host") ?? "")/a") }
    }
    let basic = "Basic \(Data("ada:se:cret".utf8).base64EncodedString())"
    XCTAssertEqual(try DemoProcess.run("get", "-u", "ada:se:cret", url(server, "/a")).code, 0)
    XCTAssertEqual(server.requests.last?.header("Authorization"), basic)
    let place = "127.0.0.1:\(server.port)"
    for path in ["/a", "/to", "/missing"] {
      let result = try DemoProcess.run("get", "http://ada:secret@\(place)\(path)")
      XCTAssertFalse(String(decoding: result.output, as: UTF8.self).contains("secret"), "\(result.lines)")
      XCTAssertFalse(result.errors.contains("secret"), result.errors)
      XCTAssertEqual(try object(result.lines.first)["url"] as? String, "http://\(place)\(path)")
    }
    let down = try DemoProcess.run("get", "http://ada:secret@127.0.0.1:1/")
    XCTAssertFalse(String(decoding: down.output, as: UTF8.self).contains("secret"), "\(down.lines)")
    for invalid in ["ada", ":p"] {
      let misuse = try DemoProcess.run("get", "-u", invalid, url(server, "/a"))
      XCTAssertEqual(misuse.code, 2)
      XCTAssertTrue(misuse.errors.contains("USER:PASSWORD"), misuse.errors)
    }
  }

  func test_form_hasFieldsAndFiles() throws {
    let server = try serve { routes in routes.on("POST", "/f") { .text($0.text) } }
    let photo = file
    try Data("bytes".utf8).write(to: photo)
    defer { try? FileManager.default.removeItem(at: photo) }
    let result = try DemoProcess.run("get", "--raw", "-F", "title=a=b", "-Fphoto=@\(photo.path)", url(server, "/f"))
    XCTAssertEqual(result.code, 0, result.errors)
    let sent = String(decoding: result.output, as: UTF8.self)
    XCTAssertTrue(sent.contains("name=\"title\"\r\n\r\na=b\r\n"), sent)
    XCTAssertTrue(sent.contains("name=\"photo\"; filename=\"\(photo.lastPathComponent)\""), sent)
    XCTAssertTrue(sent.contains("bytes\r\n"), sent)
    for arguments in [["-F", "title"], ["-F", "=x"], ["-F", "a=@/no/file"], ["-F", "a=b", "-d", "x"]] {
      let misuse = try DemoProcess(["get"] + arguments + [url(server, "/f")]).finish()
      XCTAssertEqual(misuse.code, 2, "\(arguments)")
      XCTAssertTrue(misuse.errors.contains("-F"), misuse.errors)
    }
  }

  func test_head_printsTheFields_andRedirectsNameTheFinalURL() throws {
    let server = try serve { routes in
      routes.on("HEAD", "/a") { _ in TestServer.Response(status: 200).header("X-Size", "7") }
      routes.on("GET", "/to") { _ in .redirect(to: "/end") }
      routes.on("GET", "/end") { _ in .json("1") }
      routes.on("GET", "/lost") { _ in .redirect(to: "/nowhere") }
    }
    let head = try DemoProcess.run("get", "-I", url(server, "/a"))
    XCTAssertEqual(head.code, 0, head.errors)
    XCTAssertEqual((try object(head.lines.first)["headers"] as? [String: [String]])?["x-size"], ["7"])
    XCTAssertNil(try object(head.lines.first)["finalUrl"])
    for (path, end) in [("/to", "/end"), ("/lost", "/nowhere")] {
      let result = try DemoProcess.run("get", url(server, path))
      XCTAssertEqual(try object(result.lines.first)["finalUrl"] as? String, url(server, end))
    }
  }
}
