import PortableFoundation

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
