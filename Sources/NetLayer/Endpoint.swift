import Foundation

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
/// The properties are read on the thread that subscribes, once per request.
public protocol Endpoint: Sendable {
  /// The URL that `path` stands below; `nil`, the default, is the back end's.
  var baseURL: URL? { get }
  /// The path below the base URL, joined with exactly one slash; an absolute URL is taken as it is.
  ///
  /// Components from user input belong through `urlEscaped`. A path with `..`, `?`, `#` or a control character is an
  /// error of kind `invalidRequest`.
  var path: String { get }
  /// The method; `GET` by default.
  var method: HTTPMethod { get }
  /// What is sent along; nothing by default.
  var task: HTTPTask { get }
  /// Header fields over the back end's; none by default.
  var headers: HTTPHeaders { get }
  /// How the back end's cache is used; `nil`, the default, is as the back end's `CacheInterceptor` says.
  var cachePolicy: CachePolicy? { get }
  /// What the stored answer is known by, together with method and account; `nil`, the default, is the URL with its
  /// parameters in a stable order (article row 3.8).
  ///
  /// For URLs that differ where the answer does not, as with a time stamp or a signature in them. Without an `account` of the
  /// `CacheInterceptor`, parameters that `Redaction` hides as secrets still count, and so does a body in memory that has some.
  var cachedKey: String? { get }
  /// Whether the body is part of what the stored answer is known by; `false` by default.
  ///
  /// For reading calls that are sent as `POST`: without this or a `cachedKey`, only `GET` and `HEAD` without a body are
  /// ever cached. Takes a `cachePolicy` other than `http`.
  var cachesByBody: Bool { get }
  /// For how many seconds an answer may be kept at all; `nil`, the default, is until others need the room
  /// (article rows 3.7, 3.16).
  var expiry: Double? { get }
  /// Whether to keep an answer, besides the back end's own rule; `nil`, the default, leaves it to that
  /// (article row 3.16).
  var allowsStorage: (@Sendable (Response) -> Bool)? { get }
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
  public var cachePolicy: CachePolicy? { nil }
  /// The URL with its parameters.
  public var cachedKey: String? { nil }
  /// No.
  public var cachesByBody: Bool { false }
  /// None.
  public var expiry: Double? { nil }
  /// No rule of its own.
  public var allowsStorage: (@Sendable (Response) -> Bool)? { nil }
}
