#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  @_spi(Faults) import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of content codings (RFC 9110 §8.4): a body that ends in the middle of its coding is an error with any
  /// framing.
  final class ContentCodingTests: XCTestCase {
    private static let message = Data(TestRoutes.message.utf8)
    private static let codings: [(name: String, bytes: [UInt8])] = [
      ("gzip", TestRoutes.gzip),
      ("deflate", TestRoutes.bytes("78daab56ca4d2d2e4e4c4f55b252ca48cdc9c9d751c04229d502001bfb0dd4")),
      ("br", TestRoutes.bytes("1b2700f8a54574f6fab624956c328c4c4083899c92a11e1c")),
      ("zstd", TestRoutes.bytes("28b52ffd2428dd0000a87b226d657373616765223a2268656c6c6f2c20227d01009594307beb9904")),
    ]
    /// The same content as "deflate" without zlib's header, as many servers send it.
    private static let bareDeflate = TestRoutes.bytes("ab56ca4d2d2e4e4c4f55b252ca48cdc9c9d751c04229d50200")

    private enum Framing: CaseIterable { case length, chunked, close }

    private func response(_ bytes: [UInt8], _ coding: String, _ framing: Framing) -> TestServer.Response {
      var head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
      var body = bytes
      switch framing {
      case .length: head += "Content-Length: \(bytes.count)\r\n\r\n"
      case .chunked:
        head += "Transfer-Encoding: chunked\r\n\r\n"
        let size = String(bytes.count, radix: 16)
        body = (bytes.isEmpty ? [] : Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8)) + Array("0\r\n\r\n".utf8)
      case .close: head += "\r\n"
      }
      let ending: TestServer.Response.Ending = framing == .close ? .close : .keepAlive
      return .init(body: .raw([.init(Array(head.utf8) + body)]), ending: ending)
    }

    private func outcome(
      _ response: TestServer.Response, in mode: FaultGrid.Mode = .data
    ) throws -> Result<Data, NetworkError> {
      let server = try TestServer { _ in response }
      let transport = try CurlTransport()
      let request = Request(
        url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(40)))
      switch mode {
      case .stream:
        let pending = PendingStream(self)
        pending.start(request, on: transport)
        return try pending.outcome().map { _ in pending.body }
      case .data, .file:
        var request = request
        let file = FileManager.default.temporaryDirectory.appending(path: "coding-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        if mode == .file { request.destination = file }
        let pending = PendingCall(self)
        _ = pending.send(request, on: transport)
        let result = try pending.outcome()
        if mode == .file, case .failure = result {
          XCTAssertFalse(FileManager.default.fileExists(atPath: file.path), "a part of the body was left")
        }
        let content = mode == .file ? try? Data(contentsOf: file) : nil
        return result.map { content ?? $0.body }
      }
    }

    func test_aCompleteBodyOfEachCodingIsDecodedWithAnyFraming() throws {
      for (name, bytes) in Self.codings + [("deflate", Self.bareDeflate), ("x-gzip", TestRoutes.gzip)] {
        for framing in Framing.allCases {
          for mode in FaultGrid.Mode.allCases {
            XCTAssertEqual(
              try outcome(response(bytes, name, framing), in: mode).get(), Self.message, "\(name) \(framing)")
          }
        }
      }
    }

    func test_aBodyTruncatedInTheMiddleOfItsCodingFailsWithAnyFraming() throws {
      for (name, bytes) in Self.codings {
        for framing in Framing.allCases {
          for count in 1..<bytes.count {
            guard case .failure(let error) = try outcome(response(Array(bytes.prefix(count)), name, framing)) else {
              XCTFail("\(count) of \(bytes.count) bytes of \(name) passed as a complete body (\(framing))")
              continue
            }
            XCTAssertEqual(error.kind, .connection)
            XCTAssert(error.reason.contains("127.0.0.1"), error.reason)
          }
        }
      }
    }

    func test_aTruncatedBodyFailsWhenStreamedAndWhenDownloaded() throws {
      for (name, bytes) in Self.codings {
        for mode in [FaultGrid.Mode.stream, .file] {
          let cut = response(Array(bytes.dropLast()), name, .length)
          guard case .failure(let error) = try outcome(cut, in: mode) else { return XCTFail("\(name) \(mode)") }
          XCTAssert(error.reason.contains("its content is truncated (\(name))"), error.reason)
        }
      }
    }

    func test_anEmptyBodyIsValidIfTheFramingDelimitsIt() throws {
      for framing in [Framing.length, .chunked] {
        XCTAssertEqual(try outcome(response([], "gzip", framing)).get(), Data())
      }
      // With `Connection: close` framing, an empty body cannot be distinguished from a lost one.
      XCTAssertThrowsError(try outcome(response([], "gzip", .close)).get())
    }

    func test_severalMembersOrFramesFormOneBody() throws {
      for (name, bytes) in Self.codings where name == "gzip" || name == "zstd" {
        XCTAssertEqual(try outcome(response(bytes + bytes, name, .length)).get(), Self.message + Self.message, name)
        let cut = response(bytes + bytes.dropLast(), name, .length)
        XCTAssertThrowsError(try outcome(cut).get(), name)
      }
    }

    func test_zstdWindowsAbove8MB_areRejected() throws {
      // A frame with one block that repeats a byte (RFC 8878 §3.1.1), and with a window of 8 or 16 MB.
      func frame(_ window: UInt8) -> [UInt8] { [0x28, 0xb5, 0x2f, 0xfd, 0, window, 4 << 3 | 1 << 1 | 1, 0, 0, 0x61] }
      XCTAssertEqual(try outcome(response(frame(0x68), "zstd", .length)).get(), Data("aaaa".utf8))
      guard case .failure(let error) = try outcome(response(frame(0x70), "zstd", .length)) else {
        return XCTFail("a window of 16 MB passed (RFC 9659 §3)")
      }
      XCTAssertEqual(error.kind, .parse)
      XCTAssert(error.reason.contains("does not match its Content-Encoding"), error.reason)
    }

    func test_zerosAfterGzip_areIgnored_inAnyFramingAndChunk() throws {
      for count in [1, 512, 40_000] {
        let padded = TestRoutes.gzip + [UInt8](repeating: 0, count: count)
        for framing in Framing.allCases {
          XCTAssertEqual(try outcome(response(padded, "gzip", framing)).get(), Self.message)
        }
        guard case .failure = try outcome(response(padded + TestRoutes.gzip, "gzip", .length)) else {
          XCTFail("a member behind the padding passed")
          continue
        }
      }
      for (name, bytes) in Self.codings where name != "gzip" {
        guard case .failure = try outcome(response(bytes + [0], name, .length)) else {
          XCTFail("\(name) with a zero passed")
          continue
        }
      }
    }

    func test_bytesAfterTheEndOfTheCodingAreAnError() throws {
      for (name, bytes) in Self.codings {
        guard case .failure(let error) = try outcome(response(bytes + Array("garbage".utf8), name, .length)) else {
          XCTFail("\(name) with garbage passed")
          continue
        }
        XCTAssertEqual(error.kind, .parse)
        // zstd reads the extra bytes as another frame.
        let words = name == "zstd" ? "does not match its Content-Encoding" : "bytes after the end of its \(name)"
        XCTAssert(error.reason.contains(words), error.reason)
      }
    }

    func test_severalCodingsAreDecodedInOrder() throws {
      // Decoded in the wrong order, the bytes are invalid.
      let wrong = TestServer.Response.bytes(Self.stored(TestRoutes.gzip)).header(
        "Content-Encoding", "deflate, gzip")
      XCTAssertThrowsError(try outcome(wrong).get())
      let list = TestServer.Response.bytes(Self.stored(TestRoutes.gzip)).header("Content-Encoding", "gzip, deflate")
      XCTAssertEqual(try outcome(list).get(), Self.message)
      let fields = TestServer.Response.bytes(Self.stored(TestRoutes.gzip)).header("Content-Encoding", "gzip")
        .header("Content-Encoding", "deflate")
      XCTAssertEqual(try outcome(fields).get(), Self.message)
      let cut = TestServer.Response.bytes(Self.stored(TestRoutes.gzip.dropLast())).header(
        "Content-Encoding", "gzip, deflate")
      XCTAssertThrowsError(try outcome(cut).get())
    }

    /// Returns a raw deflate stream with `bytes` as one stored block (RFC 1951 §3.2.4).
    private static func stored(_ bytes: some Collection<UInt8>) -> [UInt8] {
      let count = UInt16(bytes.count)
      return [1, UInt8(count & 0xff), UInt8(count >> 8), UInt8(~count & 0xff), UInt8(~count >> 8)] + bytes
    }

    func test_moreThanTwoCodingsAreRejected_andIdentityIsNone() throws {
      let server = TestServer.Response.bytes(TestRoutes.gzip).header("Content-Encoding", "gzip, gzip, gzip")
      guard case .failure(let error) = try outcome(server) else { return XCTFail("decoded") }
      XCTAssert(error.reason.contains("more than 2 codings"), error.reason)
      let identity = TestServer.Response.text("plain").header("Content-Encoding", "identity")
      XCTAssertEqual(try outcome(identity).get(), Data("plain".utf8))
    }

    func test_aResponseWithoutABodyMayHaveAContentEncoding() throws {
      for (method, status) in [(HTTPMethod.head, "200 OK"), (.get, "304 Not Modified"), (.get, "204 No Content")] {
        let server = try TestServer { _ in
          .init(body: .raw([.init("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\nContent-Length: 51\r\n\r\n")]))
        }
        let pending = PendingCall(self)
        let transport = try CurlTransport()
        _ = pending.send(Request(method: method, url: server.url("/")), on: transport)
        XCTAssertEqual(try pending.outcome().get().body, Data(), status)
      }
    }

    func test_aDecompressionBombIsDeliveredInLimitedChunksAndNeverDuringAPause() throws {
      let server = try TestServer { _ in TestServer.Fault.gzipBomb.response() }
      let transport = try CurlTransport()
      let fragments = Locked((largest: 0, count: 0, isPaused: false, duringPause: 0))
      let control = Locked<(any StreamControl)?>(nil)
      let ended = expectation(description: "ended")
      let enough = expectation(description: "500 pieces")
      let resumer = DispatchQueue(label: "resumer")
      let stream = transport.stream(
        Request(
          url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(60))),
        progress: nil,
        receiver: StreamReceiver(
          head: { _ in },
          chunk: { chunk in
            let count = fragments.withLock { fragments in
              fragments.largest = Swift.max(fragments.largest, chunk.count)
              fragments.count += 1
              if fragments.isPaused { fragments.duringPause += 1 }
              fragments.isPaused = true
              return fragments.count
            }
            if count == 500 { enough.fulfill() }
            resumer.async {
              fragments.withLock { $0.isPaused = false }
              control.withLock { $0 }?.resume()
            }
            return .pause
          }, completion: { _ in ended.fulfill() }))
      control.withLock { $0 = stream }
      stream.resume()
      wait(for: [enough], timeout: 60)
      stream.dispose()
      wait(for: [ended], timeout: 20)
      let seen = fragments.withLock { $0 }
      XCTAssertEqual(seen.duringPause, 0)
      XCTAssertLessThanOrEqual(seen.largest, CurlHandle.chunkSize)
      control.withLock { $0 = nil }
    }

    func test_bytesHeldBackByAPauseAreDeliveredAfterTheEndOfTheTransfer() throws {
      // 20 MB compressed to 21 KB: all of it arrives before the first pause is over.
      let big = Data(count: 20 << 20)
      let server = try TestServer { _ in
        TestServer.Response.bytes(Self.zeros).header("Content-Encoding", "gzip")
      }
      let transport = try CurlTransport()
      let control = Locked<(any StreamControl)?>(nil)
      let total = Locked(0)
      let ended = expectation(description: "ended")
      let outcome = Locked<Result<NetLayer.Response, NetworkError>?>(nil)
      let stream = transport.stream(
        Request(url: server.url("/")), progress: nil,
        receiver: StreamReceiver(
          head: { _ in },
          chunk: { chunk in
            total.withLock { $0 += chunk.count }
            DispatchQueue.global().async { control.withLock { $0 }?.resume() }
            return .pause
          },
          completion: { result in
            outcome.withLock { $0 = result }
            ended.fulfill()
          }))
      control.withLock { $0 = stream }
      stream.resume()
      wait(for: [ended], timeout: 60)
      XCTAssertNoThrow(try outcome.withLock { try XCTUnwrap($0).get() })
      XCTAssertEqual(total.withLock { $0 }, big.count)
      control.withLock { $0 = nil }
    }

    /// 20 MB of zeros, compressed with gzip: 20 members of 1 MB each.
    private static let zeros: [UInt8] = {
      let megabyte =
        TestRoutes.bytes("1f8b0800000000000203edc13101000000c2a0f54f6d085fa0") + [UInt8](repeating: 0, count: 1016)
        + TestRoutes.bytes("3e031cea38a700001000")
      return [UInt8]((0..<20).map { _ in megabyte }.joined())
    }()
  }
#endif
