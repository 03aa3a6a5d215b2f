import XCTest

@testable import NetLayer

final class RequestBuilderTests: XCTestCase {
  private enum API: Endpoint {
    case smallest
    case search(String)
    case both
    case raw
    case value
    var path: String { "/x" }
    var method: HTTPMethod {
      switch self {
      case .smallest, .search: .get
      default: .post
      }
    }
    var task: HTTPTask {
      switch self {
      case .smallest: .plain
      case .search(let text): .parameters(["q": text])
      case .both: .composite(query: ["page": 1], body: ["name": "n"])
      case .raw: .data(Data([1]), contentType: "application/x-bytes")
      case .value: .json([1, 2])
      }
    }
    var headers: HTTPHeaders { ["X-A": "endpoint"] }
  }

  private func builder() throws -> RequestBuilder {
    RequestBuilder(
      baseURL: try XCTUnwrap(URL(string: "http://h/v1")), headers: ["X-A": "backend", "X-B": "backend"],
      commonParameters: { ["token": "t"] })
  }

  private func body(_ request: Request) -> String {
    if case .data(let data) = request.body { String(decoding: data, as: UTF8.self) } else { "" }
  }

  func test_theSmallestEndpointIsAGetOfThePath() throws {
    let request = try builder().request(for: Call(API.smallest), accept: "application/json")
    XCTAssertEqual(request.method, .get)
    XCTAssertEqual(request.url.absoluteString, "http://h/v1/x?token=t")
    XCTAssertEqual(request.headers["X-A"], "endpoint")
    XCTAssertEqual(request.headers["X-B"], "backend")
    XCTAssertEqual(request.headers["Accept"], "application/json")
    XCTAssertNil(request.headers["Content-Type"])
  }

  func test_row_2_5_everyTaskPutsItsPartsWhereTheyBelong() throws {
    let both = try builder().request(for: Call(API.both))
    XCTAssertEqual(both.url.query(), "page=1&token=t")
    XCTAssertEqual(body(both), #"{"name":"n"}"#)
    let raw = try builder().request(for: Call(API.raw))
    XCTAssertEqual(raw.url.query(), "token=t")
    XCTAssertEqual(raw.headers["Content-Type"], "application/x-bytes")
    let value = try builder().request(for: Call(API.value))
    XCTAssertEqual(body(value), "[1,2]")
    XCTAssertEqual(value.url.query(), "token=t")
    let search = try builder().request(for: Call(API.search("a&b")))
    XCTAssertEqual(search.url.absoluteString, "http://h/v1/x?q=a%26b&token=t")
  }

  func test_row_2_13_encodingErrorsCarryTheRequestAsFarAsItWas() throws {
    let call = Call(.get, "/x", parameters: ["a": Double.infinity], encoding: .url, headers: [:])
    XCTAssertThrowsError(try builder().request(for: call)) { error in
      let error = error as? NetworkError
      XCTAssertEqual(error?.kind, .encoding)
      XCTAssertEqual(error?.request?.url.absoluteString, "http://h/v1/x")
    }
  }
}
