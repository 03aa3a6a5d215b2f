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

  /// The labels of the WHATWG Encoding standard for the charsets that are supported.
  private static let labels: [(labels: String, bytes: [UInt8], text: String)] = [
    ("unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8", [0xC3, 0xA9], "é"),
    (
      """
      csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
      """, [0xB1], "ą"
    ),
    ("cp1250 windows-1250 x-cp1250", [0xB9], "ą"), ("cp1251 windows-1251 x-cp1251", [0xFF], "я"),
    ("cp1252 windows-1252 x-cp1252", [0x80, 0xE9], "€é"),
    (
      """
      ansi_x3.4-1968 ascii cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1
      iso_8859-1:1987 l1 latin1 us-ascii
      """, [0x61], "a"
    ),
    (
      "cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1", [0xE9],
      "é"
    ),
    ("csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis", [0x82, 0xA0], "あ"),
    ("shift_jis windows-31j ms932", [0x87, 0x40], "①"),
    ("csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3", [0xA6], "Ĥ"),
    ("csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4", [0xA1], "Ą"),
    ("csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988", [0xB0], "А"),
    (
      """
      arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127
      iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
      """, [0xC7], "ا"
    ),
    (
      """
      csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987
      sun_eu_greek cp1253 windows-1253 x-cp1253
      """, [0xC1], "Α"
    ),
    (
      """
      csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso-ir-138 iso8859-8 iso88598
      iso_8859-8 iso_8859-8:1988 logical visual cp1255 windows-1255 x-cp1255
      """, [0xE0], "א"
    ),
    ("csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6", [0xA1], "Ą"),
    ("iso-8859-13 iso8859-13 iso885913 cp1257 windows-1257 x-cp1257", [0xE0], "ą"),
    ("iso-8859-14 iso8859-14 iso885914", [0xA1], "Ḃ"),
    ("csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 iso-8859-16", [0xA4], "€"),
    ("cskoi8r koi koi8 koi8-r koi8_r koi8-ru koi8-u", [0xC1], "а"), ("koi8-u", [0xA4], "є"),
    ("csmacintosh mac macintosh x-mac-roman", [0x8E], "é"), ("x-mac-cyrillic x-mac-ukrainian", [0x80], "А"),
    ("dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874", [0xA1], "ก"),
    (
      """
      cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254
      x-cp1254
      """, [0xDD], "İ"
    ),
    ("cp1256 windows-1256 x-cp1256", [0xC7], "ا"), ("cp1258 windows-1258 x-cp1258", [0xFE], "₫"),
    ("cseucpkdfmtjapanese euc-jp x-euc-jp", [0xA4, 0xA2, 0x61, 0x8E, 0xB1], "あaｱ"),
    // The last second bytes of an even and of an odd row, and the bytes around the gap of Shift JIS.
    ("euc-jp", [0xB0, 0xFE, 0xB1, 0xFE, 0xB1, 0xDF, 0xB1, 0xE0, 0xDF, 0xA1, 0xE0, 0xA1], "蔭応円園漾燹"),
    ("csiso2022jp iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
    (
      "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030", [0xD6, 0xD0], "中"
    ),
    ("big5 big5-hkscs cn-big5 csbig5 x-x-big5", [0xA4, 0xA4], "中"),
    (
      """
      cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
      """, [0xB0, 0xA1], "가"
    ),
    ("csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16le", [0xE9, 0x00], "é"),
    ("unicodefffe utf-16be", [0x00, 0xE9], "é"),
  ]

  func test_everyWHATWGLabel_ofASupportedCharset_isKnown() throws {
    var count = 0
    for (labels, bytes, text) in Self.labels {
      for label in labels.split(whereSeparator: \.isWhitespace) {
        for spelling in [String(label), label.uppercased(), " \(label) ", "\"\(label)\""] {
          XCTAssertEqual(try response(bytes, "text/plain; charset=\(spelling)").text(), text, spelling)
        }
        count += 1
      }
    }
    XCTAssertGreaterThan(count, 210)
    for bytes in [[0xA4], [0xA4, 0x20], [0x8E, 0xE0], [0x8F, 0xB0, 0xA1], [0x80, 0xA1], [0xFF, 0xA1]] as [[UInt8]] {
      #if !canImport(Darwin)
        let error = try failure { try response(bytes, "text/plain; charset=euc-jp").text() }
        XCTAssert(error.reason.contains("not valid text in euc-jp"), error.reason)
      #endif
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
