import PortableFoundation

/// A model that can be decoded on any thread: its conformance to `Decodable` is not isolated to an actor, such as the
/// main actor. JSON with more than 32 levels is decoded on a separate thread.
public typealias NonisolatedDecodable = Decodable & SendableMetatype

/// A type that decodes models from JSON; to use another parser, conform to this protocol.
///
/// ``JSONModelDecoder`` is the default. Foundation's `JSONDecoder` conforms, too: `Backend(…, decoder: JSONDecoder())`,
/// `.map(User.self, decoder: JSONDecoder())`.
public protocol ModelDecoder: Sendable {
  /// Decodes a model from `json`.
  ///
  /// This method is called on a thread that may have as little as 512 KB of stack, never on the main thread. `json` is
  /// valid and at most 512 levels deep. The decoders of this module decode values with more than 32
  /// levels on a separate thread, without the task-local values of the caller.
  ///
  /// - Throws: `DecodingError`, whose coding path the resulting error includes, or any other error.
  func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model
}

extension JSONDecoder: ModelDecoder {
  /// Decodes the value as Foundation does, parsing its bytes again.
  public func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    try LargeStack.run(depth: json.depthBound) { try decode(type, from: json.data) }
  }
}

extension JSON {
  /// Decodes a model from this value.
  ///
  /// - Throws: The errors of the decoder. The default decoder throws `DecodingError`, even if there is no value.
  public func decode<Model: NonisolatedDecodable>(
    _ type: Model.Type = Model.self, using decoder: any ModelDecoder = JSONModelDecoder.default
  ) throws -> Model {
    guard exists else {
      throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: "There is no value to decode."))
    }
    return try decoder.decode(type, from: self)
  }
}
