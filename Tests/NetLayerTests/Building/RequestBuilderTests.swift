import XCTest

@testable import HTTPTransport
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
      case .smallest: .none
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

  func test_minimalEndpoint_isAGetOfThePath() throws {
    let request = try builder().request(for: CallContent(API.smallest), accept: "application/json")
    XCTAssertEqual(request.method, .get)
    XCTAssertEqual(request.url.absoluteString, "http://h/v1/x?token=t")
    XCTAssertEqual(request.headers["X-A"], "endpoint")
    XCTAssertEqual(request.headers["X-B"], "backend")
    XCTAssertEqual(request.headers["Accept"], "application/json")
    XCTAssertNil(request.headers["Content-Type"])
  }

  func test_row_2_5_everyTask_fillsQueryBodyAndContentType() throws {
    let both = try builder().request(for: CallContent(API.both))
    XCTAssertEqual(both.url.query(), "page=1&token=t")
    XCTAssertEqual(body(both), #"{"name":"n"}"#)
    let raw = try builder().request(for: CallContent(API.raw))
    XCTAssertEqual(raw.url.query(), "token=t")
    XCTAssertEqual(raw.headers["Content-Type"], "application/x-bytes")
    let value = try builder().request(for: CallContent(API.value))
    XCTAssertEqual(body(value), "[1,2]")
    XCTAssertEqual(value.url.query(), "token=t")
    let search = try builder().request(for: CallContent(API.search("a&b")))
    XCTAssertEqual(search.url.absoluteString, "http://h/v1/x?q=a%26b&token=t")
  }

  func test_row_2_13_encodingErrors_carryTheIncompleteRequest() throws {
    let call = CallContent(.get, "/x", parameters: ["a": Double.infinity], encoding: .url, headers: [:])
    XCTAssertThrowsError(try builder().request(for: call)) { error in
      let error = error as? NetworkError
      XCTAssertEqual(error?.kind, .encoding)
      XCTAssertEqual(error?.request?.url.absoluteString, "http://h/v1/x")
    }
  }

  func test_query_canBeCombinedWithAnyTask() throws {
    struct Both: Endpoint {
      var task: HTTPTask
      var path: String { "/x" }
      var method: HTTPMethod { .post }
    }
    let form = MultipartForm([.field("a", "1")], boundary: "B")
    let multipart = try builder().request(for: CallContent(Both(task: .query(["page": 1], .multipart(form)))))
    XCTAssertEqual(multipart.url.query(), "page=1&token=t")
    XCTAssertEqual(multipart.headers["Content-Type"], "multipart/form-data; boundary=B")
    XCTAssertTrue(body(multipart).hasSuffix("name=\"a\"\r\n\r\n1\r\n--B--\r\n"))
    XCTAssertFalse(body(multipart).contains("token"))
    let own = try builder().request(for: CallContent(Both(task: .query(["token": "mine"], .json([1])))))
    XCTAssertEqual(own.url.query(), "token=mine")
    XCTAssertEqual(body(own), "[1]")
    let nested = try builder().request(for: CallContent(Both(task: .query(["a": 1], .query(["b": 2], .none)))))
    XCTAssertEqual(nested.url.query(), "a=1&token=t&b=2")
    let signed = try TaskEncoder(task: .query(["b": 2], .form(["a": 1])), common: ["c": 3]).pairs(for: .post)
    XCTAssertEqual(signed.map { "\($0.name)=\($0.value)" }, ["a=1", "b=2", "c=3"])
  }

  func test_uploadWithoutFile_failsWhenBuilt_andAnEmptyTypeIsIgnored() throws {
    struct Upload: Endpoint {
      var file: URL
      var path: String { "/x" }
      var task: HTTPTask { .upload(file, contentType: "") }
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for file in [folder, folder.appending(path: "none"), try XCTUnwrap(URL(string: "http://h/none"))] {
      XCTAssertThrowsError(try builder().request(for: CallContent(Upload(file: file)))) { error in
        let error = error as? NetworkError
        XCTAssertEqual(error?.kind, .invalidRequest)
        XCTAssertTrue(error?.reason.contains(file.lastPathComponent) == true)
        XCTAssertEqual(error?.request?.url.absoluteString, "http://h/v1/x")
      }
    }
    let file = folder.appending(path: "a.json")
    try Data("1".utf8).write(to: file)
    XCTAssertEqual(
      try builder().request(for: CallContent(Upload(file: file))).headers["Content-Type"], "application/json")
  }
}
