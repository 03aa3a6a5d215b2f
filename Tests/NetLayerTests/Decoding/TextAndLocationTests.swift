import Foundation
import NetLayer
import TestSupport
import XCTest

/// Text in declared, undeclared and wrong charsets; the server's message of an error; `Location`.
final class TextAndLocationTests: XCTestCase {
  private func response(
    _ body: [UInt8], _ type: String? = nil, status: Int = 200, _ headers: HTTPHeaders = [:]
  ) throws -> Response {
    var headers = headers
    headers["Content-Type"] = type
    return Response(
      request: Request(url: try XCTUnwrap(URL(string: "http://h/v2/a?b=1"))), status: status, headers: headers,
      body: Data(body))
  }

  private func xml(_ declaration: String) -> [UInt8] { Array("<?xml version=\"1.0\"\(declaration)?><r>".utf8) + [0xE9] }

  func test_xmlWithoutCharset_hasTheEncodingOfItsDeclaration() throws {
    for type in ["application/xml", "text/xml", "application/atom+xml; a=b", "Application/XML"] {
      for declaration in [" encoding=\"ISO-8859-1\"", " encoding = 'iso-8859-1' standalone='yes'"] {
        XCTAssertTrue(try response(xml(declaration), type).text().hasSuffix("<r>é"), type + declaration)
      }
    }
    XCTAssertTrue(
      try response(xml(" encoding=\"utf-16\""), "text/xml; charset=iso-8859-1").text().hasSuffix("é"), "charset wins")
    XCTAssertThrowsError(try response(xml(" encoding=\"ISO-8859-1\""), "text/plain").text(), "not XML")
    for declaration in ["", " encoding", " encoding=", " encoding=\"", " encoding=\"x"] {
      XCTAssertThrowsError(try response(xml(declaration), "text/xml").text(), declaration)
    }
    XCTAssertThrowsError(try response(Array("<?xml encoding=".utf8) + [0xE9], "text/xml").text(), "no end")
  }

  private static let labels: [(labels: String, bytes: [UInt8], text: String)] = [
    ("utf-8 utf8", [0xC3, 0xA9], "é"), ("utf-16be", [0x00, 0xE9], "é"), ("utf-16le", [0xE9, 0x00], "é"),
    ("us-ascii ascii", [0x61], "a"), ("iso-8859-1 iso8859-1 iso_8859-1 latin1", [0xE9], "é"),
    ("iso-8859-2 iso8859-2 latin2", [0xB1], "ą"), ("iso-8859-15 iso8859-15", [0xA4], "€"),
    ("windows-1250 cp1250", [0xB9], "ą"), ("windows-1251 cp1251", [0xFF], "я"),
    ("windows-1252 cp1252", [0x80, 0xE9], "€é"), ("koi8-r", [0xC1], "а"),
    ("iso-8859-5", [0xB0], "А"), ("iso-8859-6 windows-1256", [0xC7], "ا"), ("iso-8859-7 windows-1253", [0xC1], "Α"),
    ("iso-8859-8 windows-1255", [0xE0], "א"), ("windows-1254 latin5", [0xDD], "İ"), ("windows-1257", [0xE0], "ą"),
    ("windows-1258", [0xFE], "₫"), ("windows-874 tis-620", [0xA1], "ก"), ("koi8-u", [0xA4], "є"),
    ("shift_jis sjis x-sjis windows-31j", [0x82, 0xA0], "あ"), ("windows-31j", [0x87, 0x40], "①"),
    ("gb18030 gbk gb2312 x-gbk", [0xD6, 0xD0], "中"), ("big5", [0xA4, 0xA4], "中"), ("euc-kr", [0xB0, 0xA1], "가"),
  ]

  func test_everyLabel_ofASupportedCharset_isKnown() throws {
    for (labels, bytes, text) in Self.labels {
      for label in labels.split(separator: " ") {
        for spelling in [String(label), label.uppercased(), " \(label) ", "\"\(label)\""] {
          XCTAssertEqual(try response(bytes, "text/plain; charset=\(spelling)").text(), text, spelling)
        }
      }
    }
    for unknown in ["utf-7", "x-user-defined", "iso-8859-99", "cp1252x", "latin", "utf"] {
      let error = try failure { try response([0x61], "text/plain; charset=\(unknown)").text() }
      XCTAssert(error.reason.contains("unknown charset"), error.reason)
    }
  }

  func test_textInANamedCharset_ignoresTheDeclaredOne() throws {
    XCTAssertEqual(try response([0xE9], "text/plain; charset=utf-8").text(as: .isoLatin1), "é")
    XCTAssertEqual(try response([0xC3, 0xA9]).text(as: .utf8), "é")
    let error = try failure { try response([0xFF]).text(as: .utf8) }
    XCTAssertEqual(error.kind, .parse)
  }

  func test_serverMessage_isFoundInUsualErrorBodies() throws {
    let rows: [(body: String, type: String, message: String)] = [
      (
        #"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#, "application/json",
        "manifest unknown"
      ),
      (#"{"errors":[{"status":"422","detail":"Name is too long"}]}"#, "application/vnd.api+json", "Name is too long"),
      (#"{"detail":[{"loc":["body","id"],"msg":"field required"}]}"#, "application/json", "field required"),
      ("\n404 page not found\nmore\n", "text/plain; charset=utf-8", "404 page not found"),
      ("CSRF Error", "text/plain", "CSRF Error"),
    ]
    for row in rows {
      let error = try failure { try response(Array(row.body.utf8), row.type, status: 404).validated() }
      XCTAssertEqual(error.message, row.message)
      XCTAssertTrue(error.reason.hasSuffix(": " + row.message), error.reason)
    }
  }

  func test_status407_namesTheServer_andTheProxyOnlyWhereItMayBeTheCause() throws {
    for (text, remedy) in [
      ("http://h/v2", "; if the transport uses a proxy, check its user and password"), ("HTTP://h/v2", "; if the"),
      ("https://h/v2", ""), ("https://h:80/v2", ""),
    ] {
      for (body, words) in [("", "with status 407"), ("access denied", "with status 407: access denied")] {
        let response = Response(
          request: Request(url: try XCTUnwrap(URL(string: text))), status: 407, headers: ["Content-Type": "text/plain"],
          body: Data(body.utf8))
        let error = try failure { try response.validated() }
        XCTAssertTrue(error.reason.hasPrefix("the server responded to GET "), error.reason)
        XCTAssertTrue(error.reason.contains(words + remedy), error.reason)
        XCTAssertEqual(error.reason.contains("proxy"), !remedy.isEmpty, error.reason)
      }
    }
    XCTAssertFalse(try failure { try response([], "text/plain", status: 401).validated() }.reason.contains("proxy"))
  }

  func test_theStatusErrorBehindRedirects_namesTheMethodOfTheLastRequest() throws {
    for (method, statuses, last) in [
      (HTTPMethod.post, [303], HTTPMethod.get), (.post, [302], .get), (.post, [301, 307], .get), (.post, [307], .post),
      (.put, [303], .get), (.put, [302], .put), (.delete, [308, 303], .get), (.head, [303], .head),
      (.patch, [301], .patch), (.post, [], .post), (.post, [308, 302], .get),
    ] {
      let url = try XCTUnwrap(URL(string: "http://h/first"))
      var response = Response(
        request: Request(method: method, url: url), url: try XCTUnwrap(URL(string: "http://h/last")), status: 400)
      response.redirects = statuses.map { Response.Redirect(url: url, status: $0) }
      let error = try failure { try response.validated() }
      XCTAssertTrue(
        error.reason.hasPrefix("the server responded to \(last) http://h/last with status 400"), error.reason)
    }
    var kept = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/first")))
    kept.options.redirects = .follow(keepsMethod: true)
    var response = Response(request: kept, status: 400)
    response.redirects = [.init(url: kept.url, status: 302)]
    XCTAssertTrue(try failure { try response.validated() }.reason.contains("responded to POST"))
  }

  func test_jsonInAnotherCharset_isNamed() throws {
    XCTAssert(
      try failure { try response([0x7B, 0xE9], "application/json; charset=cp1252").json() }.reason.contains("cp1252"))
    for (charset, isNamed) in [
      ("windows-1251", true), ("ISO-8859-1", true), ("utf-16", true), ("\"cp1252\"", true), ("utf-8", false),
      ("UTF8", false), ("us-ascii", false),
    ] {
      let body = Array(#"{"name":""#.utf8) + [0xE9] + Array(#""}"#.utf8)
      struct Named: Decodable, Sendable { var name: String }
      let reply = try response(body, "application/json; charset=\(charset)")
      let error = try failure { try reply.decode(Named.self) }
      XCTAssertEqual(error.kind, .parse)
      let name = charset.lowercased().replacing("\"", with: "")
      XCTAssertEqual(error.reason.contains("charset \"\(name)\""), isNamed, error.reason)
    }
  }

  func test_bodyWithoutAMessage_isNotTheMessage() throws {
    let rows: [(body: String, type: String)] = [
      ("<html>Not found</html>", "text/html"), ("<b>no</b>", "text/plain"), ("", "text/plain"), (" \n ", "text/plain"),
      ("Not found", "application/octet-stream"), ("404", "application/json"), (#"{"errors":[]}"#, "application/json"),
      (#"{"detail":[]}"#, "application/json"), (#"{"errors":{"message":"x"}}"#, "application/json"),
    ]
    for row in rows {
      let error = try failure { try response(Array(row.body.utf8), row.type, status: 404).validated() }
      XCTAssertEqual(error.message, NetworkError.Messages.localized.text(for: .status, status: 404))
      let start = String(row.body.trimmingPrefix(while: \.isWhitespace))
      XCTAssertTrue(error.reason.hasSuffix("with status 404" + (start.isEmpty ? "" : ": " + start)), error.reason)
    }
    let long = try failure {
      try response([UInt8](repeating: 0x61, count: 1 << 20), "text/plain", status: 500).validated()
    }
    XCTAssertLessThan(long.message.count, 1100)
  }

  func test_location_isResolvedAgainstTheResponse() throws {
    let rows: [(String?, String?)] = [
      ("/v2/blobs/uploads/7?state=x", "http://h/v2/blobs/uploads/7?state=x"), ("7", "http://h/v2/7"),
      ("https://cdn/x", "https://cdn/x"), ("http://user:secret@h/x", "http://h/x"), (nil, nil),
    ]
    for (field, url) in rows {
      XCTAssertEqual(
        try response([], nil, status: 201, field.map { ["Location": $0] } ?? [:]).location?.absoluteString, url)
    }
  }
}
