import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

#if canImport(CLibcurl)
  /// Reports about the framing of responses, their content codings, and what errors say.
  final class ReportedTransferTests: XCTestCase {
    private static let json = "{\"a\":1}"
    /// The gzip format of `json`.
    private static let gzip = Gzip.compress(Data(json.utf8)).map(Array.init) ?? []

    private static func coded(_ coding: String, _ body: [UInt8] = Array(json.utf8), status: Int = 200)
      -> TestServer.Response
    {
      .raw(["HTTP/1.1 \(status) X", "Content-Encoding: \(coding)", "Content-Length: \(body.count)"], body)
    }

    func test_contentEncodingsThatAreNoCoding_passThrough() async {
      let report = "donsetch#290, versitygw#2398, aws-sdk-java-v2#5769"
      func row(_ input: String, _ right: String, _ response: TestServer.Response) -> ReportedCase {
        ReportedCase(report, input, right) { try await ReportedServer { _, _ in response }.result() }
      }
      await [
        row("200, UTF-8", "200 \(Self.json)", Self.coded("UTF-8")),
        row("none", "200 \(Self.json)", Self.coded("none")),
        row("gzip, aws-chunked", "200 \(Self.json)", Self.coded("gzip, aws-chunked", Self.gzip)),
        row("utf-8, gzip", "200 \(Self.json)", Self.coded("utf-8, gzip", Self.gzip)),
        row("404", "404 \(Self.json)", Self.coded("UTF-8", status: 404)),
        ReportedCase(report, "an empty 200 as NoContent", "success") {
          let server = try ReportedServer { _, _ in Self.coded("UTF-8", []) }
          _ = try await server.network.fetch(.get("/"), as: NoContent.self)
          return "success"
        },
        ReportedCase(report, "with RetryInterceptor", "1 request") {
          let server = try ReportedServer({ $0.interceptors = [RetryInterceptor()] }) { _, _ in Self.coded("UTF-8") }
          _ = await server.result()
          return "\(server.requests.count) request"
        },
        ReportedCase(report, "lines", "1 2") {
          let server = try ReportedServer { _, _ in Self.coded("aws-chunked", Array("1\n2\n".utf8)) }
          var lines: [String] = []
          for try await line in server.network.lines(.get("/"), as: Int.self).values { lines.append("\(line)") }
          return lines.joined(separator: " ")
        },
        ReportedCase(report, "a streamed body", Self.json) {
          let server = try ReportedServer { _, _ in Self.coded("none") }
          var bytes = Data()
          for try await chunk in server.network.stream(.get("/")).values { bytes += chunk }
          return String(decoding: bytes, as: UTF8.self)
        },
      ].check()
    }

    func test_identityWithALength_isAnErrorAtOnce() async {
      let report = "hyper#2058, node#37580, cro-http#89"
      func row(_ input: String, _ head: String...) -> ReportedCase {
        ReportedCase(report, input, "parse -1213") {
          // The connection stays open, so that a client that waits for its end reaches the limit of 10 s.
          try await ReportedServer { _, _ in .raw(head, Array("ok".utf8), .hang) }.result()
        }
      }
      await [
        row("2 of 2 bytes", "HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 2"),
        row("404", "HTTP/1.1 404 X", "Transfer-Encoding: identity", "Content-Length: 2"),
        row("no byte", "HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 0"),
        row(
          "HTTP/1.0", "HTTP/1.0 200 OK", "Connection: keep-alive", "Transfer-Encoding: identity", "Content-Length: 2"),
      ].check()
    }

    private static func error(_ server: ReportedServer, _ call: Call<Response>) async -> NetworkError? {
      do {
        try await server.network.fetch(call)
        return nil
      } catch {
        return NetworkError.wrapping(error)
      }
    }

    func test_texts_nameWhatHappened() async {
      await [
        ReportedCase("own", "POST, 303, 400", "the server responded to GET") {
          let server = try ReportedServer { request, _ in
            request.path == "/" ? .redirect(to: "/ee", status: 303) : .status(400)
          }
          return String((await Self.error(server, .post("/", json: 1))?.reason ?? "").prefix(27))
        },
        ReportedCase("AHC-java, okhttp", "a body file shrinks", "file 0 requests") {
          let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
          try Data(repeating: 1, count: 8 << 20).write(to: file)
          defer { try? FileManager.default.removeItem(at: file) }
          let path = file.path
          let server = try TestServer(expectation: { _ in
            _ = truncate(path, 1 << 20)
            return 100
          }) { _ in .status(200) }
          let network = Network(Backend(baseURL: server.url, interceptors: [RetryInterceptor()]))
          do {
            try await network.fetch(.post("/", .upload(file)))
            return "sent"
          } catch {
            return "\(NetworkError.wrapping(error).kind) \(server.requests.count) requests"
          }
        },
        ReportedCase("own", "407 without a proxy", "the server responded to GET") {
          let server = try ReportedServer { _, _ in .status(407) }
          return String((await Self.error(server, .get("/"))?.reason ?? "").prefix(27))
        },
        ReportedCase("own", "a malformed response with RetryInterceptor", "parse 1 request") {
          let server = try ReportedServer({ $0.interceptors = [RetryInterceptor()] }) { _, _ in
            Self.coded("gzip", Array("no gzip".utf8))
          }
          let error = await Self.error(server, .get("/"))
          return "\(error?.kind ?? .other) \(server.requests.count) request"
        },
      ].check()
    }

    func test_framing() async {
      await [
        ReportedCase("undici#583", "a body longer than its length", "200 ab, 200 ok, another connection") {
          let server = try ReportedServer { _, number in
            number == 1 ? .raw("HTTP/1.1 200 OK", "Content-Length: 2", body: "abXX") : .text("ok")
          }
          let (first, second) = (await server.result(), await server.result())
          let connections = Set(server.server.requests.map(\.connection)).count
          return "\(first), \(second), \(connections == 2 ? "another" : "the same") connection"
        },
        ReportedCase("micropython-webexample#1", "HTTP/1.0 with chunked", "200 ok") {
          try await ReportedServer { _, _ in
            .raw("HTTP/1.0 200 OK", "Transfer-Encoding: chunked", body: "2\r\nok\r\n0\r\n\r\n", ending: .close)
          }.result()
        },
        ReportedCase("retrofit#1274", "204 without a length, then another request", "204 , 200 ok") {
          let server = try ReportedServer { _, number in number == 1 ? .raw("HTTP/1.1 204 No Content") : .text("ok") }
          return "\(await server.result()), \(await server.result())"
        },
        ReportedCase("hyper#1837", "NUL behind the reason", "parse -1213") {
          try await ReportedServer { _, _ in .raw("HTTP/1.1 200 OK\0", "Content-Length: 2", body: "ok") }.result()
        },
        ReportedCase("httparse#29", "no blank behind the status", "200 ok") {
          try await ReportedServer { _, _ in .raw("HTTP/1.1 200", "Content-Length: 2", body: "ok") }.result()
        },
        ReportedCase("AHC#612", "a body above the limit, then another call", "tooLarge -1212, 200 ok") {
          let server = try ReportedServer({ $0.options.maxBodySize = 1_000 }) { _, number in
            .text(number == 1 ? String(repeating: "x", count: 2_000) : "ok")
          }
          return "\(await server.result()), \(await server.result())"
        },
        ReportedCase(
          "undici#5059", "lengths that the caller states",
          "invalidRequest invalidRequest invalidRequest invalidRequest, 0"
        ) {
          let server = try ReportedServer { _, _ in .text("ok") }
          var kinds: [String] = []
          for length in ["1.1", "10abc", "-1", "2"] {
            let call = Call<Response>(.post, "/", task: .data(Data("abc".utf8))).header("Content-Length", length)
            kinds.append(await server.result(call).split(separator: " ").first.map(String.init) ?? "")
          }
          return "\(kinds.joined(separator: " ")), \(server.requests.count)"
        },
        ReportedCase("RFC 9110 §15.5.18", "417, 401, 413 in place of 100", "200 401 413, bodies 1 0 0") {
          var results: [String] = []
          var bodies: [String] = []
          for status in [417, 401, 413] {
            let server = try TestServer(expectation: { _ in status }) { .text("\($0.body.count)") }
            let network = Network(Backend(baseURL: server.url))
            let body = Data(repeating: 0x61, count: 2 << 20)
            let response = try await network.response(Call(.post, "/", task: .data(body)))
            results.append("\(response.status)")
            bodies.append(response.body == Data("\(body.count)".utf8) ? "1" : "0")
          }
          return results.joined(separator: " ") + ", bodies " + bodies.joined(separator: " ")
        },
        ReportedCase("retrofit#1554, #4608", "empty 200, 201, 204, 205", "nil nil nil nil") {
          var results: [String] = []
          for status in [200, 201, 204, 205] {
            let server = try ReportedServer { _, _ in .status(status) }
            let value = try await server.network.fetch(.get("/"), as: Int?.self)
            _ = try await server.network.fetch(.get("/"), as: NoContent.self)
            results.append(value.map { "\($0)" } ?? "nil")
          }
          return results.joined(separator: " ")
        },
      ].check()
    }

    func test_downloadsThatResume_haveTheRightBytes() async {
      /// Downloads `abcdef`, of which the first half has arrived before, from a server that responds to the range with `reply`.
      @Sendable func resumed(_ reply: TestServer.Response) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "f")
        let server = try ReportedServer { request, number in
          if number == 1 {
            return .raw("HTTP/1.1 200 OK", "ETag: \"1\"", "Content-Length: 6", body: "abc", ending: .close)
          }
          return request.header("Range") == nil
            ? .raw("HTTP/1.1 200 OK", "ETag: \"2\"", "Content-Length: 6", body: "ABCDEF") : reply
        }
        _ = try? await server.network.download(.get("/"), to: file)
        _ = try await server.network.download(.get("/"), to: file)
        return try String(contentsOf: file, encoding: .utf8)
      }
      @Sendable func part(_ fields: String..., body: String = "def", status: Int = 206) -> TestServer.Response {
        .raw(["HTTP/1.1 \(status) X"] + fields + ["Content-Length: \(body.utf8.count)"], Array(body.utf8))
      }
      await [
        ReportedCase("RFC 9110 §14", "206 of another version", "ABCDEF") {
          try await resumed(part("ETag: \"2\"", "Content-Range: bytes 3-5/6"))
        },
        ReportedCase("RFC 9110 §14", "206 of another total", "ABCDEF") {
          try await resumed(part("ETag: \"1\"", "Content-Range: bytes 3-5/7"))
        },
        ReportedCase("RFC 9110 §14", "multipart", "ABCDEF") {
          try await resumed(part("ETag: \"1\"", "Content-Type: multipart/byteranges; boundary=x"))
        },
        ReportedCase("RFC 9110 §14", "416", "ABCDEF") {
          try await resumed(part("Content-Range: bytes */9", body: "", status: 416))
        },
        ReportedCase("huggingface_hub#3778", "the range is ignored", "ABCDEF") {
          try await resumed(part("ETag: \"2\"", body: "ABCDEF", status: 200))
        },
        ReportedCase("RFC 9110 §14", "the same version", "abcdef") {
          try await resumed(part("ETag: \"1\"", "Content-Range: bytes 3-5/6"))
        },
      ].check()
    }
  }
#endif
