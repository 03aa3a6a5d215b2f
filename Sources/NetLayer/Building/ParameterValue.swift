import PortableFoundation

/// The intermediate tree of parameters, which forms and JSON share.
enum ParameterValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number as text, which is the same on every platform.
  case number(String)
  case string(String)
  case array([ParameterValue])
  /// The members, sorted by name. Two names may become equal when they are encoded.
  case object([Member])

  struct Member: Sendable, Equatable {
    var name: String
    var value: ParameterValue
  }
}

/// A format of `Date` values.
public enum DateEncoding: Sendable {
  /// The format of `Date` itself: seconds since 1 January 2001.
  case deferred
  /// Seconds since 1970, with a fraction if there is one.
  case secondsSince1970
  /// Milliseconds since 1970, with a fraction if there is one.
  case millisecondsSince1970
  /// ISO 8601, such as `2001-01-01T00:00:00Z`.
  case iso8601
  /// The text that the closure returns.
  case custom(@Sendable (Date) throws -> String)
}

/// A format of `Data` values.
public enum DataEncoding: Sendable {
  /// Base64 with padding (RFC 4648 §4).
  case base64
  /// The format of `Data` itself: an array of numbers.
  case deferred
  /// The text that the closure returns.
  case custom(@Sendable (Data) throws -> String)
}

/// A format of names, applied to each name separately, including the names of nested objects.
///
/// Names are compared before the conversion. If `fooBar` and `foo_bar` both become `foo_bar`, a query contains both.
/// JSON fails with an error, because servers interpret duplicate names differently.
public enum KeyEncoding: Sendable {
  /// Unchanged names.
  case asIs
  /// Snake case by the rules of `JSONEncoder.KeyEncodingStrategy.convertToSnakeCase`: `firstName` becomes `first_name`.
  case snakeCase
  /// Kebab case by the rules of `snakeCase`: `firstName` becomes `first-name`.
  case kebabCase
  /// The name that the closure returns.
  case custom(@Sendable (String) -> String)

  func name(_ key: String) -> String {
    switch self {
    case .asIs: key
    case .snakeCase: separated(key, by: "_")
    case .kebabCase: separated(key, by: "-")
    case .custom(let convert): convert(key)
    }
  }

  /// Returns the words of `key` in lowercase, split like Foundation's `convertToSnakeCase`, so that the server sees the
  /// same names. A new word starts at a capital letter. In a run of capitals, it starts at the last one before a
  /// lowercase letter. The first character always starts a word: `myURLPath` becomes `my_url_path`, but `URL` becomes
  /// `u_rl`.
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
