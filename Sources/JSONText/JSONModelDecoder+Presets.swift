import PortableFoundation

extension JSONModelDecoder {
  /// A decoder for `snake_case` keys and ISO 8601 dates, which most web frameworks produce.
  public static let snakeCaseISO8601 = JSONModelDecoder { decoder in
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601WithOrWithoutFractions
  }

  /// A decoder for `snake_case` keys.
  public static let snakeCase = JSONModelDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }

  /// A decoder for ISO 8601 dates, with or without fractional seconds.
  public static let iso8601 = JSONModelDecoder { $0.dateDecodingStrategy = .iso8601WithOrWithoutFractions }
}

extension JSONDecoder.DateDecodingStrategy {
  /// A strategy for ISO 8601 dates, such as `2019-12-28T01:02:03Z` and `2019-12-28T01:02:03.456+08:00`.
  ///
  /// Any other text, including 30 February, throws a `DecodingError` with its coding path.
  public static let iso8601WithOrWithoutFractions = custom { decoder in
    if let own = decoder as? JSONValueDecoder { return try own.session.iso8601(own.place) }
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    if let date = Date(iso8601: text) { return date }
    throw DecodingError.dataCorruptedError(
      in: container, debugDescription: "\(text.debugDescription) is not an ISO 8601 date")
  }
}

// Allows `.snakeCase` where any decoder is accepted.
extension ModelDecoder where Self == JSONModelDecoder {
  /// The decoder `JSONModelDecoder.default`.
  public static var `default`: JSONModelDecoder { JSONModelDecoder.default }
  /// The decoder `JSONModelDecoder.snakeCaseISO8601`.
  public static var snakeCaseISO8601: JSONModelDecoder { JSONModelDecoder.snakeCaseISO8601 }
  /// The decoder `JSONModelDecoder.snakeCase`.
  public static var snakeCase: JSONModelDecoder { JSONModelDecoder.snakeCase }
  /// The decoder `JSONModelDecoder.iso8601`.
  public static var iso8601: JSONModelDecoder { JSONModelDecoder.iso8601 }
}
