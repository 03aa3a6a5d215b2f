import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// The server's words in the error of an unsuccessful status: for the user, or at least for the developer.
final class ServerWordsTests: XCTestCase {
  private static let generic = NetworkError.Messages.localized.text(for: .status, status: 404)

  private func failure(
    _ body: String, _ type: String = "application/json", status: Int = 404, bytes: Data? = nil
  ) async -> NetworkError? {
    let stub = StubTransport { _ in
      .response(status: status, headers: ["Content-Type": type], body: bytes ?? Data(body.utf8))
    }
    do {
      try await Network(Backend(baseURL: URL(string: "http://h"), transport: stub)).fetch(.get("/x?key=1"))
      return nil
    } catch { return error }
  }

  func test_message_isFoundInTheShapesOfServers() async {
    let xml = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
    let rows: [(body: String, type: String, message: String)] = [
      (
        xml + "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>",
        "application/xml", "The specified key does not exist."
      ),
      ("<Error><Message>a &lt;b&gt; &amp;amp; &quot;c&quot;</Message></Error>", "text/xml", #"a <b> &amp; "c""#),
      (xml + "<e><message> lower </message></e>", "text/plain2", "lower"),
      (
        #"{"email":["is taken"],"name":["is too long","is odd"]}"#, "application/json",
        "email: is taken; name: is too long, is odd"
      ),
      (#"{"errors":{"email":["is taken"]}}"#, "application/json", "email: is taken"),
      (#"{"errors":["Email is taken","Name is odd"]}"#, "application/json", "Email is taken; Name is odd"),
      (
        #"{"message":"The given data was invalid.","errors":{"a":["b"]}}"#, "application/json",
        "The given data was invalid."
      ),
      (
        #"{"error":"bad_request","reason":"inequivalent arg 'durable'"}"#, "application/json",
        "inequivalent arg 'durable'"
      ),
      (#"{"error":"two words","reason":"more"}"#, "application/json", "two words"),
      (#"{"error":"not_found"}"#, "application/json", "not_found"),
      (
        #"{"statusCode":400,"message":["name must be a string","age is too low"],"error":"Bad Request"}"#,
        "application/json", "name must be a string; age is too low"
      ),
      (#"{"non_field_errors":["Unable to log in."]}"#, "application/json", "Unable to log in."),
      (#"{"errors":{"base":["is closed"],"name":["is odd"]}}"#, "application/json", "is closed; name: is odd"),
      (
        #"{"title":["is blank"],"address":{"city":["is odd"],"zip":{}}}"#, "application/json",
        "title: is blank; address.city: is odd"
      ),
      (#"[{},{"title":["is blank"]}]"#, "application/json", "1.title: is blank"),
      (#"["is closed","is old"]"#, "application/json", "is closed; is old"),
      (#"{"detail":{"message":"is closed","code":7}}"#, "application/json", "is closed"),
      (
        #"{"title":"One or more validation errors occurred.","status":400,"errors":{"Name":["is required"]}}"#,
        "application/problem+json", "Name: is required"
      ),
      (#"{"error":{"type":"x","reason":"no such index [a]"},"status":404}"#, "application/json", "no such index [a]"),
    ]
    for (body, type, message) in rows {
      let error = await failure(body, type)
      XCTAssertEqual(error?.message, message, body)
      XCTAssertTrue(error?.reason.hasSuffix("with status 404: " + message) == true, error?.reason ?? "")
    }
  }

  func test_otherBodies_haveNoMessage_butAnExcerptInTheReason() async {
    let rows: [(body: String, type: String, excerpt: String)] = [
      (
        "<html>\r\n<head><title>404 Not Found</title></head>", "text/html",
        "<html> <head><title>404 Not Found</title></head>"
      ),
      (#"{"ids":[1,2]}"#, "application/json", #"{"ids":[1,2]}"#),
      (#"{"email":["is taken"],"id":7}"#, "application/json", #"{"email":["is taken"],"id":7}"#),
      (#"{"errors":{"a":1}}"#, "application/json", #"{"errors":{"a":1}}"#),
      (#"{"a":{"b":["c"],"d":"e"}}"#, "application/json", #"{"a":{"b":["c"],"d":"e"}}"#),
      (#"{"a":{},"b":[]}"#, "application/json", #"{"a":{},"b":[]}"#), ("[1]", "application/json", "[1]"),
      (#"["a",1]"#, "application/json", #"["a",1]"#),
      ("<Error><Message><b/></Message></Error>", "application/xml", "<Error><Message><b/></Message></Error>"),
      ("a\u{1B}[31m\u{2028}b", "text/html", #"a\u{1B}[31m b"#),
    ]
    for (body, type, excerpt) in rows {
      let error = await failure(body, type)
      XCTAssertEqual(error?.message, Self.generic, body)
      XCTAssertEqual(error?.reason, "the server responded to GET http://h/x with status 404: " + excerpt)
    }
  }

  func test_excerpt_isShort_andHasNoSecrets() async {
    let long = await failure(String(repeating: "é", count: 1_000), "text/html")
    XCTAssertTrue(
      long?.reason.hasSuffix("404: " + String(repeating: "é", count: 200) + "…") == true, long?.reason ?? "")
    let secret = await failure(#"{"user":1,"access_token":"s3cr3t","list":[]}"#)
    XCTAssertFalse(secret?.reason.contains("s3cr3t") == true, secret?.reason ?? "")
    XCTAssertTrue(secret?.reason.contains(#""user":1"#) == true, secret?.reason ?? "")
    // The secret starts before the end of the excerpt.
    let cut = await failure(
      String(repeating: " x", count: 90) + " password=" + String(repeating: "s3cr3t", count: 200), "text/html")
    XCTAssertFalse(cut?.reason.contains("s3cr3t") == true, cut?.reason ?? "")
  }

  func test_bodiesThatAreNotText_addNothing() async {
    for bytes in [
      Data(), Data(" \n".utf8), Data([0xFF, 0xD8, 0xFF]), Data([0x61, 0]), Data([0x89, 0x50, 0x4E, 0x47, 0x0D]),
    ] {
      let error = await failure("", "image/png", bytes: bytes)
      XCTAssertEqual(error?.reason, "the server responded to GET http://h/x with status 404")
    }
  }
}
