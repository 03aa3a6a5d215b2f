extension JSONReader {
  /// The bytes of a value as they stand.
  func bytes(_ word: JSONWord) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text + word.start, count: word.count)
  }

  /// The bytes between a string's quotes as they stand.
  func content(_ word: JSONWord) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text + word.textStart, count: word.textCount)
  }

  /// The characters of a key or string; of a bad one, with U+FFFD for what is none.
  @inline(__always)
  func string(_ word: JSONWord) -> String {
    word.flag ? unescapedString(word) : String(decoding: content(word), as: UTF8.self)
  }

  /// A key as what tells members apart.
  func name(_ key: JSONWord) -> JSONName {
    JSONName(string(key), badBytes: key.kind == .badString ? Array(content(key)) : nil)
  }

  private func unescapedString(_ word: JSONWord) -> String {
    // Escapes are longer than what they stand for.
    String(unsafeUninitializedCapacity: word.textCount) { unescape(word, into: $0) }
  }

  /// Whether a key with escapes stands for the name in `wanted`.
  @inline(never)
  func isEscaped(_ key: JSONWord, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    // What stands before the first escape tells most of them apart.
    for (byte, other) in zip(content(key), wanted) where byte != other {
      guard byte == UInt8(ascii: "\\") else { return false }
      break
    }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.textCount) { buffer in
      let count = unescape(key, into: buffer)
      return UnsafeBufferPointer(rebasing: buffer[..<count]).elementsEqual(wanted)
    }
  }

  /// Writes a string's characters in UTF-8; gives how many bytes they take, at most `textCount`.
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

  /// The character whose first four digits are at `at`; U+FFFD for half of a pair.
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
