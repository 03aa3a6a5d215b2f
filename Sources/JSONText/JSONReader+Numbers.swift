extension JSONReader {
  /// Returns the exact integer value of a number, including `2.0` and `2e2`; `nil` if it has a fraction or does not
  /// fit.
  @inline(__always)
  func integer<Integer: FixedWidthInteger>(_ word: JSONWord, as type: Integer.Type) -> Integer? {
    // 18 digits and a sign always fit into 64 bits.
    if word.flag || word.count > 18 { return longInteger(word, as: type) }
    var at = word.start
    let isNegative = text[at] == UInt8(ascii: "-")
    if isNegative { at += 1 }
    var value: Int64 = 0
    while at < word.end {
      value = value &* 10 &+ Int64(text[at] &- 48)
      at += 1
    }
    return Integer(exactly: isNegative ? 0 &- value : value)
  }

  private func longInteger<Integer: FixedWidthInteger>(_ word: JSONWord, as type: Integer.Type) -> Integer? {
    let number = JSONNumber(bytes(word))
    guard number.exponent >= 0, !number.digits.isEmpty else { return number.digits.isEmpty ? 0 : nil }
    // A value that exceeds the type ends the loop, whatever the exponent.
    var value: Integer = 0
    for index in 0..<(number.digits.count + number.exponent) {
      let digit = index < number.digits.count ? number.digits[index] : 0
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) =
        number.isNegative
        ? product.subtractingReportingOverflow(Integer(digit)) : product.addingReportingOverflow(Integer(digit))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return value
  }

  /// Returns the nearest `Double`, with ties to even.
  ///
  /// Returns `nil` if the number exceeds the finite range, or if a nonzero number would be rounded to 0.
  @inline(__always)
  func double(_ word: JSONWord) -> Double? {
    var at = word.start
    let isNegative = text[at] == UInt8(ascii: "-")
    if isNegative { at += 1 }
    var digits: UInt64 = 0
    var exponent = 0
    let first = at
    while text[at] &- 48 < 10 {
      digits = digits &* 10 &+ UInt64(text[at] &- 48)
      at += 1
    }
    var count = at - first
    if at < word.end, text[at] == UInt8(ascii: ".") {
      at += 1
      let point = at
      while text[at] &- 48 < 10 {
        digits = digits &* 10 &+ UInt64(text[at] &- 48)
        at += 1
      }
      exponent = point - at
      count += at - point
    }
    // 19 digits fit into 64 bits; exponents are rare.
    guard count <= 19, at == word.end, let value = Self.scaled(digits, by: exponent) else { return longDouble(word) }
    return isNegative ? -value : value
  }

  /// Returns the `Double` nearest to `digits` times a negative power of ten; `nil` for a power below 10⁻¹⁹.
  @inline(__always)
  private static func scaled(_ digits: UInt64, by exponent: Int) -> Double? {
    guard exponent < 0 else { return Double(digits) }
    guard exponent >= -19 else { return nil }
    let power = powers[-exponent]
    // Both are exact, like all powers of ten up to 10²², so the quotient is rounded only once.
    if digits < 1 << 53 { return Double(digits) / Double(power) }
    guard digits != 0 else { return 0 }
    // Otherwise, computes at least 63 bits of the quotient as integers, and a last bit for the remainder, which is
    // enough to round to 53 bits.
    let (a, b) = (digits.leadingZeroBitCount, power.leadingZeroBitCount)
    let dividend = digits << UInt64(a)
    let (quotient, remainder) = (power << UInt64(b)).dividingFullWidth((dividend >> 1, dividend << 63))
    return Double(quotient | (remainder == 0 ? 0 : 1)) * Double(sign: .plus, exponent: b - a - 63, significand: 1)
  }

  private static let powers: [UInt64] = (0...19).map { (0..<$0).reduce(1) { value, _ in value * 10 } }

  private func longDouble(_ word: JSONWord) -> Double? { floating(word) }

  /// Returns the nearest value of a type, computed by the standard library; `nil` as for `double`.
  func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ word: JSONWord) -> Number? {
    guard let value = Number(String(decoding: bytes(word), as: UTF8.self)), value.isFinite else { return nil }
    return value == 0 && !JSONNumber(bytes(word)).digits.isEmpty ? nil : value
  }
}
