#if canImport(CLibcurl)
  import Foundation
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  /// Tests of permessage-deflate (RFC 7692): the client's compressor against itself and against invalid messages.
  final class WebSocketDeflateTests: XCTestCase {
    override func setUpWithError() throws {
      try XCTSkipUnless(WebSocketDeflate.isAvailable, "zlib is not installed")
    }

    /// Decompresses the payload in parts, the last of which is marked as such.
    private func inflate(
      _ payload: [UInt8], with deflate: WebSocketDeflate, limit: Int = 1 << 24, fragments size: Int = 1 << 20
    ) throws -> [UInt8] {
      var message: [UInt8] = []
      for start in stride(from: 0, to: Swift.max(1, payload.count), by: size) {
        let end = Swift.min(start + size, payload.count)
        try payload[start..<end].withUnsafeBytes {
          try deflate.decompress($0, isLast: end == payload.count, limit: limit, into: &message)
        }
      }
      return message
    }

    private func compress(_ message: [UInt8], with deflate: WebSocketDeflate) throws -> [UInt8] {
      try XCTUnwrap(message.withUnsafeBytes { deflate.compress($0) })
    }

    func test_messagesOfAnySizeRoundTripWholeAndInParts() throws {
      var random = randomNumbers()
      for resets in [false, true] {
        let sender = try XCTUnwrap(WebSocketDeflate(resets: resets))
        let receiver = try XCTUnwrap(WebSocketDeflate(resets: false))
        let byteByByte = try XCTUnwrap(WebSocketDeflate(resets: false))
        for count in [64, 1000, 16_383, 16_384, 16_385, 300_000] {
          for isRandom in [false, true] {
            let message = (0..<count).map { isRandom ? UInt8.random(in: 0...255, using: &random) : UInt8($0 % 7) }
            let payload = try compress(message, with: sender)
            XCTAssertEqual(try inflate(payload, with: receiver), message, "\(count)")
            XCTAssertEqual(try inflate(payload, with: byteByByte, fragments: 997), message, "\(count) in pieces")
            if !isRandom { XCTAssertLessThan(payload.count, count / 2 + 20) }
          }
        }
      }
    }

    func test_aMessageRefersToThePreviousOne_unlessTheContextIsReset() throws {
      let message = Array((0..<300).flatMap { "key\($0 * 7919 % 1009),".utf8 })
      let keeping = try XCTUnwrap(WebSocketDeflate(resets: false))
      let first = try compress(message, with: keeping)
      XCTAssertLessThan(try compress(message, with: keeping).count, first.count / 4)
      let resetting = try XCTUnwrap(WebSocketDeflate(resets: true))
      XCTAssertEqual(try compress(message, with: resetting), try compress(message, with: resetting))
    }

    func test_theExamplesOfTheRFCAreDecompressed() throws {
      let deflate = try XCTUnwrap(WebSocketDeflate(resets: false))
      let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
      XCTAssertEqual(try inflate(hello, with: deflate), Array("Hello".utf8))
      // Uses the window of the previous message (RFC 7692 §7.2.3.2).
      XCTAssertEqual(try inflate([0xF2, 0x00, 0x11, 0x00, 0x00], with: deflate), Array("Hello".utf8))
      // A stored block, and a final block, which ends the stream (§7.2.3.3, §7.2.3.4).
      let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
      XCTAssertEqual(try inflate(stored, with: deflate), Array("Hello".utf8))
      XCTAssertEqual(
        try inflate([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], with: deflate), Array("Hello".utf8))
    }

    func test_aDecompressionBombFailsAtTheLimit_andInvalidDeflateIsRejected() throws {
      let sender = try XCTUnwrap(WebSocketDeflate(resets: true))
      let bomb = try compress([UInt8](repeating: 0, count: 20 << 20), with: sender)
      let receiver = try XCTUnwrap(WebSocketDeflate(resets: false))
      var message: [UInt8] = []
      XCTAssertThrowsError(
        try bomb.withUnsafeBytes { try receiver.decompress($0, isLast: true, limit: 100_000, into: &message) }
      ) { XCTAssertEqual(($0 as? WebSocketFrame.Violation)?.code, .tooLarge) }
      XCTAssertLessThan(message.count, 150_000)
      let other = try XCTUnwrap(WebSocketDeflate(resets: false))
      XCTAssertThrowsError(try inflate([0x07, 0xFF, 0xFF], with: other)) {
        XCTAssertEqual(($0 as? WebSocketFrame.Violation)?.code, .invalidData)
      }
    }

    // MARK: With the state machine

    private func events(_ bytes: [UInt8]) throws -> [String] {
      var socket = WebSocketProtocol(
        WebSocketOptions(maxMessageSize: 1000, compression: true),
        compressor: try XCTUnwrap(WebSocketDeflate(resets: false)),
        at: 0)
      bytes.withUnsafeBytes { socket.feed($0, at: 0) }
      var events: [String] = []
      while let event = socket.next() { events.append(WebSocketProtocolTests.text(event)) }
      return events
    }

    func test_compressedMessagesMayBeFragmentedAndMixedWithUncompressedOnes() throws {
      let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
      XCTAssertEqual(try events(frame(1, hello, reserved: 4)), ["text Hello"])
      XCTAssertEqual(
        try events(
          frame(1, Array(hello[..<3]), isFinal: false, reserved: 4) + frame(9, []) + frame(0, Array(hello[3...]))
            + frame(1, [0x61]) + frame(2, hello, reserved: 4)), ["text Hello", "text a", "binary 5"])
      XCTAssertEqual(
        try events(frame(1, Array(hello[..<3]), isFinal: false, reserved: 4) + frame(0, [], reserved: 4)),
        ["failed 1002"])
      XCTAssertEqual(try events(frame(9, [], reserved: 4)), ["failed 1002"])
      XCTAssertEqual(try events(frame(1, [0x07, 0xFF, 0xFF], reserved: 4)), ["failed 1007"])
    }

    func test_aCompressedTextMustBeUTF8AndWithinTheLimit() throws {
      let sender = try XCTUnwrap(WebSocketDeflate(resets: true))
      let invalid = try compress([0x61, 0xFF, 0x62] + [UInt8](repeating: 0x61, count: 80), with: sender)
      XCTAssertEqual(try events(frame(1, invalid, reserved: 4)), ["failed 1007"])
      let large = try compress([UInt8](repeating: 0x61, count: 1001), with: sender)
      XCTAssertEqual(try events(frame(1, large, reserved: 4)), ["failed 1009"])
      let fitting = try compress([UInt8](repeating: 0x61, count: 1000), with: sender)
      XCTAssertEqual(try events(frame(1, fitting, reserved: 4)), ["text 1000 bytes"])
    }

    func test_messagesOfAtLeast64BytesAreCompressed() throws {
      var socket = WebSocketProtocol(
        WebSocketOptions(compression: true), compressor: try XCTUnwrap(WebSocketDeflate(resets: false)), at: 0)
      socket.send(.text(String(repeating: "a", count: 63)))
      socket.send(.text(String(repeating: "a", count: 64)))
      socket.close(.normal, reason: String(repeating: "b", count: 100), at: 0)
      let frames = ClientFrames.all(socket.takeOutput())
      XCTAssertEqual(frames.map(\.isCompressed), [false, true, false])
      let receiver = try XCTUnwrap(WebSocketDeflate(resets: false))
      XCTAssertEqual(try inflate(frames[1].payload, with: receiver), [UInt8](repeating: 0x61, count: 64))
    }
  }
#endif
