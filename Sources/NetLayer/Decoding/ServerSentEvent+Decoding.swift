import PortableFoundation

extension ServerSentEvent {
  /// Decodes a model from the JSON `data`, with the decoder of the backend that received the event. `String` and `Data` are
  /// the data itself.
  ///
  /// An event that was created manually uses the decoder of `Network.default`.
  ///
  /// - Throws: `NetworkError` of kind `parse`.
  public func decode<Model: NonisolatedDecodable>(_ type: Model.Type = Model.self) throws(NetworkError) -> sending Model
  {
    if let plain = plainContent(type, text: { data }, bytes: { Data(data.utf8) }) { return plain }
    do {
      guard var part = response else { return try JSON(received: Data(data.utf8)).model(type, at: nil) }
      part.body = Data(data.utf8)
      return try part.json().model(type, at: nil)
    } catch {
      throw NetworkError.wrapping(error)
    }
  }
}
