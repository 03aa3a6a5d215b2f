extension Substring {
  /// The text without spaces and tabs at both ends.
  package var withoutBlanks: Substring {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var rest = utf8.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return Substring(rest)
  }

  /// Returns the parts between the separators outside quoted strings (RFC 9110 §5.6.4), without blanks at both ends.
  package func unquotedParts(separator: Unicode.Scalar) -> [Substring] {
    let separator = UInt8(ascii: separator)
    var isQuoted = false
    var isEscaped = false
    return utf8.split(omittingEmptySubsequences: false) { byte in
      if isEscaped {
        isEscaped = false
        return false
      }
      isEscaped = isQuoted && byte == UInt8(ascii: "\\")
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return byte == separator && !isQuoted
    }
    .map { Substring($0).withoutBlanks }
  }
}
