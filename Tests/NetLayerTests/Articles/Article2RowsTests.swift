import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class Article2RowsTests: XCTestCase {
  private struct Smallest: Endpoint {
    var path: String { "/a" }
  }

  private struct Largest: Endpoint {
    var baseURL: URL? { URL(string: "http://own/v2") }
    var path: String { "a" }
    var method: HTTPMethod { .patch }
    var task: HTTPTask { .parameters(["x": 1]) }
    var headers: HTTPHeaders { ["X": "y"] }
  }

  private func network(_ transport: StubTransport) -> Network {
    Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
  }

  func test_row_2_1_minimalEndpoint_isAPath() throws {
    let transport = StubTransport { _ in .json("{}") }
    _ = record(network(transport).request(Smallest()))
    let request = try XCTUnwrap(transport.requests.first)
    XCTAssertEqual("\(request)", "GET http://h/a")
    XCTAssertEqual(request.headers.count, 0)
  }

  func test_row_2_3_endpoint_specifiesBaseURLPathMethodTaskAndHeaders() throws {
    let transport = StubTransport { _ in .json("{}") }
    _ = record(network(transport).request(Largest()))
    let request = try XCTUnwrap(transport.requests.first)
    XCTAssertEqual("\(request)", "PATCH http://own/v2/a")
    XCTAssertEqual(request.text, #"{"x":1}"#)
    XCTAssertEqual(request.headers["X"], "y")
  }

  func test_row_2_4_method_canBeAnyToken() {
    let all: [HTTPMethod] = [
      .get, .head, .post, .put, .patch, .delete, .options, .trace, "CONNECT", .query, "PURGE",
    ]
    XCTAssertEqual(
      all.map(\.rawValue),
      ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY", "PURGE"])
  }

  func test_row_2_6_headersAndParameters_areLiterals() throws {
    let headers: HTTPHeaders = ["a": "1", "A": "2"]
    XCTAssertEqual(headers["a"], "2")
    let parameters: Parameters = ["a": nil, "b": [1, 2], "c": ["d": true] as Parameters]
    XCTAssertEqual(
      try URLParameterEncoder(arrays: .repeated).text(of: parameters), "b=1&b=2&c%5Bd%5D=1")
  }

  func test_row_2_7_customEncoder_isOneFunction() throws {
    struct Lines: ParameterEncoder {
      func encode(_ parameters: Parameters, into request: inout Request) throws {
        let pairs = try URLParameterEncoder().pairs(of: parameters)
        request.body = .data(Data(pairs.map { "\($0.name):\($0.value)" }.joined(separator: "\n").utf8))
      }
    }
    let transport = StubTransport { _ in .json("{}") }
    _ = record(network(transport).responses(.post, "/a", parameters: ["b": 1, "a": "x"], encoding: Lines()))
    XCTAssertEqual(transport.requests.first?.text, "a:x\nb:1")
  }

  func test_row_2_8_errors_haveMessagesOfThePackage() throws {
    let error = try failure(of: network(StubTransport { _ in .failure(.timeout) }).request(Smallest()))
    XCTAssertEqual(error.localizedDescription, NetworkError.Messages.localized.timeout)
    #if HAS_URLSESSION
      XCTAssertTrue((error as NSError).localizedFailureReason?.contains("stubbed failure") == true)
    #endif
  }

  func test_row_2_12_session_belongsToTheBackend() {
    let (first, second) = (StubTransport { _ in .json("1") }, StubTransport { _ in .json("2") })
    XCTAssertEqual(record(network(first).request(Smallest(), as: Int.self)).elements, [1])
    XCTAssertEqual(record(network(second).request(Smallest(), as: Int.self)).elements, [2])
  }

  func test_row_2_15_nestedListsWithSnakeCaseKeys_areModels() {
    struct Movie: Decodable, Equatable, Sendable { var voteAverage: Double }
    struct Movies: Decodable, Equatable, Sendable { var totalPages: Int, results: [Movie] }
    let network = network(StubTransport { _ in .json(#"{"total_pages":2,"results":[{"vote_average":7.5}]}"#) })
      .with { $0.coding = .snakeCase }
    XCTAssertEqual(
      record(network.request(Smallest(), as: Movies.self)).elements,
      [Movies(totalPages: 2, results: [Movie(voteAverage: 7.5)])])
  }

  func test_row_2_17_result_isASuccessOrAFailure() {
    let replied = expectation(description: "answered")
    replied.expectedFulfillmentCount = 2
    for status in [200, 404] {
      Router<Smallest>(network(StubTransport { _ in .json("{}", status: status) })).request(Smallest()) { result in
        switch result {
        case .success(let response): XCTAssertEqual(response.status, 200)
        case .failure(let error): XCTAssertEqual(error.code, 404)
        }
        replied.fulfill()
      }
    }
    wait(for: [replied], timeout: 60)
  }
}
