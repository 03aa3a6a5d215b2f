import PortableFoundation
import Streams

// The same calls for `await`, which run through the same streams.
extension Network {
  /// Calls `endpoint` and decodes a model from the payload: the whole body, or the member of the backend's envelope whose
  /// code is a success.
  ///
  /// ```swift
  /// let user: User = try await github.fetch(.get("/users/octocat"))
  /// let repo = try await github.fetch(.post("/user/repos", json: NewRepo(name: "x")), as: Repo.self)
  /// ```
  /// The model need not be `Sendable`. Cancelling the task cancels the request. The task decodes the response on its own
  /// executor, so `delivery` is not used. Without interceptors, a signer, invalidated tags and `progress`, `mapping` is not
  /// used either, and the transport's thread resumes the task: a custom executor must not run a job within `enqueue`.
  /// `progress` is called on `mapping`.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @_disfavoredOverload
  public func fetch<Model: NonisolatedDecodable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> sending Model {
    let response = try await receive(responses(to: endpoint, "application/json", progress))
    return try result(of: response) { try $0.payload(type) }
  }

  /// Calls `endpoint` and returns text (`String`), bytes (`Data`), `JSON` or another `ResponseReadable` if the status
  /// is a success.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  public func fetch<Result: ResponseReadable>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Result {
    let response = try await receive(responses(to: endpoint, Result.accept, progress))
    return try result(of: response) { try Result.read($0) }
  }

  /// Calls `endpoint` and returns its result: the type that the endpoint declares, else the response. Use it also for
  /// calls without a response body.
  ///
  /// A status outside 200 to 299 is an error, and so is an envelope whose code reports a failure. For a response of any
  /// status, use `response(_:)`.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func fetch<E: Endpoint>(
    _ endpoint: E, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> E.Output {
    let response = try await receive(responses(to: endpoint, endpoint.accept, progress))
    return try result(of: response) { try endpoint.read($0) }
  }

  /// Calls `endpoint` and returns the response of any status; the last one, if an interceptor emits several.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  public func response(
    _ endpoint: some Endpoint, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Response {
    try await receive(responses(to: endpoint, endpoint.accept, progress))
  }

  /// Unavailable: the result must be `Decodable` or `ResponseReadable`.
  @available(
    *, unavailable,
    message: "the result must be Decodable: struct User: Decodable { … }; for the response itself, call response(x)"
  )
  @_disfavoredOverload
  public func fetch<Result>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Result {
    fatalError("unavailable")
  }

  /// Synchronous, so that the frame of the waiting task does not contain the call.
  private func responses<E: Endpoint>(
    to endpoint: E, _ accept: String?, _ progress: ProgressHandler?
  ) -> Single<Response> {
    awaitedResponse(to: CallContent(endpoint), accept: accept, progress: progress)
  }

  private func receive(_ response: Single<Response>) async throws(NetworkError) -> Response {
    do { return try await response.value } catch { throw reported(error) }
  }

  /// Synchronous, so that the frame of the waiting task contains no error, which is large.
  @inline(never)
  private func reported(_ error: any Error) -> NetworkError {
    if let error = error as? NetworkError { return reading.report(error) }
    return awaitError(error)
  }

  /// Returns the element of `single`, or throws the error that an awaiting task expects.
  package func awaited<Element: Sendable>(_ single: Single<Element>) async throws(NetworkError) -> Element {
    do { return try await single.value } catch { throw awaitError(error) }
  }

  /// Returns the result of `transfer`, or throws the error that an awaiting task expects. Passes each progress on.
  package func awaited<Model: Sendable>(
    _ transfer: Observable<TransferEvent<Model>>, _ progress: ProgressHandler?
  ) async throws(NetworkError) -> Model {
    try await awaited(
      transfer.do(onNext: { event in event.progress.map { progress?($0) } }).compactMap { $0.result }.asSingle())
  }

  /// Returns the error that an awaiting task throws for `error`.
  private func awaitError(_ error: any Error) -> NetworkError {
    error is CancellationError
      ? reading.error(.cancelled, "the task that waited for the call was cancelled") : NetworkError.wrapping(error)
  }

  /// Returns what `read` returns for `response` if its status is 200 to 299; reports an error.
  private func result<Result>(
    of response: Response, _ read: (Response) throws -> Result
  ) throws(NetworkError) -> Result {
    do {
      return try reading.timed(response.request) { try read(try response.validated()) }
    } catch {
      response.cached?.refuse(error)
      throw reading.report(error, from: response)
    }
  }
}
