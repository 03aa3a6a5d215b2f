import Foundation
import XCTest

@testable import HTTPTransport

/// Tests of the state machine alone, with the cases of the Autobahn suite and invalid frames. The tests pass the time as a number.
final class WebSocketProtocolTests: XCTestCase {
  /// Feeds the bytes whole, and then one at a time, and asserts that the events are the same.
  private func events(
    _ bytes: [UInt8], _ options: WebSocketOptions = WebSocketOptions(), file: StaticString = #filePath,
    line: UInt = #line
  ) -> (events: [String], sent: [String]) {
    let whole = run([bytes], options)
    let fragments = run(bytes.map { [$0] }, options)
    XCTAssertEqual(whole.events, fragments.events, "in pieces", file: file, line: line)
    XCTAssertEqual(whole.sent, fragments.sent, "in pieces", file: file, line: line)
    return whole
  }

  private func run(_ fragments: [[UInt8]], _ options: WebSocketOptions) -> (events: [String], sent: [String]) {
    var socket = WebSocketProtocol(options, at: 0)
    var events: [String] = []
    var sent: [UInt8] = []
    for fragment in fragments {
      fragment.withUnsafeBytes { socket.feed($0, at: 0) }
      while let event = socket.next() { events.append(Self.text(event)) }
      sent += socket.takeOutput()
    }
    return (events, ClientFrames.texts(sent))
  }

  static func text(_ event: WebSocketProtocol.Event) -> String {
    switch event {
    case .message(.text(let text)): "text \(text.utf8.count < 40 ? text : "\(text.utf8.count) bytes")"
    case .message(.binary(let data)): "binary \(data.count)"
    case .closed(let close): "closed \(close.code) \(close.reason)"
    case .failed(let violation): "failed \(violation.code)"
    case .unresponsive: "unresponsive"
    }
  }

  private func check(
    _ name: String, _ bytes: [UInt8], _ expected: [String], sends: [String] = [], _ options: WebSocketOptions = .init(),
    file: StaticString = #filePath, line: UInt = #line
  ) {
    let (events, sent) = events(bytes, options, file: file, line: line)
    XCTAssertEqual(events, expected, name, file: file, line: line)
    XCTAssertEqual(sent, sends, name, file: file, line: line)
  }

  // MARK: Sections 1 to 7 of the suite

  func test_messagesOfEveryLengthEncodingArriveComplete() {
    for count in [0, 125, 126, 127, 128, 65535, 65536, 70000] {
      check("binary \(count)", frame(2, [UInt8](repeating: 0xFE, count: count)), ["binary \(count)"])
      let text = String(repeating: "*", count: count)
      check("text \(count)", frame(1, Array(text.utf8)), ["text \(count < 40 ? text : "\(count) bytes")"])
    }
  }

  func test_pingsAreEchoedAsPongs_andPongsAreIgnored() {
    check("empty", frame(9, []), [], sends: ["pong "])
    check("payload", frame(9, Array("hi".utf8)), [], sends: ["pong hi"])
    check(
      "125", frame(9, [UInt8](repeating: 120, count: 125)), [], sends: ["pong \(String(repeating: "x", count: 125))"])
    check("126", frame(9, [UInt8](repeating: 120, count: 126)), ["failed 1002"], sends: ["close 1002"])
    check("unsolicited pong", frame(10, [1]) + frame(1, [0x61]), ["text a"])
    check("ten", (0..<10).flatMap { frame(9, [0x30 + $0]) }, [], sends: (0..<10).map { "pong \($0)" })
  }

  func test_reservedBitsAndOpcodesFailTheSocket() {
    for reserved: UInt8 in 1...7 {
      check("reserved \(reserved)", frame(1, [0x61], reserved: reserved), ["failed 1002"], sends: ["close 1002"])
      check("control", frame(9, [], reserved: reserved), ["failed 1002"], sends: ["close 1002"])
    }
    for opcode: UInt8 in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
      check("opcode \(opcode)", frame(1, [0x61]) + frame(opcode, []), ["text a", "failed 1002"], sends: ["close 1002"])
    }
  }

  func test_fragmentsAreJoined_andControlFramesMayAppearBetweenThem() {
    check("two", frame(1, [0x61], isFinal: false) + frame(0, [0x62]), ["text ab"])
    check("empty ones", frame(1, [], isFinal: false) + frame(0, [], isFinal: false) + frame(0, []), ["text "])
    check(
      "ping between", frame(1, [0x61], isFinal: false) + frame(9, [0x70]) + frame(0, [0x62]), ["text ab"],
      sends: ["pong p"])
    check("fragmented ping", frame(9, [], isFinal: false), ["failed 1002"], sends: ["close 1002"])
    check("fragmented pong", frame(10, [], isFinal: false), ["failed 1002"], sends: ["close 1002"])
    check("nothing to continue", frame(0, [0x61]), ["failed 1002"], sends: ["close 1002"])
    check(
      "after a whole message", frame(1, [0x61]) + frame(0, []), ["text a", "failed 1002"], sends: ["close 1002"])
    check(
      "a message inside another", frame(1, [0x61], isFinal: false) + frame(2, [0x62]), ["failed 1002"],
      sends: ["close 1002"])
  }

  func test_textMustBeUTF8_alsoAcrossFragments() {
    let valid = Array("κόσμε 𐍈 �".utf8)
    for cut in 0...valid.count {
      check(
        "cut at \(cut)", frame(1, Array(valid[..<cut]), isFinal: false) + frame(0, Array(valid[cut...])),
        ["text κόσμε 𐍈 �"])
    }
    let invalid: [[UInt8]] = [
      [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xE0, 0x80, 0xAF],
      [0xF0, 0x80, 0x80, 0xAF], [0xFF], [0xFE], [0x80], [0xBF], [0xF5, 0x80, 0x80, 0x80], [0xCE], [0xE1, 0x80],
      [0xED, 0xBF, 0xBF],
    ]
    for bytes in invalid {
      check("\(bytes)", frame(1, bytes), ["failed 1007"], sends: ["close 1007"])
      check(
        "\(bytes) behind text", frame(1, Array(repeating: 0x61, count: 17) + bytes), ["failed 1007"],
        sends: ["close 1007"])
      check("binary \(bytes)", frame(2, bytes), ["binary \(bytes.count)"])
    }
  }

  func test_anInvalidByteFailsBeforeTheMessageIsComplete() {
    check("first fragment", frame(1, [0xF4, 0x90], isFinal: false), ["failed 1007"], sends: ["close 1007"])
    check(
      "in the middle of a frame", Array(frame(1, [0x61, 0xFF] + [UInt8](repeating: 0x61, count: 100)).prefix(10)),
      ["failed 1007"], sends: ["close 1007"])
  }

  func test_closeFramesAreEchoedAndTheirCodesValidated() {
    check("empty", frame(8, []), ["closed 1005 "], sends: ["close "])
    check("normal", frame(8, [0x03, 0xE8] + Array("bye".utf8)), ["closed 1000 bye"], sends: ["close 1000"])
    check("half a code", frame(8, [0x03]), ["failed 1002"], sends: ["close 1002"])
    check(
      "123 bytes", frame(8, [3, 0xE8] + [UInt8](repeating: 0x61, count: 123)),
      ["closed 1000 \(String(repeating: "a", count: 123))"], sends: ["close 1000"])
    check(
      "124 bytes", frame(8, [3, 0xE8] + [UInt8](repeating: 0x61, count: 124)), ["failed 1002"], sends: ["close 1002"])
    check("reason", frame(8, [3, 0xE8, 0xFF]), ["failed 1007"], sends: ["close 1007"])
    check("half a character", frame(8, [3, 0xE8, 0xCE]), ["failed 1007"], sends: ["close 1007"])
    for code: UInt16 in [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ] {
      check("\(code)", frame(8, bytes(code)), ["closed \(code) "], sends: ["close \(code)"])
    }
    for code: UInt16 in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
      check("\(code)", frame(8, bytes(code)), ["failed 1002"], sends: ["close 1002"])
    }
    check("nothing follows", frame(8, []) + frame(1, [0x61]) + frame(9, []), ["closed 1005 "], sends: ["close "])
  }

  // MARK: Limits

  func test_aTooLargeMessageFailsBeforeItsBytesArrive() {
    let options = WebSocketOptions(maxMessageSize: 10)
    check("at the limit", frame(2, [UInt8](repeating: 0, count: 10)), ["binary 10"], options)
    check(
      "by its head", Array(frame(2, [UInt8](repeating: 0, count: 11)).prefix(2)), ["failed 1009"],
      sends: ["close 1009"], options)
    check(
      "by its second fragment",
      frame(2, [UInt8](repeating: 0, count: 6), isFinal: false) + Array(frame(0, [0, 0, 0, 0, 0]).prefix(2)),
      ["failed 1009"], sends: ["close 1009"], options)
    for length: UInt64 in [1 << 31, 1 << 40, UInt64(Int64.max)] {
      check("announced \(length)", frame(2, [], length: length), ["failed 1009"], sends: ["close 1009"])
    }
    check("beyond 63 bits", frame(2, [], length: 1 << 63), ["failed 1002"], sends: ["close 1002"])
    check("all bits", frame(2, [], length: .max), ["failed 1002"], sends: ["close 1002"])
  }

  func test_anEndlessContinuationFailsAtTheLimit() {
    var bytes = frame(1, [0x61], isFinal: false)
    for _ in 0..<2000 { bytes += frame(0, [UInt8](repeating: 0x61, count: 10), isFinal: false) }
    check("endless", bytes, ["failed 1009"], sends: ["close 1009"], WebSocketOptions(maxMessageSize: 10_000))
  }

  func test_aMaskedFrameOfTheServerFailsTheSocket() {
    check("masked", frame(1, [0x61], isMasked: true), ["failed 1002"], sends: ["close 1002"])
    check("masked ping", frame(9, [], isMasked: true), ["failed 1002"], sends: ["close 1002"])
  }

  func test_aCompressedMessageFailsTheSocket_ifNotNegotiated() {
    check("compressed", frame(1, [0x61], reserved: 4), ["failed 1002"], sends: ["close 1002"])
  }

  func test_aFloodOfPingsQueuesAtMostOnePong() {
    var socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    let ping = frame(9, [UInt8](repeating: 0x61, count: 125))
    for _ in 0..<5000 {
      ping.withUnsafeBytes { socket.feed($0, at: 0) }
      while socket.next() != nil {}
    }
    frame(9, [0x7A]).withUnsafeBytes { socket.feed($0, at: 0) }
    while socket.next() != nil {}
    let output = socket.takeOutput()
    XCTAssertLessThan(output.count, 70_000)
    XCTAssertEqual(ClientFrames.texts(output).last, "pong z")
  }

  // MARK: Sending

  func test_everyClientFrameIsMaskedWithAnotherKey() {
    var socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    for count in [0, 1, 7, 8, 9, 63, 125, 126, 300, 65535, 65536, 100_001] {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      socket.send(.binary(data))
      socket.send(.binary(data))
      let frames = ClientFrames.all(socket.takeOutput())
      XCTAssertEqual(frames.map(\.payload), [Array(data), Array(data)], "\(count)")
      XCTAssertEqual(frames.map(\.isMasked), [true, true])
      XCTAssertNotEqual(frames.first?.key, frames.last?.key)
    }
  }

  func test_closingSendsOneFrame_andDropsMessagesUntilTheServerCloses() {
    var socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    socket.send(.text("a"))
    socket.close(.goingAway, reason: "later", at: 0)
    socket.close(.normal, at: 0)
    socket.send(.text("b"))
    XCTAssertEqual(ClientFrames.texts(socket.takeOutput()), ["text a", "close 1001 later"])
    let frames = frame(1, [0x61]) + frame(1, [0xFF]) + frame(9, []) + frame(8, bytes(1000))
    frames.withUnsafeBytes { socket.feed($0, at: 0) }
    XCTAssertEqual(socket.next().map(Self.text), "closed 1000 ")
    XCTAssertNil(socket.next())
    XCTAssertEqual(socket.takeOutput(), [])
  }

  func test_aReasonIsTruncatedBetweenCharacters_andAReservedCodeIsOmitted() {
    var socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    socket.close(.normal, reason: String(repeating: "é", count: 100), at: 0)
    XCTAssertEqual(ClientFrames.texts(socket.takeOutput()), ["close 1000 \(String(repeating: "é", count: 61))"])
    socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    socket.close(.abnormal, reason: "x", at: 0)
    XCTAssertEqual(ClientFrames.texts(socket.takeOutput()), ["close "])
  }

  // MARK: Time

  private let second: UInt64 = 1_000_000_000

  func test_silenceCausesAPing_andFurtherSilenceATimeout() {
    var socket = WebSocketProtocol(WebSocketOptions(pingInterval: .seconds(30), pongTimeout: .seconds(15)), at: 0)
    XCTAssertEqual(socket.deadline, 30 * second)
    XCTAssertNil(socket.expire(at: 29 * second))
    XCTAssertEqual(socket.takeOutput(), [])
    XCTAssertNil(socket.expire(at: 30 * second))
    XCTAssertEqual(ClientFrames.texts(socket.takeOutput()), ["ping "])
    XCTAssertEqual(socket.deadline, 45 * second)
    frame(10, []).withUnsafeBytes { socket.feed($0, at: 40 * second) }
    XCTAssertNil(socket.next())
    XCTAssertEqual(socket.deadline, 70 * second)
    XCTAssertNil(socket.expire(at: 70 * second))
    XCTAssertEqual(socket.expire(at: 85 * second).map(Self.text), "unresponsive")
    XCTAssertTrue(socket.isClosed)
  }

  func test_aPauseByTheClientIsNotSilence() {
    var socket = WebSocketProtocol(WebSocketOptions(pingInterval: .seconds(30), pongTimeout: .seconds(15)), at: 0)
    XCTAssertNil(socket.expire(at: 30 * second, isPaused: true))
    XCTAssertNil(socket.expire(at: 45 * second, isPaused: true))
    XCTAssertTrue(socket.isOpen)
    XCTAssertEqual(socket.deadline, 75 * second)
  }

  func test_nilDisablesPingsAndTheirTimeLimit() {
    var socket = WebSocketProtocol(WebSocketOptions(pingInterval: nil), at: 0)
    XCTAssertEqual(socket.deadline, .max)
    socket = WebSocketProtocol(WebSocketOptions(pingInterval: .seconds(1), pongTimeout: nil), at: 0)
    XCTAssertNil(socket.expire(at: second))
    XCTAssertEqual(socket.deadline, .max)
  }

  func test_enormousTimesDoNotOverflow() {
    let longest = Duration.seconds(Int64.max)
    var socket = WebSocketProtocol(WebSocketOptions(pingInterval: longest, pongTimeout: longest), at: second)
    XCTAssertEqual(socket.deadline, .max)
    XCTAssertNil(socket.expire(at: .max))
    XCTAssertEqual(socket.deadline, .max)
  }

  func test_closingWaitsAtMostFiveSecondsForTheServer() {
    var socket = WebSocketProtocol(WebSocketOptions(), at: 0)
    socket.close(.normal, at: second)
    XCTAssertEqual(socket.deadline, 6 * second)
    XCTAssertEqual(socket.expire(at: 6 * second).map(Self.text), "closed 1006 ")
  }

  private func bytes(_ code: UInt16) -> [UInt8] { [UInt8(code >> 8), UInt8(code & 255)] }
}

/// Returns the bytes of a server's frame, valid or not.
func frame(
  _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = false,
  length: UInt64? = nil
) -> [UInt8] {
  var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
  let mark: UInt8 = isMasked ? 0x80 : 0
  let length = length ?? UInt64(payload.count)
  switch length {
  case ...125: bytes.append(mark | UInt8(length))
  case ...0xFFFF: bytes += [mark | 126, UInt8(length >> 8), UInt8(length & 255)]
  default: bytes += [mark | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
  }
  return bytes + (isMasked ? [0, 0, 0, 0] : []) + payload
}

/// A parser of the client's output, independent of the code under test.
enum ClientFrames {
  struct Frame {
    var opcode: UInt8
    var isCompressed: Bool
    var isMasked: Bool
    var key: [UInt8]
    var payload: [UInt8]
  }

  static func all(_ bytes: [UInt8]) -> [Frame] {
    var frames: [Frame] = []
    var rest = bytes[...]
    while rest.count >= 2 {
      let (first, second) = (rest.removeFirst(), rest.removeFirst())
      var length = Int(second & 0x7F)
      if length >= 126 {
        let extra = length == 126 ? 2 : 8
        length = rest.prefix(extra).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(extra)
      }
      let isMasked = second & 0x80 != 0
      let key = isMasked ? Array(rest.prefix(4)) : []
      rest = rest.dropFirst(key.count)
      let payload = rest.prefix(length).enumerated().map { isMasked ? $0.element ^ key[$0.offset % 4] : $0.element }
      rest = rest.dropFirst(length)
      frames.append(
        Frame(
          opcode: first & 15, isCompressed: first & 0x40 != 0, isMasked: isMasked, key: key, payload: payload))
    }
    return frames
  }

  static func texts(_ bytes: [UInt8]) -> [String] {
    all(bytes).map { frame in
      let text = String(decoding: frame.payload, as: UTF8.self)
      switch frame.opcode {
      case 1: return "text \(text)"
      case 2: return "binary \(frame.payload.count)"
      case 8:
        guard frame.payload.count >= 2 else { return "close " }
        let code = Int(frame.payload[0]) << 8 | Int(frame.payload[1])
        let reason = String(decoding: frame.payload[2...], as: UTF8.self)
        // The wording of a violation may change.
        return [1002, 1007, 1009].contains(code) || reason.isEmpty ? "close \(code)" : "close \(code) \(reason)"
      case 9: return "ping \(text)"
      case 10: return "pong \(text)"
      default: return "opcode \(frame.opcode)"
      }
    }
  }
}
