/// A Unicode encoding that earlier versions of JSON allowed, instead of UTF-8 (RFC 8259 §8.1).
enum JSONEncoding {
  case utf16(bigEndian: Bool)
  case utf32(bigEndian: Bool)
}

extension JSONEncoding: Equatable {
  /// Detects the encoding by the byte order mark, or else by the positions of zeros, because JSON begins with ASCII
  /// (RFC 4627 §3); `nil` for UTF-8.
  init?(of bytes: UnsafeRawBufferPointer) {
    func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }
    switch (byte(0), byte(1), byte(2), byte(3)) {
    case (0x00, 0x00, 0xFE, 0xFF), (0x00, 0x00, 0x00, .some(1...)): self = .utf32(bigEndian: true)
    case (0xFF, 0xFE, 0x00, 0x00), (.some(1...), 0x00, 0x00, 0x00): self = .utf32(bigEndian: false)
    case (0xFE, 0xFF, _, _), (0x00, .some(1...), _, _): self = .utf16(bigEndian: true)
    case (0xFF, 0xFE, _, _), (.some(1...), 0x00, _, _): self = .utf16(bigEndian: false)
    default: return nil
    }
  }

  /// Returns the text in UTF-8.
  ///
  /// - Throws: `JSONError.Kind.invalidUnicode` for unpaired surrogates, values beyond Unicode and truncated units.
  func transcode(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var at = 0
    /// Returns the unit of `size` bytes at `at`.
    func unit(_ size: Int, bigEndian: Bool) throws -> UInt32 {
      guard at + size <= bytes.count else { throw JSONError(.invalidUnicode, at: at) }
      var value: UInt32 = 0
      for index in 0..<size { value = value << 8 | UInt32(bytes[at + (bigEndian ? index : size - 1 - index)]) }
      return value
    }
    while at < bytes.count {
      let start = at
      var value: UInt32
      switch self {
      case .utf32(let bigEndian):
        value = try unit(4, bigEndian: bigEndian)
        at += 4
      case .utf16(let bigEndian):
        value = try unit(2, bigEndian: bigEndian)
        at += 2
        if value & 0xFC00 == 0xD800 {
          let low = try unit(2, bigEndian: bigEndian)
          guard low & 0xFC00 == 0xDC00 else { throw JSONError(.invalidUnicode, at: start) }
          value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
          at += 2
        }
      }
      guard let scalar = UnicodeScalar(value) else { throw JSONError(.invalidUnicode, at: start) }
      if value < 0x80 { text.append(UInt8(value)) } else { text.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
    }
    return text
  }
}
