import Foundation
import LoopbackServer
import XCTest

final class ServeTests: XCTestCase {
  func test_serve_rejectsRequestsForOtherHosts() throws {
    let server = try PlayServer()
    let port = try XCTUnwrap(URL(string: server.url)?.port)
    func status(_ host: String) throws -> Int? {
      let result = try DemoProcess.run("get", "-H", "Host: \(host)", "\(server.url)/cart")
      return try object(result.lines.first)["status"] as? Int
    }
    for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST", "[::1]:\(port)"] {
      XCTAssertEqual(try status(host), 200, host)
    }
    for host in [
      "rebinding.example", "rebinding.example:\(port)", "127.0.0.1.example", "localhost.example:\(port)",
      "127.0.0.1:1@rebinding.example",
    ] {
      XCTAssertEqual(try status(host), 421, host)
    }
  }
}
