import Foundation
import XCTest

@testable import Demo

final class QuantityTests: XCTestCase {
  func test_fixed_agreesWithPrintf() {
    for value in [0, 0.004, 0.006, 0.05, 0.999, 1, 9.996, 12.3456, 99.994, 100.4, 123_456.789, -0.001, -1.23] {
      for digits in 0...2 {
        let expected = String(format: "%.\(digits)f", value)
        // printf writes a sign even for zero.
        let isZero = (Double(expected) ?? 1) == 0
        XCTAssertEqual(
          Quantity.fixed(value, digits: digits), isZero ? expected.replacing("-", with: "") : expected)
      }
    }
    XCTAssertEqual(Quantity.fixed(.infinity, digits: 1), "inf")
    XCTAssertEqual(Quantity.fixed(1e300, digits: 1), "1e+300")
  }

  func test_timeAndBytes_areFormattedForPeople() {
    XCTAssertEqual(Quantity.time(7), "0:07")
    XCTAssertEqual(Quantity.time(3723), "1:02:03")
    XCTAssertEqual(Quantity.bytes(999), "999 B")
    XCTAssertEqual(Quantity.bytes(4_700_000), "4.7 MB")
  }
}
