import PortableFoundation

/// The single description of a call: where, how and with what (article rows 2.1–2.3, 3.2, 4.2).
///
/// An enum with a case per call, or any value. Only `path` must be written:
///
/// ```swift
/// enum UserAPI: Endpoint {
///   case detail(id: Int)
///   var path: String { "/user/detail.do" }
///   var task: HTTPTask { switch self { case .detail(let id): .parameters(["userid": id]) } }
/// }
/// ```
/// The properties are read once, when a call is made of it. ``Call`` is an endpoint for calls that need no type of their own.
public protocol Endpoint: Sendable {
  /// The URL that `path` stands below; `nil`, the default, is the back end's.
  var baseURL: URL? { get }
  /// The path below the base URL, joined with exactly one slash; an absolute URL is taken as it is.
  ///
  /// Components from user input belong through `urlEscaped`. What stands behind a `?` joins the query. A path with `..`, `#`
  /// or a control character is an error of kind `invalidRequest`.
  var path: String { get }
  /// The method; `GET` by default.
  var method: HTTPMethod { get }
  /// What is sent along; nothing by default.
  var task: HTTPTask { get }
  /// Header fields over the back end's; none by default.
  var headers: HTTPHeaders { get }
  /// How the back end's cache is used; as its `CacheInterceptor` says by default (article rows 3.7 to 3.11).
  var caching: CacheOptions { get }
}

extension Endpoint {
  /// The back end's.
  public var baseURL: URL? { nil }
  /// `GET`, as most calls only read.
  public var method: HTTPMethod { .get }
  /// Nothing.
  public var task: HTTPTask { .plain }
  /// None.
  public var headers: HTTPHeaders { [:] }
  /// The back end's.
  public var caching: CacheOptions { CacheOptions() }
}
