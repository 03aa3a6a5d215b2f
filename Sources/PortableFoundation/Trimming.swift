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
