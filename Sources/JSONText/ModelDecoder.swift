import PortableFoundation

/// Turns JSON into models; the one place to put another parser (article rows 1.16, 3.6).
///
/// ``JSONModelDecoder`` is the default. Foundation's `JSONDecoder` is one, too: `Backend(…, decoder: JSONDecoder())`,
/// `.map(User.self, decoder: JSONDecoder())`.
public protocol ModelDecoder: Sendable {
  /// A model made of `json`.
  ///
  /// Called on a thread that may have as little as 512 KB of stack, never on the main thread. `json` is valid and at
  /// most ``JSON/maximumDepth`` levels deep. The decoders here decode a value of more than 32 levels on a thread of its
  /// own, where models see no task-local values.
  ///
  /// - Throws: `DecodingError`, from which the error's coding path is taken, or any other error.
  func decode<Model: Decodable>(_ type: Model.Type, from json: JSON) throws -> Model
}

extension JSONDecoder: ModelDecoder {
  /// Parses the value's own bytes, a second time, and decodes them as Foundation does.
  public func decode<Model: Decodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    try LargeStack.run(depth: json.depthBound) { try decode(type, from: json.data) }
  }
}

extension JSON {
  /// A model made of this value.
  ///
  /// - Throws: what the decoder throws; `DecodingError` by default, also where there is no value.
  public func decode<Model: Decodable>(
    _ type: Model.Type = Model.self, using decoder: any ModelDecoder = JSONModelDecoder.default
  ) throws -> Model {
    guard exists else {
      throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: "There is no value to decode."))
    }
    return try decoder.decode(type, from: self)
  }
}
