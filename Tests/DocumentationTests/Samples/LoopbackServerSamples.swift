import LoopbackServer
import XCTest

final class LoopbackServerSamples: XCTestCase {
  func test_overview() throws {
    var routes = TestServer.Routes()
    routes.on("GET", "/user/:id") { .json(#"{"id":"\#($0.parameters["id"] ?? "")"}"#) }
    routes.on("GET", "/slow") { _ in .text("late").delayed(by: 0.5) }
    routes.on("GET", "/cut") { _ in .truncatedBody() }
    let server = try TestServer(routes: routes)
    XCTAssertGreaterThan(server.port, 0)
  }
}
