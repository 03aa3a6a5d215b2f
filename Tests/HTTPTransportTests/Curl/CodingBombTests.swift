#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import Streams
  import TestSupport
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of coded bodies that expand by a factor of 1,000 for each coding: they end with an error, and other calls of
  /// the transport don't wait for them.
  final class CodingBombTests: XCTestCase {
    /// A gzip member without content, which a decoder consumes without any output.
    private static let empty: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// Returns a raw deflate stream of `unit`, of 1 or 20 bytes, followed by `8 * count` matches of 258 bytes: one
    /// block with fixed codes (RFC 1951 §3.2.6).
    private static func deflated(_ unit: [UInt8], repeated count: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      var (buffer, width) = (UInt32(0), UInt32(0))
      func put(_ value: Int, _ bits: Int) {
        for bit in 0..<bits {
          buffer |= UInt32(value >> bit & 1) << width
          width += 1
          if width == 8 {
            bytes.append(UInt8(buffer))
            (buffer, width) = (0, 0)
          }
        }
      }
      func code(_ value: Int, _ bits: Int) { for bit in (0..<bits).reversed() { put(value >> bit & 1, 1) } }
      put(3, 3)
      for byte in unit { byte < 144 ? code(0x30 + Int(byte), 8) : code(0x190 + Int(byte) - 144, 9) }
      /// Adds eight matches, which end at the bit of a byte at which they began. Their distance is the length of the
      /// unit: code 8 for 17 to 24, code 0 for 1.
      func match() {
        for _ in 0..<8 {
          code(0xC5, 8)
          code(unit.count == 1 ? 0 : 8, 5)
          if unit.count == 20 { put(3, 3) }
        }
      }
      match()
      let start = bytes.count
      if count > 1 { match() }
      let group = bytes[start...]
      bytes.reserveCapacity(start + count * group.count)
      for _ in 0..<Swift.max(0, count - 2) { bytes += group }
      code(0, 7)
      put(0, 7)
      return bytes
    }

    private func server(_ body: [UInt8], _ coding: String) throws -> TestServer {
      try TestServer { request in
        request.path == "/other" ? .text("other") : .bytes(body).header("Content-Encoding", coding)
      }
    }

    func test_theStreamsOfTheseTestsAreValid() throws {
      let server = try server(Self.deflated([0x61], repeated: 5), "deflate")
      let response = try outcome(.init(url: server.url("/")), on: try CurlTransport()).get()
      XCTAssertEqual(response.body, Data(repeating: 0x61, count: 1 + 40 * 258))
    }

    func test_aCodingThatConsumesWithoutOutputIsAnError() throws {
      let members = [UInt8](repeatElement(Self.empty, count: 60_000).joined())
      // 80 MB of empty members in 620 KB.
      let expanded = Self.deflated(Self.empty, repeated: 39_000)
      for (body, coding) in [(members, "gzip"), (expanded, "gzip, deflate")] {
        let server = try server(body, coding)
        let request = Request(
          url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(60)))
        guard case .failure(let error) = try outcome(request, on: try CurlTransport()) else {
          return XCTFail("\(coding) was taken")
        }
        XCTAssertEqual(error.kind, .parse)
        XCTAssert(error.reason.contains("gzip without any content"), error.reason)
      }
      // Below the limit, empty members are valid.
      let few = try server([UInt8](repeatElement(Self.empty, count: 1000).joined()) + TestRoutes.gzip, "gzip")
      XCTAssertEqual(
        try outcome(.init(url: few.url("/")), on: try CurlTransport()).get().body, Data(TestRoutes.message.utf8))
    }

    func test_otherCallsDoNotWaitForABomb() throws {
      // 1.5 GB from 10 MB, of which the client need not read more than the first packets.
      let endless = try server(Self.deflated([0x61], repeated: 750_000), "deflate")
      let transport = try CurlTransport()
      let begun = expectation(description: "begun")
      begun.assertForOverFulfill = false
      let end = Box<Result<NetLayer.Response, NetworkError>?>(nil)
      let size = Counter()
      let control = transport.stream(
        Request(
          url: endless.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(40))),
        progress: nil,
        receiver: StreamReceiver(
          head: { _ in },
          chunk: { _ in
            if size.next() == 1 { begun.fulfill() }
            return .continue
          }, completion: { end.value = $0 }))
      control.resume()
      wait(for: [begun], timeout: 20)
      for _ in 0..<3 {
        XCTAssertEqual(
          try outcome(.init(url: endless.url("/other")), on: transport).get().body, Data("other".utf8))
        XCTAssertNil(end.value, "the call had to wait for the whole bomb")
      }
      control.dispose()
      until { end.value != nil }
      XCTAssertEqual(TransportSuite.kind(try XCTUnwrap(end.value)), .cancelled)
    }

    func test_theTotalLimitEndsADecodingThatLastsLonger() throws {
      let server = try server(Self.deflated([0x61], repeated: 500_000), "deflate")
      var request = Request(
        url: server.url("/"), timeouts: .init(connect: .seconds(20), idle: .seconds(20), attempt: .seconds(0.3)))
      request.options.maxBodySize = .max
      XCTAssertEqual(TransportSuite.kind(try outcome(request, on: try CurlTransport())), .timeout)
    }

    func test_aBodyAboveTheDefaultLimitIsTooLarge() throws {
      let server = try server(Self.deflated([0x61], repeated: (33 << 20) / 2064), "deflate")
      guard case .failure(let error) = try outcome(.init(url: server.url("/")), on: try CurlTransport()) else {
        return XCTFail("33 MB were taken")
      }
      XCTAssertEqual(error.kind, .tooLarge)
      XCTAssert(error.reason.contains("\(32 << 20) bytes"), error.reason)
    }
  }
#endif
