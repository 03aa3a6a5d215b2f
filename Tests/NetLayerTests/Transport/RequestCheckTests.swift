import Foundation
import XCTest

@testable import NetLayer

/// The URLs that are let through, of the plain kind and of the others.
final class RequestCheckTests: XCTestCase {
  private func failure(_ url: String) throws -> String? {
    RequestCheck.failure(of: Request(url: try XCTUnwrap(URL(string: "http://h/"))), url: url)?.reason
  }

  func testURLsThatAreFineAreLetThrough() throws {
    let label = String(repeating: "a", count: 63)
    for url in [
      "http://h", "https://h", "http://127.0.0.1:8080/x?y#z", "http://EXAMPLE.com?q", "http://h:/x", "http://a.b./",
      "http://h:65535/", "http://\(label).com/", "http://user:secret@h/", "http://[::1]:80/", "HTTP://h/", "http://_a/",
      "http://h/a\\b", "http://h/\u{e9}",
    ] {
      XCTAssertNil(try failure(url), url)
    }
  }

  func testURLsThatAreNotAreRefused() throws {
    for url in [
      "http:/h", "http://", "https:///x", "http://?x", "http://:80/", "http://h:0/", "http://h:65536/", "http://h:8o/",
      "http://h:80a/", "http://h:1:2/", "http://a..b/", "http://.a/", "http://\(String(repeating: "a", count: 64)).b/",
      "http://\(String(repeating: "a.", count: 130))b/", "http://h/ x", "http://h/\u{7f}", "http://h/\r\nX: y",
      "http://h\\@evil/", "http://a b/", "http://h\0/", "ftp://h/", "http:h", "httpx://h/", "http://a,b\"/",
    ] {
      XCTAssertNotNil(try failure(url), url)
    }
  }
}
