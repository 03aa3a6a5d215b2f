import PortableFoundation

/// The description of a call: its URL, method, content and headers.
///
/// Use an enum with a case per call, or any other value. Only `path` is required:
///
/// ```swift
/// enum UserAPI: Endpoint {
///   case detail(id: Int)
///   var path: String { "/user/detail.do" }
///   var task: HTTPTask { switch self { case .detail(let id): .parameters(["userid": id]) } }
/// }
/// ```
/// The package reads each property once, when it creates a call. ``Call`` is an endpoint for calls that need no type of
/// their own.
public protocol Endpoint: Sendable {
  /// The URL that `path` is relative to; `nil`, the default, for the backend's base URL.
  var baseURL: URL? { get }
  /// The path, joined to the base URL with exactly one slash, or an absolute URL.
  ///
  /// Use `urlEscaped` for components from user input. Anything after a `?` is added to the query. A path that contains
  /// `..`, `#` or a control character is an error of kind `invalidRequest`.
  var path: String { get }
  /// The method; `GET` by default.
  var method: HTTPMethod { get }
  /// The content to send; nothing by default.
  var task: HTTPTask { get }
  /// The header fields, which take precedence over the backend's; empty by default.
  var headers: HTTPHeaders { get }
  /// The cache options; by default the options of the backend's `CacheInterceptor`.
  var caching: CacheOptions { get }
}

extension Endpoint {
  /// The backend's base URL.
  public var baseURL: URL? { nil }
  /// `GET`, the method of most calls.
  public var method: HTTPMethod { .get }
  /// No content.
  public var task: HTTPTask { .plain }
  /// No header fields.
  public var headers: HTTPHeaders { [:] }
  /// The options of the backend's `CacheInterceptor`.
  public var caching: CacheOptions { CacheOptions() }
}
