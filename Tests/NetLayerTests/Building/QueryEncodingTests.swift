import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// `Backend.queryEncoding`, the format of every query and form of a backend.
final class QueryEncodingTests: XCTestCase {
  private func sent(_ call: some Endpoint, _ change: (inout Backend) -> Void = { _ in }) throws -> Request {
    let stub = StubTransport { _ in .json("{}") }
    var backend = Backend(
      baseURL: URL(string: "http://h"), queryEncoding: URLParameterEncoder(arrays: .repeated, bools: .literal),
      transport: stub)
    change(&backend)
    let recorded = record(Network(backend).request(Call(call).as(NoContent.self)))
    return try XCTUnwrap(stub.requests.first, "\(String(describing: recorded.error))")
  }

  private func body(_ request: Request) -> String {
    guard case .data(let data) = request.body else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  private let parameters: Parameters = ["on": true, "tag": ["a", "b"]]
  private let text = "on=true&tag=a&tag=b"

  func test_queryItems_keepTheirOrderAndRepeatedNames() throws {
    let items = [
      URLQueryItem(name: "filter[id]", value: "2"), URLQueryItem(name: "a", value: "1+1 &=é"),
      URLQueryItem(name: "filter[id]", value: ""), URLQueryItem(name: "flag", value: nil),
    ]
    let pairs = "filter%5Bid%5D=2&a=1%2B1%20%26%3D%C3%A9&filter%5Bid%5D=&flag"
    func query(_ call: some Endpoint) throws -> String? { try sent(call).url.query(percentEncoded: true) }
    XCTAssertEqual(try query(Call.get("/a").query(items)), pairs)
    XCTAssertEqual(try query(Call.get("/a?z=%2F&z").query(items)), "z=%2F&z&" + pairs)
    XCTAssertEqual(try query(Call.get(["a", "b?c"]).query(items)), pairs)
    XCTAssertEqual(try query(Call.get("http://h/a?q").query(items)), "q&" + pairs)
    XCTAssertEqual(try query(Call.post("/a", json: ["x": 1]).query(items)), pairs)
    XCTAssertEqual(try query(Call.get("/a", query: ["b": 1]).query(items)), pairs + "&b=1")
    XCTAssertNil(try query(Call.get("/a").query([URLQueryItem]())))
  }

  func test_everyQuery_usesTheBackendsEncoding() throws {
    let calls: [Call<Response>] = [
      .get("/a", query: parameters), .post("/a", json: ["x": 1], query: parameters), .get("/a").query(parameters),
      Call(.get, "/a", task: .parameters(parameters)),
      Call(.post, "/a", task: .parameters(parameters, encoding: .query)),
      Call(.delete, "/a", task: .parameters(parameters, encoding: .url)),
      Call(.put, "/a", task: .composite(query: parameters, body: [:])), Call("REPORT", "/a", query: parameters),
      Call(
        .get, "/a",
        task: .download(
          to: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString), parameters: parameters)),
    ]
    for (index, call) in calls.enumerated() { XCTAssertEqual(try sent(call).url.query, text, "call \(index)") }
  }

  func test_commonParameters_useTheBackendsEncoding() throws {
    let request = try sent(Call.post("/a", .data(Data(), contentType: "text/plain"))) { [parameters] backend in
      backend.commonParameters = { parameters }
    }
    XCTAssertEqual(request.url.query, text)
  }

  func test_everyForm_usesTheBackendsEncoding() throws {
    XCTAssertEqual(body(try sent(Call.post("/a", form: parameters))), text)
    XCTAssertEqual(body(try sent(Call.post("/a", parameters: parameters)) { $0.bodyEncoding = .form }), text)
    XCTAssertEqual(body(try sent(Call(.post, "/a", task: .parameters(parameters, encoding: .form)))), text)
    let form = body(try sent(Call.post("/a", .multipart(MultipartForm(parameters)))))
    XCTAssertEqual(form.components(separatedBy: "name=\"tag\"").count, 3, form)
    XCTAssertTrue(form.contains("\r\n\r\ntrue\r\n"), form)
  }

  func test_encoderOfACall_overridesTheBackends() throws {
    let own = URLParameterEncoder(destination: .query, arrays: .indexed)
    XCTAssertEqual(
      try sent(Call(.get, "/a", task: .parameters(parameters, encoding: own))).url.query,
      "on=1&tag%5B0%5D=a&tag%5B1%5D=b")
    var changed = URLParameterEncoder.query
    changed.bools = .numeric
    XCTAssertEqual(
      try sent(Call(.get, "/a", task: .parameters(parameters, encoding: changed))).url.query,
      "on=1&tag%5B%5D=a&tag%5B%5D=b")
  }

  func test_defaultEncoding_isAlamofires() throws {
    XCTAssertEqual(
      try sent(Call.get("/a", query: parameters)) { $0.queryEncoding = URLParameterEncoder() }.url.query,
      "on=1&tag%5B%5D=a&tag%5B%5D=b")
  }

  func test_dates_haveTheFormatOfTheEncoding() throws {
    let date: Parameters = ["at": Date(timeIntervalSince1970: 0)]
    XCTAssertEqual(
      try sent(Call.get("/a", query: date)) { $0.queryEncoding.dates = .iso8601 }.url.query,
      "at=1970-01-01T00%3A00%3A00Z")
  }

  func test_signer_receivesThePairsOfTheEncoding() throws {
    let pairs = Notes()
    _ = try sent(Call.get("/a", query: parameters)) { backend in
      backend.signer = ClosureSigner { content in
        pairs.add(content.text)
        return RequestSignature(parameters: ["sign": ["x", "y"]])
      }
    }
    XCTAssertEqual(pairs.all, [text])
  }

  func test_addedQuery_replacesTheArrayInThePath() throws {
    XCTAssertEqual(try sent(Call.get("/a?tag=x&tag=y&k=1").query(parameters)).url.query, "k=1&" + text)
  }
}
