/// Puts parameters into a request.
///
/// `URLParameterEncoder` (`.url`, `.query`, `.form`) and `JSONParameterEncoder` (`.json`) come with the package.
public protocol ParameterEncoder: Sendable {
  /// Adds `parameters` to the URL or the body of `request`, with the `Content-Type` that belongs to a body unless one is
  /// set already.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, or `EncodingError`; nothing is sent then.
  func encode(_ parameters: Parameters, into request: inout Request) throws
}

extension ParameterEncoder where Self == URLParameterEncoder {
  /// `name=value` pairs: in the URL for GET, HEAD, DELETE and TRACE, else in the body.
  public static var url: URLParameterEncoder { URLParameterEncoder() }
  /// `name=value` pairs in the URL, whatever the method.
  public static var query: URLParameterEncoder { URLParameterEncoder(destination: .query) }
  /// `name=value` pairs in the body, whatever the method.
  public static var form: URLParameterEncoder { URLParameterEncoder(destination: .body) }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
  /// A JSON body, whatever the method, as the backend's `encoder` writes it.
  public static var json: JSONParameterEncoder { .backends }
}
