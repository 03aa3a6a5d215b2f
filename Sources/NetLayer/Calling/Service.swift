import Streams

/// Calls the endpoints of one kind (article rows 4.1, 4.4, 4.5).
///
/// ```swift
/// let service = Service<MovieAPI>(network)
/// service.request(.newMovies(page: 1), as: MovieAPIResponse.self)
/// ```
public struct Service<E: Endpoint>: Sendable {
  /// What it calls through.
  public let network: Network

  /// A service on `network`.
  public init(_ network: Network = .default) { self.network = network }

  /// Calls `endpoint` and gives its answer, whatever the status.
  public func request(_ endpoint: E) -> Single<Response> { network.request(endpoint) }

  /// Calls `endpoint` and gives the result whose type it names.
  public func request(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Response> where E: TypedEndpoint {
    network.request(endpoint, progress: progress)
  }

  /// Calls `endpoint` and makes a model of the whole body when the status is a success.
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    network.request(endpoint, as: type, progress: progress)
  }

  /// Calls `endpoint` for JSON in an envelope; emits it when status and code are a success.
  public func json(_ endpoint: E) -> Observable<JSON> { network.json(endpoint) }
}
