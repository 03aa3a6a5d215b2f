import PortableFoundation

extension JSON: Encodable {
  /// Encodes the same value: members in their order, integers exactly up to `UInt64`, other numbers as `Double` where its
  /// shortest text is the same number, else as `Decimal` where that is exact, else as the nearest `Double`.
  ///
  /// To the encoder, members are what the properties of a model are: a `keyEncodingStrategy` renames them.
  ///
  /// - Throws: `EncodingError` where there is no value, for a number that fits none of these types, and for a string with half of a
  ///   surrogate pair or bytes that are not UTF-8.
  public func encode(to encoder: any Encoder) throws {
    try LargeStack.run(depth: depthBound) { () throws -> Void in try encodeAll(to: encoder) }
  }

  private func encodeAll(to encoder: any Encoder) throws {
    switch kind {
    case .object:
      var container = encoder.container(keyedBy: JSONKey.self)
      for (key, value) in members ?? [] { try container.encode(value, forKey: JSONKey(key)) }
    case .array:
      var container = encoder.unkeyedContainer()
      for element in array ?? [] { try container.encode(element) }
    default:
      var container = encoder.singleValueContainer()
      try encodeScalar(into: &container)
    }
  }

  private func encodeScalar(into container: inout any SingleValueEncodingContainer) throws {
    if let bool {
      try container.encode(bool)
    } else if let string {
      try container.encode(string)
    } else if kind == .null {
      try container.encodeNil()
    } else if let integer = integer(Int64.self) {
      try container.encode(integer)
    } else if let integer = integer(UInt64.self) {
      try container.encode(integer)
    } else if let double, isExactly(double) {
      try container.encode(double)
    } else if let decimal {
      try container.encode(decimal)
    } else if let double {
      try container.encode(double)
    } else {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: container.codingPath,
          debugDescription: kind == .string
            ? "The string at byte \(offset) stands for no characters."
            : exists
              ? "Number \(description.prefix(64)) fits neither a UInt64, a Decimal nor a Double." : "There is no value."
        ))
    }
  }
}

extension JSON: Decodable {
  /// Takes any value.
  ///
  /// From ``JSONModelDecoder``, this is the value as it stands in the text, to the byte; it keeps the whole text. Other
  /// decoders show no text, so it is written anew, with exact integers up to `UInt64` and other numbers as `Decimal`, and
  /// with keys as the decoder gives them: a `keyDecodingStrategy` of a `JSONDecoder` renames them.
  ///
  /// - Throws: the decoder's errors; `DecodingError.dataCorrupted` beyond ``maximumDepth`` levels.
  public init(from decoder: any Decoder) throws {
    if let own = decoder as? JSONValueDecoder {
      self = own.session.json(own.place)
    } else {
      self.init(written: try Self.text(from: decoder, level: 0))
    }
  }

  private static func text(from decoder: any Decoder, level: Int) throws -> String {
    if let container = try? decoder.container(keyedBy: JSONKey.self) {
      try check(level, decoder)
      let members = try container.allKeys.map { key in
        "\(JSON.quoted(key.stringValue)):\(try text(from: container.superDecoder(forKey: key), level: level + 1))"
      }
      return "{" + members.joined(separator: ",") + "}"
    }
    if var container = try? decoder.unkeyedContainer() {
      try check(level, decoder)
      var elements: [String] = []
      while !container.isAtEnd { elements.append(try text(from: container.superDecoder(), level: level + 1)) }
      return "[" + elements.joined(separator: ",") + "]"
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() { return "null" }
    if let value = try? container.decode(Bool.self) { return value ? "true" : "false" }
    if let value = try? container.decode(String.self) { return JSON.quoted(value) }
    if let value = try? container.decode(Int64.self) { return String(value) }
    if let value = try? container.decode(UInt64.self) { return String(value) }
    if let value = try? container.decode(Decimal.self), !value.isNaN { return value.description }
    return try container.decode(Double.self).description
  }

  private static func check(_ level: Int, _ decoder: any Decoder) throws {
    guard level < maximumDepth else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "nested deeper than \(maximumDepth) levels"))
    }
  }
}
