/// A number as its significant digits and a power of ten: exact, and identical for equal values.
struct JSONNumber: Equatable {
  private(set) var isNegative = false
  /// The digits from the first to the last nonzero one; empty for zero.
  private(set) var digits: [UInt8] = []
  /// The exponent of the last digit. Together with the number of digits of any text, it fits an `Int` of 32 bits.
  private(set) var exponent = 0

  init(_ text: UnsafeBufferPointer<UInt8>) {
    var isFraction = false
    var rest = text[...]
    if rest.first == UInt8(ascii: "-") {
      isNegative = true
      rest = rest.dropFirst()
    }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        exponent += Self.power(rest)
        rest = rest[rest.endIndex...]
      default:
        digits.append(byte - 48)
        if isFraction { exponent -= 1 }
      }
    }
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0 })
    if digits.isEmpty { (isNegative, exponent) = (false, 0) }
  }

  /// Returns the exponent, limited to ±2³⁰, which exceeds the number of digits of any text (`JSONWord.maxOffset`).
  ///
  /// The type is a parameter, so that tests on 64-bit systems run it as on watchOS, where `Int` has 32 bits.
  static func power<Number: FixedWidthInteger & SignedInteger>(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Number {
    let limit: Number = 1 << 30
    var value: Number = 0
    for byte in text where byte &- 48 < 10 {
      value = value <= limit / 10 ? min(value * 10 + Number(byte - 48), limit) : limit
    }
    return text.first == UInt8(ascii: "-") ? -value : value
  }
}
