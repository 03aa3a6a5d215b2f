import Streams

extension Endpoint {
  /// Calls the endpoint on `network`: `Network.request(_:)`.
  @inlinable
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Output> {
    network.request(self, progress: progress)
  }
}

extension Endpoint where Output == Response {
  /// Calls the endpoint on `network`: `Network.request(_:)`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

extension ObservableType where Element: Endpoint {
  /// Calls each endpoint as it arrives: `flatMap { network.request($0) }`.
  @inlinable
  public func request(on network: Network = .default) -> Observable<Element.Output> {
    flatMap { network.request($0) as Single<Element.Output> }
  }
}
