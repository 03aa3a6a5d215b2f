import PortableFoundation

extension JSON: Encodable {
  /// Encodes this value and keeps the order of members.
  ///
  /// Integers up to `UInt64` are encoded exactly. Other numbers are encoded as `Double` if its shortest text is the
  /// same number, otherwise as `Decimal` if that type is exact, otherwise as the nearest `Double`.
  ///
  /// The encoders of NetLayer send members with unchanged names. Foundation's treats them like properties of a model: a
  /// `keyEncodingStrategy` renames them.
  ///
  /// - Throws: `EncodingError` if an object has two members of one name. Also if there is no value, if a number fits none of these types, or if a string contains an
  ///   unpaired surrogate or invalid UTF-8.
  public func encode(to encoder: any Encoder) throws {
    try LargeStack.run(depth: depthBound) { () throws -> Void in try strict.encodeAll(to: encoder) }
  }

  private func encodeAll(to encoder: any Encoder) throws {
    switch kind {
    case .object:
      var container = encoder.container(keyedBy: JSONKey.self)
      let members = members ?? []
      // Only one of them would be sent.
      guard members.count == count else {
        throw EncodingError.invalidValue(
          self,
          .init(
            codingPath: container.codingPath,
            debugDescription: "The object at byte \(offset) has two members of one name; remove one."))
      }
      for member in members { try container.encode(member.value, forKey: JSONKey(member.key)) }
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
            ? "The string at byte \(offset) is not valid Unicode."
            : exists
              ? "Number \(description.prefix(64)) fits neither a UInt64, a Decimal nor a Double." : "There is no value."
        ))
    }
  }
}

extension JSON: Decodable {
  /// Decodes any value.
  ///
  /// ``JSONModelDecoder`` returns the value byte for byte; the result keeps the whole text in memory. Other decoders do
  /// not expose the text, so the value is serialized again: integers up to `UInt64` are exact, other numbers are
  /// `Decimal`, and a `keyDecodingStrategy` of `JSONDecoder` renames keys.
  ///
  /// - Throws: The errors of the decoder, or `DecodingError.dataCorrupted` beyond 512 levels.
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
    guard level < maxDepth else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "nested deeper than \(maxDepth) levels"))
    }
  }
}
