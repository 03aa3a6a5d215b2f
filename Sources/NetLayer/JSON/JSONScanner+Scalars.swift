extension JSONScanner {
  /// A string from its opening to one past its closing quote; says whether it has escapes.
  @inline(__always)
  func scanString(_ at: inout Int) throws -> Bool {
    at = JSONReader.plainEnd(text, from: at + 1)
    if text[at] == UInt8(ascii: "\"") {
      at += 1
      return false
    }
    return try scanRest(&at)
  }

  /// The rest of a string from the first byte that is not plain.
  private func scanRest(_ at: inout Int) throws -> Bool {
    var hasEscapes = false
    while true {
      let next = text[at]
      switch next {
      case UInt8(ascii: "\""):
        at += 1
        return hasEscapes
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try scanEscape(&at)
      case 0x80...:
        try scanMultibyte(&at)
      default:
        // A control character, as nothing else ends a plain run; behind the text, the first zero.
        throw at < end ? JSONError(.controlCharacter, at: at, byte: next) : JSONError(.unexpectedEnd, at: end)
      }
      at = JSONReader.plainEnd(text, from: at)
    }
  }

  private func scanEscape(_ at: inout Int) throws {
    let start = at
    guard at + 1 < end else { throw JSONError(.unexpectedEnd, at: end) }
    switch text[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    case UInt8(ascii: "u"):
      let unit = try scanUnit(&at)
      switch unit {
      case 0xD800...0xDBFF:
        guard text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u") else {
          throw JSONError(.loneSurrogate, at: start)
        }
        guard case 0xDC00...0xDFFF = try scanUnit(&at) else { throw JSONError(.loneSurrogate, at: start) }
      case 0xDC00...0xDFFF:
        throw JSONError(.loneSurrogate, at: start)
      default:
        break
      }
    case let other:
      throw JSONError(.invalidEscape, at: start, byte: other)
    }
  }

  /// `\uXXXX` at `at`.
  private func scanUnit(_ at: inout Int) throws -> UInt16 {
    guard at + 6 <= end else { throw JSONError(.unexpectedEnd, at: end) }
    guard let unit = JSONReader.unit(text, at: at + 2) else { throw JSONError(.invalidEscape, at: at) }
    at += 6
    return unit
  }

  /// A run of characters beyond ASCII (RFC 3629 §4).
  private func scanMultibyte(_ at: inout Int) throws {
    while true {
      let first = text[at]
      let length: Int
      var second: ClosedRange<UInt8> = 0x80...0xBF
      switch first {
      case ..<0x80: return
      case 0xC2...0xDF: length = 2
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE, 0xEF: length = 3
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: length = 4
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: throw JSONError(.invalidUTF8, at: at, byte: first)
      }
      // The zeros behind the text are no continuation, so nothing is read behind them.
      guard second.contains(text[at + 1]), length < 3 || text[at + 2] & 0xC0 == 0x80,
        length < 4 || text[at + 3] & 0xC0 == 0x80
      else { throw JSONError(.invalidUTF8, at: at, byte: first) }
      at += length
    }
  }

  /// A number; says whether it is made of digits alone.
  @inline(__always)
  func scanNumber(_ at: inout Int) throws -> Bool {
    let start = at
    if text[at] == UInt8(ascii: "-") { at += 1 }
    let first = at
    while isDigit(text[at]) { at += 1 }
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
    while isDigit(text[at]) { at += 1 }
    guard at > first else { throw malformed(start, at: at) }
  }

  private func malformed(_ start: Int, at: Int) -> JSONError {
    // Digits that go on after a leading zero are wrong even where the text ends with them.
    at < end || isDigit(text[at - 1]) ? JSONError(.invalidNumber, at: start) : JSONError(.unexpectedEnd, at: end)
  }

  @inline(__always)
  private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

  @inline(__always)
  func scanLiteral(_ literal: StaticString, _ at: inout Int) throws {
    for index in 0..<literal.utf8CodeUnitCount where text[at + index] != literal.utf8Start[index] {
      throw unexpected(at + index)
    }
    at += literal.utf8CodeUnitCount
  }
}
