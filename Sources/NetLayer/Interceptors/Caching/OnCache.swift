import Streams

/// A call whose stored model goes to a closure of its own, as `endpoint.onCache` makes it.
public struct OnCache<Model: Decodable & Sendable>: Sendable {
  /// The endpoint, whose stored answer comes first.
  public let call: Call
  let path: String?
  let onCache: @Sendable (Model) -> Void

  /// Gives the stored model, if there is one that can be read, to the closure, and the server's as the result.
  ///
  /// - Returns: the server's model, on the backend's `delivery` scheduler, where the closure is called, too. Its failure is
  ///   an error even when there was a stored model. Fails with an error of kind `invalidRequest` where the network has no
  ///   `CacheInterceptor`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Model> {
    let (path, onCache) = (path, onCache)
    return call.request(on: network, progress: progress)
      .delivering { response in
        (
          model: try response.validated().model(Model.self, at: path, failsOnEmptyData: true),
          isLocal: response.origin.isCache
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
  /// The endpoint, whose stored model goes to `onCache` before the server's is the result of `request()`
  ///.
  ///
  /// ```swift
  /// GitHub.userProfile("InsectQY").onCache(User.self) { local in show(local) }.request()
  /// ```
  /// - Parameters:
  ///   - type: any `Decodable`.
  ///   - path: where in the body it stands, such as `data.user`; without it, the whole body.
  ///   - onCache: is called at most once, before the result.
  public func onCache<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, _ onCache: @escaping @Sendable (Model) -> Void
  ) -> OnCache<Model> {
    OnCache(call: cache, path: path, onCache: onCache)
  }
}
