import PortableFoundation

extension NetworkError {
  /// The status of the response, if one arrived.
  public var status: Int? { response?.status }

  /// A model of the response's body: what the API says of its errors, read by the back end's decoder.
  ///
  /// ```swift
  /// do {
  ///   try await github.fetch(.post("/user/repos", json: repo))
  /// } catch {
  ///   guard error.status == 422 else { throw error }
  ///   show(try error.body(as: GitHubError.self).errors)
  /// }
  /// ```
  /// - Throws: this error itself, where no response arrived; else a `NetworkError` of kind `parse`.
  public func body<Model: Decodable>(as type: Model.Type = Model.self) throws(NetworkError) -> Model {
    guard let response else { throw self }
    return try response.decode(type)
  }

  /// The body as the failure that `endpoint` names.
  ///
  /// - Throws: as `body(as:)`.
  public func body<E: TypedEndpoint>(of endpoint: E.Type) throws(NetworkError) -> E.Failure {
    try body(as: E.Failure.self)
  }
}
