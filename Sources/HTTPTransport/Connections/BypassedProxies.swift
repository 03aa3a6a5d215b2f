import PortableFoundation

// Bug: libcurl ignores a proxy whose user or password contains a control character, so that requests go directly
// to the server.
// Issue: none known. Versions: all up to 8.14.
// Hook: `ProxyOptions.failure`.
// Test: `CurlConnectionTests.test_aProxyWhoseUserHasAControlCharacterIsNeverBypassed`.
// Delete this file when every supported version rejects such a proxy.

extension ProxyOptions {
  /// Returns an error for a user or password with a control character.
  static func credentialsFailure(_ url: String, _ place: String) -> NetworkError? {
    guard let authority = url.firstRange(of: "://").map({ url[$0.upperBound...] }) ?? url[...].nonEmpty else {
      return nil
    }
    let end = authority.firstIndex { "/?#".contains($0) } ?? authority.endIndex
    guard let at = authority[..<end].lastIndex(of: "@") else { return nil }
    var bytes = authority[..<at].utf8[...]
    while let byte = bytes.popFirst() {
      var value = byte
      if byte == 0x25, bytes.count >= 2, let code = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16) {
        value = code
        bytes = bytes.dropFirst(2)
      }
      guard value < 0x20 || value == 0x7f else { continue }
      return NetworkError(
        kind: .invalidRequest,
        reason:
          "the user or password of the proxy in \(place) contains the control character "
          + "0x\(String(value, radix: 16)), which would make libcurl bypass the proxy; remove it")
    }
    return nil
  }
}

extension Substring {
  fileprivate var nonEmpty: Substring? { isEmpty ? nil : self }
}
