import PortableFoundation

/// The size from which a body is compressed after it is signed; `nil` for no compression.
enum CompressionMinSize: ContextKey { static var defaultValue: Int? { nil } }

extension Request {
  /// Returns the request with its body in the gzip format, if that has at least `minSize` bytes and becomes shorter.
  func compressed(from minSize: Int) -> Request {
    guard case .data(let plain) = body, plain.count >= Swift.max(1, minSize),
      headers.values(of: "Content-Encoding").isEmpty, let short = Gzip.compress(plain), short.count < plain.count
    else { return self }
    var copy = self
    copy.body = .data(short)
    copy.headers["Content-Encoding"] = "gzip"
    // A length that the caller has stated is that of the plain body.
    copy.headers["Content-Length"] = nil
    return copy
  }
}
