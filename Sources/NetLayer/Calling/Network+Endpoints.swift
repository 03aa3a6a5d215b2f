import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and gives its answer, whatever the status: `validated()`, `common()` and `map(_:at:)` look at it.
  public func request(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Single<Response> {
    send(Call(endpoint), progress: progress)
  }

  /// Calls `endpoint` and gives the result whose type it names.
  public func request<E: TypedEndpoint>(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Response> {
    deliver(Call(endpoint), accept: endpoint.accept, progress: progress) { try endpoint.read($0) }
  }

  /// Calls `endpoint` and makes a model of the whole body when the status is a success (article rows 1.5, 2.15, 4.5).
  ///
  /// For the payload of an envelope, use `json(endpoint).data()`.
  @_disfavoredOverload
  public func request<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    request(endpoint.as(type) as TypedCall<Model>, progress: progress)
  }

  /// Calls `endpoint` and gives text (`String`), bytes (`Data`), `JSON`, or what else reads a response, when the status is
  /// a success (article row 1.5).
  public func request<Result: ResponseReadable>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    request(endpoint.as(type) as TypedCall<Result>, progress: progress)
  }

  /// Calls `endpoint` and succeeds when the status is a success, whatever the body.
  public func request(
    _ endpoint: some Endpoint, as type: Void.Type, progress: ProgressHandler? = nil
  ) -> Single<Void> {
    request(endpoint.as(type), progress: progress)
  }

  /// There is no such call: a result is a model (`Decodable` and `Sendable`), or reads the response itself.
  @available(
    *, unavailable, message: "the result must be Decodable and Sendable: struct User: Decodable, Sendable { … }"
  )
  @_disfavoredOverload
  public func request<Result>(
    _ endpoint: some Endpoint, as type: Result.Type, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    fatalError("unavailable")
  }

  /// Calls `endpoint` for JSON in an envelope; emits it when status and code are a success.
  public func json(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Observable<JSON> {
    responses(Call(endpoint), accept: "application/json", progress: progress).common(nil)
  }

  /// Calls `endpoint`; emits how far it is, and at last the result (article row 1.8).
  public func transfer<E: TypedEndpoint>(_ endpoint: E) -> Observable<Transfer<E.Response>> {
    Transfer.stream { self.request(endpoint, progress: $0) }
  }

  /// Calls `endpoint`; emits how far it is, and at last the answer, whatever its status (article row 1.8).
  public func transfer(_ endpoint: some Endpoint) -> Observable<Transfer<Response>> {
    Transfer.stream { self.request(endpoint, progress: $0) }
  }

  func deliver<Result: Sendable>(
    _ call: Call, accept: String? = nil, progress: ProgressHandler? = nil,
    _ read: @escaping @Sendable (Response) throws -> Result
  ) -> Single<Result> {
    send(call, accept: accept, progress: progress).asObservable().delivering { try read(try $0.validated()) }.asSingle()
  }
}

extension Endpoint {
  /// Calls the endpoint on `network`, whatever the answer's status (article row 3.3).
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

extension ObservableType where Element: Endpoint {
  /// Calls each endpoint as it comes, on `network`, and emits the answers, whatever their status, as they come
  /// (article row 3.17). The first error ends the whole.
  public func request(on network: Network = .default) -> Observable<Response> {
    flatMap { network.request($0) as Single<Response> }
  }
}

extension ObservableType where Element: TypedEndpoint {
  /// Calls each endpoint as it comes, on `network`, and emits the results as they come (article row 3.17).
  public func request(on network: Network = .default) -> Observable<Element.Response> {
    flatMap { network.request($0) as Single<Element.Response> }
  }
}
