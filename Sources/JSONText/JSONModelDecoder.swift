import PortableFoundation

/// The default decoder: creates models from a `JSON` value without parsing it again.
///
/// It supports the strategies of `JSONDecoder` and is several times faster. The results differ only for malformed JSON
/// and for numbers or dates out of range; `docs/decisions/0007-own-json-decoder.md` lists the differences.
public struct JSONModelDecoder: ModelDecoder {
  /// A decoder with Foundation's defaults: keys unchanged, dates as seconds since 2001, data in base64.
  public static let `default` = JSONModelDecoder()

  private let options: DecodingOptions

  /// Creates a decoder with the strategies and the `userInfo` that `configure` sets on a `JSONDecoder`.
  ///
  /// `allowsJSON5` and `assumesTopLevelDictionary` have no effect.
  public init(_ configure: (JSONDecoder) -> Void = { _ in }) {
    let model = JSONDecoder()
    configure(model)
    options = DecodingOptions(model)
  }

  /// Decodes a model from the index of a parsed value.
  ///
  /// Decoders and containers may outlive this call; they keep the JSON in memory. Values with more than 32 levels are
  /// decoded on a separate thread, without the task-local values of the caller.
  public func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    guard let position = json.position else {
      throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: "There is no value to decode."))
    }
    let session = DecodingSession(json.document, root: position, options: options)
    return try LargeStack.run(depth: json.depthBound) { () throws -> Model in
      try session.decode(type, at: DecodingPlace(position: position))
    }
  }
}

final class DecodingOptions: Sendable {
  let keys: JSONDecoder.KeyDecodingStrategy
  let dates: JSONDecoder.DateDecodingStrategy
  let data: JSONDecoder.DataDecodingStrategy
  let floats: JSONDecoder.NonConformingFloatDecodingStrategy
  // Safe: a constant, whose values are `Sendable` in newer Foundations; older versions declare them as `Any`.
  nonisolated(unsafe) let userInfo: [CodingUserInfoKey: Any]
  let convertsKeys: Bool

  init(_ model: JSONDecoder) {
    keys = model.keyDecodingStrategy
    dates = model.dateDecodingStrategy
    data = model.dataDecodingStrategy
    floats = model.nonConformingFloatDecodingStrategy
    userInfo = model.userInfo
    if case .useDefaultKeys = keys { convertsKeys = false } else { convertsKeys = true }
  }
}
