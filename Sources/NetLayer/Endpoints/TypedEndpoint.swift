import PortableFoundation
import Streams

/// An endpoint that says what its answer is, so that no call site has to.
///
/// ```swift
/// struct UserDetail: TypedEndpoint {
///   typealias Response = User
///   let id: Int
///   var path: String { "/users/\(id)" }
/// }
/// let user = try await network.fetch(UserDetail(id: 7))
/// ```
/// `Response` may be any `Decodable`, which is made of the whole body, any `ResponseReadable`, or `Void`; of another type, the
/// endpoint writes `read(_:)` itself.
public protocol TypedEndpoint: Endpoint {
  /// What the answer is.
  associatedtype Response: Sendable
  /// What the body of a failure is, for `error.body(of:)`; `Never`, the default, where nobody asks.
  associatedtype Failure: Decodable & Sendable = Never
  /// The `Accept` field to send unless someone has set one; that of the answer's type by default.
  var accept: String? { get }
  /// The result that `response`, whose status is a success, stands for; written by the package for the types above.
  ///
  /// - Throws: a `NetworkError`, of kind `parse` as a rule; any other error becomes the underlying one of kind `other`.
  func read(_ response: HTTPTransport.Response) throws -> Response
}

extension TypedEndpoint {
  /// None.
  public var accept: String? { nil }
}

extension TypedEndpoint where Response: Decodable {
  /// `application/json`
  public var accept: String? { "application/json" }
  /// Makes a model of the whole body.
  public func read(_ response: HTTPTransport.Response) throws -> Response {
    try response.model(Response.self, at: nil, failsOnEmptyData: true)
  }
}

extension TypedEndpoint where Response: ResponseReadable {
  /// What the result accepts.
  public var accept: String? { Response.accept }
  /// Lets the result read the answer.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try Response.read(response) }
}

extension TypedEndpoint where Response: ResponseReadable & Decodable {
  /// What the result accepts.
  public var accept: String? { Response.accept }
  /// Lets the result read the answer.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try Response.read(response) }
}

extension TypedEndpoint where Response == Void {
  /// Succeeds, whatever the body.
  public func read(_ response: HTTPTransport.Response) throws {}
}

extension TypedEndpoint {
  /// Calls the endpoint on `network`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

/// An endpoint with the type of its answer beside it, as `endpoint.as(_:)` makes it.
public struct TypedCall<Response: Sendable>: TypedEndpoint, CallWrapper {
  /// The endpoint.
  public let call: Call
  /// The `Accept` field that goes with the type.
  public let accept: String?
  let reader: @Sendable (HTTPTransport.Response) throws -> Response

  /// The call's.
  public var baseURL: URL? { call.baseURL }
  /// The call's.
  public var path: String { call.path }
  /// The call's.
  public var method: HTTPMethod { call.method }
  /// The call's.
  public var task: HTTPTask { call.task }
  /// The call's.
  public var headers: HTTPHeaders { call.headers }
  /// The call's.
  public var caching: CacheOptions { call.caching }
  /// Reads the answer as its type says.
  public func read(_ response: HTTPTransport.Response) throws -> Response { try reader(response) }
}

extension Endpoint {
  /// The same endpoint, whose answer is a model of the whole body.
  @_disfavoredOverload
  public func `as`<Model: Decodable & Sendable>(_ type: Model.Type = Model.self) -> TypedCall<Model> {
    TypedCall(call: Call(self), accept: "application/json") {
      try $0.model(type, at: nil, failsOnEmptyData: true)
    }
  }

  /// The same endpoint, whose answer is read by `Result`.
  public func `as`<Result: ResponseReadable>(_ type: Result.Type = Result.self) -> TypedCall<Result> {
    TypedCall(call: Call(self), accept: Result.accept) { try Result.read($0) }
  }

  /// The same endpoint, whose answer is that it has succeeded.
  public func `as`(_ type: Void.Type) -> TypedCall<Void> { TypedCall(call: Call(self), accept: nil) { _ in } }
}
