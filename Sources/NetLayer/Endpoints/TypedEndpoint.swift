import PortableFoundation
import Streams

/// An endpoint that declares the type of its result, so that call sites don't have to.
///
/// ```swift
/// struct UserDetail: TypedEndpoint {
///   typealias Response = User
///   let id: Int
///   var path: String { "/users/\(id)" }
/// }
/// let user = try await network.fetch(UserDetail(id: 7))
/// ```
/// `Response` may be any `Decodable`, decoded from the payload, any `ResponseReadable`, or `Void`. For other types,
/// the endpoint must implement `read(_:)`.
public protocol TypedEndpoint: Endpoint {
  /// The type of the result.
  associatedtype Response: Sendable
  /// The type of an error response's body, for `error.body(of:)`; `Never` by default.
  associatedtype Failure: Decodable & Sendable = Never
  /// The `Accept` field to send unless the request has one; by default the result type's.
  var accept: String? { get }
  /// Reads the result from `response`, whose status is a success. The package implements this for the types above.
  ///
  /// - Throws: A `NetworkError`, usually of kind `parse`. Any other error becomes the underlying error of kind `other`.
  func read(_ response: HTTPTransport.Response) throws -> Response
}

extension TypedEndpoint {
  /// No `Accept` field.
  public var accept: String? { nil }
}

extension TypedEndpoint where Response: Decodable {
  /// The media type of JSON.
  public var accept: String? { "application/json" }
  /// Decodes a model from the payload, if the code of its envelope is a success.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try response.payload(Response.self) }
}

extension TypedEndpoint where Response: ResponseReadable {
  /// The `Accept` field of the result's type.
  public var accept: String? { Response.accept }
  /// Reads the response as the result's type.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try Response.read(response) }
}

extension TypedEndpoint where Response: ResponseReadable & Decodable {
  /// The `Accept` field of the result's type.
  public var accept: String? { Response.accept }
  /// Reads the response as the result's type.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try Response.read(response) }
}

extension TypedEndpoint where Response == Void {
  /// Succeeds, unless the body is an envelope whose code reports a failure.
  public func read(_ response: HTTPTransport.Response) throws { _ = try response.settled() }
}

extension TypedEndpoint {
  /// Calls the endpoint on `network`.
  @inlinable
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

/// An endpoint with the type of its result, returned by `endpoint.as(_:)`.
public struct TypedCall<Response: Sendable>: TypedEndpoint, CallWrapper {
  /// The endpoint.
  public let call: Call
  /// The `Accept` field of the result's type.
  public let accept: String?
  @usableFromInline let reader: @Sendable (HTTPTransport.Response) throws -> Response

  /// The base URL of the call.
  public var baseURL: URL? { call.baseURL }
  /// The path of the call.
  public var path: String { call.path }
  /// The method of the call.
  public var method: HTTPMethod { call.method }
  /// The content of the call.
  public var task: HTTPTask { call.task }
  /// The header fields of the call.
  public var headers: HTTPHeaders { call.headers }
  /// The cache options of the call.
  public var caching: CacheOptions { call.caching }
  /// Reads the response as the result's type.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try reader(response) }
}

extension Endpoint {
  /// Returns the same endpoint with a model of the payload as its result.
  @_disfavoredOverload
  public func `as`<Model: Decodable & Sendable>(_ type: Model.Type = Model.self) -> TypedCall<Model> {
    TypedCall(call: Call(self), accept: "application/json") { try $0.payload(type) }
  }

  /// Returns the same endpoint with `Result` as the type of its result.
  public func `as`<Result: ResponseReadable>(_ type: Result.Type = Result.self) -> TypedCall<Result> {
    TypedCall(call: Call(self), accept: Result.accept) { try Result.read($0) }
  }

  /// Returns the same endpoint without a result: the call only succeeds or fails.
  public func `as`(_ type: Void.Type) -> TypedCall<Void> {
    TypedCall(call: Call(self), accept: nil) { _ = try $0.settled() }
  }
}
