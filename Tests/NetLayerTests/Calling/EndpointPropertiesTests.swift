import Foundation
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import NetLayer

/// The query and the time limit of an endpoint type, and the check for properties that are not sent.
final class EndpointPropertiesTests: XCTestCase {
  private struct Search: Endpoint {
    var path = "/search?lang=en"
    var method: HTTPMethod = .get
    var task: HTTPTask = .none
    var query: Parameters = [:]
    var timeout: Duration?
  }

  private func sent(_ endpoint: some Endpoint) async throws -> Request {
    let stub = StubTransport { _ in .json("{}") }
    _ = try await Network(Backend(baseURL: URL(string: "http://h"), transport: stub)).response(endpoint)
    return try XCTUnwrap(stub.requests.first)
  }

  func test_queryOfAnEndpoint_isSentWithEveryTask() async throws {
    let rows: [(Search, String, String)] = [
      (Search(query: ["page": 2]), "http://h/search?lang=en&page=2", ""),
      (Search(query: ["lang": "zh"]), "http://h/search?lang=zh", ""),
      (Search(task: .parameters(["q": "tea"]), query: ["page": 2]), "http://h/search?lang=en&page=2&q=tea", ""),
      (
        Search(method: .post, task: .json(["a": 1]), query: ["page": 2]), "http://h/search?lang=en&page=2", #"{"a":1}"#
      ),
      (Search(method: .put, task: .form(["a": 1]), query: ["page": 2]), "http://h/search?lang=en&page=2", "a=1"),
      (Search(), "http://h/search?lang=en", ""),
    ]
    for (endpoint, url, body) in rows {
      let request = try await sent(endpoint)
      XCTAssertEqual(request.url.absoluteString, url)
      XCTAssertEqual(request.text, body)
    }
    XCTAssertFalse(Call.get("/x", query: ["a": 1]).query.isEmpty)
    XCTAssertTrue(Call.get("/x").query.isEmpty)
    let changed = try await sent(Search(query: ["page": 2]).query(["page": 3]))
    XCTAssertEqual(changed.url.query(), "lang=en&page=3")
  }

  func test_timeoutOfAnEndpoint_limitsTheCall() async throws {
    let limited = try await sent(Search(timeout: .seconds(90)))
    XCTAssertEqual(limited.timeouts.call, .seconds(90))
    XCTAssertNil(limited.timeouts.attempt)
    let plain = try await sent(Search())
    XCTAssertNil(plain.timeouts.call)
    let changed = try await sent(Search(timeout: .seconds(90)).timeout(.seconds(5)))
    XCTAssertEqual(changed.timeouts.call, .seconds(5))
  }

  private struct Wrong: Endpoint {
    let path = "/x"
    let query = ["page": 2]
    let timeout: Duration = .seconds(1)
    let headers = ["A": "b"]
    let body = ["a": 1]
    let parameters: Parameters = ["a": 1]
    let contentType = "text/plain"
    let method = "POST"
  }
  private struct Right: Endpoint {
    let path = "/x"
    let query: Parameters = ["page": 2]
    let timeout: Duration? = .seconds(1)
    let headers: HTTPHeaders = ["A": "b"]
    let method: HTTPMethod = .post
  }
  /// Properties that the endpoint uses itself.
  private struct Own: Endpoint {
    let query: String
    let timeout: Int
    let body: [String: Int]
    var path: String { "/\(query)" }
    var task: HTTPTask { .parameters(["timeout": timeout, "a": body["a"]]) }
  }
  private struct PathOnly: Endpoint {
    let query: String
    var path: String { "/\(query)" }
  }

  func test_propertiesThatAreNotSent_areNamedWithTheTypeToWrite() {
    XCTAssertEqual(
      EndpointCheck.problems(of: Wrong(), usesTask: false),
      [
        "Wrong.query of type Dictionary<String, Int> is not sent: declare it as query: Parameters",
        "Wrong.timeout of type Duration is not sent: declare it as timeout: Duration?",
        "Wrong.headers of type Dictionary<String, String> is not sent: declare it as headers: HTTPHeaders",
        "Wrong.body of type Dictionary<String, Int> is not sent: declare var task: HTTPTask { .json(body) }",
        "Wrong.parameters of type Parameters is not sent: declare var task: HTTPTask { .parameters(parameters) }, "
          + "or query: Parameters",
        "Wrong.contentType of type String is not sent: pass it to the task, as in .data(bytes, contentType: contentType)",
        "Wrong.method of type String is not sent: declare it as method: HTTPMethod",
      ])
    XCTAssertEqual(EndpointCheck.problems(of: Right(), usesTask: false), [])
    let own = Own(query: "a", timeout: 40, body: ["a": 1])
    XCTAssertEqual(EndpointCheck.problems(of: own, usesTask: true), [])
    XCTAssertEqual(EndpointCheck.problems(of: PathOnly(query: "a"), usesTask: false), [])
  }

  func test_aType_isReportedOnce() {
    struct Fresh: Endpoint {
      let path = "/x"
      let body = 1
    }
    let lines = Notes()
    for _ in 1...3 { EndpointCheck.report(Fresh(), usesTask: false) { lines.add($0) } }
    XCTAssertEqual(lines.all.count, 1)
  }
}
