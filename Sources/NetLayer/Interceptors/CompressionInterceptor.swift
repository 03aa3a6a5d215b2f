import PortableFoundation
import Streams

/// An interceptor that compresses request bodies with gzip (RFC 9110 §8.4), for servers that decompress them.
///
/// Bodies below `minSize`, bodies that compression does not shorten, files, streams and multipart forms with files are
/// sent unchanged, and so is every body without zlib at run time. A request with a `Content-Encoding` is not changed.
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
