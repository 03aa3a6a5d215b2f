extension UInt8 {
  /// Whether the byte is an ASCII digit.
  @inlinable
  package var isDigit: Bool { self &- 48 < 10 }
}

extension StringProtocol {
  /// Whether the text consists of ASCII digits, and is not empty.
  @inlinable
  package var isDigits: Bool { !isEmpty && utf8.allSatisfy { $0.isDigit } }
}

extension FixedWidthInteger {
  /// Creates the number that consists only of the ASCII digits `digits`; `nil` if it is empty, has a sign, or is too
  /// large.
  @inlinable
  package init?(digits: some StringProtocol) {
    guard digits.isDigits else { return nil }
    self.init(digits, radix: 10)
  }

  /// Returns the number in lowercase hexadecimal digits, with leading zeros up to `digits`.
  package func hex(digits: Int) -> String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
  }
}
