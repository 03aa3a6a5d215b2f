#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import NetLayer
  import TestSupport
  import XCTest

  /// Tests of a `Content-Encoding` that is not decoded, and of responses that can't be read: each is requested once.
  final class ForeignCodingTests: XCTestCase {
    private struct User: Codable, Equatable, Sendable { var name: String }

    private static let json = Array(#"{"name":"a"}"#.utf8)
    /// The same text, compressed with gzip.
    private static let gzip = TestRoutes.bytes("1f8b0800000000000203ab56ca4bcc4d55b2524a54aa0500962b768d0c000000")

    private func network(_ url: URL) throws -> Network {
      Network(
        Backend(
          baseURL: url, transport: try CurlTransport(),
          interceptors: [RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))]))
    }

    private static func coded(_ coding: String, _ bytes: [UInt8], status: Int = 200) -> TestServer.Response {
      .bytes(bytes, type: "application/json", status: status).header("Content-Encoding", coding)
    }

    func test_aNameThatIsNoCoding_isIgnored_andTheFieldStays() async throws {
      for coding in [
        "UTF-8", "utf8", "none", "None", "binary", "text/plain", "null", "aws-chunked", "8bit", "", ",",
        "identity, utf-8",
        "application/json", "charset=utf-8", "amz-1.0", "unicode", "\"\"",
      ] {
        for body in [Self.json, Self.gzip] {
          let field = body == Self.json ? coding : "\(coding), gzip"
          let server = try TestServer { _ in Self.coded(field, body) }
          let network = try network(server.url("/"))
          let response = try await network.response(.get("/user"))
          XCTAssertEqual(response.body, Data(Self.json), field)
          XCTAssertEqual(response.headers["Content-Encoding"], field, field)
          let user: User = try await network.fetch(.get("/user"))
          XCTAssertEqual(user, User(name: "a"), field)
        }
      }
      for field in ["gzip, aws-chunked", "gzip,utf-8", "x-gzip, none, identity"] {
        let server = try TestServer { _ in Self.coded(field, Self.gzip) }
        let user: User = try await network(server.url("/")).fetch(.get("/user"))
        XCTAssertEqual(user, User(name: "a"), field)
      }
    }

    func test_aRegisteredCodingThatIsNotDecoded_passesThrough_andTheParseErrorNamesIt() async throws {
      for field in ["compress", "x-compress", "Exi", "aes128gcm", "pack200-gzip", "dcb", "gzip, dcz"] {
        let server = try TestServer { _ in Self.coded(field, [0x1F, 0x9D, 0x90, 0x61]) }
        let network = try network(server.url("/"))
        let response = try await network.response(.get("/user"))
        XCTAssertEqual(response.body, Data([0x1F, 0x9D, 0x90, 0x61]), field)
        for error in [try failure { try response.json() }, try failure { try response.text() }] {
          XCTAssertEqual(error.kind, .parse, field)
          XCTAssert(error.reason.contains("Content-Encoding \(field.debugDescription)"), error.reason)
        }
        let before = server.requests.count
        do {
          let _: User = try await network.fetch(.get("/user"))
          XCTFail(field)
        } catch {
          XCTAssert(error.reason.contains("Content-Encoding \(field.debugDescription)"), error.reason)
        }
        XCTAssertEqual(server.requests.count, before + 1, field)
      }
      // The outer coding is decoded, and the inner one stays.
      let server = try TestServer { _ in Self.coded("compress, gzip", Self.gzip) }
      let response = try await network(server.url("/")).response(.get("/user"))
      XCTAssertEqual(response.body, Data(Self.json))
      // A decoded body is not reported as coded.
      let letter = TestRoutes.bytes("1f8b08000000000002034b040043beb7e801000000")
      let broken = try TestServer { _ in Self.coded("gzip", letter) }
      let decoded = try await network(broken.url("/")).response(.get("/user"))
      let error = try failure { try decoded.json() }
      XCTAssertFalse(error.reason.contains("Content-Encoding"), error.reason)
    }

    func test_ifTheCallerSetsAcceptEncoding_theParseErrorNamesTheCoding() async throws {
      let server = try TestServer { _ in Self.coded("gzip", Self.gzip) }
      let network = try network(server.url("/"))
      let response = try await network.response(.get("/user", headers: ["Accept-Encoding": "gzip"]))
      XCTAssertEqual(response.body, Data(Self.gzip))
      let error = try failure { try response.json() }
      XCTAssert(error.reason.contains(#"Content-Encoding "gzip""#), error.reason)
    }

    func test_theStatusOfACodedErrorPage_isTheError() async throws {
      for (status, coding) in [(404, "UTF-8"), (500, "aws-chunked"), (403, "compress"), (409, "none")] {
        let server = try TestServer { _ in
          Self.coded(coding, Array(#"{"message":"the server's words"}"#.utf8), status: status)
        }
        do {
          let _: User = try await network(server.url("/")).fetch(.get("/user"))
          XCTFail(coding)
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .status, coding)
          XCTAssertEqual(error.code, status, coding)
          XCTAssertEqual(error.message, "the server's words", coding)
        }
      }
    }

    func test_anEmptyResponse_isASuccess() async throws {
      for coding in ["UTF-8", "compress", "aws-chunked", "gzip, compress"] {
        let server = try TestServer { _ in Self.coded(coding, []) }
        try await network(server.url("/")).fetch(.get("/user"))
      }
    }

    func test_linesAndChunks_passThrough() async throws {
      for coding in ["aws-chunked", "UTF-8", "binary"] {
        let server = try TestServer { _ in Self.coded(coding, Array("1\n2\n".utf8)) }
        let network = try network(server.url("/"))
        var lines: [Int] = []
        for try await line in network.lines(.get("/log"), as: Int.self).values { lines.append(line) }
        XCTAssertEqual(lines, [1, 2], coding)
        var bytes = Data()
        for try await chunk in network.stream(.get("/log")).values { bytes += chunk }
        XCTAssertEqual(bytes, Data("1\n2\n".utf8), coding)
      }
    }

    func test_eventsOfAnUnknownName_areRead_andOfACodingThatIsNotDecoded_areAnError() async throws {
      for (coding, isRead) in [
        ("UTF-8", true), ("none", true), ("aws-chunked", true), ("compress", false), ("exi", false),
        ("gzip, dcb", false),
      ] {
        let server = try TestServer { _ in
          .bytes(Array("data: x\n\n".utf8), type: "text/event-stream").header("Content-Encoding", coding)
        }
        do {
          for try await event in try network(server.url("/")).events(.get("/events")).values {
            XCTAssertEqual(event.data, "x", coding)
            XCTAssert(isRead, coding)
            break
          }
          XCTAssert(isRead, coding)
        } catch let error as NetworkError {
          XCTAssertFalse(isRead, coding)
          XCTAssertEqual(error.kind, .parse, coding)
          XCTAssert(error.reason.contains("Content-Encoding \(coding.debugDescription)"), error.reason)
        }
        XCTAssertEqual(server.requests.count, 1, coding)
      }
    }

    /// The responses that can't be read.
    private static let malformed: [(name: String, bytes: String)] = [
      ("no colon", "HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\nok"),
      ("length", "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok"),
      ("signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"),
      ("contradictory lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
      ("space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"),
      ("status 99", "HTTP/1.1 99 Odd\r\nContent-Length: 2\r\n\r\nok"),
      ("version", "HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      ("another protocol", "SSH-2.0-OpenSSH_9.2\r\n"),
      ("transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"),
      ("gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\ngarbage"),
      ("deflate", "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 7\r\n\r\ngarbage"),
      ("three codings", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip\r\nContent-Length: 2\r\n\r\nok"),
      ("chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n"),
      ("chunk size 0x2", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n"),
      (
        "long chunk size",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\nok\r\n0\r\n\r\n"
      ),
      ("chunk without its end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokxx\r\n0\r\n\r\n"),
      ("folded first field", "HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 2\r\n\r\nok"),
    ]

    func test_aMalformedResponse_isRequestedOnce_andIsNotAConnectionProblem() async throws {
      for (name, bytes) in Self.malformed {
        let server = try TestServer { _ in .init(body: .raw([.init(bytes)]), ending: .close) }
        do {
          _ = try await network(server.url("/")).response(.get("/user"))
          XCTFail(name)
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .parse, "\(name): \(error)")
          XCTAssertEqual(error.message, NetworkError.Messages.localized.parse, name)
          XCTAssertFalse(error.reason.contains("libcurl error"), error.reason)
        }
        XCTAssertEqual(server.requests.count, 1, name)
      }
    }

    func test_aTruncatedResponse_isStillRetried() async throws {
      for (name, bytes) in [
        ("length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"),
        ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
        ("inside a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok"),
        ("head", "HTTP/1.1 200 OK\r\nContent-Le"), ("nothing", ""),
      ] {
        let server = try TestServer { _ in .init(body: .raw([.init(bytes)]), ending: .close) }
        do {
          _ = try await network(server.url("/")).response(.get("/user"))
          XCTFail(name)
        } catch let error as NetworkError { XCTAssertEqual(error.kind, .connection, name) }
        XCTAssertEqual(server.requests.count, 3, name)
      }
    }

    func test_anEventStreamThatCannotBeRead_isAnError() async throws {
      for (name, bytes) in Self.malformed {
        let server = try TestServer { _ in .init(body: .raw([.init(bytes)]), ending: .close) }
        do {
          for try await _ in try network(server.url("/")).events(.get("/events")).values {}
          XCTFail(name)
        } catch let error as NetworkError { XCTAssertEqual(error.kind, .parse, "\(name): \(error)") }
      }
    }

    // MARK: Transfer-Encoding: identity

    func test_identityBesideALength_isDecidedImmediately() async throws {
      for (name, start) in [
        ("complete", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"),
        ("length first", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: identity\r\n\r\nok"),
        ("capitals", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\nContent-Length: 2\r\n\r\nok"),
        ("404", "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"),
        ("empty", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n"),
        (
          "1.0",
          "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"
        ),
      ] {
        for ending in [TestServer.Response.Ending.keepAlive, .close] {
          let server = try TestServer { _ in .init(body: .raw([.init(start)]), ending: ending) }
          let begin = ContinuousClock.now
          do {
            _ = try await network(server.url("/")).response(.get("/user"))
            XCTFail(name)
          } catch let error as NetworkError {
            XCTAssertEqual(error.kind, .parse, "\(name): \(error)")
            XCTAssert(error.reason.contains("Transfer-Encoding"), error.reason)
          }
          XCTAssertLessThan(ContinuousClock.now - begin, .seconds(5), name)
          XCTAssertEqual(server.requests.count, 1, name)
        }
      }
      let cut = try TestServer { _ in
        .init(
          body: .raw([.init("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 10\r\n\r\nok")]),
          ending: .close)
      }
      do {
        _ = try await network(cut.url("/")).response(.get("/user"))
        XCTFail("a truncated body")
      } catch let error as NetworkError { XCTAssertEqual(error.kind, .parse) }
      // Without a length, the end of the connection is the end of the body.
      let plain = try TestServer { _ in
        .init(body: .raw([.init("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok")]), ending: .close)
      }
      let response = try await network(plain.url("/")).response(.get("/user"))
      XCTAssertEqual(response.body, Data("ok".utf8))
    }
  }
#endif
