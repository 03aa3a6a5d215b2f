#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of reading the head and the body of a response in `CurlTransport`.
  final class CurlResponseTests: XCTestCase {
    private func outcome(_ fields: String, _ body: String = "ok") throws -> Result<NetLayer.Response, NetworkError> {
      let server = try TestServer { _ in
        .init(body: .raw([.init("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)")]), ending: .close)
      }
      return try outcome(.init(url: server.url("/")), on: try CurlTransport())
    }

    func test_anAmbiguousContentLengthIsRejected() throws {
      for value in ["2, 4", "5abc", "-1", "+2", "0x2", "2 2", "99999999999999999999", "9223372036854775808", "", "2,"] {
        guard case .failure(let error) = try outcome("Content-Length: \(value)") else {
          XCTFail("the length \(value.debugDescription) was taken")
          continue
        }
        XCTAssertEqual(error.kind, .parse, value)
      }
    }

    func test_aHeadHasAtMost500Fields_andSoDoesEachInterimHead() throws {
      let fields = (0..<CurlResponse.maxFields).map { "X-\($0): 1" }.joined(separator: "\r\n")
      XCTAssertEqual(try outcome(fields).get().headers.count, CurlResponse.maxFields)
      let hint = "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n"
      let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      for (text, says) in [
        ("HTTP/1.1 200 OK\r\n\(fields)\r\nX: 1\r\n\r\nok", "more than 500 header fields"),
        ("HTTP/1.1 103 Early Hints\r\n\(fields)\r\nX: 1\r\n\r\n\(final)", "more than 500 header fields"),
        ("HTTP/1.1 103 Early Hints\r\n\(fields)\r\n\r\n\(final)", nil),
        ("\(hint)HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok", nil),
        (String(repeating: hint, count: CurlResponse.maxInterimHeads) + final, nil),
        (String(repeating: hint, count: CurlResponse.maxInterimHeads + 1) + final, "more than 1000 interim heads"),
        (
          String(repeating: "HTTP/1.1 103 Hints\r\nX: \(String(repeating: "x", count: 60_000))\r\n\r\n", count: 5)
            + final,
          "larger than 262144 bytes"
        ),
      ] as [(String, String?)] {
        let server = try TestServer { _ in .init(body: .raw([.init(text)]), ending: .close) }
        let result = try outcome(.init(url: server.url("/")), on: try CurlTransport())
        guard let says else {
          XCTAssertEqual(try? result.get().body, Data("ok".utf8), String(text.prefix(40)))
          continue
        }
        guard case .failure(let error) = result else { return XCTFail("\(says) was taken") }
        XCTAssertEqual(error.kind, .parse)
        XCTAssert(error.reason.contains(says), error.reason)
      }
    }

    /// Together, the heads are below the limit of libcurl 8.3, which is 300 KB.
    func test_interimHeads_doNotCountAgainstTheSizeOfTheFinalHead() throws {
      let field = "X: \(String(repeating: "x", count: 45_000))\r\n"
      let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\n\(field)\r\n", count: 4)
      let text = "\(hints)HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(field)\(field)\r\nok"
      XCTAssertGreaterThan(text.utf8.count, CurlResponse.maxHeadSize)
      let server = try TestServer { _ in .init(body: .raw([.init(text)]), ending: .close) }
      let response = try outcome(.init(url: server.url("/")), on: try CurlTransport()).get()
      XCTAssertEqual(response.body, Data("ok".utf8))
    }

    func test_theErrorNamesTheContentLength() throws {
      guard case .failure(let error) = try outcome("Content-Length: 5abc") else { return XCTFail("no error") }
      // libcurl 8.23 rejects the response itself, and its message omits the value.
      let words = CurlLibrary.isAtLeast(0x08_0f00) ? "Content-Length" : "5abc"
      XCTAssert(error.reason.contains(words), error.reason)
    }

    func test_equalContentLengthsAndSimilarFieldNamesAreAccepted() throws {
      for fields in [
        "Content-Length: 2, 2", "Content-Length: 2\r\ncontent-length: 2",
        "Content-Length: 2\r\nContent-Locale: en\r\nChannel-Layout: 5.1", "Content-Locale: 7\r\nContent-Length: 2",
      ] {
        XCTAssertEqual(try outcome(fields).get().body, Data("ok".utf8), fields)
      }
    }

    // Newer versions of libcurl reject such a status line before it gets here.
    func test_aStatusLineOfAnUnknownVersionIsNotHTTP() {
      for (version, isKnown) in [("1.0", true), ("1.1", true), ("2", true), ("3", true), ("4", false), ("9.9", false)] {
        var response = CurlResponse(maxBodySize: 10)
        for line in ["HTTP/\(version) 200 OK\r\n", "\r\n"] {
          XCTAssertTrue(Array(line.utf8).withUnsafeBufferPointer { response.headerLine($0) })
        }
        XCTAssertTrue(response.isHeadComplete)
        XCTAssertEqual(response.problem?.contains("did not respond with HTTP") ?? false, !isKnown, version)
      }
    }

    func test_oneHandleReceivesSmallAndLargeResponsesAlternately() throws {
      let server = try TestServer { request in
        .bytes([UInt8]((0..<(Int(request.path.dropFirst()) ?? 0)).map { UInt8(truncatingIfNeeded: $0) }))
      }
      let transport = try CurlTransport()
      for size in [10, 4_000, 5_000, 1_000_000, 3, 100_000, 0, 4_096, 70_000] {
        let body = try outcome(.init(url: server.url("/\(size)")), on: transport).get().body
        XCTAssertEqual(body, Data((0..<size).map { UInt8(truncatingIfNeeded: $0) }))
      }
      XCTAssertEqual(server.connectionCount, 1)
    }

    func test_carriageReturnsAndNULsWithinAFieldBecomeSpaces() throws {
      let text = "A: a\rSet-Cookie: evil=1\nB: \0b\0c\r\nC: é\r\nD: d\n \re\n"
      let headers = HTTPHeaders(ReceivedFields(lines: Array(text.utf8)))
      XCTAssertEqual(headers.map(\.name), ["A", "B", "C", "D"])
      XCTAssertEqual(headers.map(\.value), ["a Set-Cookie: evil=1", "b c", "é", "d e"])
      let result = try outcome("X-A: a\rX-Evil: 1\r\nContent-Length: 2")
      // Newer versions of libcurl reject the message, which RFC 9110 §5.5 also allows.
      if case .failure(let error) = result, CurlLibrary.isAtLeast(0x08_0f00) {
        return XCTAssert(error.reason.contains("Carriage return"), error.reason)
      }
      let reply = try result.get()
      XCTAssertEqual(reply.headers["X-A"], "a X-Evil: 1")
      XCTAssertNil(reply.headers["X-Evil"])
    }

    func test_concurrentReadersParseTheFieldsOnce() throws {
      let headers = HTTPHeaders(ReceivedFields(lines: Array("A: 1\nB:2 \nfolded\n continued\nA: é\n".utf8)))
      let copies = (0..<64).map { _ in headers }
      DispatchQueue.concurrentPerform(iterations: 64) { index in
        XCTAssertEqual(copies[index]["a"], "1, é")
        XCTAssertEqual(copies[index]["b"], "2 continued")
      }
      var changed = headers
      changed.append("C", "3")
      XCTAssertEqual(changed.count, headers.count + 1)
      XCTAssertNotEqual(changed, headers)
      changed["C"] = nil
      XCTAssertEqual(changed, headers)
      XCTAssertEqual(changed.hashValue, headers.hashValue)
    }
  }
#endif
