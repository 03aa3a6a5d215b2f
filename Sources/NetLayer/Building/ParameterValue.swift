import PortableFoundation

/// What parameters come down to before they are written out: the same tree for forms and for JSON.
enum ParameterValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// The text of a number, which is the same on every platform.
  case number(String)
  case string(String)
  case array([ParameterValue])
  /// Sorted by name; two names may have become the same one when they were encoded.
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

/// How names are written, those of nested objects included, each by itself.
///
/// Names are compared before: of `fooBar` and `foo_bar` in snake case, a query has both, and JSON, where two members of one
/// name mean different things to different servers, is an error.
public enum KeyEncoding: Sendable {
  /// As they are.
  case asIs
  /// `firstName` becomes `first_name`, by the rules of `JSONEncoder.KeyEncodingStrategy.convertToSnakeCase`.
  case snakeCase
  /// `firstName` becomes `first-name`, by the same rules.
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

  /// The words of `key` in small letters, split as Foundation's `convertToSnakeCase` does, so that a server sees the names
  /// it saw before: a new word begins at a capital and, of several, at the last one before a small letter. The first
  /// character is a word's beginning whatever comes behind it: `myURLPath` becomes `my_url_path`, but `URL` `u_rl`.
  private func separated(_ key: String, by separator: String) -> String {
    guard !key.isEmpty else { return key }
    var words: [Substring] = []
    var start = key.startIndex
    var from = key.index(after: start)
    while let capital = key[from...].firstIndex(where: \.isUppercase) {
      words.append(key[start..<capital])
      start = capital
      let behind = key.index(after: capital)
      guard let small = key[behind...].firstIndex(where: \.isLowercase) else { break }
      if small != behind {
        start = key.index(before: small)
        words.append(key[capital..<start])
      }
      from = key.index(after: small)
    }
    words.append(key[start...])
    return words.map { $0.lowercased() }.joined(separator: separator)
  }
}
