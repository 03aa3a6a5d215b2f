/// A model that contains its own envelope and decides whether it is a failure.
///
/// ```swift
/// struct BaseResp<Payload: Decodable & Sendable>: BaseResponse {
///   var code: Int
///   var msg: String?
///   var data: Payload?
///   func makeCustomError() -> (any Error)? { code == 0 ? nil : Refused(code: code, words: msg) }
/// }
/// ```
/// Wherever the package decodes such a model, it checks the model for an error before delivering it.
public protocol BaseResponse: Decodable, Sendable {
  /// The type of the payload.
  associatedtype DataSource
  /// The payload, if there is one.
  var data: DataSource { get }
  /// Returns the error if this response is a failure, else `nil`.
  ///
  /// A `NetworkError` reaches the caller unchanged. Any other error becomes the underlying error of a `rejected` error.
  func makeCustomError() -> (any Error)?
}
