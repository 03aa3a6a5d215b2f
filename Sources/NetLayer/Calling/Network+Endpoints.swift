import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and emits its result: the type that the endpoint declares, else the response.
  ///
  /// A status outside 200 to 299 is an error, and so is an envelope whose code reports a failure. For a response of any
  /// status, use `responses(_:)`.
  @inlinable
  public func request<E: Endpoint>(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Output> {
    response(to: CallContent(endpoint), accept: endpoint.accept, progress: progress)
      .delivering { try endpoint.read(try $0.validated()) }
  }

  /// The same for a response, which is delivered on the `mapping` scheduler, because mapping usually follows.
  public func request<E: Endpoint>(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<Response>
  where E.Output == Response {
    response(to: CallContent(endpoint), accept: endpoint.accept, progress: progress).read { try endpoint.read($0) }
  }

  /// Calls `endpoint` and emits its progress, then its result.
  ///
  /// - Returns: The events, in order. The result is the last one; a call that fails has none. Progress arrives on the
  ///   backend's `mapping` scheduler, the result where that of `request` does.
  public func transfer<E: Endpoint>(_ endpoint: E) -> Observable<TransferEvent<E.Output>> {
    .create { [self] observer in
      request(endpoint, progress: { observer.onNext(.progress($0)) }).asObservable().map { .result($0) }
        .subscribe(observer)
    }
  }

  /// Calls `endpoint` and emits the response of any status; several, if an interceptor emits them, such as a cache that
  /// responds before the network.
  ///
  /// Check them with `validated()`, `common()` or `map(_:at:)`.
  public func responses(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Observable<Response> {
    responses(CallContent(endpoint), accept: endpoint.accept, progress: progress)
  }

  /// Calls `endpoint` and decodes a model from the payload: the whole body, or the member of the backend's envelope
  /// whose code is a success.
  @_disfavoredOverload
  @inlinable
  public func request<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    request(typed: endpoint.as(type) as Call<Model>, progress: progress)
  }

  /// Calls `endpoint` and emits text (`String`), bytes (`Data`), `JSON` or another `ResponseReadable` if the status is
  /// a success.
  @inlinable
  public func request<Result: ResponseReadable>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    request(typed: endpoint.as(type) as Call<Result>, progress: progress)
  }

  /// The same as `request` of an endpoint. `CallContent.init` would need a cast to find the content.
  @inlinable
  func request<Result>(typed: Call<Result>, progress: ProgressHandler?) -> Single<Result> {
    response(to: typed.content, accept: typed.accept, progress: progress)
      .delivering { [reader = typed.reader] in try reader(try $0.validated()) }
  }

  /// Unavailable: the result must be `Decodable` and `Sendable`, or `ResponseReadable`.
  @available(
    *, unavailable,
    message:
      "a stream's result must be Decodable and Sendable: struct User: Decodable, Sendable { … }; for the response itself, call responses(x)"
  )
  @_disfavoredOverload
  public func request<Result>(
    _ endpoint: some Endpoint, as type: Result.Type, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    fatalError("unavailable")
  }

  /// Calls `endpoint` and emits its JSON in an envelope if status and code mean success.
  public func json(_ endpoint: some Endpoint, progress: ProgressHandler? = nil) -> Observable<JSON> {
    responses(CallContent(endpoint), accept: "application/json", progress: progress).common()
  }
}
