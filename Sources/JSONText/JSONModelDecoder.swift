import PortableFoundation

/// The default decoder: makes models of a `JSON` without parsing it a second time.
///
/// It does what `JSONDecoder` does, several times as fast, and is set up with the same strategies. Where they differ, which
/// is where JSON is malformed or a number or date is out of range, `docs/decisions/0007-own-json-decoder.md` says how.
public struct JSONModelDecoder: ModelDecoder {
  /// Foundation's defaults: keys as they are, dates as seconds since 2001, data in base64.
  public static let `default` = JSONModelDecoder()

  private let options: DecodingOptions

  /// A decoder with the strategies and the `userInfo` that `configure` sets on a `JSONDecoder`.
  ///
  /// `allowsJSON5` and `assumesTopLevelDictionary` have no effect.
  public init(_ configure: (JSONDecoder) -> Void = { _ in }) {
    let model = JSONDecoder()
    configure(model)
    options = DecodingOptions(model)
  }

  /// Reads the value through the index that parsing it has left.
  ///
  /// Decoders and containers may be kept beyond this call; they keep the JSON. A value of more than 32 levels is decoded
  /// on a thread of its own, where models see no task-local values.
  public func decode<Model: Decodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    guard let position = json.position else {
      throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: "There is no value to decode."))
    }
    let session = DecodingSession(json.document, root: position, options: options)
    return try LargeStack.run(depth: json.depthBound) { () throws -> Model in
      try session.decode(type, at: DecodingPlace(position: position))
    }
  }
}

/// How values are to be read.
final class DecodingOptions: Sendable {
  let keys: JSONDecoder.KeyDecodingStrategy
  let dates: JSONDecoder.DateDecodingStrategy
  let data: JSONDecoder.DataDecodingStrategy
  let floats: JSONDecoder.NonConformingFloatDecodingStrategy
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Whether keys are converted.
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
