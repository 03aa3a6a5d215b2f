import PortableFoundation
import Streams

extension Endpoint {
  /// The endpoint with a policy by which `request()` emits the stored response, if there is one, then the server's.
  public var cache: Call<Output> { caching(.cacheThenNetwork()) }
}

extension Call {
  /// Calls the endpoint on `network` and emits every response of the cache policy that is a success. `Response.source`
  /// distinguishes them.
  ///
  /// A stored response that `map(_:at:)` or `common()` can't read is omitted if the server's response follows.
  ///
  /// - Returns: The responses. Fails with an error of kind `invalidRequest` if the call has a cache policy but the
  ///   network has no `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Observable<Response> {
    guard caching.policy == nil || network.cacheInterceptor != nil else { return .error(network.hasNoCache) }
    return network.responses(content, accept: accept, progress: progress).settled()
  }
}

/// A call that passes its stored model to a closure, returned by `endpoint.onCache`.
public struct OnCache<Model: Decodable & Sendable>: Sendable {
  /// The endpoint with the policy `cacheThenNetwork`.
  public let call: Call<Response>
  let path: String?
  let onCache: @Sendable (Model) -> Void

  /// Passes the stored model, if it can be decoded, to the closure, then emits the server's model.
  ///
  /// - Returns: The server's model, on the backend's `delivery` scheduler, which also runs the closure. A failure is
  ///   reported as an error, even after a stored model. Fails with an error of kind `invalidRequest` if the network has
  ///   no `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Model> {
    let (path, onCache) = (path, onCache)
    return call.request(on: network, progress: progress)
      .delivering { response in
        (
          model: try response.validated().model(Model.self, inBodyAt: path),
          isLocal: response.source.isCache
        )
      }
      .compactMap { model, isLocal -> Model? in
        guard isLocal else { return model }
        onCache(model)
        return nil
      }
      .asSingle()
  }
}

extension Endpoint {
  /// Returns a call that passes the stored model to `onCache` before `request()` emits the server's model.
  ///
  /// - Parameters:
  ///   - type: Any `Decodable`.
  ///   - path: The path of the model in the whole body, such as `data.user`; `nil` for the payload.
  ///   - onCache: A closure that is called at most once, before the result.
  public func onCache<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, _ onCache: @escaping @Sendable (Model) -> Void
  ) -> OnCache<Model> {
    OnCache(call: Call<Response>(CallContent(self)).cache, path: path, onCache: onCache)
  }
}
