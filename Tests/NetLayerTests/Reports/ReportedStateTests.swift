import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Reports about cookies, charsets, credentials and caches.
final class ReportedStateTests: XCTestCase {
  /// The `Cookie` field for `target`, after a response from `from` with `fields`.
  private static func cookies(
    _ fields: String..., from: String = "http://www.example.com/", to target: String? = nil
  ) throws -> String {
    let jar = CookieJar()
    jar.store(
      HTTPHeaders(fields.map { .init(name: "Set-Cookie", value: $0) }), from: try XCTUnwrap(URL(string: from)))
    return jar.header(for: try XCTUnwrap(URL(string: target ?? from))) ?? "none"
  }

  func test_cookies() async {
    func expired(_ date: String) -> ReportedCase {
      ReportedCase("AHC#314, j2objc#847", date, "none") { try Self.cookies("a=b; Expires=Thu, 01 Jan 1970 \(date)") }
    }
    await [
      expired("00:00:00GMT"), expired("00:00:01Z"), expired("00:00:00UTC"), expired("0:0:0x"),
      expired("00:00:00:00 GMT"),
      ReportedCase("RFC 6265 §5.3", "two Domain attributes", "a=b") {
        try Self.cookies("a=b; Domain=shop.example.com; Domain=example.com", to: "http://api.example.com/")
      },
      ReportedCase("6265bis §5.6", "a tab in a value", "a=b\tc") { try Self.cookies("a=b\tc") },
      ReportedCase("tough-cookie", "Path=/a for /ab", "none") {
        try Self.cookies("a=b; Path=/a", to: "http://www.example.com/ab")
      },
      ReportedCase("couchbase#914", "a date with a comma, two fields", "a=1; b=2") {
        try Self.cookies("a=1; Expires=Fri, 31 Dec 2100 23:59:59 GMT", "b=2; Expires=Fri, 31 Dec 2100 23:59:59 GMT")
      },
      ReportedCase("okhttp#6721", "a name with blanks", "a b=c") { try Self.cookies("a b=c") },
    ].check()
  }

  func test_labelsOfCharsets() async {
    let rows: [(String, [UInt8], String)] = [
      ("iso8859-1", [0xE9], "é"), ("ISO_8859-1", [0xE9], "é"), ("x-sjis", [0x82, 0xA0], "あ"),
      ("windows-31j", [0x87, 0x40], "①"), ("cp1251", [0xFF], "я"), ("x-gbk", [0xD6, 0xD0], "中"),
    ]
    await rows.map { label, bytes, text in
      ReportedCase("postman#9292, zombie#553", label, text) {
        let server = try ReportedServer { _, _ in .bytes(bytes, type: "text/plain; charset=\(label)") }
        return try await server.network.fetch(.get("/"), as: String.self)
      }
    }.check()
  }

  func test_credentials() async {
    await [
      ReportedCase("RFC 7617", "a user with a colon for Basic", "authentication, without credentials") {
        let server = try TestServer { _ in .status(401).header("WWW-Authenticate", "Basic realm=\"r\"") }
        let login = ChallengeInterceptor(for: [server.url], user: "a:b", password: "p", allowsBasicWithoutTLS: true)
        let network = Network(Backend(baseURL: server.url, interceptors: [login]))
        do {
          return "\(try await network.response(.get("/")).status)"
        } catch {
          let sent = server.requests.contains { $0.header("Authorization") != nil }
          return "\(NetworkError.wrapping(error).kind), \(sent ? "with" : "without") credentials"
        }
      },
      ReportedCase("curl#9074", "MD5-sess, a charset without quotes", "200 valid") {
        let server = try TestServer { request in
          guard let field = request.header("Authorization") else {
            return .status(401).header(
              "WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess, charset=UTF-8"#)
          }
          let sent = Challenge.parameters(of: String(field.dropFirst(7)))
          func hex(_ text: String) -> String { Hash.hex(Hash.md5(Data(text.utf8))) }
          let cnonce = sent["cnonce"] ?? ""
          let secret = hex("\(hex("ada:r:pass")):n:\(cnonce)")
          let proof = hex("\(secret):n:\(sent["nc"] ?? ""):\(cnonce):auth:\(hex("GET:/"))")
          return sent["response"] == proof ? .text("valid") : .status(403)
        }
        let login = ChallengeInterceptor(for: [server.url], user: "ada", password: "pass")
        let network = Network(Backend(baseURL: server.url, interceptors: [login]))
        let response = try await network.response(.get("/"))
        return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
      },
    ].check()
  }

  func test_caches() async {
    @Sendable func cached(_ reply: @escaping @Sendable (TestServer.Request, Int) -> TestServer.Response, _ calls: Int)
      async throws
      -> String
    {
      let cache = ResponseCache(storingIn: nil)
      let server = try ReportedServer({ $0.interceptors = [CacheInterceptor(cache)] }, reply)
      var results: [String] = []
      for _ in 1...calls { results.append(await server.result()) }
      return "\(results.joined(separator: ", ")); \(server.requests.count) requests"
    }
    await [
      ReportedCase("ktor#2111", "304 without Vary", "200 body, 200 body; 2 requests") {
        try await cached(
          { request, _ in
            request.header("If-None-Match") == nil
              ? .text("body").header("ETag", "\"1\"").header("Vary", "Accept").header("Cache-Control", "no-cache")
              : .status(304).header("ETag", "\"1\"")
          }, 2)
      },
      ReportedCase("okhttp#2815", "304 refreshes max-age", "200 body, 200 body, 200 body; 2 requests") {
        try await cached(
          { request, _ in
            request.header("If-None-Match") == nil
              ? .text("body").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
              : .status(304).header("ETag", "\"1\"").header("Cache-Control", "max-age=600")
          }, 3)
      },
    ].check()
  }
}
