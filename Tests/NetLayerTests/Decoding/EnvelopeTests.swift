import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class EnvelopeTests: XCTestCase {
  private struct User: Decodable, Equatable {
    var id: Int
    var name: String
  }

  private func accepted(_ text: String, _ envelope: Envelope = .standard) throws -> EnvelopeReader {
    try EnvelopeReader(JSON(parsing: text).accepted(by: envelope))
  }

  func test_row_0_16_successCode_isAcceptedAsNumberOrString() throws {
    for code in ["200", "\"200\"", "200.0", "2e2", "\"200.0\""] {
      XCTAssertNoThrow(try accepted("{\"code\":\(code)}"), code)
    }
  }

  func test_row_0_16_otherCode_isABusinessErrorWithTheServersMessage() throws {
    let error = try failure { try accepted(#"{"code":40301,"message":"请先登录"}"#) }
    XCTAssertEqual(error.kind, .rejected)
    XCTAssertEqual(error.code, 40301)
    XCTAssertEqual(error.message, "请先登录")
    XCTAssertEqual(error.localizedDescription, "请先登录")
    let silent = try failure { try accepted(#"{"code":"500"}"#) }
    XCTAssertEqual(silent.code, 500)
    XCTAssertEqual(silent.message, NetworkError.Messages.localized.badRequest)
    let word = try failure { try accepted(#"{"code":"E1","message":"no"}"#) }
    XCTAssertEqual(word.kind, .rejected)
    XCTAssertEqual(word.code, -1212)
    XCTAssertTrue(word.reason.contains("E1"))
  }

  func test_row_0_17_namesAndSuccessRule_belongToTheBackend() throws {
    let shop = Envelope(code: "status", success: 0, message: "msg", data: "result")
    XCTAssertEqual(try accepted(#"{"status":0,"result":7}"#, shop).payload(Int.self), 7)
    XCTAssertEqual(try failure { try accepted(#"{"status":1,"msg":"no"}"#, shop) }.message, "no")
    XCTAssertNoThrow(try accepted(#"{"code":"ok"}"#, Envelope(success: "ok")))
    XCTAssertNoThrow(try accepted(#"{"code":true}"#, Envelope(success: true)))
    XCTAssertEqual(try failure { try accepted(#"{"code":false}"#, Envelope(success: true)) }.kind, .rejected)
    XCTAssertNoThrow(try accepted(#"{"code":201}"#, Envelope(success: [200, 201])))
    XCTAssertNoThrow(try accepted(#"{"code":299}"#, Envelope(success: .init { $0.int.map { $0 < 300 } ?? false })))
  }

  func test_responseWithoutEnvelope_isAParseErrorWithTheMissingMember() throws {
    for (text, path) in [("[1]", []), ("{}", ["code"]), (#"{"code":null}"#, ["code"]), (#"{"code":[]}"#, ["code"])] {
      let error = try failure { try accepted(text) }
      XCTAssertEqual(error.kind, .parse, text)
      XCTAssertEqual(error.code, -1213, text)
      XCTAssertEqual(error.codingPath, path, text)
    }
  }

  func test_acceptedTwice_isUnchanged() throws {
    let once = try JSON(parsing: #"{"code":200,"data":1}"#).accepted(by: .standard)
    let twice = try once.accepted(by: Envelope(code: "other", success: 0))
    XCTAssertEqual(try EnvelopeReader(twice).payload(Int.self), 1)
  }

  func test_acceptedJSON_remainsLenient() throws {
    let json = Observable.just(try JSON(parsing: #"{"code":200,"id":"12"}"#))
    XCTAssertEqual(record(json.map(\.lenient).common(.standard)).elements.map { $0["id"].int }, [12])
    XCTAssertEqual(record(json.common(.standard)).elements.map { $0["id"].int }, [nil])
  }

  func test_row_0_21_payload_canBeAnyDecodable() throws {
    let json = try accepted(#"{"code":200,"data":{"id":1,"name":"n"}}"#)
    XCTAssertEqual(try json.payload(User.self), User(id: 1, name: "n"))
    XCTAssertEqual(try accepted(#"{"code":200,"data":"text"}"#).payload(String.self), "text")
    XCTAssertEqual(try accepted(#"{"code":200,"data":[1,2]}"#).payload([Int].self), [1, 2])
    XCTAssertNil(try accepted(#"{"code":200,"data":null}"#).payload(User?.self))
    XCTAssertNil(try accepted(#"{"code":200}"#).payload(User?.self))
  }

  func test_missingNullOrInvalidPayload_isAnErrorWithItsPath() throws {
    XCTAssertEqual(try failure { try accepted(#"{"code":200}"#).payload(User.self) }.codingPath, ["data"])
    XCTAssertEqual(try failure { try accepted(#"{"code":200,"data":null}"#).payload(User.self) }.codingPath, ["data"])
    let nested = try failure {
      try accepted(#"{"code":200,"data":[{"id":1,"name":"n"},{"id":"x","name":"n"}]}"#).payload([User].self)
    }
    XCTAssertEqual(nested.kind, .parse)
    XCTAssertEqual(nested.codingPath, ["data", "1", "id"])
    XCTAssertTrue(nested.underlying is DecodingError)
    let absent = try failure { try accepted(#"{"code":200,"data":{"id":1}}"#).payload(User.self) }
    XCTAssertEqual(absent.codingPath, ["data", "name"])
  }

  func test_row_0_22_list_hasItsCursorAsTextNumberOrNil() throws {
    func page(_ cursor: String) throws -> Page<Int> {
      try accepted("{\"code\":200,\"data\":[1,2]\(cursor)}").page(of: Int.self)
    }
    XCTAssertEqual(try page(#","cursor":"abc""#), Page(items: [1, 2], cursor: "abc"))
    XCTAssertEqual(try page(#","cursor":12345678901234567890"#).cursor, "12345678901234567890")
    for none in ["", #","cursor":null"#, #","cursor":"""#] { XCTAssertNil(try page(none).cursor, none) }
    XCTAssertEqual(try failure { try page(#","cursor":{}"#) }.codingPath, ["cursor"])
    XCTAssertEqual(
      try failure { try accepted(#"{"code":200,"data":{}}"#).page(of: Int.self) }.codingPath, ["data"])
  }

  func test_row_0_23_bool_readsThePayload() throws {
    func flag(_ data: String) throws -> Bool { try accepted("{\"code\":200\(data)}").bool() }
    for yes in ["", "null", "true", "1", "2", "\"\"", "\"true\"", "\"1\"", "{}", "[]"] {
      XCTAssertTrue(try flag(yes.isEmpty ? "" : ",\"data\":\(yes)"), yes)
    }
    for no in ["false", "0", "0.0", "\"false\"", "\"0\"", "\"FALSE\""] {
      XCTAssertFalse(try flag(",\"data\":\(no)"), no)
    }
    XCTAssertEqual(try failure { try flag(",\"data\":\"maybe\"") }.codingPath, ["data"])
  }
}
