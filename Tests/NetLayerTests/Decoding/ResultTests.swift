import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private struct Item: Decodable, Equatable {
  var id: Int
  var firstName: String?
  var at: Date?
}

private struct Get: Endpoint {
  var path: String { "/a" }
}

private struct CSV: ResponseReadable, Equatable {
  var rows: [[String]]
  static var accept: String? { "text/csv" }
  static func read(_ response: Response) throws -> CSV {
    CSV(rows: try response.text().split(separator: "\n").map { $0.split(separator: ",").map(String.init) })
  }
}

private struct BaseResp<Payload: Decodable & Sendable>: BaseResponse {
  struct Refused: LocalizedError {
    var code: Int
    var errorDescription: String? { "refused with \(code)" }
  }

  var code: Int
  var data: Payload?
  func makeCustomError() -> (any Error)? { code == 0 ? nil : Refused(code: code) }
}

final class ResultTests: XCTestCase {
  private func network(_ body: String, _ headers: HTTPHeaders = [:], envelope: Envelope = .none) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://h"), envelope: envelope,
        transport: StubTransport { _ in .response(headers: headers, body: Data(body.utf8)) }))
  }

  func test_row_1_5_oneProtocol_addsAResultType() throws {
    let transport = StubTransport { _ in .json("a,b\nc") }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    XCTAssertEqual(record(network.request(Get(), as: CSV.self)).elements, [CSV(rows: [["a", "b"], ["c"]])])
    XCTAssertEqual(transport.requests[0].headers["Accept"], "text/csv")
    XCTAssertEqual(record(network.request(Get(), as: NoContent.self)).elements, [NoContent()])
  }

  func test_row_1_5_resultOfAPath_canBeAnyType() {
    let network = network(#"{"id":1}"#)
    XCTAssertEqual(record(network.request(.get("/a", query: ["q": 1]), as: Item.self)).elements, [Item(id: 1)])
    XCTAssertEqual(record(network.request(.get("/a"), as: String.self)).elements, [#"{"id":1}"#])
    let json: Single<JSON> = network.request(.post("/a"))
    XCTAssertEqual(record(json).elements, [["id": 1]])
  }

  func test_errorOfABaseResponse_hasTheRequestAndTheResponse() throws {
    struct Refusing: BaseResponse {
      var code: Int
      var data: Item?
      func makeCustomError() -> (any Error)? {
        NetworkError(kind: .rejected, code: code, reason: "refused by the model")
      }
    }
    let error = try failure(of: network(#"{"code":7}"#).request(Get(), as: Refusing.self))
    XCTAssertEqual(error.code, 7)
    XCTAssertEqual(error.request?.url.path, "/a")
    XCTAssertEqual(error.response?.status, 200)
  }

  func test_errorOfAReader_becomesANetworkError() throws {
    struct Picky: ResponseReadable {
      struct No: Error {}
      static func read(_ response: Response) throws -> Picky { throw No() }
    }
    let error = try failure(of: network("x").request(Get(), as: Picky.self))
    XCTAssertEqual(error.kind, .other)
    XCTAssertTrue(error.underlying is Picky.No)
    XCTAssertEqual(error.response?.status, 200)
  }

  func test_endpoint_canSpecifyItsResult() throws {
    struct Texts: Endpoint {
      typealias Output = String
      var path: String { "/a" }
    }
    struct Nothing: Endpoint {
      typealias Output = Void
      var path: String { "/a" }
    }
    struct Items: Endpoint {
      typealias Output = [Item]
      var path: String { "/a" }
    }
    let network = network(#"[{"id":1}]"#)
    XCTAssertEqual(record(network.request(Texts())).elements, [#"[{"id":1}]"#])
    XCTAssertEqual(record(network.request(Nothing())).completions, 1)
    XCTAssertEqual(record(network.request(Items())).elements, [[Item(id: 1)]])
    XCTAssertEqual(record(Items().request(on: network).map { $0.count }).elements, [1])
    XCTAssertEqual(record(network.responses(Items())).elements.first?.status, 200)
  }

  func test_row_1_4_model_canReportItsOwnError() throws {
    let call: (String) -> Single<BaseResp<Item>> = { self.network($0).request(Get(), as: BaseResp<Item>.self) }
    XCTAssertEqual(record(call(#"{"code":0,"data":{"id":1}}"#)).elements.first?.data, Item(id: 1))
    let error = try failure(of: call(#"{"code":7}"#))
    XCTAssertEqual(error.kind, .rejected)
    XCTAssertEqual(error.message, "refused with 7")
    XCTAssertTrue(error.underlying is BaseResp<Item>.Refused)
    XCTAssertEqual(error.response?.body, Data(#"{"code":7}"#.utf8))
  }

  func test_row_1_17_lossyList_reportsInvalidItems_andKeepsTheOthers() throws {
    let body = #"{"code":200,"data":[{"id":1},{"id":"x"},3,{"id":4}],"cursor":"c"}"#
    let notes = Notes()
    let pages = network(body, envelope: .standard).json(.get, "/a").list(
      Item.self, onInvalidElement: { index, error in notes.add("\(index) \(error.codingPath.joined(separator: "."))") })
    XCTAssertEqual(record(pages).elements, [Page(items: [Item(id: 1), Item(id: 4)], cursor: "c")])
    XCTAssertEqual(notes.all, ["1 data.1.id", "2 data.2"])
    XCTAssertEqual(try failure(of: network(body, envelope: .standard).json(.get, "/a").list(Item.self)).kind, .parse)
  }

  func test_row_3_4_emptyData_failsByDefault() throws {
    let reply = network("").responses(.get, "/a")
    XCTAssertEqual(try failure(of: reply.map([Item].self)).kind, .parse)
    XCTAssertEqual(record(reply.map([Item].self, failsOnEmptyData: false)).elements, [[]])
    XCTAssertEqual(record(reply.map(Item?.self, failsOnEmptyData: false)).elements, [nil])
    XCTAssertEqual(try failure(of: reply.map(Item.self, failsOnEmptyData: false)).kind, .parse)
    XCTAssertEqual(record(network("[]").responses(.get, "/a").map([Item].self, failsOnEmptyData: false)).elements, [[]])
  }

  func test_row_3_4_decoder_canBeSetPerCall() throws {
    let network = network(#"{"id":1,"first_name":"A"}"#)
    XCTAssertEqual(
      record(network.request(Get()).map(Item.self, decoder: Backend.Coding.snakeCase.decoder)).elements,
      [Item(id: 1, firstName: "A")])
    XCTAssertEqual(record(network.request(Get()).map(Item.self)).elements, [Item(id: 1)])
    let own = network.with { $0.coding = .snakeCase }
    XCTAssertEqual(record(own.request(Get(), as: Item.self)).elements, [Item(id: 1, firstName: "A")])
  }

  func test_row_4_6_snakeCaseAndISO8601_areDecodedWithAndWithoutFractions() throws {
    for (text, seconds) in [
      ("2019-12-28T00:00:00Z", 1_577_491_200.0), ("2019-12-28T00:00:00.5Z", 1_577_491_200.5),
      ("2019-12-28T08:00:00.250+08:00", 1_577_491_200.25), ("2019-12-28T08:00:00+08:00", 1_577_491_200),
    ] {
      let json = try JSON(parsing: #"{"id":1,"first_name":"A","at":"\#(text)"}"#)
      let item = try json.decode(Item.self, using: Backend.Coding.snakeCaseISO8601.decoder)
      XCTAssertEqual(try XCTUnwrap(item.at).timeIntervalSince1970, seconds, accuracy: 0.001, text)
      XCTAssertEqual(item.firstName, "A")
    }
    let bad = network(#"{"id":1,"at":"yesterday"}"#).with { $0.coding = .iso8601 }
    let error = try failure(of: bad.request(Get(), as: Item.self))
    XCTAssertEqual(error.kind, .parse)
    XCTAssertEqual(error.codingPath, ["at"])
    XCTAssertTrue(error.reason.contains("yesterday"))
  }

  func test_row_4_6_invalidDate_isAnErrorWithTheText() throws {
    for text in [
      "2024-01-01T00:00:00Zgarbage", "2024-01-01T00:00:00Z ", " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00",
      "2024-01-01T00:00:00.Z", "2024-01-01 00:00:00Z", "2024-01-01", "2024-01-01T00:00Z", "2024-01-01T00:00:00+8",
      "2024-01-01T00:00:00+08:00x", "2024-01-01T00:00:00+08:0", "20240101T000000Z", "2024-01-01T00:00:00Z\u{301}",
      "2024-01-01T00:00:00.5Z.5Z", "2024-13-01T00:00:00Z", "",
    ] {
      let json: JSON = ["at": JSON(stringLiteral: text)]
      XCTAssertThrowsError(try json.decode([String: Date].self, using: Backend.Coding.iso8601.decoder), text) { error in
        guard case DecodingError.dataCorrupted(let context) = error else { return XCTFail("\(error)") }
        let reason = context.debugDescription
        XCTAssertTrue(reason.contains("\(text.debugDescription) is not an ISO 8601 date"), reason)
      }
    }
    for (text, seconds) in [
      ("2024-01-01T00:00:00Z", 1_704_067_200.0), ("2024-01-01T08:00:00+0800", 1_704_067_200),
      ("2023-12-31T18:30:00.123456-05:30", 1_704_067_200.123456), ("2024-01-01T00:00:00.5+0000", 1_704_067_200.5),
      ("2024-01-01T08:00:00+08", 1_704_067_200),
    ] {
      let json: JSON = ["at": JSON(stringLiteral: text)]
      let date = try json.decode([String: Date].self, using: Backend.Coding.iso8601.decoder)["at"]
      XCTAssertEqual(try XCTUnwrap(date).timeIntervalSince1970, seconds, accuracy: 0.001, text)
    }
  }

  func test_row_1_5_text_isDecodedInTheDeclaredCharset() throws {
    for (name, bytes, text) in [
      ("iso-8859-1", [0xE9], "é"), ("utf-16le", [0x51, 0x7F], "网"), ("windows-1252", [0x80], "€"),
      ("UTF-8", [0xC3, 0xA9], "é"),
      ("shift_jis", [0x82, 0xA0], "あ"),
    ] as [(String, [UInt8], String)] {
      let request = Request(url: try XCTUnwrap(URL(string: "http://h")))
      let response = Response(
        request: request, headers: ["Content-Type": "text/plain; charset=\"\(name)\""], body: Data(bytes))
      XCTAssertEqual(try response.text(), text, name)
    }
  }

  private struct Remote<Output: Decodable & Sendable>: Endpoint {
    var path: String { "/rpc" }
  }

  func test_genericEndpoint_withoutContent_onlySucceedsOrFails() async throws {
    let bodies: [(String, Envelope)] = [
      ("", .none), ("done", .none), ("{}", .none), ("[]", .none), (#"{"result":null}"#, .jsonRPC),
      (#"{"id":1}"#, .jsonRPC),
    ]
    for (body, envelope) in bodies {
      let nothing = try await network(body, envelope: envelope).fetch(Remote<NoContent>())
      XCTAssertEqual(nothing, NoContent(), body)
    }
    let refused = network(#"{"error":{"code":-7,"message":"no"}}"#, envelope: .jsonRPC)
    do {
      _ = try await refused.fetch(Remote<NoContent>())
      XCTFail("the envelope reports a failure")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).code, -7)
    }
  }
}
