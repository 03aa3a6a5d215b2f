import LoopbackServer
import XCTest

final class PagesCommandTests: XCTestCase {
  func test_eachItem_isPrintedAsUnchangedLine() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("pages", "\(server.url)/feed")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(result.lines.count, 7, "only items, for a program that reads them")
    XCTAssertEqual(result.lines[0], #"{"post_id":1,"title":"外滩的早晨","image_count":1}"#)
    XCTAssertEqual(
      result.errors.split(separator: "\n"),
      ["# page 1: 3 items, next cursor 3", "# page 2: 3 items, next cursor 6", "# page 3: 1 item, last page"])
  }

  func test_json_printsAPagePerLine_upToTheLimit() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("pages", "--json", "-n2", "\(server.url)/feed")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try result.lines.map { try object($0)["page"] as? Int }, [1, 2])
    XCTAssertEqual(try result.lines.map { try object($0)["cursor"] as? String }, ["3", "6"])
    XCTAssertEqual(try result.lines.map { (try object($0)["items"] as? [Any])?.count }, [3, 3])
  }

  func test_pages_followLinksAndCursorsAtAPath() throws {
    let server = try PlayServer()
    func items(_ arguments: String...) throws -> [String] {
      let result = try DemoProcess(["pages", "--json"] + arguments).finish()
      XCTAssertEqual(result.code, 0, result.errors)
      return try result.lines.map { line in
        let items = try object(line)["items"] as? [[String: Any]] ?? []
        return items.compactMap { ($0["id"] ?? $0["full_name"]) as? String }.joined(separator: " ")
      }
    }
    XCTAssertEqual(try items("--by", "link", "\(server.url)/api/repos"), ["ada/notes ada/looms", "ada/cards"])
    XCTAssertEqual(
      try items("--by=cursor=meta.next,after", "--at", "items", "\(server.url)/api/events"), ["e1 e2", "e3"])
  }

  func test_pages_followNumbersAndOffsets() throws {
    let server = try TestServer { request in
      if let page = request.query("p") { return .json(page == "3" ? "[]" : "[\(page)]") }
      return .json(request.query("offset") == "0" ? #"{"code":0,"r":[1,2]}"# : #"{"code":0,"r":[]}"#)
    }
    let url = server.url("/x").absoluteString
    let numbered = try DemoProcess.run("pages", "--by", "number=p", "--json", url)
    XCTAssertEqual(try numbered.lines.map { try object($0)["items"] as? [Int] }, [[1], [2]])
    let wrapped = try DemoProcess.run("pages", "--by", "offset", "--envelope", "code=0,m,r", "--json", url)
    XCTAssertEqual(try wrapped.lines.map { try object($0)["items"] as? [Int] }, [[1, 2]])
    XCTAssertEqual(server.requests.map(\.target), ["/x?p=1", "/x?p=2", "/x?p=3", "/x?offset=0", "/x?offset=2"])
  }

  func test_pages_followLinksInTheBody_andTheNumberOfPages() throws {
    let server = try TestServer { request in
      switch request.target {
      case "/l": .json(#"{"results":[1],"next":"/l?page=2"}"#)
      case "/l?page=2": .json(#"{"results":[2],"next":null}"#)
      case "/n?p=1": .json(#"{"items":[1],"page_count":2}"#)
      case "/n?p=2": .json(#"{"items":[2],"page_count":2}"#)
      default: .json("{}", status: 400)
      }
    }
    for (paging, path, list) in [("link=next", "/l", "results"), ("number=p,page_count", "/n", "items")] {
      let result = try DemoProcess.run("pages", "--by", paging, "--at", list, server.url(path).absoluteString)
      XCTAssertEqual(result.code, 0, result.errors)
      XCTAssertEqual(result.lines, ["1", "2"])
    }
    let wrong = try DemoProcess.run("pages", "--by", "number=p,total", "--at", "items", server.url("/n").absoluteString)
    XCTAssertTrue(wrong.errors.contains("check PAGES of --by number"), wrong.errors)
  }

  func test_pages_followLinksAndCursorsInHeaders() throws {
    let server = try TestServer { request in
      switch request.target {
      case "/l": .json("[1]").header("Next-Page", "/l?page=2")
      case "/c": .json("[1]").header("X-Next-Page", "2")
      case "/c?page=2": .json("[2]").header("X-Next-Page", "")
      default: .json("[2]")
      }
    }
    for (paging, path) in [("link-header=Next-Page", "/l"), ("cursor-header=X-Next-Page,page", "/c")] {
      let result = try DemoProcess.run("pages", "--by", paging, server.url(path).absoluteString)
      XCTAssertEqual(result.code, 0, result.errors)
      XCTAssertEqual(result.lines, ["1", "2"], paging)
    }
  }

  func test_remedies_nameOptions() throws {
    let server = try TestServer { _ in .json("[1]").header("Link", "</?page=2>; rel=next") }
    let list = try DemoProcess.run("get", "--follow-pages", server.url("/").absoluteString)
    let reason = (try object(list.lines.first)["error"] as? [String: Any])?["reason"] as? String ?? ""
    XCTAssertTrue(reason.contains("use Demo pages --by link"), reason)
    let play = try PlayServer()
    let object = try DemoProcess.run("pages", "--by", "link", "\(play.url)/feed")
    XCTAssertTrue(object.errors.contains("--at"), object.errors)
  }

  func test_invalidPaging_isNamedInTheError() throws {
    for way in ["links", "cursor", "cursor=", "link=", "link-header", "cursor-header=A", "number=a,b,c", ""] {
      let result = try DemoProcess.run("pages", "--by", way, "http://127.0.0.1:9/")
      XCTAssertEqual(result.code, 2, way)
      XCTAssertTrue(result.errors.contains("--by"), result.errors)
      XCTAssertTrue(result.errors.contains(way.debugDescription), result.errors)
    }
  }

  func test_repeatedCursor_failsAfterThePagesBefore() throws {
    var routes = TestServer.Routes()
    routes.on("GET", "/round") { _ in .json(#"{"s":0,"m":"","d":[1],"next":"a"}"#) }
    let server = try TestServer(routes: routes)
    let url = server.url("/round?size=1").absoluteString
    let result = try DemoProcess.run("pages", "--envelope", "s=0,m,d,next", "--json", url)
    XCTAssertEqual(result.code, 1)
    XCTAssertEqual(result.lines.count, 3)
    XCTAssertEqual((try object(result.lines.last)["error"] as? [String: Any])?["kind"] as? String, "repeatedPage")
    XCTAssertEqual(server.requests.map(\.target), ["/round?size=1", "/round?size=1&next=a"])
  }
}
