/// A number as its significant digits and a power of ten: exact, and the same for the same value.
struct JSONNumber: Equatable {
  private(set) var isNegative = false
  /// From the first to the last that is not 0; none for zero.
  private(set) var digits: [UInt8] = []
  /// Of the last digit.
  private(set) var exponent = 0

  /// Takes a valid JSON number.
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

  /// Beyond ±10⁹, more than any text has digits, exponents are taken as alike.
  private static func power(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    var value = 0
    for byte in text where byte &- 48 < 10 { value = min(value * 10 + Int(byte - 48), 2_000_000_000) }
    return text.first == UInt8(ascii: "-") ? -value : value
  }
}
