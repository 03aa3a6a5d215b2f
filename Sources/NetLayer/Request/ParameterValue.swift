import Foundation

/// What parameters come down to before they are written out: the same tree for forms and for JSON.
enum ParameterValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// The text of a number, which is the same on every platform.
  case number(String)
  case string(String)
  case array([ParameterValue])
  /// Sorted by name.
  case object([Member])

  struct Member: Sendable, Equatable {
    var name: String
    var value: ParameterValue
  }
}

/// How a `Date` is written.
public enum DateEncoding: Sendable {
  /// As `Date` encodes itself: seconds since 1 January 2001.
  case deferred
  /// Seconds since 1970, with a fraction if there is one.
  case secondsSince1970
  /// Milliseconds since 1970, with a fraction if there is one.
  case millisecondsSince1970
  /// `2001-01-01T00:00:00Z`.
  case iso8601
  /// As the closure says.
  case custom(@Sendable (Date) throws -> String)
}

/// How `Data` is written.
public enum DataEncoding: Sendable {
  /// Base64 with padding (RFC 4648 §4).
  case base64
  /// As `Data` encodes itself: an array of numbers.
  case deferred
  /// As the closure says.
  case custom(@Sendable (Data) throws -> String)
}

/// How names are written, those of nested objects included.
public enum KeyEncoding: Sendable {
  /// As they are.
  case asIs
  /// `firstName` becomes `first_name`.
  case snakeCase
  /// `firstName` becomes `first-name`.
  case kebabCase
  /// As the closure says.
  case custom(@Sendable (String) -> String)

  func name(_ key: String) -> String {
    switch self {
    case .asIs: key
    case .snakeCase: separated(key, by: "_")
    case .kebabCase: separated(key, by: "-")
    case .custom(let convert): convert(key)
    }
  }

  /// Splits before a capital that follows a small letter or a digit, and before the last of several capitals that is
  /// followed by a small letter: `myURLPath` becomes `my_url_path`.
  private func separated(_ key: String, by separator: Character) -> String {
    let characters = Array(key)
    var result = ""
    for (index, character) in characters.enumerated() {
      if character.isUppercase, index > 0 {
        let before = characters[index - 1]
        let isLast = index + 1 < characters.count && characters[index + 1].isLowercase
        if before.isLowercase || before.isNumber || (before.isUppercase && isLast) { result.append(separator) }
      }
      result += character.lowercased()
    }
    return result
  }
}
