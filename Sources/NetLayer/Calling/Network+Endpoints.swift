import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and emits the response if it is a success: its status, and the code if its body is an envelope.
  ///
  /// For a response of any status, use `response(_:)`.
  public func request(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Single<Response> {
    send(Call(endpoint), progress: progress).settled()
  }

  /// Calls `endpoint` and emits the response of any status; several, if an interceptor emits them, such as a cache that
  /// responds before the network.
  ///
  /// Check them with `validated()`, `common()` or `map(_:at:)`.
  public func response(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Observable<Response> {
    responses(Call(endpoint), progress: progress)
  }

  /// Calls `endpoint` and emits its typed result.
  @inlinable
  public func request<E: TypedEndpoint>(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Response> {
    send(Call(endpoint), accept: endpoint.accept, progress: progress)
      .delivering { try endpoint.read(try $0.validated()) }
  }

  /// Calls `endpoint` and decodes a model from the payload: the whole body, or the member of the backend's envelope
  /// whose code is a success.
  @_disfavoredOverload
  @inlinable
  public func request<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    request(typed: endpoint.as(type) as TypedCall<Model>, progress: progress)
  }

  /// Calls `endpoint` and emits text (`String`), bytes (`Data`), `JSON` or another `ResponseReadable` if the status is
  /// a success.
  @inlinable
  public func request<Result: ResponseReadable>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    request(typed: endpoint.as(type) as TypedCall<Result>, progress: progress)
  }

  /// Calls `endpoint` and succeeds if its status is a success, and the code if its body is an envelope.
  public func request(
    _ endpoint: some Endpoint, as type: Void.Type, progress: ProgressHandler? = nil
  ) -> Single<Void> {
    request(typed: endpoint.as(type), progress: progress)
  }

  /// The same as `request` of a typed endpoint. `Call.init` would need a cast to find the call.
  @inlinable
  func request<Result>(typed: TypedCall<Result>, progress: ProgressHandler?) -> Single<Result> {
    send(typed.call, accept: typed.accept, progress: progress)
      .delivering { [reader = typed.reader] in try reader(try $0.validated()) }
  }

  /// Unavailable: the result must be `Decodable` and `Sendable`, or `ResponseReadable`.
  @available(
    *, unavailable, message: "the result must be Decodable and Sendable: struct User: Decodable, Sendable { … }"
  )
  @_disfavoredOverload
  public func request<Result>(
    _ endpoint: some Endpoint, as type: Result.Type, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    fatalError("unavailable")
  }

  /// Calls `endpoint` and emits its JSON in an envelope if status and code mean success.
  public func json(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Observable<JSON> {
    checkedJSON(Call(endpoint), progress: progress)
  }

  /// Calls `endpoint` and emits its progress, then the result.
  public func transfer<E: TypedEndpoint>(_ endpoint: E) -> Observable<Transfer<E.Response>> {
    Transfer.stream { self.request(endpoint, progress: $0) }
  }

  /// Calls `endpoint` and emits its progress, then the response if it is a success.
  public func transfer(_ endpoint: some Endpoint) -> Observable<Transfer<Response>> {
    Transfer.stream { self.request(endpoint, progress: $0) }
  }
}

extension Endpoint {
  /// Calls the endpoint on `network` and emits the response if it is a success.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

extension ObservableType where Element: Endpoint {
  /// Calls each endpoint on `network` immediately and emits the responses in the order of their arrival. The first error
  /// ends the stream.
  public func request(on network: Network = .default) -> Observable<Response> {
    flatMap { network.request($0) as Single<Response> }
  }
}

extension ObservableType where Element: TypedEndpoint {
  /// Calls each endpoint on `network` immediately and emits the results in the order of their arrival.
  @inlinable
  public func request(on network: Network = .default) -> Observable<Element.Response> {
    flatMap { network.request($0) as Single<Element.Response> }
  }
}
