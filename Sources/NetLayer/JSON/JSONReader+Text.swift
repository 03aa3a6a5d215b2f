extension JSONReader {
  /// The characters of a string, given the range between its quotes.
  func text(_ range: Range<Int>) -> String {
    let bytes = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: unescaped(range), as: UTF8.self)
  }

  /// Whether the key in `range` is `name`, byte by byte: no Unicode normalisation, as in every other JSON reader.
  func key(_ range: Range<Int>, is name: String) -> Bool {
    var name = name
    return name.withUTF8 { wanted in
      let bytes = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
      if bytes.count == wanted.count, bytes.elementsEqual(wanted) { return !wanted.contains(UInt8(ascii: "\\")) }
      guard bytes.count > wanted.count, bytes.contains(UInt8(ascii: "\\")) else { return false }
      return unescaped(range).elementsEqual(wanted)
    }
  }

  private func unescaped(_ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var at = range.lowerBound
    while at < range.upperBound {
      let next = byte(at)
      guard next == UInt8(ascii: "\\") else {
        result.append(next)
        at += 1
        continue
      }
      let escape = byte(at + 1)
      at += 2
      switch escape {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"): at = appendUnits(at, to: &result)
      default: result.append(escape)
      }
    }
    return result
  }

  /// Appends the character whose first four digits are at `start`; gives where the next one begins.
  private func appendUnits(_ start: Int, to result: inout [UInt8]) -> Int {
    let first = UInt32(Self.unit(base, at: start) ?? 0xFFFD)
    var value = first
    var next = start + 4
    if first & 0xFC00 == 0xD800, let low = Self.unit(base, at: start + 6) {
      value = 0x10000 + (first - 0xD800) << 10 + (UInt32(low) - 0xDC00)
      next += 6
    }
    // The scanner let whole pairs through only, so this is always a character.
    let scalar = UnicodeScalar(value) ?? "\u{FFFD}"
    result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encode("\u{FFFD}") ?? .init())
    return next
  }

  /// The integer that the number in `range` stands for: also `2.0` and `2e2`; `nil` where it has a fraction or does not fit.
  func integer<Integer: FixedWidthInteger>(_ range: Range<Int>, as type: Integer.Type) -> Integer? {
    var at = range.lowerBound
    let negative = byte(at) == UInt8(ascii: "-")
    if negative { at += 1 }
    var value: Integer = 0
    while at < range.upperBound {
      let digit = byte(at) &- 48
      guard digit < 10 else { return double(range).flatMap { Integer(exactly: $0) } }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) =
        negative
        ? product.subtractingReportingOverflow(Integer(digit)) : product.addingReportingOverflow(Integer(digit))
      guard !overflow, !carry else { return nil }
      value = sum
      at += 1
    }
    return value
  }

  /// The nearest `Double`; `nil` where it is beyond all finite ones.
  func double(_ range: Range<Int>) -> Double? {
    let bytes = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else { return nil }
    return value
  }
}
