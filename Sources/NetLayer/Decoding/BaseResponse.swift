/// A model that is its own envelope and judges itself.
///
/// ```swift
/// struct BaseResp<Payload: Decodable & Sendable>: BaseResponse {
///   var code: Int
///   var msg: String?
///   var data: Payload?
///   func makeCustomError() -> (any Error)? { code == 0 ? nil : Refused(code: code, words: msg) }
/// }
/// ```
/// Wherever such a model is decoded, it is asked for its error before it is delivered.
public protocol BaseResponse: Decodable, Sendable {
  /// What it carries.
  associatedtype DataSource
  /// The payload, if there is one.
  var data: DataSource { get }
  /// Why this answer is a failure, or `nil`.
  ///
  /// A `NetworkError` reaches the caller as it is; any other becomes the underlying one of a `business` error.
  func makeCustomError() -> (any Error)?
}
