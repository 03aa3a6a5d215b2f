import Foundation
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// `Backend.encoder` and `Backend.bodyEncoding`, the conventions for all request bodies of a backend.
final class BodyConventionTests: XCTestCase {
  private struct Post: Codable, Sendable {
    var postTitle = "t"
    var madeAt = Date(timeIntervalSince1970: 0)
  }

  private func body(_ change: (inout Backend) -> Void, _ call: Call<Response>) throws -> String {
    let transport = StubTransport { _ in .json("{}") }
    var backend = Backend(baseURL: URL(string: "http://h"), transport: transport)
    change(&backend)
    _ = record(Network(backend).request(call) as Single<Response>)
    guard case .data(let data) = try XCTUnwrap(transport.requests.first).body else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  func test_everyJSONBody_usesTheBackendsEncoder() throws {
    let snake = #"{"made_at":"1970-01-01T00:00:00Z","post_title":"t"}"#
    let calls: [Call<Response>] = [
      .post("/a", json: Post()), Call(.post, "/a", task: .json(Post())),
      Call(.patch, "/a", task: .parameters(Parameters(Post()))),
      Call(.get, "/a", task: .parameters(Parameters(Post()), encoding: .json)),
      Call(.put, "/a", task: .composite(query: ["q": 1], body: Parameters(Post()))),
    ]
    for call in calls { XCTAssertEqual(try body({ $0.coding = .snakeCaseISO8601 }, call), snake) }
    XCTAssertEqual(
      try body({ $0.coding = .snakeCase }, .post("/a", json: Post())), #"{"made_at":-978307200,"post_title":"t"}"#)
    XCTAssertEqual(
      try body({ $0.coding = .iso8601 }, .post("/a", json: Post())),
      #"{"madeAt":"1970-01-01T00:00:00Z","postTitle":"t"}"#)
  }

  func test_encoderOfTheCall_overridesTheBackends() throws {
    var own = JSONParameterEncoder.backends
    own.keys = .kebabCase
    for encoder in [own, JSONParameterEncoder(keys: .kebabCase)] {
      let call = Call(.post, "/a", task: .parameters(["aB": 1], encoding: encoder))
      XCTAssertEqual(try body({ $0.coding = .snakeCase }, call), #"{"a-b":1}"#)
    }
    let asIs = Call(.post, "/a", task: .parameters(["aB": 1], encoding: JSONParameterEncoder()))
    XCTAssertEqual(try body({ $0.coding = .snakeCase }, asIs), #"{"aB":1}"#)
  }

  func test_backendBodyEncoding_canBeForm() throws {
    let parameters = Call(.post, "/a", task: .parameters(["aB": 1]))
    XCTAssertEqual(try body({ $0.bodyEncoding = .form }, parameters), "aB=1")
    XCTAssertEqual(
      try body({ $0.bodyEncoding = URLParameterEncoder(destination: .body, keys: .snakeCase) }, parameters), "a_b=1")
    XCTAssertEqual(try body({ $0.bodyEncoding = .form }, Call(.post, "/a", task: .json(["aB": 1]))), #"{"aB":1}"#)
    XCTAssertEqual(try body({ _ in }, Call(.delete, "/a", task: .parameters(["aB": 1]))), "", "it is in the query")
  }

  func test_signature_coversTheEncodedNames() throws {
    let content = try TaskEncoder(
      task: .json(["aB": 1]), common: ["cD": 2], conventions: EncodingConventions(json: .init(keys: .snakeCase))
    ).pairs(for: .post)
    XCTAssertEqual(content.map { "\($0.name)=\($0.value)" }, ["aB=1", "c_d=2"], "the keys of a dictionary are data")
  }

  func test_modelsAsJSON_areEncodedAsInACall() throws {
    XCTAssertEqual(
      try JSON(encoding: Post(), with: JSONParameterEncoder(dates: .iso8601, keys: .snakeCase)).description,
      #"{"made_at":"1970-01-01T00:00:00Z","post_title":"t"}"#)
    XCTAssertEqual(try JSON(encoding: [1, 2]).description, "[1,2]")
    XCTAssertEqual(try JSON(encoding: String?.none).description, "null")
    XCTAssertThrowsError(try JSON(encoding: Double.nan)) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .encoding)
    }
  }
}
