import PortableFoundation

extension JSON {
  /// Creates the JSON of a model, as a call with `json:` sends it.
  ///
  /// ```swift
  /// let patch: JSON = ["op": "replace", "value": try JSON(encoding: address)]
  /// ```
  /// - Throws: `NetworkError` of kind `encoding`.
  public init(
    encoding value: some Encodable & Sendable, with encoder: JSONParameterEncoder = JSONParameterEncoder()
  ) throws(NetworkError) {
    do {
      self = try JSON(parsing: encoder.line(of: value))
    } catch {
      throw NetworkError.wrapping(error)
    }
  }
}
