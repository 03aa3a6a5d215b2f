import PortableFoundation
import Streams

/// An interceptor that compresses request bodies with gzip (RFC 9110 §8.4), for servers that decompress them.
///
/// ```swift
/// Backend(baseURL: metricsURL, interceptors: [RetryInterceptor(), CompressionInterceptor()])
/// ```
/// A server that does not support it usually responds with status 415 or 400; there is no way to know before. Bodies below
/// `minSize`, bodies that compression does not shorten, files, streams and multipart forms with files are sent unchanged, and
/// so is every body without zlib at run time. A request with a `Content-Encoding` is not changed.
///
/// Place it last, so that the interceptors before it see the text. A signer sees the text, too.
public struct CompressionInterceptor: Interceptor {
  private let minSize: Int

  /// Creates an interceptor for bodies of at least `minSize` bytes. Shorter ones fit into one packet anyway.
  public init(minSize: Int = 1400) { self.minSize = minSize }

  /// Compresses the body of `request`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard request.context[Signing.self] == nil else {
      // A signature may add parameters to the body.
      var copy = request
      copy.context[CompressionMinSize.self] = minSize
      return next(copy)
    }
    return Observable.deferred { next(request.compressed(from: minSize)) }
  }
}

/// The size from which a body is compressed after it is signed; `nil` for no compression.
enum CompressionMinSize: ContextKey {
  static var defaultValue: Int? { nil }
}

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
