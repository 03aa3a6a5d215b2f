/// The frames of RFC 6455 §5.2: parsing headers, serialization and masking.
enum WebSocketFrame {
  enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
  }

  /// The maximum number of bytes in the payload of a control frame (§5.5).
  static let maxControl = 125

  struct Head: Equatable {
    var isFinal = true
    /// RSV1, which marks a compressed message (RFC 7692 §6).
    var isCompressed = false
    var opcode = Opcode.text
    var isMasked = false
    var length = 0
    var size = 2
  }

  /// An error that describes why a frame is not valid.
  struct Violation: Error, Equatable {
    var code: CloseCode
    var reason: String

    static func breaksProtocol(_ reason: String) -> Violation { Violation(code: .protocolError, reason: reason) }
  }

  /// Parses the frame header at the start of `bytes`. Returns `nil` if more bytes are needed.
  static func head(of bytes: UnsafeRawBufferPointer) throws(Violation) -> Head? {
    guard bytes.count >= 2 else { return nil }
    var head = Head()
    head.isFinal = bytes[0] & 0x80 != 0
    head.isCompressed = bytes[0] & 0x40 != 0
    guard bytes[0] & 0x30 == 0 else { throw .breaksProtocol("a frame has a reserved bit set") }
    guard let opcode = Opcode(rawValue: bytes[0] & 0x0F) else {
      throw .breaksProtocol("a frame has the reserved opcode \(bytes[0] & 0x0F)")
    }
    head.opcode = opcode
    let short = Int(bytes[1] & 0x7F)
    if opcode.isControl {
      guard head.isFinal else { throw .breaksProtocol("a control frame is fragmented") }
      guard short <= maxControl else { throw .breaksProtocol("a control frame has a payload of more than 125 bytes") }
      guard !head.isCompressed else { throw .breaksProtocol("a control frame is compressed") }
    }
    switch short {
    case 126:
      guard bytes.count >= 4 else { return nil }
      head.length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      head.size = 4
    case 127:
      guard bytes.count >= 10 else { return nil }
      let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      guard let length = Int(exactly: length) else { throw .breaksProtocol("the length of a frame is not valid") }
      head.length = length
      head.size = 10
    default: head.length = short
    }
    head.isMasked = bytes[1] & 0x80 != 0
    return head
  }

  /// Appends a frame to `output`, masked with `mask`, the key in memory order. Servers pass `nil` for no mask.
  static func append(
    _ opcode: Opcode, _ payload: UnsafeRawBufferPointer, isFinal: Bool = true, isCompressed: Bool = false,
    mask: UInt32?,
    to output: inout [UInt8]
  ) {
    let marked: UInt8 = mask == nil ? 0 : 0x80
    // Reserves capacity for the first frame only, because repeated calls would defeat the geometric growth of the
    // array.
    if output.isEmpty { output.reserveCapacity(payload.count + 14) }
    output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
    switch payload.count {
    case ...125: output.append(marked | UInt8(payload.count))
    case ...0xFFFF:
      output.append(marked | 126)
      withUnsafeBytes(of: UInt16(payload.count).bigEndian) { output.append(contentsOf: $0) }
    default:
      output.append(marked | 127)
      withUnsafeBytes(of: UInt64(payload.count).bigEndian) { output.append(contentsOf: $0) }
    }
    if let mask { withUnsafeBytes(of: mask) { output.append(contentsOf: $0) } }
    let start = output.count
    output.append(contentsOf: payload)
    if let mask {
      output.withUnsafeMutableBytes { apply(mask, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
  }

  /// Masks or unmasks a complete payload in place (§5.3).
  static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
    let wide = UInt64(mask) << 32 | UInt64(mask)
    var index = 0
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
      index += 8
    }
    withUnsafeBytes(of: mask) { key in
      while index < bytes.count {
        bytes[index] ^= key[index & 3]
        index += 1
      }
    }
  }
}
