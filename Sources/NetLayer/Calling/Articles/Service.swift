import Streams

/// A client of one endpoint type, for streams: `network.request` of its cases.
///
/// ```swift
/// let service = Service<MovieAPI>(network)
/// service.request(.newMovies(page: 1), as: MovieAPIResponse.self)
/// ```
public struct Service<E: Endpoint>: Sendable {
  /// The network that the service calls.
  public let network: Network

  /// Creates a service on `network`.
  public init(_ network: Network = .default) { self.network = network }

  /// Calls `endpoint` and emits its result.
  @inlinable
  public func request(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Output> {
    network.request(endpoint, progress: progress)
  }

  /// Calls `endpoint` and decodes a model from the payload.
  @inlinable
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    network.request(endpoint, as: type, progress: progress)
  }

  /// Calls `endpoint` and emits its JSON in an envelope if status and code mean success.
  public func json(_ endpoint: E) -> Observable<JSON> { network.json(endpoint) }
}
