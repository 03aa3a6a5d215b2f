import Foundation
import HTTPTransport
import NetLayerTesting
import XCTest

final class StubTransportTests: XCTestCase {
  private func request(_ method: HTTPMethod = .get, _ path: String) throws -> NetLayer.Request {
    Request(method: method, url: try XCTUnwrap(URL(string: "https://api.example\(path)")))
  }

  func test_theFirstMatchingStubResponds() throws {
    let transport = StubTransport([
      .init(.get, "/a", .json(#"{"n":1}"#)), .init(nil, "/a", .response(status: 201)),
      .init(.get, "/b", .failure(.timeout)),
    ])
    XCTAssertEqual(try outcome(request(.get, "/a?q=1"), on: transport).get().body, Data(#"{"n":1}"#.utf8))
    XCTAssertEqual(try outcome(request(.post, "/a"), on: transport).get().status, 201)
    XCTAssertEqual(TransportSuite.kind(try outcome(request(.get, "/b"), on: transport)), .timeout)
    XCTAssertEqual(transport.requests.count, 3)
  }

  func test_aRequestWithoutAStubIsNamed() throws {
    let outcome = try outcome(request(.delete, "/nowhere"), on: StubTransport([]))
    guard case .failure(let error) = outcome else { return XCTFail("answered") }
    XCTAssert(error.reason.contains("DELETE https://api.example/nowhere"), error.reason)
  }

  func test_aDelayedResponseCanBeCancelled() throws {
    let transport = StubTransport { _ in .json("{}", after: .seconds(3600)) }
    let pending = PendingCall(self)
    pending.send(try request(.get, "/"), on: transport).dispose()
    XCTAssertEqual(TransportSuite.kind(try pending.outcome()), .cancelled)
  }

  func test_aDelayedResponseArrives() throws {
    let transport = StubTransport { _ in .json("{}", after: .seconds(0.01)) }
    XCTAssertEqual(try outcome(request(.get, "/"), on: transport).get().status, 200)
  }

  func test_requestsThatARealTransportRejectsAreRejected() throws {
    var bad = try request(.get, "/")
    bad.headers["X"] = "a\r\nb"
    let outcome = try outcome(bad, on: StubTransport { _ in .json("{}") })
    XCTAssertEqual(TransportSuite.kind(outcome), .invalidRequest)
  }
}
