import PortableFoundation

extension JSONModelDecoder {
  /// For APIs in the style of most web frameworks: `snake_case` keys, ISO 8601 dates (article row 4.6).
  public static let snakeCaseISO8601 = JSONModelDecoder { decoder in
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601WithOrWithoutFractions
  }

  /// For `snake_case` keys.
  public static let snakeCase = JSONModelDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }

  /// For ISO 8601 dates, with fractions of seconds or without (article row 4.6).
  public static let iso8601 = JSONModelDecoder { $0.dateDecodingStrategy = .iso8601WithOrWithoutFractions }
}

extension JSONDecoder.DateDecodingStrategy {
  /// ISO 8601 dates, such as `2019-12-28T01:02:03Z` and `2019-12-28T01:02:03.456+08:00`.
  ///
  /// Anything else, the 30th of February included, is a `DecodingError` with its place (article 4, weakness 7: never "now").
  public static let iso8601WithOrWithoutFractions = custom { decoder in
    if let own = decoder as? JSONValueDecoder { return try own.session.iso8601(own.place) }
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    if let date = Date(iso8601: text) { return date }
    throw DecodingError.dataCorruptedError(
      in: container, debugDescription: "\(text.debugDescription) is no ISO 8601 date")
  }
}

// So that a place for any decoder takes `.snakeCase`.
extension ModelDecoder where Self == JSONModelDecoder {
  /// `JSONModelDecoder.default`.
  public static var `default`: JSONModelDecoder { JSONModelDecoder.default }
  /// `JSONModelDecoder.snakeCaseISO8601`.
  public static var snakeCaseISO8601: JSONModelDecoder { JSONModelDecoder.snakeCaseISO8601 }
  /// `JSONModelDecoder.snakeCase`.
  public static var snakeCase: JSONModelDecoder { JSONModelDecoder.snakeCase }
  /// `JSONModelDecoder.iso8601`.
  public static var iso8601: JSONModelDecoder { JSONModelDecoder.iso8601 }
}
