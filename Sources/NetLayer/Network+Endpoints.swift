import Foundation
import Streams

extension Network {
  /// Calls `endpoint` and gives its answer, whatever the status: `validated()`, `common()` and `map(_:at:)` look at it.
  public func request(_ endpoint: some Endpoint) -> Single<Response> { send(Call(endpoint)) }

  /// Calls `endpoint` and makes a model of the whole body when the status is a success (article rows 2.15, 4.5).
  ///
  /// For the payload of an envelope, use `json(endpoint).data()`.
  public func request<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self
  ) -> Single<Model> {
    send(Call(endpoint), accept: "application/json").asObservable().map(type).asSingle()
  }

  /// Calls `endpoint` and gives the body's text when the status is a success.
  public func request(_ endpoint: some Endpoint, as type: String.Type) -> Single<String> {
    deliver(endpoint) { try $0.validated().text() }
  }

  /// Calls `endpoint` and gives the body's bytes when the status is a success.
  public func request(_ endpoint: some Endpoint, as type: Data.Type) -> Single<Data> {
    deliver(endpoint) { try $0.validated().body }
  }

  /// Calls `endpoint` and gives the body as JSON, envelope and all, when the status is a success.
  public func request(_ endpoint: some Endpoint, as type: JSON.Type) -> Single<JSON> {
    deliver(endpoint, accept: "application/json") { try $0.validated().json() }
  }

  /// Calls `endpoint` and succeeds when the status is a success, whatever the body.
  public func request(_ endpoint: some Endpoint, as type: Void.Type) -> Single<Void> {
    deliver(endpoint) { _ = try $0.validated() }
  }

  /// Calls `endpoint` for JSON in an envelope; emits it when status and code are a success.
  public func json(_ endpoint: some Endpoint) -> Observable<JSON> { json(Call(endpoint)) }

  private func deliver<Result: Sendable>(
    _ endpoint: some Endpoint, accept: String? = nil, _ transform: @escaping @Sendable (Response) throws -> Result
  ) -> Single<Result> {
    send(Call(endpoint), accept: accept).asObservable().delivering(transform).asSingle()
  }
}

extension Endpoint {
  /// Calls the endpoint on `network`, whatever the answer's status (article row 3.3).
  public func request(on network: Network = .default) -> Single<Response> { network.request(self) }
}
