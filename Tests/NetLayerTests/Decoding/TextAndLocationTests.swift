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

  func test_status407_namesTheProxyAndItsCredentials() throws {
    let rows = [("", "with status 407"), ("access denied", "with status 407: access denied")]
    for (body, words) in rows {
      let error = try failure { try response(Array(body.utf8), "text/plain", status: 407).validated() }
      XCTAssertTrue(error.reason.hasPrefix("the proxy responded to GET "), error.reason)
      let remedy = "; check the user and password of the transport's proxy"
      XCTAssertTrue(error.reason.hasSuffix(words + remedy), error.reason)
    }
    XCTAssertFalse(try failure { try response([], "text/plain", status: 401).validated() }.reason.contains("proxy"))
  }

  func test_bodyWithoutAMessage_isNotShown() throws {
    let rows: [(body: String, type: String)] = [
      ("<html>Not found</html>", "text/html"), ("<b>no</b>", "text/plain"), ("", "text/plain"), (" \n ", "text/plain"),
      ("Not found", "application/octet-stream"), ("404", "application/json"), (#"{"errors":[]}"#, "application/json"),
      (#"{"detail":[]}"#, "application/json"), (#"{"errors":{"message":"x"}}"#, "application/json"),
    ]
    for row in rows {
      let error = try failure { try response(Array(row.body.utf8), row.type, status: 404).validated() }
      XCTAssertTrue(error.reason.hasSuffix("with status 404"), error.reason)
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
