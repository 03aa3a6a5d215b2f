import Foundation
import Streams

/// An endpoint that says what its answer is, so that no call site has to.
///
/// ```swift
/// struct UserDetail: TypedEndpoint {
///   typealias Response = User
///   let id: Int
///   var path: String { "/users/\(id)" }
/// }
/// network.request(UserDetail(id: 7)).subscribe(onSuccess: { user in … })
/// ```
/// `Response` may be any `Decodable`, which is made of the whole body, any `ResponseReadable`, or `Void`; another type does
/// not compile.
public protocol TypedEndpoint: Endpoint {
  /// What the answer is.
  associatedtype Response: Sendable
  /// Calls this endpoint; written by the package for the types above.
  func call(on network: Network, progress: ProgressHandler?) -> Single<Response>
}

extension TypedEndpoint where Response: Decodable {
  /// Makes a model of the whole body.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.request(self, as: Response.self, progress: progress)
  }
}

extension TypedEndpoint where Response: ResponseReadable {
  /// Lets the result read the answer.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.request(self, as: Response.self, progress: progress)
  }
}

extension TypedEndpoint where Response: ResponseReadable & Decodable {
  /// Lets the result read the answer.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.request(self, as: Response.self, progress: progress)
  }
}

extension TypedEndpoint where Response == Void {
  /// Succeeds when the status is a success.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.request(self, as: Void.self, progress: progress)
  }
}

extension TypedEndpoint {
  /// Calls the endpoint on `network`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    call(on: network, progress: progress)
  }
}

/// An endpoint with the type of its answer beside it, as `endpoint.as(_:)` makes it.
public struct TypedCall<Response: Sendable>: TypedEndpoint, CallWrapper {
  /// The endpoint.
  public let call: Call
  let start: @Sendable (Call, Network, ProgressHandler?) -> Single<Response>

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
  /// Calls the endpoint.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    start(call, network, progress)
  }
}

extension Endpoint {
  /// The same endpoint, whose answer is a model of the whole body.
  @_disfavoredOverload
  public func `as`<Model: Decodable & Sendable>(_ type: Model.Type = Model.self) -> TypedCall<Model> {
    TypedCall(call: Call(self)) { $1.request($0, as: Model.self, progress: $2) }
  }

  /// The same endpoint, whose answer is read by `Result`.
  public func `as`<Result: ResponseReadable>(_ type: Result.Type = Result.self) -> TypedCall<Result> {
    TypedCall(call: Call(self)) { $1.request($0, as: Result.self, progress: $2) }
  }
}
