extension URL {
  /// Creates a URL, or a reference relative to `base`, from text. No other place makes URLs of texts that are not literals.
  ///
  /// Escapes (`%41`) stay. A byte that a URL can't contain, and a `%` without two hexadecimal digits, are percent-encoded,
  /// except in the host (RFC 3986 §2.1 and §3). Foundation alone would also escape
  /// each `%` of a component that contains such a byte.
  package init?(text: String, relativeTo base: URL? = nil) {
    self.init(string: URLText.escaped(text), relativeTo: base)
  }
}

/// The text of a URL or of a relative reference.
package enum URLText {
  /// Returns the text with the bytes escaped that a URL can't contain, except in its host.
  static func escaped(_ text: String) -> String {
    // Most texts need no escape. Contiguous bytes, because each URL of a call is read here.
    var whole = text
    if whole.withUTF8({ $0.allSatisfy(isPlain) }) { return text }
    let bytes = Array(text.utf8)
    let authority = authority(of: bytes)
    // Bytes, because appending to a string takes several times as long.
    var result: [UInt8] = []
    result.reserveCapacity(3 * bytes.count)
    result += bytes[..<authority.lowerBound]
    let host = bytes[authority].lastIndex(of: UInt8(ascii: "@")) ?? authority.lowerBound
    append(bytes[authority.lowerBound..<host], to: &result, isUser: true)
    result += bytes[host..<authority.upperBound]
    let fragment = bytes[authority.upperBound...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
    append(bytes[authority.upperBound..<fragment], to: &result)
    guard fragment < bytes.endIndex else { return String(decoding: result, as: UTF8.self) }
    result.append(UInt8(ascii: "#"))
    append(bytes[(fragment + 1)...], to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  /// The index behind the scheme and its colon; the start without a scheme (RFC 3986 §3.1).
  package static func endOfScheme(_ bytes: some Collection<UInt8>) -> Int {
    guard let first = bytes.first, isLetter(first) else { return 0 }
    let scheme = bytes.prefix { isLetter($0) || $0.isDigit || "+-.".utf8.contains($0) }
    return bytes.dropFirst(scheme.count).first == UInt8(ascii: ":") ? scheme.count + 1 : 0
  }

  private static func authority(of bytes: [UInt8]) -> Range<Int> {
    let start = endOfScheme(bytes)
    guard bytes[start...].starts(with: "//".utf8) else { return start..<start }
    return start + 2..<(bytes[(start + 2)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex)
  }

  private static func append(_ bytes: ArraySlice<UInt8>, to result: inout [UInt8], isUser: Bool = false) {
    for (index, byte) in zip(bytes.indices, bytes) {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.endIndex && isHexadecimal(bytes[index + 1])
        && isHexadecimal(bytes[index + 2])
      if isEscape || isPlain(byte) && !(isUser && byte == UInt8(ascii: "@")) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool { byte.isDigit || (0x61...0x66).contains(byte | 0x20) }

  /// Returns whether a byte may occur in a query, and so in a path and a fragment, too (RFC 3986 §3.3 to §3.5).
  private static func isPlain(_ byte: UInt8) -> Bool {
    if byte.isUnreserved { return true }
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "!"),
      UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
      return true
    default:
      return false
    }
  }
}
