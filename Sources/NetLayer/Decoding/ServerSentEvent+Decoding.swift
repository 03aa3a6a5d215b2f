import PortableFoundation

extension ServerSentEvent {
  /// Decodes a model from the JSON `data`, with the decoder of the backend that received the event.
  ///
  /// ```swift
  /// for try await event in network.events(.get("/changes")).values {
  ///   switch event.event {
  ///   case "price": show(try event.decode(Price.self))
  ///   case "news": show(try event.decode(Headline.self))
  ///   default: break
  ///   }
  /// }
  /// ```
  /// An event that was created manually uses the decoder of `Network.default`.
  ///
  /// - Throws: `NetworkError` of kind `parse`.
  public func decode<Model: NonisolatedDecodable>(_ type: Model.Type = Model.self) throws(NetworkError) -> Model {
    do {
      guard let response else { return try JSON(received: Data(data.utf8)).model(type, at: nil) }
      return try response.model(type, ofPart: Data(data.utf8))
    } catch {
      throw NetworkError.wrapping(error)
    }
  }
}
