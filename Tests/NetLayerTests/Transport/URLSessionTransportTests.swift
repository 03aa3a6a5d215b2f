import XCTest

@testable import NetLayer

/// The suite over Foundation's session.
final class URLSessionTransportTests: TransportSuite {
  override func makeTransport() throws -> any Transport { URLSessionTransport() }

  override var gaps: [String: String] {
    [:]
  }

  func testTheTransportIsTheSession() throws { XCTAssert(transport is URLSessionTransport) }
}
