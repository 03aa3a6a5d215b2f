import Foundation

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
  /// Anything else is a `DecodingError` with its place (article 4, weakness 7: never "now").
  public static let iso8601WithOrWithoutFractions = custom { decoder in
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    // The styles leave alone what follows a date.
    if isISO8601Shaped(text) {
      for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
        if let date = try? style.parse(text) { return date }
      }
    }
    throw DecodingError.dataCorruptedError(
      in: container, debugDescription: "\(text.debugDescription) is no ISO 8601 date")
  }

  /// Whether `text` is a date, `T`, a time with or without a fraction, and `Z` or an offset, and nothing else.
  private static func isISO8601Shaped(_ text: String) -> Bool {
    var rest = Substring(text).utf8
    func take(_ shape: StaticString) -> Bool {
      let isShaped = shape.withUTF8Buffer { shape in
        rest.count >= shape.count
          && zip(rest, shape).allSatisfy { byte, mark in
            mark == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == mark
          }
      }
      if isShaped { rest = rest.dropFirst(shape.utf8CodeUnitCount) }
      return isShaped
    }
    guard take("0000-00-00T00:00:00") else { return false }
    if take(".") {
      guard take("0") else { return false }
      while take("0") {}
    }
    if !take("Z") {
      guard take("+") || take("-"), take("00:00") || take("0000") else { return false }
    }
    return rest.isEmpty
  }
}
