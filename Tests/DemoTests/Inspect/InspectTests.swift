import Foundation
import TestSupport
import XCTest

final class InspectTests: XCTestCase {
  private let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Recordings/example-of-ours.har").standardized.path

  /// Returns the first line of the response to a GET of the page.
  private func status(_ url: URL) throws -> String {
    let port = try XCTUnwrap(url.port)
    let client = try RawClient(port: UInt16(port))
    client.send("GET \(url.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
    return String(client.receive(until: nil).text.prefix(12))
  }

  func test_inspect_servesAFile_untilItIsInterrupted() throws {
    let demo = try DemoProcess(["inspect", file])
    let line = try XCTUnwrap(demo.line())
    let match = try XCTUnwrap(line.wholeMatch(of: /open (http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}) in a browser/), line)
    XCTAssertEqual(try status(try XCTUnwrap(URL(string: String(match.1)))), "HTTP/1.1 200")
    demo.interrupt()
    XCTAssertEqual(demo.finish().code, 0)
  }

  func test_inspect_withJSON_printsTheURL() throws {
    let demo = try DemoProcess(["inspect", "--json", file])
    let url = try XCTUnwrap(try object(demo.line())["url"] as? String)
    XCTAssertEqual(try status(try XCTUnwrap(URL(string: url))), "HTTP/1.1 200")
    demo.interrupt()
    XCTAssertEqual(demo.finish().code, 0)
  }

  func test_inspect_namesWhatIsWrong() throws {
    for (arguments, code, text) in [
      (["inspect"], 2, "no file given"), (["inspect", "a.har", "b.har"], 2, "pass only one file"),
      (["inspect", "/nonexistent/calls.har"], 1, "/nonexistent/calls.har"),
      (["inspect", #filePath], 1, "can't be read"), (["inspect", "--port", "1", file], 2, "unknown option --port"),
    ] as [([String], Int32, String)] {
      let result = try DemoProcess(arguments).finish()
      XCTAssertEqual(result.code, code, "\(arguments)")
      XCTAssertTrue(result.errors.contains(text), result.errors)
    }
  }

  func test_tour_withAPage_repeatsUntilItIsInterrupted() throws {
    for arguments in [["--inspect"], ["tour", "--inspect"]] {
      let demo = try DemoProcess(arguments)
      let line = try XCTUnwrap(demo.line())
      XCTAssertTrue(line.hasPrefix("open http://127.0.0.1:"), line)
      var last = ""
      while last != "done", let next = demo.line() { last = next }
      XCTAssertEqual(last, "done")
      demo.interrupt()
      XCTAssertEqual(demo.finish().code, 0)
    }
  }
}
