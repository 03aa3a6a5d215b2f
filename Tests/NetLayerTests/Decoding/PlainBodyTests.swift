import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// `Envelope.none`, and the error messages of servers.
final class PlainBodyTests: XCTestCase {
  private struct Item: Codable, Sendable, Equatable { var id: Int }

  private func network(_ body: String, status: Int = 200, envelope: Envelope = .none) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://api.test"), envelope: envelope, messages: .english,
        transport: StubTransport { _ in .json(body, status: status) }))
  }

  func test_withoutEnvelope_payloadIsTheBody() throws {
    XCTAssertEqual(record(network(#"{"id":1}"#).json(.get, "/x").data(Item.self)).elements, [Item(id: 1)])
    XCTAssertEqual(record(network(#"{"code":7,"id":1}"#).json(.get, "/x").data(Item.self)).elements, [Item(id: 1)])
    XCTAssertEqual(record(network("3").json(.get, "/x").data(Int.self)).elements, [3])
    XCTAssertEqual(record(network("null").json(.get, "/x").data(Item?.self)).elements, [nil])
    XCTAssertEqual(record(network("").json(.delete, "/x").data(Item?.self)).elements, [nil])
    let page = try XCTUnwrap(record(network(#"[{"id":1},{"id":2}]"#).json(.get, "/x").list(Item.self)).elements.first)
    XCTAssertEqual(page, Page(items: [Item(id: 1), Item(id: 2)]))
    let nested = network(#"{"result":{"items":[{"id":1},{}]},"cursor":{"a":1}}"#)
    let lossy = nested.json(.get, "/x").list(Item.self, at: "result.items") { index, error in
      XCTAssertEqual(index, 1)
      XCTAssertEqual(error.codingPath, ["result", "items", "1", "id"])
    }
    XCTAssertEqual(record(lossy).elements.map(\.items), [[Item(id: 1)]])
    let error = try failure(of: nested.json(.get, "/x").list(Item.self, at: "result.items"))
    XCTAssertEqual(error.codingPath, ["result", "items", "1", "id"])
  }

  func test_withoutEnvelope_statusDecidesBool() throws {
    XCTAssertEqual(record(network("", status: 204).json(.delete, "/x").bool()).elements, [true])
    XCTAssertEqual(record(network(#"{"liked":false}"#).json(.get, "/x").bool()).elements, [true])
    XCTAssertEqual(record(network("false").json(.get, "/x").bool()).elements, [false])
    XCTAssertEqual(try failure(of: network("{}", status: 404).json(.get, "/x").bool()).kind, .status)
  }

  func test_envelopeErrors_nameTheRemedy() throws {
    let list = try failure(of: network(#"{"items":[]}"#).json(.get, "/x").list(Item.self))
    XCTAssertTrue(list.reason.contains("list(at:"), list.reason)
    let absent = try failure(of: network(#"{"items":[]}"#).json(.get, "/x").list(Item.self, at: "entries"))
    XCTAssertTrue(absent.reason.contains("entries"), absent.reason)
    for body in [#"{"id":1}"#, "[1]"] {
      let error = try failure(of: network(body, envelope: .standard).json(.get, "/x").data(Item.self))
      XCTAssertTrue(error.reason.contains("envelope: .none"), error.reason)
    }
    XCTAssertEqual(
      record(
        network(#"{"code":200,"data":{"items":[{"id":1}]},"cursor":"c"}"#, envelope: .standard).json(.get, "/x").list(
          Item.self, at: "items")
      ).elements,
      [Page(items: [Item(id: 1)], cursor: "c")])
  }

  func test_errorMessageOfTheServer_isFound() throws {
    let bodies = [
      (#"{"message":"m","detail":"d"}"#, "m"), (#"{"error":{"message":"em"}}"#, "em"), (#"{"error":"e"}"#, "e"),
      (#"{"error":"invalid_grant","error_description":"expired"}"#, "expired"),
      (#"{"type":"about:blank","title":"t","detail":"d"}"#, "d"), (#"{"title":"t"}"#, "t"),
      (#"{"message":"","title":"t"}"#, "t"), (#"{"message":{"a":1}}"#, "You are not allowed to do this."),
      ("<html>", "You are not allowed to do this."), ("", "You are not allowed to do this."),
    ]
    for envelope in [Envelope.none, Envelope()] {
      for (body, words) in bodies {
        let error = try failure(of: network(body, status: 403, envelope: envelope).json(.get, "/x").bool())
        XCTAssertEqual(error.message, words, body)
      }
    }
    let long = try failure(
      of: network(#"{"error":"\#(String(repeating: "x", count: 5000))"}"#, status: 400).json(.get, "/x").bool())
    XCTAssertEqual(long.message.count, 1001)
    XCTAssertEqual(
      try failure(of: network(#"{"__type":"a.b#C","Message":"aws"}"#, status: 400).json(.get, "/x").bool()).message,
      "aws")
    let dotted = Envelope(message: "odata.msg")
    XCTAssertEqual(
      try failure(of: network(#"{"odata.msg":"w"}"#, status: 400, envelope: dotted).json(.get, "/x").bool()).message,
      "w")
    let own = Envelope(message: "msg", errorMessages: ["errors[0].text"])
    XCTAssertEqual(
      try failure(
        of: network(#"{"message":"m","errors":[{"text":"own"}]}"#, status: 400, envelope: own).json(.get, "/x").bool()
      )
      .message, "own")
    XCTAssertEqual(
      try failure(of: network(#"{"msg":"w"}"#, status: 400, envelope: own).json(.get, "/x").bool()).message, "w")
  }
}
