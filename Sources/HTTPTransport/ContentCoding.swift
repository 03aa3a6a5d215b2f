/// A content coding that IANA has registered (RFC 9110 §8.4.1, §16.6). Servers put other names into the field, such as that
/// of a charset, of a media type or of an upload's format. Such a name says nothing about the body.
enum ContentCoding {
  case gzip, deflate, brotli, zstd
  /// A coding that no transport decodes.
  case other

  /// Creates the coding that `name` stands for; `nil` for `identity` and for names that are not registered.
  init?(_ name: some StringProtocol) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    case "br": self = .brotli
    case "zstd": self = .zstd
    case "compress", "x-compress", "aes128gcm", "exi", "pack200-gzip", "dcb", "dcz": self = .other
    default: return nil
    }
  }

  /// Returns the names in a `Content-Encoding` field, in the order of decoding. The field lists the coding that was applied
  /// last at its end (RFC 9110 §8.4).
  static func names(in field: String) -> [Substring] {
    field.split { ", \t".contains($0) }.reversed()
  }
}

extension Response {
  /// The `Content-Encoding` of a body that was not decoded: because no transport decodes the coding, or because the caller
  /// has set `Accept-Encoding`.
  package var remainingCoding: String? {
    guard let field = headers["Content-Encoding"] else { return nil }
    let isUnchanged = request.headers["Accept-Encoding"] != nil
    return ContentCoding.names(in: field).compactMap { ContentCoding($0) }.contains { isUnchanged || $0 == .other }
      ? field : nil
  }
}
