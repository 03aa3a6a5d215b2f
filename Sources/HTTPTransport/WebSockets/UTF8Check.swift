/// An incremental check of UTF-8, which detects invalid text at the first invalid byte (RFC 3629 §4).
struct UTF8Check {
  /// The number of missing continuation bytes, and the valid range of the next one.
  private var missing = 0
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xBF

  /// Whether the bytes so far end with a complete character.
  var isComplete: Bool { missing == 0 }

  /// Checks the next bytes; returns `false` if the text can no longer be valid.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < bytes.count {
      if missing == 0 {
        // ASCII, eight bytes at a time.
        while index + 8 <= bytes.count,
          bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
          index += 8
        }
        guard index < bytes.count else { break }
      }
      let byte = bytes[index]
      index += 1
      if missing > 0 {
        guard byte >= lowest, byte <= highest else { return false }
        missing -= 1
        (lowest, highest) = (0x80, 0xBF)
        continue
      }
      guard byte >= 0x80 else { continue }
      guard begin(byte) else { return false }
    }
    return true
  }

  /// Begins a character of several bytes; returns `false` if `byte` can't begin one.
  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: missing = 1
    case 0xE0...0xEF:
      missing = 2
      // No overlong forms, no surrogates.
      if byte == 0xE0 { lowest = 0xA0 }
      if byte == 0xED { highest = 0x9F }
    case 0xF0...0xF4:
      missing = 3
      // Rejects overlong forms and characters beyond U+10FFFF.
      if byte == 0xF0 { lowest = 0x90 }
      if byte == 0xF4 { highest = 0x8F }
    default: return false
    }
    return true
  }
}
