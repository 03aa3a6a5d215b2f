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
    network.model(of: self, as: Response.self, progress: progress)
  }
}

extension TypedEndpoint where Response: ResponseReadable {
  /// Lets the result read the answer.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.reading(self, as: Response.self, progress: progress)
  }
}

extension TypedEndpoint where Response: ResponseReadable & Decodable {
  /// Lets the result read the answer.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    network.reading(self, as: Response.self, progress: progress)
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
public struct TypedCall<Base: Endpoint, Response: Sendable>: TypedEndpoint {
  /// The endpoint.
  public let base: Base
  let start: @Sendable (Base, Network, ProgressHandler?) -> Single<Response>

  /// The endpoint's.
  public var baseURL: URL? { base.baseURL }
  /// The endpoint's.
  public var path: String { base.path }
  /// The endpoint's.
  public var method: HTTPMethod { base.method }
  /// The endpoint's.
  public var task: HTTPTask { base.task }
  /// The endpoint's.
  public var headers: HTTPHeaders { base.headers }
  /// The endpoint's.
  public var cachePolicy: CachePolicy? { base.cachePolicy }
  /// The endpoint's.
  public var cachedKey: String? { base.cachedKey }
  /// The endpoint's.
  public var cachesByBody: Bool { base.cachesByBody }
  /// The endpoint's.
  public var expiry: Double? { base.expiry }
  /// The endpoint's.
  public var allowsStorage: (@Sendable (NetLayer.Response) -> Bool)? { base.allowsStorage }
  /// Calls the endpoint.
  public func call(on network: Network, progress: ProgressHandler?) -> Single<Response> {
    start(base, network, progress)
  }
}

extension Endpoint {
  /// The same endpoint, whose answer is a model of the whole body.
  @_disfavoredOverload
  public func `as`<Model: Decodable & Sendable>(_ type: Model.Type = Model.self) -> TypedCall<Self, Model> {
    TypedCall(base: self) { $1.model(of: $0, as: Model.self, progress: $2) }
  }

  /// The same endpoint, whose answer is read by `Result`.
  public func `as`<Result: ResponseReadable>(_ type: Result.Type = Result.self) -> TypedCall<Self, Result> {
    TypedCall(base: self) { $1.reading($0, as: Result.self, progress: $2) }
  }
}
