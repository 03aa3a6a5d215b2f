import PortableFoundation
import Streams

// The same calls for `await`: the streams stay the core, and nothing here has a way of its own.
extension Network {
  /// Calls `endpoint` and makes a model of the whole body when the status is a success.
  ///
  /// ```swift
  /// let user: User = try await github.fetch(.get("/users/octocat"))
  /// let repo = try await github.fetch(.post("/user/repos", json: NewRepo(name: "x")), as: Repo.self)
  /// ```
  /// Cancelling the task cancels the request. `progress` is called on the back end's `mapping` scheduler; `delivery` plays no
  /// part, as the awaiting task goes on where it belongs.
  ///
  /// - Throws: the call's `NetworkError`, of kind `cancelled` when the task is cancelled.
  @_disfavoredOverload
  public func fetch<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Model {
    try await fetch(endpoint.as(type) as TypedCall<Model>, progress: progress)
  }

  /// Calls `endpoint` and gives text (`String`), bytes (`Data`), `JSON`, or what else reads a response, when the status is a
  /// success.
  ///
  /// - Throws: the call's `NetworkError`, of kind `cancelled` when the task is cancelled.
  public func fetch<Result: ResponseReadable>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Result {
    try await fetch(endpoint.as(type) as TypedCall<Result>, progress: progress)
  }

  /// Calls `endpoint` and gives the result whose type it names.
  ///
  /// - Throws: the call's `NetworkError`, of kind `cancelled` when the task is cancelled.
  public func fetch<E: TypedEndpoint>(
    _ endpoint: E, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> E.Response {
    let response = try await answer(to: Call(endpoint), endpoint.accept, progress)
    return try reading(response) { try endpoint.read($0) }
  }

  /// Calls `endpoint` and gives the response when its status is a success; for calls without a body to read, too.
  ///
  /// ```swift
  /// try await github.fetch(.delete("/repos/octocat/x"))
  /// ```
  /// For a response of any status, there is `request(_:)`: `try await github.request(.get("/x")).value`.
  ///
  /// - Throws: the call's `NetworkError`, of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func fetch(
    _ endpoint: some Endpoint, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Response {
    try reading(try await answer(to: Call(endpoint), nil, progress)) { $0 }
  }

  /// Calls `endpoint` and succeeds when the status is a success, whatever the body.
  public func fetch(_ endpoint: some Endpoint, as type: Void.Type) async throws(NetworkError) {
    try await fetch(endpoint.as(type))
  }

  /// There is no such call: a result is a model (`Decodable` and `Sendable`), or reads the response itself.
  @available(
    *, unavailable, message: "the result must be Decodable and Sendable: struct User: Decodable, Sendable { … }"
  )
  @_disfavoredOverload
  public func fetch<Result>(
    _ endpoint: some Endpoint, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> Result {
    fatalError("unavailable")
  }

  private func answer(
    to call: Call, _ accept: String?, _ progress: ProgressHandler?
  ) async throws(NetworkError) -> Response {
    try await awaited(send(call, accept: accept, progress: progress))
  }

  /// The element of a call, as a task that waits for it sees it.
  func awaited<Element: Sendable>(_ single: Single<Element>) async throws(NetworkError) -> Element {
    do {
      return try await single.value
    } catch is CancellationError {
      throw reading.error(.cancelled, "the task that waited for the call was cancelled")
    } catch {
      throw NetworkError.wrapping(error)
    }
  }

  private func reading<Result>(
    _ response: Response, _ read: (Response) throws -> Result
  ) throws(NetworkError) -> Result {
    do {
      return try read(try response.validated())
    } catch {
      response.cached?.refuse(error)
      throw reading.report(error, from: response)
    }
  }
}
