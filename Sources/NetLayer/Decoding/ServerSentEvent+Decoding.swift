import PortableFoundation

extension ServerSentEvent {
  /// Decodes a model from the JSON `data`, with the decoder of the backend that received the event.
  ///
  /// An event that was created manually uses the decoder of `Network.default`.
  ///
  /// - Throws: `NetworkError` of kind `parse`.
  public func decode<Model: NonisolatedDecodable>(_ type: Model.Type = Model.self) throws(NetworkError) -> sending Model
  {
    do {
      guard let response else { return try JSON(received: Data(data.utf8)).model(type, at: nil) }
      return try response.model(type, ofPart: Data(data.utf8))
    } catch {
      throw NetworkError.wrapping(error)
    }
  }
}
