import LoopbackServer
import XCTest

final class PagesTests: XCTestCase {
  func test_everyItemOfEveryPageIsALineAsTheServerWroteIt() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("pages", "\(server.url)/feed")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(result.lines.count, 7 + 3)
    XCTAssertEqual(result.lines.first, "# page 1: 3 items, next cursor 3")
    XCTAssertEqual(result.lines[1], #"{"post_id":1,"title":"外滩的早晨","image_count":1}"#)
    XCTAssertEqual(result.lines[8], "# page 3: 1 item, the last")
  }

  func test_asJSONALineIsAPageAndTheLimitHolds() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("pages", "--json", "-n2", "\(server.url)/feed")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try result.lines.map { try object($0)["page"] as? Int }, [1, 2])
    XCTAssertEqual(try result.lines.map { try object($0)["cursor"] as? String }, ["3", "6"])
    XCTAssertEqual(try result.lines.map { (try object($0)["items"] as? [Any])?.count }, [3, 3])
  }

  func test_aCursorThatComesAgainIsAnErrorBehindThePagesSoFar() throws {
    var routes = LoopbackServer.Routes()
    routes.on("GET", "/round") { _ in .json(#"{"s":0,"m":"","d":[1],"next":"a"}"#) }
    let server = try LoopbackServer(routes: routes)
    let url = server.url("/round?size=1").absoluteString
    let result = try DemoProcess.run("pages", "--envelope", "s=0,m,d,next", "--json", url)
    XCTAssertEqual(result.code, 1)
    XCTAssertEqual(result.lines.count, 3)
    XCTAssertEqual((try object(result.lines.last)["error"] as? [String: Any])?["kind"] as? String, "sequence")
    XCTAssertEqual(server.requests.map(\.target), ["/round?size=1", "/round?size=1&next=a"])
  }
}
