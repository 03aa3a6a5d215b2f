/// Finds its way in a text that `JSONScanner` has found valid, so it tests no grammar again.
struct JSONReader {
  let base: UnsafeRawPointer
  let end: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    // As in the scanner: never read when the length is 0.
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = bytes.count
  }

  @inline(__always)
  func byte(_ index: Int) -> UInt8 { base.load(fromByteOffset: index, as: UInt8.self) }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  /// The first byte from `start` that is a quote, a backslash, a control character or beyond ASCII; `end` if none is.
  ///
  /// Looks at eight bytes at a time: each term leaves the high bit in a byte that meets its condition. A borrow can set
  /// it wrongly in bytes above the first hit only, and only the first hit is used.
  @inline(__always)
  static func plainEnd(_ base: UnsafeRawPointer, from start: Int, to end: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = start
    while at + 8 <= end {
      let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let hits =
        (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word) | word)
        & (ones &* 0x80)
      if hits != 0 { return at + hits.trailingZeroBitCount / 8 }
      at += 8
    }
    while at < end {
      let byte = base.load(fromByteOffset: at, as: UInt8.self)
      if byte == 0x22 || byte == 0x5C || byte < 0x20 || byte >= 0x80 { break }
      at += 1
    }
    return at
  }

  /// The four hexadecimal digits at `start`.
  static func unit(_ base: UnsafeRawPointer, at start: Int) -> UInt16? {
    var unit: UInt16 = 0
    for index in start..<(start + 4) {
      let byte = base.load(fromByteOffset: index, as: UInt8.self)
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

  func skipSpace(_ index: Int) -> Int {
    var at = index
    while at < end, Self.isSpace(byte(at)) { at += 1 }
    return at
  }

  /// One past the string whose opening quote is at `index`.
  func stringEnd(_ index: Int) -> Int {
    var at = index + 1
    while at < end {
      at = Self.plainEnd(base, from: at, to: end)
      guard at < end else { return end }
      switch byte(at) {
      case UInt8(ascii: "\""): return at + 1
      case UInt8(ascii: "\\"): at += 2
      default: at += 1
      }
    }
    return end
  }

  /// One past the value that begins at `index`.
  func valueEnd(_ index: Int) -> Int {
    var at = index
    var depth = 0
    while at < end {
      switch byte(at) {
      case UInt8(ascii: "\""):
        at = stringEnd(at)
        if depth == 0 { return at }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        at += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        // At depth 0 this is the end of the container around a number or literal.
        if depth == 0 { return at }
        depth -= 1
        at += 1
        if depth == 0 { return at }
      case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
        if depth == 0 { return at }
        at += 1
      default:
        at += 1
      }
    }
    return end
  }

  /// Calls `body` with the key's range between the quotes and the value's range until it returns false.
  func members(of object: Range<Int>, _ body: (Range<Int>, Range<Int>) -> Bool) {
    var at = skipSpace(object.lowerBound + 1)
    while at < object.upperBound, byte(at) == UInt8(ascii: "\"") {
      let keyEnd = stringEnd(at)
      let key = (at + 1)..<(keyEnd - 1)
      let start = skipSpace(skipSpace(keyEnd) + 1)
      let stop = valueEnd(start)
      guard body(key, start..<stop) else { return }
      at = skipSpace(stop)
      guard at < object.upperBound, byte(at) == UInt8(ascii: ",") else { return }
      at = skipSpace(at + 1)
    }
  }

  /// Calls `body` with each element's range until it returns false.
  func elements(of array: Range<Int>, _ body: (Range<Int>) -> Bool) {
    var at = skipSpace(array.lowerBound + 1)
    while at < array.upperBound, byte(at) != UInt8(ascii: "]") {
      let stop = valueEnd(at)
      guard body(at..<stop) else { return }
      at = skipSpace(stop)
      guard at < array.upperBound, byte(at) == UInt8(ascii: ",") else { return }
      at = skipSpace(at + 1)
    }
  }
}
