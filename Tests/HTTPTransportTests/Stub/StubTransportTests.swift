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

  private struct Users: Endpoint {
    var path = "/users/7"
    var method = HTTPMethod.put
    var baseURL: URL?
  }

  func test_theStubOfAnEndpointMatchesItsMethodAndItsPathBelowAnyBaseURL() throws {
    let own = URL(string: "https://own.example/v1/")
    let rows: [(Users, method: HTTPMethod, path: String, isMatch: Bool)] = [
      (Users(), .put, "/users/7", true), (Users(), .put, "/users/7?a=1", true), (Users(), .put, "/v2/users/7", true),
      (Users(path: "users/7"), .put, "/v2/users/7", true), (Users(path: "users/7"), .put, "/users/7", true),
      (Users(), .get, "/users/7", false), (Users(), .put, "/users/78", false), (Users(), .put, "/users/7/a", false),
      (Users(path: "users/7"), .put, "/otherusers/7", false), (Users(), .put, "/users", false),
      (Users(path: "../x"), .put, "/x", false),
      (Users(path: "users/7", baseURL: own), .put, "/v1/users/7", true),
      (Users(path: "users/7", baseURL: own), .put, "/users/7", false),
      (Users(path: "users/7", baseURL: own), .put, "/v2/v1/users/7", false),
    ]
    for (endpoint, method, path, isMatch) in rows {
      let stub = StubTransport.Stub(endpoint, .json("1"))
      let transport = StubTransport([stub, .init(nil, URL(string: path)?.path ?? path, .json("2"))])
      let body = try outcome(request(method, path), on: transport).get().body
      XCTAssertEqual(body, Data((isMatch ? "1" : "2").utf8), "\(method) \(path) \(endpoint)")
    }
  }

  func test_aSequenceIsUsedInOrder_andItsLastResponseIsRepeated() throws {
    let transport = StubTransport([
      .init(.get, "/a", .sequence([.json("1"), .sequence([.json("2"), .json("3")]), .json("4")])),
      .init(.get, "/none", .sequence([])),
    ])
    let bodies = try (1...4).map { _ in
      String(decoding: try outcome(request(.get, "/a"), on: transport).get().body, as: UTF8.self)
    }
    XCTAssertEqual(bodies, ["1", "2", "4", "4"])
    XCTAssertEqual(TransportSuite.kind(try outcome(request(.get, "/none"), on: transport)), .connection)
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
