import PortableFoundation

extension JSONScanner {
  /// Scans a string from its opening quote to one byte past its closing quote.
  @inline(__always)
  func scanString(_ at: inout Int) throws -> JSONWord {
    let start = at
    at = JSONReader.plainEnd(text, from: at + 1)
    if text[at] == UInt8(ascii: "\"") {
      at += 1
      return JSONWord(.string, from: start, to: at)
    }
    var string = JSONStringScanner(text: text, end: end)
    try string.scanRest(&at)
    return JSONWord(string.fault == nil ? .string : .badString, from: start, to: at, flag: string.hasEscapes)
  }

  /// Scans a number; returns whether it consists only of digits and a sign.
  @inline(__always)
  func scanNumber(_ at: inout Int) throws -> Bool {
    let start = at
    if text[at] == UInt8(ascii: "-") { at += 1 }
    let first = at
    while text[at].isDigit { at += 1 }
    guard at > first, text[first] != UInt8(ascii: "0") || at == first + 1 else { throw malformed(start, at: at) }
    if text[at] != UInt8(ascii: "."), text[at] | 0x20 != UInt8(ascii: "e") { return true }
    try scanFraction(of: start, &at)
    return false
  }

  private func scanFraction(of start: Int, _ at: inout Int) throws {
    if text[at] == UInt8(ascii: ".") {
      at += 1
      try scanDigits(of: start, &at)
    }
    if text[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
      try scanDigits(of: start, &at)
    }
  }

  @inline(__always)
  private func scanDigits(of start: Int, _ at: inout Int) throws {
    let first = at
    while text[at].isDigit { at += 1 }
    guard at > first else { throw malformed(start, at: at) }
  }

  private func malformed(_ start: Int, at: Int) -> JSONError {
    // Digits after a leading zero are invalid even at the end of the text.
    at < end || text[at - 1].isDigit ? JSONError(.invalidNumber, at: start) : JSONError(.unexpectedEnd, at: end)
  }

  @inline(__always)
  func scanLiteral(_ literal: StaticString, _ at: inout Int) throws {
    for index in 0..<literal.utf8CodeUnitCount where text[at + index] != literal.utf8Start[index] {
      throw unexpected(at + index)
    }
    at += literal.utf8CodeUnitCount
  }
}
