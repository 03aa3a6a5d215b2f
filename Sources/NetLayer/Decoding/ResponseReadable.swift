import PortableFoundation

/// A type that a call can return in addition to models. Conform to it for a custom kind of result.
///
/// ```swift
/// struct CSV: ResponseReadable {
///   var rows: [[Substring]]
///   static func read(_ response: Response) throws -> CSV {
///     CSV(rows: try response.text().split(separator: "\n").map { $0.split(separator: ",") })
///   }
/// }
/// ```
/// The package provides `String`, `Data`, `JSON`, `NoContent` and, on Apple platforms, `DecodedImage`.
public protocol ResponseReadable: Sendable {
  /// The `Accept` field to send unless the request has one; `nil`, the default, for none.
  static var accept: String? { get }
  /// Reads a result from `response`, whose status is 200 to 299.
  ///
  /// Called on the backend's `mapping` scheduler, or in the task that awaits `fetch`.
  ///
  /// - Throws: A `NetworkError`, usually of kind `parse`. Any other error becomes the underlying error of kind `other`.
  static func read(_ response: Response) throws -> Self
}

extension ResponseReadable {
  /// No `Accept` field.
  public static var accept: String? { nil }
}

extension String: ResponseReadable {
  /// Returns the body as text, in the charset that the server declares or else UTF-8.
  public static func read(_ response: Response) throws -> String { try response.text() }
}

extension Data: ResponseReadable {
  /// Returns the body unchanged; for a download, the content of its file.
  public static func read(_ response: Response) throws -> Data {
    try response.file.map { try Data(contentsOf: $0, options: .mappedIfSafe) } ?? response.body
  }
}

extension JSON: ResponseReadable {
  /// The media type of JSON.
  public static var accept: String? { "application/json" }
  /// Returns the payload as JSON, if the code of its envelope is a success.
  public static func read(_ response: Response) throws -> JSON { try response.payload() }
}

extension Optional: ResponseReadable where Wrapped: ResponseReadable {
  /// The `Accept` field of the wrapped type.
  public static var accept: String? { Wrapped.accept }
  /// Returns `nil` for an empty body, as in a 204 response, and for JSON that is `null`.
  public static func read(_ response: Response) throws -> Wrapped? {
    guard !response.isEmpty else { return nil }
    let value = try Wrapped.read(response)
    return (value as? JSON)?.isNull == true ? nil : value
  }
}

/// The result of a call that has none: it only succeeds or fails.
///
/// It is `Decodable`, so that it can be the result of an endpoint that is generic over models.
public struct NoContent: ResponseReadable, Hashable, Decodable {
  /// Creates the only value of this type.
  public init() {}
  /// Reads nothing.
  public init(from decoder: any Decoder) {}
  /// Ignores the body, unless it is an envelope whose code reports a failure.
  public static func read(_ response: Response) throws -> NoContent {
    _ = try response.settled()
    return NoContent()
  }
}
