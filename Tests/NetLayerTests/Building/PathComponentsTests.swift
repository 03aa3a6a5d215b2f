import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A path as an array of its components, each of which may come from a user.
final class PathComponentsTests: XCTestCase {
  private func sent(_ call: some Endpoint, base: String = "http://h/v1/?k=1") -> Result<String, NetworkError> {
    let stub = StubTransport { _ in .json("{}") }
    let recorded = record(
      Network(Backend(baseURL: URL(string: base), transport: stub)).request(Call(call).as(NoContent.self)))
    return stub.requests.first.map { .success($0.url.absoluteString) }
      ?? .failure(NetworkError.wrapping(recorded.error ?? CancellationError()))
  }

  func test_everyComponent_isEscaped() throws {
    let rows: [([String], String)] = [
      (["rooms", "!a:b"], "rooms/%21a%3Ab"), (["files", "a/b ü?#"], "files/a%2Fb%20%C3%BC%3F%23"),
      (["x", "100%"], "x/100%25"), (["x", "..a", "a..", "..."], "x/..a/a../..."),
      (["https://other", "y"], "https%3A%2F%2Fother/y"), (["x", "\r\n"], "x/%0D%0A"), ([], ""),
    ]
    for (components, path) in rows {
      let joined = path.isEmpty ? "http://h/v1/?k=1" : "http://h/v1/\(path)?k=1"
      XCTAssertEqual(try sent(.get(components)).get(), joined, "\(components)")
    }
  }

  func test_componentThatChangesThePath_isRejected() {
    for component in ["", ".", ".."] {
      let result = sent(.delete(["users", component, "posts"]))
      guard case .failure(let error) = result else { return XCTFail("\(component) was sent: \(result)") }
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssertTrue(
        error.reason.contains("component 1") && error.reason.contains(component.debugDescription), error.reason)
    }
  }

  func test_arrayLiteral_isAPathOfEveryVerb() throws {
    let id = "a/b"
    XCTAssertEqual(try sent(.get(["rooms", id])).get(), "http://h/v1/rooms/a%2Fb?k=1")
    XCTAssertEqual(
      try sent(Call.post(["rooms", id, "messages"], json: ["text": "x"]).query(["q": 1])).get(),
      "http://h/v1/rooms/a%2Fb/messages?k=1&q=1")
    XCTAssertEqual(Call.get(["rooms", id]).path, "/rooms/a%2Fb")
  }
}
