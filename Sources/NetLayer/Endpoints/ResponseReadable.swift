import PortableFoundation

/// What a call can give besides models: the one protocol to conform to for a kind of one's own (article rows 1.5, 1.16).
///
/// ```swift
/// struct CSV: ResponseReadable {
///   var rows: [[Substring]]
///   static func read(_ response: Response) throws -> CSV {
///     CSV(rows: try response.text().split(separator: "\n").map { $0.split(separator: ",") })
///   }
/// }
/// ```
/// `String`, `Data`, `JSON`, `NoContent` and, on Apple's platforms, `DecodedImage` come with the package. A type that is
/// neither this nor `Decodable` does not compile as a result.
public protocol ResponseReadable: Sendable {
  /// The `Accept` field to send unless someone has set one; `nil`, the default, for none.
  static var accept: String? { get }
  /// The result that `response`, whose status is a success, stands for.
  ///
  /// Called on the back end's `mapping` scheduler.
  ///
  /// - Throws: a `NetworkError`, of kind `parse` as a rule; any other error becomes the underlying one of kind `other`.
  static func read(_ response: Response) throws -> Self
}

extension ResponseReadable {
  /// None.
  public static var accept: String? { nil }
}

extension String: ResponseReadable {
  /// The body as text, in the charset that the server declares, else UTF-8.
  public static func read(_ response: Response) throws -> String { try response.text() }
}

extension Data: ResponseReadable {
  /// The body as it came; of a download, the content of its file.
  public static func read(_ response: Response) throws -> Data {
    try response.file.map { try Data(contentsOf: $0, options: .mappedIfSafe) } ?? response.body
  }
}

extension JSON: ResponseReadable {
  /// `application/json`
  public static var accept: String? { "application/json" }
  /// The body as JSON, envelope and all.
  public static func read(_ response: Response) throws -> JSON { try response.json() }
}

/// The result of a call whose body does not matter.
public struct NoContent: ResponseReadable, Hashable {
  /// The one value there is.
  public init() {}
  /// Whatever the body.
  public static func read(_ response: Response) throws -> NoContent { NoContent() }
}
