extension JSONReader {
  func bytes(_ word: JSONWord) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text + word.start, count: word.count)
  }

  /// Returns the bytes between the quotes of a string, unchanged.
  func content(_ word: JSONWord) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text + word.textStart, count: word.textCount)
  }

  /// Returns the characters of a key or string, replacing invalid ones with U+FFFD.
  @inline(__always)
  func string(_ word: JSONWord) -> String {
    word.flag ? unescapedString(word) : String(decoding: content(word), as: UTF8.self)
  }

  /// Returns the name of a key, for comparing members.
  func name(_ key: JSONWord) -> JSONName {
    JSONName(string(key), badBytes: key.kind == .badString ? Array(content(key)) : nil)
  }

  private func unescapedString(_ word: JSONWord) -> String {
    // An escape sequence is longer than the character that it represents.
    String(unsafeUninitializedCapacity: word.textCount) { unescape(word, into: $0) }
  }

  /// Returns whether a key with escapes is equal to the name in `wanted`.
  @inline(never)
  func isEscaped(_ key: JSONWord, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    // The characters before the first escape distinguish most keys.
    for (byte, other) in zip(content(key), wanted) where byte != other {
      guard byte == UInt8(ascii: "\\") else { return false }
      break
    }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.textCount) { buffer in
      let count = unescape(key, into: buffer)
      return UnsafeBufferPointer(rebasing: buffer[..<count]).elementsEqual(wanted)
    }
  }

  /// Writes the characters of a string in UTF-8, and returns the number of bytes, at most `textCount`.
  private func unescape(_ word: JSONWord, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var at = word.textStart
    let end = at + word.textCount
    var count = 0
    func put(_ byte: UInt8) {
      buffer[count] = byte
      count += 1
    }
    while true {
      let run = at
      while at < end, text[at] != UInt8(ascii: "\\") { at += 1 }
      if let target = buffer.baseAddress { (target + count).initialize(from: text + run, count: at - run) }
      count += at - run
      if at == end { return count }
      let escape = text[at + 1]
      at += 2
      switch escape {
      case UInt8(ascii: "b"): put(0x08)
      case UInt8(ascii: "f"): put(0x0C)
      case UInt8(ascii: "n"): put(0x0A)
      case UInt8(ascii: "r"): put(0x0D)
      case UInt8(ascii: "t"): put(0x09)
      case UInt8(ascii: "u"):
        let scalar = scalar(&at)
        for byte in UTF8.encode(scalar) ?? .init() { put(byte) }
      default: put(escape)
      }
    }
  }

  /// Returns the character whose first four digits are at `at`, or U+FFFD for an unpaired surrogate.
  private func scalar(_ at: inout Int) -> UnicodeScalar {
    var value = UInt32(Self.unit(text, at: at) ?? 0xFFFD)
    at += 4
    if value & 0xFC00 == 0xD800, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u"),
      let low = Self.unit(text, at: at + 2), low & 0xFC00 == 0xDC00
    {
      value = 0x10000 + (value & 0x3FF) << 10 + UInt32(low) & 0x3FF
      at += 6
    }
    return UnicodeScalar(value) ?? "\u{FFFD}"
  }
}
