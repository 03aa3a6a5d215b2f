import PortableFoundation

/// The product tokens of `User-Agent` (RFC 9110 §10.1.5).
package enum UserAgent {
  /// The default: the program, this package, and the system, such as `Shop NetLayer/0.1 (Linux)`. Some servers, such as
  /// GitHub's, reject requests without the field.
  package static let standard = [token(program), "NetLayer/0.1", "(\(system))"].compactMap(\.self).joined(
    separator: " ")

  private static let program = ProcessInfo.processInfo.processName

  /// The kernel's name: `Linux` or `Darwin`.
  private static var system: String {
    var info = utsname()
    guard uname(&info) == 0 else { return "unknown" }
    return withUnsafeBytes(of: info.sysname) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Returns `text` as a token (RFC 9110 §5.6.2), without the characters that a token does not allow; `nil` if none is
  /// left.
  static func token(_ text: String) -> String? {
    let allowed = text.unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789-._".unicodeScalars.contains($0))
    }
    return allowed.isEmpty ? nil : String(String.UnicodeScalarView(allowed.prefix(64)))
  }

  static func failure(of value: String?) -> NetworkError? {
    guard let value, value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return nil }
    return NetworkError(
      kind: .invalidRequest,
      reason:
        "the userAgent \(value.debugDescription) contains a control character; remove it, or pass nil for no field")
  }
}
