/// A scanner for secrets in any text by their names: a URL, a form of either kind, JSON, a header field, or a sentence
/// that quotes one of these.
struct SecretScanner {
  private let bytes: [UInt8]
  private let redaction: Redaction
  /// The remaining values of secret parts of a multipart body, the next one last.
  private var parts: [Range<Int>]
  private var at = 0
  private var result: [UInt8] = []

  init(_ text: String, redaction: Redaction) {
    bytes = Array(text.utf8)
    self.redaction = redaction
    parts = MultipartSecrets(bytes, redaction: redaction).ranges().reversed()
    result.reserveCapacity(bytes.count)
  }

  mutating func redacted() -> String {
    while at < bytes.count {
      if let part = parts.last, at >= part.lowerBound {
        parts.removeLast()
        if at < part.upperBound {
          result += redaction.placeholder.utf8
          at = part.upperBound
        }
      } else if bytes[at] == UInt8(ascii: "\"") {
        quote()
      } else if Self.isName(bytes[at]) {
        word()
      } else if matches("://") {
        take(3)
        userInfo()
      } else if bytes[at] == UInt8(ascii: "%") {
        // The digits of an escape do not belong to a name.
        take(3)
      } else {
        take(1)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Processes a quote. If it starts the name of a secret member of an object, replaces the value of the member.
  private mutating func quote() {
    // In a debug description, each quote of JSON is escaped by a backslash.
    let isEscaped = at > 0 && bytes[at - 1] == UInt8(ascii: "\\")
    take(1)
    guard let end = bytes[at...].prefix(Self.longestName).firstIndex(of: UInt8(ascii: "\"")) else { return }
    var name = bytes[at..<end]
    if isEscaped, name.popLast() != UInt8(ascii: "\\") { return }
    // A URL may contain its own secrets.
    if name.contains(where: "=&?/".utf8.contains) { return }
    var colon = end + 1
    while colon < bytes.count, Self.isSpace(bytes[colon]) { colon += 1 }
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"), redaction.hides(String(decoding: name, as: UTF8.self))
    else { return }
    take(colon + 1 - at)
    while let byte = peek(0), Self.isSpace(byte) { take(1) }
    if !matches("null"), !matches("true"), !matches("false") { jsonValue(inDescription: isEscaped) }
  }

  /// Processes a name, and replaces the value after it if that is a secret.
  private mutating func word() {
    let start = at
    while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
    result += bytes[start..<at]
    guard redaction.hides(String(decoding: bytes[start..<at], as: UTF8.self)) else { return }
    if peek(0) == UInt8(ascii: ":"), peek(1) == UInt8(ascii: " ") {
      take(2)
      skip { $0 == 0x0A || $0 == 0x0D }
    } else if let equals = endOfParameterName() {
      take(equals + 1 - at)
      skip { byte in
        byte <= 0x20 || "&;\"'<>#),".utf8.contains(byte)
      }
    }
  }

  /// Returns the index of the `=` after the rest of a parameter's name, as in `user[token][a]=…`; `nil` if there is
  /// none.
  private func endOfParameterName() -> Int? {
    var end = at
    while end < bytes.count, end - at < Self.longestName {
      switch bytes[end] {
      case UInt8(ascii: "="): return end
      case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: "%"): end += 1
      case let byte where Self.isName(byte) && end > at: end += 1
      default: return nil
      }
    }
    return nil
  }

  private mutating func jsonValue(inDescription: Bool) {
    let escaped = peek(0) == UInt8(ascii: "\\") && peek(1) == UInt8(ascii: "\"")
    if escaped || peek(0) == UInt8(ascii: "\"") {
      if escaped { take(1) }
      take(1)
      result += redaction.placeholder.utf8
      while at < bytes.count {
        if escaped, matches("\\\\") {
          at += 4
        } else if escaped, matches("\\\"") {
          break
        } else if !escaped, bytes[at] == UInt8(ascii: "\\") {
          at += 2
        } else if !escaped, bytes[at] == UInt8(ascii: "\"") {
          break
        } else {
          at += 1
        }
      }
      at = min(at, bytes.count)
      if escaped, at < bytes.count { take(1) }
      if at < bytes.count { take(1) }
      return
    }
    // Replaces any other value, including whole objects and arrays, with a string, so that a recording remains valid
    // JSON.
    var depth = 0
    let quote = inDescription ? "\\\"" : "\""
    result += "\(quote)\(redaction.placeholder)\(quote)".utf8
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
      case UInt8(ascii: ","): if depth == 0 { return }
      case UInt8(ascii: "\""):
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
      default: break
      }
      at += 1
    }
  }

  /// Replaces `user:password` before the `@` of a URL.
  private mutating func userInfo() {
    var end = at
    while end < bytes.count, !"/?# \"'<>".utf8.contains(bytes[end]), bytes[end] > 0x20 { end += 1 }
    guard let mark = bytes[at..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
    result += redaction.placeholder.utf8
    at = mark
  }

  private mutating func skip(until isEnd: (UInt8) -> Bool) {
    let start = at
    while at < bytes.count, !isEnd(bytes[at]) { at += 1 }
    if at > start { result += redaction.placeholder.utf8 }
  }

  /// The maximum number of bytes in the name of a secret.
  private static let longestName = 256

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private mutating func take(_ count: Int) {
    let end = min(bytes.count, at + count)
    result += bytes[at..<end]
    at = end
  }

  private func peek(_ offset: Int) -> UInt8? { at + offset < bytes.count ? bytes[at + offset] : nil }

  private func matches(_ text: StaticString) -> Bool {
    guard at + text.utf8CodeUnitCount <= bytes.count else { return false }
    for index in 0..<text.utf8CodeUnitCount where bytes[at + index] != text.utf8Start[index] { return false }
    return true
  }

  static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
    default: false
    }
  }
}
