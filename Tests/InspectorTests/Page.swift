import Foundation
import NetLayerInspector
import TestSupport
import XCTest

/// A client of an inspector's page, which sends requests byte by byte as they are.
struct Page {
  struct Reply {
    var bytes: Data
    var all: String { String(decoding: bytes, as: UTF8.self) }
    var head: String { String(all.prefix(all.firstRange(of: "\r\n\r\n").map { all[..<$0.upperBound].count } ?? 0)) }
    /// The body, without the coding of its chunks (RFC 9112 §7.1).
    var text: String {
      let body = String(all.dropFirst(head.count))
      guard head.contains("Transfer-Encoding: chunked") else { return body }
      var (bytes, rest) = (Data(), Data(body.utf8)[...])
      while let end = rest.firstRange(of: Data("\r\n".utf8)),
        let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16), count > 0
      {
        bytes += rest[end.upperBound...].prefix(count)
        rest = rest[end.upperBound...].dropFirst(count + 2)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
    var status: Int { Int(all.dropFirst(9).prefix(3)) ?? 0 }

    func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(type, from: Data(text.utf8))
    }
  }

  /// Keeps the server running.
  let inspector: Inspector
  let port: UInt16
  let secret: String
  var origin: String { "http://127.0.0.1:\(port)" }

  init(_ inspector: Inspector) throws {
    self.inspector = inspector
    port = UInt16(try XCTUnwrap(inspector.url.port))
    secret = String(inspector.url.path.dropFirst())
  }

  func get(_ path: String, _ fields: [String: String] = [:], host: [String]? = nil) throws -> Reply {
    try send("GET", path.isEmpty ? "/\(secret)" : "/\(secret)/\(path)", fields, host: host)
  }

  func post(_ path: String, _ body: String, _ fields: [String: String]) throws -> Reply {
    try send("POST", "/\(secret)/\(path)", fields.merging(["Content-Length": "\(body.utf8.count)"]) { $1 }, body: body)
  }

  func send(
    _ method: String, _ path: String, _ fields: [String: String] = [:], host: [String]? = nil, body: String = ""
  ) throws -> Reply {
    let client = try RawClient(port: port)
    var text = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
    for host in host ?? ["127.0.0.1:\(port)"] { text += "Host: \(host)\r\n" }
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    client.send(text + "\r\n" + body)
    return Reply(bytes: Data(client.receive(until: nil).text.utf8))
  }

  /// Opens the event stream.
  func events() throws -> Events { try Events(self) }

  /// The event stream of a page.
  final class Events {
    private let client: RawClient
    private var text = ""

    init(_ page: Page) throws {
      client = try RawClient(port: page.port)
      client.send("GET /\(page.secret)/events HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\n\r\n")
      let head = try XCTUnwrap(client.receiveHead())
      XCTAssert(head.hasPrefix("HTTP/1.1 200 "), head)
    }

    /// Returns the data of the next event with a name.
    func next(_ name: String) throws -> Data {
      while true {
        guard let end = text.firstRange(of: "\n\n") else {
          text += try chunk()
          continue
        }
        let lines = text[..<end.lowerBound].split(separator: "\n")
        text.removeSubrange(..<end.upperBound)
        if lines.first == "event: \(name)", let data = lines.last?.dropFirst(6) { return Data(data.utf8) }
      }
    }

    /// Reads a chunk (RFC 9112 §7.1).
    private func chunk() throws -> String {
      var digits = ""
      while !digits.hasSuffix("\r\n") {
        digits += String(decoding: try XCTUnwrap(client.read(1), "the stream has ended"), as: UTF8.self)
      }
      let count = try XCTUnwrap(Int(digits.dropLast(), radix: 16))
      let bytes = try XCTUnwrap(client.read(count + 2))
      return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }
  }
}
