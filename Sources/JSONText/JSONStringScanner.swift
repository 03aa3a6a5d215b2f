/// A scanner for strings that are not plain ASCII: finds the end, escapes and invalid characters.
struct JSONStringScanner {
  let text: UnsafePointer<UInt8>
  let end: Int
  private(set) var hasEscapes = false
  /// The first unpaired surrogate or byte that is not UTF-8.
  ///
  /// The grammar allows both (RFC 8259 §8.2), and the end of the string is still unambiguous.
  private(set) var fault: JSONError?

  init(text: UnsafePointer<UInt8>, end: Int) {
    self.text = text
    self.end = end
  }

  /// Scans the rest of a string from the first byte that is not plain, up to one byte past its closing quote.
  ///
  /// - Throws: `JSONError` if the text is not JSON.
  mutating func scanRest(_ at: inout Int) throws {
    while true {
      let next = text[at]
      switch next {
      case UInt8(ascii: "\""):
        at += 1
        return
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try scanEscape(&at)
      case 0x80...:
        scanMultibyte(&at)
      default:
        // This is a control character, because nothing else ends a plain run, or the first zero after the text.
        throw at < end ? JSONError(.controlCharacter, at: at, byte: next) : JSONError(.unexpectedEnd, at: end)
      }
      at = JSONReader.plainEnd(text, from: at)
    }
  }

  private mutating func scanEscape(_ at: inout Int) throws {
    let start = at
    guard at + 1 < end else { throw JSONError(.unexpectedEnd, at: end) }
    switch text[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    case UInt8(ascii: "u"):
      let unit = try scanUnit(&at)
      guard unit & 0xF800 == 0xD800 else { return }
      if unit < 0xDC00, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u") {
        var second = at
        if try scanUnit(&second) & 0xFC00 == 0xDC00 {
          at = second
          return
        }
      }
      note(JSONError(.loneSurrogate, at: start))
    case let other:
      throw JSONError(.invalidEscape, at: start, byte: other)
    }
  }

  private func scanUnit(_ at: inout Int) throws -> UInt16 {
    guard at + 6 <= end else { throw JSONError(.unexpectedEnd, at: end) }
    guard let unit = JSONReader.unit(text, at: at + 2) else { throw JSONError(.invalidEscape, at: at) }
    at += 6
    return unit
  }

  /// Scans a sequence of non-ASCII characters (RFC 3629 §4).
  private mutating func scanMultibyte(_ at: inout Int) {
    while true {
      let first = text[at]
      var length = 0
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
      default: break
      }
      // The zeros after the text are not continuation bytes, so nothing is read beyond them.
      if length > 0, second.contains(text[at + 1]), length < 3 || text[at + 2] & 0xC0 == 0x80,
        length < 4 || text[at + 3] & 0xC0 == 0x80
      {
        at += length
      } else {
        note(JSONError(.invalidUTF8, at: at, byte: first))
        at += 1
      }
    }
  }

  private mutating func note(_ error: JSONError) { fault = fault ?? error }
}

extension JSONReader {
  /// Returns the error in an invalid string.
  func fault(_ word: JSONWord) -> JSONError? {
    guard word.kind == .badString else { return nil }
    var string = JSONStringScanner(text: text, end: word.end)
    var at = JSONReader.plainEnd(text, from: word.textStart)
    // The scanner has already accepted this string.
    try? string.scanRest(&at)
    return string.fault
  }
}
