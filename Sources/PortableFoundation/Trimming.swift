extension StringProtocol {
  /// Returns the text without the scalars at both ends for which `isLeftOut` returns `true`.
  package func trimming(where isLeftOut: (Unicode.Scalar) -> Bool) -> String {
    var rest = Substring(self).unicodeScalars[...]
    while let first = rest.first, isLeftOut(first) { rest.removeFirst() }
    while let last = rest.last, isLeftOut(last) { rest.removeLast() }
    return String(Substring(rest))
  }

  /// The text without whitespace at both ends: spaces of any kind, and tabs.
  package var trimmingBlanks: String { trimming { $0 == "\t" || $0.properties.generalCategory == .spaceSeparator } }
}

extension FixedWidthInteger {
  /// Creates the number that consists only of the ASCII digits `digits`; `nil` if it is empty, has a sign, or is too
  /// large.
  package init?(digits: some StringProtocol) {
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(digits, radix: 10)
  }
}
