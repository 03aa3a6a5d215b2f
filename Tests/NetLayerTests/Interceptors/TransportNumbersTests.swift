import HTTPTransport
import NetLayerTesting
import Streams
import XCTest

@testable import NetLayer

/// The numbers that distinguish transports.
final class TransportNumbersTests: XCTestCase {
  /// Its memory is not reused as long as this exists, so that each transport has another address.
  private struct Remains {
    unowned let transport: StubTransport
  }

  func test_objectsKeepTheirNumber_andValuesHaveNone() {
    let first = StubTransport { _ in .json("") }
    let second = StubTransport { _ in .json("") }
    XCTAssertEqual(TransportNumbers.number(of: first), TransportNumbers.number(of: first))
    XCTAssertNotEqual(TransportNumbers.number(of: first), TransportNumbers.number(of: second))
    XCTAssertEqual(TransportNumbers.number(of: nil), 0)
  }

  func test_releasedTransports_leaveTheTable() {
    let before = TransportNumbers.count
    let limit = 2 * before + 65
    var remains: [Remains] = []
    for _ in 0..<5 * limit {
      let transport = StubTransport { _ in .json("") }
      _ = TransportNumbers.number(of: transport)
      remains.append(Remains(transport: transport))
    }
    XCTAssertLessThanOrEqual(TransportNumbers.count, limit)
    XCTAssertEqual(remains.count, 5 * limit)
  }
}
