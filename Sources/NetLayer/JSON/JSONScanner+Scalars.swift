extension JSONScanner {
  /// A string from its opening to its closing quote.
  mutating func scanString() throws {
    let open = at
    at += 1
    while true {
      at = JSONReader.plainEnd(base, from: at, to: end)
      guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
      let next = byte(at)
      switch next {
      case UInt8(ascii: "\""):
        at += 1
        return
      case UInt8(ascii: "\\"):
        try scanEscape()
      case 0x80...:
        try scanMultibyte()
      case ..<0x20:
        throw JSONError(.controlCharacter, at: at, byte: next)
      default:
        // plainEnd stops at nothing else; stepping on keeps the loop moving whatever happens.
        assertionFailure("string from \(open)")
        at += 1
      }
    }
  }

  private mutating func scanEscape() throws {
    let start = at
    guard at + 1 < end else { throw JSONError(.unexpectedEnd, at: end) }
    switch byte(at + 1) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    case UInt8(ascii: "u"):
      let unit = try scanUnit()
      switch unit {
      case 0xD800...0xDBFF:
        guard at + 1 < end, byte(at) == UInt8(ascii: "\\"), byte(at + 1) == UInt8(ascii: "u") else {
          throw JSONError(.loneSurrogate, at: start)
        }
        guard case 0xDC00...0xDFFF = try scanUnit() else { throw JSONError(.loneSurrogate, at: start) }
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
  private mutating func scanUnit() throws -> UInt16 {
    guard at + 6 <= end else { throw JSONError(.unexpectedEnd, at: end) }
    guard let unit = JSONReader.unit(base, at: at + 2) else { throw JSONError(.invalidEscape, at: at) }
    at += 6
    return unit
  }

  /// A run of characters beyond ASCII (RFC 3629 §4).
  private mutating func scanMultibyte() throws {
    while at < end, byte(at) >= 0x80 {
      let first = byte(at)
      let length: Int
      var second: ClosedRange<UInt8> = 0x80...0xBF
      switch first {
      case 0xC2...0xDF: length = 2
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE, 0xEF: length = 3
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: length = 4
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: throw JSONError(.invalidUTF8, at: at, byte: first)
      }
      guard at + length <= end, second.contains(byte(at + 1)) else {
        throw JSONError(.invalidUTF8, at: at, byte: first)
      }
      var index = 2
      while index < length {
        guard byte(at + index) & 0xC0 == 0x80 else { throw JSONError(.invalidUTF8, at: at, byte: first) }
        index += 1
      }
      at += length
    }
  }

  mutating func scanNumber() throws {
    let start = at
    if byte(at) == UInt8(ascii: "-") { at += 1 }
    guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
    switch byte(at) {
    case UInt8(ascii: "0"):
      at += 1
      if at < end, isDigit(byte(at)) { throw JSONError(.invalidNumber, at: start) }
    case UInt8(ascii: "1")...UInt8(ascii: "9"):
      try scanDigits(of: start)
    default:
      throw JSONError(.invalidNumber, at: start)
    }
    if at < end, byte(at) == UInt8(ascii: ".") {
      at += 1
      try scanDigits(of: start)
    }
    if at < end, byte(at) | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < end, byte(at) == UInt8(ascii: "+") || byte(at) == UInt8(ascii: "-") { at += 1 }
      try scanDigits(of: start)
    }
  }

  private mutating func scanDigits(of start: Int) throws {
    let first = at
    while at < end, isDigit(byte(at)) { at += 1 }
    guard at > first else {
      throw at < end ? JSONError(.invalidNumber, at: start) : JSONError(.unexpectedEnd, at: end)
    }
  }

  @inline(__always)
  private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

  mutating func scanLiteral(_ literal: StaticString) throws {
    var index = 0
    while index < literal.utf8CodeUnitCount {
      guard at + index < end else { throw JSONError(.unexpectedEnd, at: end) }
      guard byte(at + index) == literal.utf8Start[index] else {
        throw JSONError(.unexpectedCharacter, at: at + index, byte: byte(at + index))
      }
      index += 1
    }
    at += index
  }
}
