import PortableFoundation

/// A scanner that finds secrets by their names in any text: a URL, a form of either kind, JSON, XML, a header field, or
/// a sentence that quotes one of these. It takes time in proportion to the length of the text.
struct SecretScanner {
  private let text: DecodedText
  private let bytes: [UInt8]
  private let redaction: Redaction
  /// The remaining values of secret parts of a multipart body, in reverse order.
  private var parts: [Range<Int>]
  private var at = 0
  /// Whether the current line has an open quote.
  private var isQuoted = false
  /// The last `</`. Without one, a `<name>` is not an element.
  private lazy var lastClosingTag =
    isCut ? bytes.count : bytes.indices.dropLast().last { bytes[$0] == 0x3C && bytes[$0 + 1] == 0x2F }
  private var result: [UInt8] = []
  /// Whether the text is a URL, in which characters such as commas do not end a value.
  private let isURL: Bool
  /// Whether the text is the start of a longer one, so that the end of a secret may be missing.
  private let isCut: Bool

  init(_ raw: [UInt8], redaction: Redaction, isURL: Bool = false, isCut: Bool = false) {
    (self.isURL, self.isCut) = (isURL, isCut)
    text = DecodedText(raw)
    bytes = text.bytes
    self.redaction = redaction
    parts = MultipartSecrets(raw, redaction: redaction).ranges().reversed()
    result.reserveCapacity(raw.count)
  }

  mutating func redacted() -> [UInt8] {
    while at < bytes.count {
      if let part = parts.last, text.start(at) >= part.lowerBound {
        parts.removeLast()
        hide(to: index(from: at) { text.start($0) >= part.upperBound })
        continue
      }
      switch bytes[at] {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote()
      case UInt8(ascii: "<"): element()
      case UInt8(ascii: ":") where matches("://"): authority(3)
      // A reference without a scheme, and one that a server has misspelled.
      case UInt8(ascii: ":") where matches(":/"), UInt8(ascii: "/") where matches("//"): authority(2)
      case let byte where Self.isName(byte): word()
      default:
        if bytes[at] == 0x0A { isQuoted = false }
        take(1)
      }
    }
    return result
  }

  /// Processes a quote. If it starts the name of a secret member of an object, replaces the value of the member.
  private mutating func quote() {
    let (mark, width, wasQuoted) = (bytes[at], text.width(at), isQuoted)
    let before = at > 0 ? bytes[at - 1] : 0
    // In a debug description, each quote of JSON is escaped by a backslash.
    let isEscaped = before == UInt8(ascii: "\\")
    if mark == UInt8(ascii: "\""), width == 1, !isEscaped { isQuoted.toggle() }
    take(1)
    if mark == UInt8(ascii: "'"), Self.isName(before) { return }
    guard
      let end = bytes[at...].prefix(Self.longestName).indices.first(where: {
        bytes[$0] == mark && text.width($0) == width
      })
    else { return }
    var name = bytes[at..<end]
    if isEscaped, name.popLast() != UInt8(ascii: "\\") { return }
    // A URL may contain its own secrets.
    if name.contains(where: "=&?/".utf8.contains) { return }
    var next = index(from: end + 1) { !Self.isSpace(bytes[$0]) }
    guard next < bytes.count, bytes[next] == UInt8(ascii: ":") || bytes[next] == UInt8(ascii: "="), hides(name) else {
      return
    }
    next += 1
    if next < bytes.count, bytes[next - 1] == UInt8(ascii: "="), bytes[next] == UInt8(ascii: ">") { next += 1 }
    isQuoted = wasQuoted
    take(to: index(from: next) { !Self.isSpace(bytes[$0]) })
    if !matches("null"), !matches("true"), !matches("false") { memberValue(width, inDescription: isEscaped) }
  }

  /// Processes a name, and replaces the value after it if that is a secret.
  private mutating func word() {
    let start = at
    take(to: index(from: at) { !Self.isName(bytes[$0]) })
    guard hides(bytes[start..<at]) else { return }
    let next = index(from: at) { !Self.isBlank(bytes[$0]) }
    if next < bytes.count, bytes[next] == UInt8(ascii: ":") {
      field(startingAt: start, colon: next)
    } else if let equals = endOfParameterName(next) {
      let isSpaced = next > at
      take(to: equals + 1)
      if isSpaced { take(to: index(from: at) { !Self.isBlank(bytes[$0]) }) }
      if opensValue() { quotedValue() } else { hide(to: endOfParameter(text.width(equals))) }
    }
  }

  /// Replaces the value of a header field: the rest of the line, or of the string that contains it. Within a URL or an
  /// object, the value of `name:value` is only the next word.
  private mutating func field(startingAt start: Int, colon: Int) {
    let after = index(from: colon + 1) { !Self.isBlank(bytes[$0]) }
    let width = text.width(colon)
    let isField =
      after > colon + 1 || start == 0 || bytes[start - 1] <= 0x20 || Self.isQuote(bytes[start - 1])
    if after == colon + 1 {
      // The name of a host before its port, or a scheme.
      let digits = index(from: after) { !bytes[$0].isDigit }
      let isPort = (1...5).contains(digits - after) && (digits == bytes.count || !Self.isName(bytes[digits]))
      if isField && isPort || after < bytes.count && bytes[after] == UInt8(ascii: "/") { return }
    }
    take(to: after)
    guard isField else { return opensValue() ? quotedValue() : hide(to: endOfParameter(width)) }
    hide(
      to: index(from: at) {
        guard text.width($0) <= width else { return false }
        return bytes[$0] == 0x0A || bytes[$0] == 0x0D
          || isQuoted && bytes[$0] == UInt8(ascii: "\"") && bytes[$0 - 1] != UInt8(ascii: "\\")
      })
  }

  /// Returns the index of the `=` of a parameter: `next`, or the one after the rest of its name, as in
  /// `user[token][a]=…`; `nil` if there is none.
  private func endOfParameterName(_ next: Int) -> Int? {
    if next < bytes.count, bytes[next] == UInt8(ascii: "=") { return next }
    for end in bytes.indices[at...].prefix(Self.longestName) {
      switch bytes[end] {
      case UInt8(ascii: "="): return end
      case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."): continue
      case let byte where Self.isName(byte) && end > at: continue
      default: return nil
      }
    }
    return nil
  }

  /// Returns the end of a parameter's value. An encoded delimiter ends it only if its `=`, of `width` bytes, is encoded.
  private func endOfParameter(_ width: Int) -> Int {
    let ends = isURL ? "&#\"<>" : "&;\"'<>#),"
    return index(from: at) { text.width($0) <= width && (bytes[$0] <= 0x20 || ends.utf8.contains(bytes[$0])) }
  }

  /// Returns whether the next byte is a quote that starts a value. In `"http://h/?token="`, it ends the URL.
  private func opensValue() -> Bool {
    let mark = matches("\\\"") ? at + 1 : at
    guard mark + 1 < bytes.count, Self.isQuote(bytes[mark]) else { return false }
    return bytes[mark + 1] > 0x20 && !",:;.)}]>\"'\\".utf8.contains(bytes[mark + 1])
  }

  /// Replaces a string, but not its quotes.
  private mutating func quotedValue() {
    let isEscaped = matches("\\\"")
    if isEscaped { take(1) }
    let (mark, width) = (bytes[at], text.width(at))
    take(1)
    result += redaction.placeholder.utf8
    while at < bytes.count {
      if isEscaped, matches("\\\\") {
        at += 4
      } else if isEscaped, matches("\\\"") {
        break
      } else if !isEscaped, bytes[at] == UInt8(ascii: "\\") {
        at += 2
      } else if !isEscaped, bytes[at] == mark, text.width(at) <= width {
        break
      } else {
        at += 1
      }
    }
    at = min(at, bytes.count)
    take(isEscaped ? 2 : 1)
  }

  /// Replaces the value of a member whose quotes have `width` bytes.
  private mutating func memberValue(_ width: Int, inDescription: Bool) {
    if matches("\\\"") || at < bytes.count && Self.isQuote(bytes[at]) { return quotedValue() }
    // Replaces any other value, including whole objects and arrays, with a string, so that a recording remains valid
    // JSON.
    var depth = 0
    let quote = inDescription ? "\\\"" : "\""
    result += "\(quote)\(redaction.placeholder)\(quote)".utf8
    while at < bytes.count {
      switch bytes[at] {
      case _ where text.width(at) > width: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
      case UInt8(ascii: ","): if depth == 0 { return }
      case UInt8(ascii: "\""):
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") || text.width(at) > width {
          at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
      default: break
      }
      at += 1
    }
    at = min(at, bytes.count)
  }

  /// Processes a `<`. If it starts an XML element with a secret name, replaces its attributes and content.
  private mutating func element() {
    let width = text.width(at)
    take(1)
    let name = bytes[at...].prefix(Self.longestName).prefix { Self.isName($0) || $0 == 0x3A || $0 == 0x2E }
    guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ">") || Self.isSpace(bytes[name.endIndex]),
      hides(name.split(separator: 0x3A).last ?? []), lastClosingTag.map({ $0 > at }) == true,
      let end = bytes[name.endIndex...].prefix(Self.longestName).firstIndex(of: UInt8(ascii: ">")),
      bytes[end - 1] != UInt8(ascii: "/")
    else { return }
    take(name.count)
    at = end
    take(1)
    var depth = 1
    let close = index(from: at) { place in
      guard text.width(place) <= width, place + 1 < bytes.count else { return false }
      switch (bytes[place], bytes[place + 1]) {
      case (0x3C, 0x2F): depth -= 1
      case (0x3C, let next) where Self.isName(next): depth += 1
      case (0x2F, 0x3E) where depth > 1: depth -= 1
      default: break
      }
      return depth == 0
    }
    hide(to: close)
  }

  /// Replaces `user:password` before the `@` of a URL, and copies its host and port.
  private mutating func authority(_ start: Int) {
    let width = (at..<at + start).map(text.width).max() ?? 1
    take(start)
    let end = index(from: at) { text.width($0) <= width && (bytes[$0] <= 0x20 || "/?#\"'<>".utf8.contains(bytes[$0])) }
    // Its `@` may be missing.
    let isOpen = isCut && end == bytes.count
    if isOpen || end - at > Self.longestAuthority { return hide(to: end) }
    if let mark = (at..<end).last(where: { bytes[$0] == UInt8(ascii: "@") && text.width($0) <= width }) {
      hide(to: mark)
      take(1)
    }
    let host = index(from: at) { !Self.isName(bytes[$0]) && !":.[]".utf8.contains(bytes[$0]) }
    if host == bytes.count || bytes[host] != UInt8(ascii: "=") { take(to: host) }
  }

  private func hides(_ name: ArraySlice<UInt8>) -> Bool { redaction.hides(String(decoding: name, as: UTF8.self)) }

  /// Returns the first index from `start` on for which `isEnd` is true, or the end of the text.
  private func index(from start: Int, where isEnd: (Int) -> Bool) -> Int {
    var index = min(start, bytes.count)
    while index < bytes.count, !isEnd(index) { index += 1 }
    return index
  }

  /// Replaces the text up to `end`, unless it is empty.
  private mutating func hide(to end: Int) {
    if end > at { result += redaction.placeholder.utf8 }
    at = end
  }

  private mutating func take(_ count: Int) { take(to: min(bytes.count, at + count)) }

  private mutating func take(to end: Int) {
    result += text.raw(at..<end)
    at = end
  }

  private func matches(_ text: StaticString) -> Bool {
    guard at + text.utf8CodeUnitCount <= bytes.count else { return false }
    for index in 0..<text.utf8CodeUnitCount where bytes[at + index] != text.utf8Start[index] { return false }
    return true
  }

  /// The maximum number of bytes in the name of a secret.
  private static let longestName = 256
  /// The maximum number of bytes of a user, a password and a host. A longer one is hidden as a whole. Otherwise marks that
  /// are encoded ever more often would each be read to the end of the text.
  private static let longestAuthority = 4 << 10

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
  private static func isSpace(_ byte: UInt8) -> Bool { isBlank(byte) || byte == 0x0A || byte == 0x0D }
  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
    default: false
    }
  }
}
