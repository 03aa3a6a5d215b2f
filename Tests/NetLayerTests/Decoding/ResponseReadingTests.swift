import HTTPTransport
import NetLayer
import TestSupport
import XCTest

final class ResponseReadingTests: XCTestCase {
  private func response(_ body: Data, status: Int = 200, type: String? = nil) throws -> Response {
    Response(
      request: Request(url: try XCTUnwrap(URL(string: "http://h/a?token=secret"))), status: status,
      headers: type.map { ["Content-Type": $0] } ?? [:], body: body)
  }

  func test_malformedJSON_isAnErrorWithOffsetAndBody() throws {
    let error = try failure { try response(Data("{\"a\":1,}".utf8)).json() }
    XCTAssertEqual(error.kind, .parse)
    XCTAssertEqual(error.code, -1213)
    XCTAssertTrue(error.reason.contains("byte 7"), error.reason)
    XCTAssertEqual((error.underlying as? JSONError)?.offset, 7)
    XCTAssertEqual(error.response?.body.count, 8)
    XCTAssertNotNil(error.request)
  }

  func test_emptyBodyAndHTML_areNamedInTheError() throws {
    XCTAssertTrue(try failure { try response(Data(), status: 204).json() }.reason.contains("empty"))
    let html = try failure { try response(Data("\n<!DOCTYPE html>".utf8), type: "text/html").json() }
    XCTAssertTrue(html.reason.contains("HTML"), html.reason)
    XCTAssertTrue(html.reason.contains("text/html"), html.reason)
  }

  func test_row_2_17_only200To299_areSuccess() throws {
    for status in [200, 204, 299] { XCTAssertNoThrow(try response(Data(), status: status).validated()) }
    for status in [100, 199, 300, 304, 400, 500] {
      let error = try failure { try response(Data(), status: status).validated() }
      XCTAssertEqual(error.kind, .status)
      XCTAssertEqual(error.code, status)
      XCTAssertFalse(error.reason.contains("secret"), error.reason)
    }
  }

  func test_row_2_16_status_hasItsOwnMessage() throws {
    let messages = NetworkError.Messages.localized
    for (status, message) in [
      (401, messages.authentication), (403, messages.forbidden), (404, messages.notFound),
      (408, messages.timeout), (429, messages.tooManyRequests), (400, messages.badRequest), (500, messages.server),
      (503, messages.server),
    ] {
      XCTAssertEqual(try failure { try response(Data(), status: status).validated() }.message, message)
    }
  }

  func test_busyAndUnknownOutcome_haveTheirOwnMessages_andAreNotTransient() {
    for messages in [NetworkError.Messages.english, .chinese] {
      XCTAssertEqual(messages.text(for: .fileInUse), messages.fileInUse)
      XCTAssertEqual(messages.text(for: .unknownOutcome), messages.unknownOutcome)
    }
    for kind in [NetworkError.Kind.fileInUse, .unknownOutcome] {
      XCTAssertFalse(kind.isTransient, "a retry would find the same")
      XCTAssertFalse(kind.isOutage)
      XCTAssertEqual(NetworkError(kind: kind, reason: "").code, -1212)
    }
  }

  func test_errorStatus_keepsTheServersMessageFromTheEnvelope() throws {
    let body = Data(#"{"code":500,"message":"database is down"}"#.utf8)
    let error = try failure { try response(body, status: 503).validated() }
    XCTAssertEqual(error.kind, .status)
    XCTAssertEqual(error.code, 503)
    XCTAssertEqual(error.message, "database is down")
  }

  func test_text_isDecodedInTheDeclaredCharset() throws {
    XCTAssertEqual(try response(Data("é网".utf8)).text(), "é网")
    XCTAssertEqual(try response(Data([0xE9]), type: "text/plain; charset=\"ISO-8859-1\"").text(), "é")
    XCTAssertEqual(try failure { try response(Data([0xE9])).text() }.kind, .parse)
    XCTAssertTrue(
      try failure { try response(Data([0xE9]), type: "text/plain;charset=x-none").text() }.reason.contains("x-none"))
  }

  func test_chineseAndKoreanCharsets_areDecoded() throws {
    for (charset, bytes, expected) in [
      ("GBK", [0xB1, 0xB1, 0xE9, 0x46], "北镕"), ("gb2312", [0xB1, 0xB1, 0xBE, 0xA9], "北京"),
      ("GB18030", [0xB1, 0xB1, 0x81, 0x30, 0x84, 0x36], "北¥"), ("big5", [0xA5, 0x5F, 0xA8, 0xCA], "北京"),
      ("EUC-KR", [0xBC, 0xAD, 0xBF, 0xEF], "서울"),
    ] as [(String, [UInt8], String)] {
      XCTAssertEqual(try response(Data(bytes), type: "text/plain; charset=\(charset)").text(), expected, charset)
      XCTAssertEqual(try failure { try response(Data([0xB0]), type: "a/b;charset=\(charset)").text() }.kind, .parse)
    }
  }

  func test_charset_isNotReadFromAQuotedParameter() throws {
    let quoted = "text/plain;a=\";charset=us-ascii\";charset=\"utf-8\""
    XCTAssertEqual(try response(Data("é".utf8), type: quoted).text(), "é")
    XCTAssertEqual(try response(Data([0xE9]), type: "text/plain;charset='iso-8859-1'").text(), "é")
    for type in ["text/plain; charset=", "text/plain; charset", "text/plain;"] {
      XCTAssertEqual(try response(Data("é".utf8), type: type).text(), "é", type)
    }
  }

  func test_byteOrderMark_overridesTheDeclaredCharset() throws {
    for bytes in [
      [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], [0xFE, 0xFF, 0, 0xE9], [0xFF, 0xFE, 0xE9, 0], [0, 0, 0xFE, 0xFF, 0, 0, 0, 0xE9],
      [0xFF, 0xFE, 0, 0, 0xE9, 0, 0, 0],
    ] as [[UInt8]] {
      XCTAssertEqual(try response(Data(bytes), type: "text/plain;charset=iso-8859-1").text(), "é", "\(bytes)")
      XCTAssertEqual(try response(Data(bytes)).text(), "é", "\(bytes)")
    }
    XCTAssertEqual(try failure { try response(Data([0xEF, 0xBB, 0xBF, 0xE9])).text() }.kind, .parse)
  }
}
