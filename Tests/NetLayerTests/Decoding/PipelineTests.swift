import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

final class PipelineTests: XCTestCase {
  private struct User: Decodable, Equatable {
    var id: Int
    var name: String
  }

  private func network(
    _ body: String, status: Int = 200, type: String = "application/json",
    _ backend: Backend = Backend(envelope: .standard)
  )
    throws -> Network
  {
    var backend = backend
    backend.baseURL = URL(string: "http://h")
    backend.transport = StubTransport { _ in
      .response(status: status, headers: ["Content-Type": type], body: Data(body.utf8))
    }
    return Network(backend)
  }

  func test_everyInvalidResponse_hasItsOwnError_andEndsTheStreamOnce() throws {
    let cases: [(body: String, status: Int, kind: NetworkError.Kind, code: Int, path: [String], says: String)] = [
      (#"{"code":200,"#, 200, .parse, -1213, [], "byte 12"),
      ("", 200, .parse, -1213, [], "empty"),
      ("<html><body>502</body></html>", 200, .parse, -1213, [], "HTML"),
      ("[]", 200, .parse, -1213, [], "array"),
      (#"{"data":{}}"#, 200, .parse, -1213, ["code"], "code"),
      (#"{"code":200}"#, 200, .parse, -1213, ["data"], "data"),
      (#"{"code":200,"data":{"id":"7","name":"n"}}"#, 200, .parse, -1213, ["data", "id"], "data.id"),
      (#"{"code":"403","message":"no"}"#, 200, .rejected, 403, [], "no"),
      (#"{"code":403,"message":"no"}"#, 200, .rejected, 403, [], "no"),
      (#"{"code":200,"message":"down"}"#, 500, .status, 500, [], "down"),
      ("<html>", 502, .status, 502, [], "502"),
    ]
    for (body, status, kind, code, path, says) in cases {
      let error = try failure(of: network(body, status: status).json(.get, "/a").data(User.self))
      XCTAssertEqual(error.kind, kind, body)
      XCTAssertEqual(error.code, code, body)
      XCTAssertEqual(error.codingPath, path, body)
      XCTAssertTrue(error.reason.contains(says), error.reason)
      XCTAssertEqual(error.response?.body, Data(body.utf8), body)
      XCTAssertEqual(error.request?.url.path, "/a", body)
    }
  }

  func test_codeAsString_isAccepted() throws {
    let network = try network(#"{"code":"200","data":{"id":7,"name":"n"}}"#)
    XCTAssertEqual(record(network.json(.get, "/a").data(User.self)).elements, [User(id: 7, name: "n")])
  }

  func test_transportErrors_haveTheBackendsMessage() throws {
    var messages = NetworkError.Messages.english
    messages.timeout = "too slow"
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), messages: messages, transport: StubTransport { _ in .failure(.timeout) }))
    let error = try failure(of: network.json(.get, "/a").data(User.self))
    XCTAssertEqual(error.kind, .timeout)
    XCTAssertEqual(error.code, -1212)
    XCTAssertEqual(error.message, "too slow")
  }

  func test_row_1_1_eachBackend_readsResponsesByItsOwnRules() throws {
    let shop = Envelope(code: "status", success: 0, message: "msg", data: "result", cursor: "next")
    let network = try network(
      #"{"status":0,"msg":"","result":[1,2],"next":3}"#, Backend(envelope: shop, messages: .chinese))
    XCTAssertEqual(record(network.json(.get, "/a").list(Int.self)).elements, [Page(items: [1, 2], cursor: "3")])
    // The response carries the envelope of its backend.
    XCTAssertEqual(record(network.responses(.get, "/a").common().data([Int].self)).elements, [[1, 2]])
    XCTAssertEqual(
      try failure(of: network.json(.get, "/a").data(Int.self)).message, NetworkError.Messages.chinese.parse)
    // A call may have its own envelope.
    let odd = Envelope(code: "next", success: 3, data: "status")
    XCTAssertEqual(record(network.responses(.get, "/a").common(odd).data(Int.self)).elements, [0])
  }

  func test_secondCommon_changesNothing() throws {
    let network = try network(#"{"code":200,"data":1}"#)
    let twice = network.json(.get, "/a").common().common(Envelope(code: "x", success: 5))
    XCTAssertEqual(record(twice.data(Int.self)).elements, [1])
  }

  func test_optionalModel_acceptsNullAndAMissingPayload() throws {
    for body in [#"{"code":200,"data":null}"#, #"{"code":200}"#] {
      XCTAssertEqual(record(try network(body).json(.get, "/a").data(User?.self)).elements, [User?.none])
    }
  }

  func test_row_3_4_models_areMappedAtAKeyPathOfAnySource() throws {
    let body = #"{"data":{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}}"#
    let b = User(id: 2, name: "b")
    XCTAssertEqual(record(try network(body).responses(.get, "/a").map(User.self, at: "data.items[1]")).elements, [b])
    XCTAssertEqual(record(Observable.just(body).map(User.self, at: "data.items[1]")).elements, [b])
    XCTAssertEqual(record(Observable.just(Data(body.utf8)).map([User].self, at: "data.items")).elements.first?.last, b)
    XCTAssertEqual(
      record(Observable.just(try JSON(parsing: body)).map(String.self, at: "data.items[0].name")).elements, ["a"])
    XCTAssertEqual(record(Observable.just(body).map(String?.self, at: "data.none")).elements, [String?.none])
    XCTAssertEqual(try failure(of: Observable.just(body).map(Int.self, at: "data..x")).kind, .parse)
    XCTAssertEqual(
      try failure(of: Observable.just(body).map(Int.self, at: "data.items[1].id.x")).codingPath,
      ["data", "items", "1", "id", "x"])
  }

  func test_largeResponse_isScannedOnce_andItsPayloadDecoded() throws {
    let items = (0..<8_000).map { "{\"id\":\($0),\"name\":\"user \($0) 网络 \(String(repeating: "x", count: 90))\"}" }
    let body = "{\"code\":200,\"data\":[\(items.joined(separator: ","))],\"cursor\":null}"
    XCTAssertGreaterThan(body.utf8.count, 1_000_000)
    let page = record(try network(body).json(.get, "/a").list(User.self)).elements.first
    XCTAssertEqual(page?.items.count, 8_000)
    XCTAssertEqual(page?.items.last?.id, 7_999)
  }
}
