/// An encoder that adds parameters to a request.
///
/// The package provides `URLParameterEncoder` (`.url`, `.query`, `.form`) and `JSONParameterEncoder` (`.json`).
public protocol ParameterEncoder: Sendable {
  /// Adds `parameters` to the URL or the body of `request`. A body also sets its `Content-Type`, unless the request has
  /// one.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, or `EncodingError`. The request is then not sent.
  func encode(_ parameters: Parameters, into request: inout Request) throws
}

extension ParameterEncoder where Self == URLParameterEncoder {
  /// An encoder of `name=value` pairs, in the URL for GET, HEAD, DELETE and TRACE, else in the body. Like `query` and
  /// `form`, it has the settings of the backend's `queryEncoding`.
  public static var url: URLParameterEncoder { .backends() }
  /// An encoder of `name=value` pairs in the URL, for any method.
  public static var query: URLParameterEncoder { .backends(.query) }
  /// An encoder of `name=value` pairs in the body, for any method.
  public static var form: URLParameterEncoder { .backends(.body) }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
  /// An encoder that writes a JSON body, for any method, with the settings of the backend's `encoder`.
  public static var json: JSONParameterEncoder { .backends }
}
