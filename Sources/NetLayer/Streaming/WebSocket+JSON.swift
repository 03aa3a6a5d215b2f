import PortableFoundation
import Streams

extension WebSocket {
  /// Sends `value` as a JSON text, written by the backend's `encoder`; see `send(_:)` for messages.
  ///
  /// - Throws: `NetworkError`, of kind `encoding` if `value` can't be encoded.
  public func send(json value: some Encodable & Sendable) async throws(NetworkError) {
    try await send(response.reading.text(of: value))
  }

  /// Sends `value` as a JSON text at each subscription. It fails with an error of kind `encoding` if that is not
  /// possible.
  public func sending(json value: some Encodable & Sendable) -> Completable {
    let reading = response.reading
    return .deferred { [self] in sending(try reading.text(of: value)) }
  }

  /// Sends a JSON literal, which may mix types and nest; `nil` is null.
  ///
  /// - Throws: `NetworkError`.
  @_disfavoredOverload
  public func send(json literal: JSON) async throws(NetworkError) { try await send(literal.description) }

  /// Sends a JSON literal at each subscription; it may mix types and nest, and `nil` is null.
  @_disfavoredOverload
  public func sending(json literal: JSON) -> Completable { sending(literal.description) }

  /// The messages, each decoded from JSON by the backend's `decoder`. `String` and `Data` are the message itself. Apart from
  /// that, the same as `messages`.
  ///
  /// A message that can't be decoded ends the loop with an error of kind `parse`.
  public func messages<Model: Decodable & Sendable>(
    as type: Model.Type
  ) -> some AsyncSequence<Model, any Error> & Sendable {
    let response = response
    return messages.map { try response.reading.model(type, of: $0, response) }
  }
}

extension WebSocketSession {
  /// Sends `value` as a JSON text at each subscription. It fails with an error of kind `encoding` if that is not
  /// possible.
  public func sending(json value: some Encodable & Sendable) -> Completable {
    .deferred { [self] in sending(try reading.text(of: value)) }
  }

  /// Sends `value` as a JSON text, written by the backend's `encoder`; see `send(_:)` for messages.
  ///
  /// - Throws: `NetworkError`, of kind `encoding` if `value` can't be encoded.
  public func send(json value: some Encodable & Sendable) async throws(NetworkError) {
    try await sent(sending(json: value))
  }

  /// Sends a JSON literal, which may mix types and nest; `nil` is null.
  ///
  /// - Throws: `NetworkError`.
  @_disfavoredOverload
  public func send(json literal: JSON) async throws(NetworkError) { try await sent(sending(literal.description)) }

  /// Sends a JSON literal at each subscription; it may mix types and nest, and `nil` is null.
  @_disfavoredOverload
  public func sending(json literal: JSON) -> Completable { sending(literal.description) }

  /// Decodes each of `messages` from JSON with the backend's `decoder`. `String` and `Data` are the message itself.
  ///
  /// A message that can't be decoded ends this subscription with an error of kind `parse`, without a reconnection.
  public func messages<Model: Decodable & Sendable>(as type: Model.Type) -> Observable<Model> {
    messages.map { [reading] message in
      do {
        return try reading.model(type, of: message)
      } catch {
        throw reading.report(error)
      }
    }
  }
}

extension ResponseContext {
  fileprivate func text(of value: some Encodable & Sendable) throws(NetworkError) -> String {
    do {
      return try encoder.line(of: value)
    } catch {
      throw translated(NetworkError.wrapping(error))
    }
  }

  fileprivate func model<Model: NonisolatedDecodable>(
    _ type: Model.Type, of message: WebSocketMessage, _ response: Response? = nil
  ) throws -> Model {
    let text = { message.text ?? String(validating: message.data, as: UTF8.self) }
    if let content = plainContent(type, text: text, bytes: { message.data }) { return content }
    do {
      return try JSON(message.data, carrying: with(response: response)).model(type, at: nil)
    } catch let error as JSONError {
      throw self.error(.parse, "a message of the socket is not JSON: \(error)", response: response, underlying: error)
    }
  }
}
