import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Payloads with invalid items or cursors, and JSON values as parameters.
final class PayloadTests: XCTestCase {
  func test_lossyList_skipsInvalidItems() throws {
    var left: [Int] = []
    let json = try JSON(parsing: #"{"code":200,"data":["a","\ud800","c"]}"#).accepted(by: .standard)
    let page = try EnvelopeReader(json).page(of: String.self) { index, _ in left.append(index) }
    XCTAssertEqual(page.items, ["a", "c"])
    XCTAssertEqual(left, [1])
  }

  func test_invalidCursor_isAnError_andNotTheEndOfTheList() throws {
    let json = try JSON(parsing: #"{"code":200,"data":[1],"cursor":"\ud800"}"#).accepted(by: .standard)
    XCTAssertThrowsError(try EnvelopeReader(json).page(of: Int.self))
  }

  func test_json_isEncodedAsParameterUnchanged() throws {
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h")))
    try JSONParameterEncoder().encode(Parameters(["a": JSON(parsing: "[1,2.50]")]), into: &request)
    XCTAssertEqual(request.text, #"{"a":[1,2.5]}"#)
  }
}
