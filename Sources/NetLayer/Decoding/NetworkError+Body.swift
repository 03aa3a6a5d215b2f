import PortableFoundation

extension NetworkError {
  /// The status of the response, if one arrived.
  public var status: Int? { response?.status }

  /// Decodes the body of the error response with the backend's decoder, for the API's own description of its errors.
  ///
  /// - Throws: This error itself if no response arrived, else a `NetworkError` of kind `parse`.
  public func body<Model: NonisolatedDecodable>(
    as type: Model.Type = Model.self
  ) throws(NetworkError) -> sending Model {
    guard let response else { throw self }
    return try response.decode(type)
  }

  /// Decodes the body of the error response as the `Failure` type of `endpoint`.
  ///
  /// - Throws: The errors of `body(as:)`.
  public func body<E: Endpoint>(of endpoint: E.Type) throws(NetworkError) -> E.Failure {
    try body(as: E.Failure.self)
  }
}
