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
/// An endpoint that declares its result, as `typealias Output = User`, is called without naming it again.
/// The package reads each property once, when it creates a call.
public protocol Endpoint<Output>: Sendable {
  /// The type of the result; by default the whole `Response`.
  ///
  /// It may be any `Decodable`, decoded from the payload, any `ResponseReadable`, or `Void`. For other types, the endpoint
  /// must implement `read(_:)`.
  associatedtype Output: Sendable = Response
  /// The type of an error response's body, for `error.body(of:)`; `Never` by default.
  associatedtype Failure: Decodable & Sendable = Never
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
  /// The parameters of the query, in addition to those of `path` and `task`, which they replace; empty by default.
  var query: Parameters { get }
  /// The header fields, which take precedence over the backend's; empty by default.
  var headers: HTTPHeaders { get }
  /// The time limit of the whole call, as in ``timeout(_:)``; `nil`, the default, for the backend's limits.
  var timeout: Duration? { get }
  /// The cache options; by default the options of the backend's `CacheInterceptor`.
  var caching: CacheOptions { get }
  /// The tags of the data that the endpoint returns; empty by default. ``Network/invalidate(_:)-(Set<CacheTag>)`` and
  /// writes refer to them.
  var tags: Set<CacheTag> { get }
  /// The tags of the data that the endpoint changes; empty by default. When the server may have applied a call, stored
  /// responses with one of these tags are removed, and what is watched is requested again.
  var invalidates: Set<CacheTag> { get }
  /// The `Accept` field to send unless the request has one; by default the result type's.
  var accept: String? { get }
  /// Reads the result from `response`, whose status is 200 to 299. The package implements this for the types above.
  ///
  /// - Throws: A `NetworkError`, usually of kind `parse`. Any other error becomes the underlying error of kind `other`.
  func read(_ response: Response) throws -> Output
}

extension Endpoint {
  /// The backend's base URL.
  public var baseURL: URL? { nil }
  /// `GET`, the method of most calls.
  public var method: HTTPMethod { .get }
  /// No content.
  public var task: HTTPTask { .none }
  /// No parameters.
  public var query: Parameters { Parameters() }
  /// No header fields.
  public var headers: HTTPHeaders { [:] }
  /// The backend's limits.
  public var timeout: Duration? { nil }
  /// The options of the backend's `CacheInterceptor`.
  public var caching: CacheOptions { CacheOptions() }
  /// No tags.
  public var tags: Set<CacheTag> { [] }
  /// No tags.
  public var invalidates: Set<CacheTag> { [] }
  /// No `Accept` field.
  public var accept: String? { nil }
}

extension Endpoint where Output == Response {
  /// Returns the response, unless its body is an envelope whose code reports a failure.
  public func read(_ response: Response) throws -> Output { try response.settled() }
}

extension Endpoint where Output == Void {
  /// Succeeds, unless the body is an envelope whose code reports a failure.
  public func read(_ response: Response) throws -> Output {
    _ = try response.settled()
    return ()
  }
}

extension Endpoint where Output: Decodable {
  /// The media type of JSON.
  public var accept: String? { "application/json" }
  /// Decodes a model from the payload, if the code of its envelope is a success.
  public func read(_ response: Response) throws -> Output { try response.payload(Output.self) }
}

extension Endpoint where Output: ResponseReadable {
  /// The `Accept` field of the result's type.
  public var accept: String? { Output.accept }
  /// Reads the response as the result's type.
  public func read(_ response: Response) throws -> Output { try Output.read(response) }
}

extension Endpoint where Output: ResponseReadable & Decodable {
  /// The `Accept` field of the result's type.
  public var accept: String? { Output.accept }
  /// Reads the response as the result's type.
  public func read(_ response: Response) throws -> Output { try Output.read(response) }
}

extension Endpoint {
  /// Returns the same endpoint with a model of the payload as its result.
  @_disfavoredOverload
  public func `as`<Model: Decodable & Sendable>(_ type: Model.Type = Model.self) -> Call<Model> {
    Call<Model>(content: CallContent(self), accept: "application/json", form: Model.self) { try $0.payload(type) }
  }

  /// Returns the same endpoint with `Result` as the type of its result.
  public func `as`<Result: ResponseReadable>(_ type: Result.Type = Result.self) -> Call<Result> {
    Call<Result>(content: CallContent(self), accept: Result.accept, form: Result.self) { try Result.read($0) }
  }

  /// Returns the same endpoint without a result: the call only succeeds or fails.
  public func `as`(_ type: Void.Type) -> Call<Void> {
    Call<Void>(content: CallContent(self), accept: nil, form: Void.self) { _ = try $0.settled() }
  }
}
