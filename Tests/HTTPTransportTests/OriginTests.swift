import Foundation
import HTTPTransport
import XCTest

final class OriginTests: XCTestCase {
  private static let spellings = [
    ("http://h", "http://h"), ("HTTP://H", "http://h"), ("http://h:80", "http://h"), ("http://h:", "http://h"),
    ("http://User:Pass@h", "http://h"), ("https://h:443", "https://h"), ("https://h:80", "https://h:80"),
    ("http://h:443", "http://h:443"), ("http://h:8080", "http://h:8080"), ("http://h:180", "http://h:180"),
    ("http://[::80]", "http://[::80]"), ("http://[::1]:80", "http://[::1]"), ("http://10.0.0.80", "http://10.0.0.80"),
    ("http://h.", "http://h"), ("http://h:0080/a?b", "http://h"),
  ]

  func test_allSpellings_haveOneText_andContainOneAnother() throws {
    for (spelling, text) in Self.spellings {
      let url = try XCTUnwrap(URL(string: spelling), spelling)
      XCTAssertEqual(Origin(url).text, text, spelling)
      for (other, otherText) in Self.spellings {
        let isIn = Origin(url).contains(try XCTUnwrap(URL(string: other)))
        XCTAssertEqual(isIn, text == otherText, "\(other) in \(spelling)")
      }
    }
  }

  func test_longerHostsAndPorts_areOtherOrigins() throws {
    let origin = Origin(try XCTUnwrap(URL(string: "https://api.test")))
    for other in ["https://api.test.evil", "https://api.test:4430", "https://api.test@evil", "http://api.test"] {
      XCTAssertFalse(origin.contains(try XCTUnwrap(URL(string: other))), other)
    }
    for own in ["https://api.test/", "https://api.test?a", "https://api.test#a", "https://API.test:443/a"] {
      XCTAssertTrue(origin.contains(try XCTUnwrap(URL(string: own))), own)
    }
  }
}
