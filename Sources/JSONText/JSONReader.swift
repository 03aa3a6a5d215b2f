/// A reader of values through an index, without checking the grammar again; valid only within `JSONDocument.read`.
struct JSONReader {
  let text: UnsafePointer<UInt8>
  let words: UnsafePointer<UInt64>

  /// Returns the entry at `position`, which must be the position of a key or a value.
  @inline(__always)
  func word(_ position: Int) -> JSONWord { JSONWord(bits: words[position]) }

  /// Returns the position after the value at `position` and its contents.
  @inline(__always)
  func next(_ position: Int) -> Int {
    word(position).isContainer ? end(of: position) : position + 1
  }

  /// Returns the position after a container.
  @inline(__always)
  func end(of container: Int) -> Int { Int(words[container + 2] & 0xFFFF_FFFF) }

  /// Returns the number of elements of a container, or of members including duplicates.
  @inline(__always)
  func count(of container: Int) -> Int { Int(words[container + 2] >> 32) }

  /// Returns the parent of a container and the index of the container in it; `nil` for the root.
  func parent(of container: Int) -> (position: Int, ordinal: Int)? {
    let parent = UInt32(truncatingIfNeeded: words[container + 1])
    return parent == JSONDocument.none ? nil : (Int(parent), Int(words[container + 1] >> 32))
  }

  /// Calls `body` with the position of each key of an object; its value is at the next position.
  @inline(__always)
  func forEachKey(of object: Int, _ body: (Int) -> Void) {
    let end = end(of: object)
    var key = object + 3
    while key < end {
      body(key)
      key = next(key + 1)
    }
  }

  /// Returns the value of the first member of an object with this name, in linear time.
  ///
  /// Names are compared byte by byte, without Unicode normalization, as in other JSON readers.
  func value(named name: String, in object: Int) -> Int? {
    var name = name
    return name.withUTF8 { wanted in
      let end = end(of: object)
      var key = object + 3
      while key < end {
        if isKey(word(key), wanted) { return key + 1 }
        key = next(key + 1)
      }
      return nil
    }
  }

  /// Returns the value of the first member whose snake-case key converts to `name`.
  func value(namedInSnakeCase name: String, in object: Int) -> Int? {
    var name = name
    return name.withUTF8 { wanted in
      let end = end(of: object)
      var key = object + 3
      while key < end {
        let word = word(key)
        let isIt =
          (word.flag ? nil : SnakeCase.matches(content(word), wanted))
          ?? SnakeCase.converted(string(word)).utf8.elementsEqual(wanted)
        if isIt { return key + 1 }
        key = next(key + 1)
      }
      return nil
    }
  }

  @inline(__always)
  func isKey(_ key: JSONWord, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    if key.flag { return key.textCount >= wanted.count && isEscaped(key, wanted) }
    return key.textCount == wanted.count && hasBytes(key, wanted)
  }

  @inline(__always)
  private func hasBytes(_ key: JSONWord, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    let bytes = text + key.textStart
    for index in 0..<wanted.count where bytes[index] != wanted[index] { return false }
    return true
  }

  /// Returns whether two keys without escapes are equal.
  func areSame(_ a: JSONWord, _ b: JSONWord) -> Bool {
    a.textCount == b.textCount && hasBytes(a, UnsafeBufferPointer(start: text + b.textStart, count: b.textCount))
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte <= 0x20 && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
  }

  /// Returns the offset of the first byte from `start` that is a quote, a backslash, a control character or not ASCII.
  ///
  /// A zero byte is a control character, so the search ends in the padding at the latest. It tests eight bytes at a
  /// time: each term sets the high bit of the bytes that meet its condition. A borrow can set false bits, but only
  /// above the first match, and only the first match is used.
  @inline(__always)
  static func plainEnd(_ text: UnsafePointer<UInt8>, from start: Int) -> Int {
    let bytes = UnsafeRawPointer(text)
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = start
    while true {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let hits =
        (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word) | word)
        & (ones &* 0x80)
      if hits != 0 { return at + hits.trailingZeroBitCount / 8 }
      at += 8
    }
  }

  /// Returns the value of the four hexadecimal digits at `start`.
  static func unit(_ text: UnsafePointer<UInt8>, at start: Int) -> UInt16? {
    var unit: UInt16 = 0
    for index in start..<(start + 4) {
      let byte = text[index]
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 48
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - 55
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - 87
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
