import PortableFoundation

// Structs, so that a further format does not break a `switch` of users.
extension JSONParameterEncoder {
  /// A format of `Date` values.
  public struct DateEncoding: Sendable {
    enum Format {
      case deferred, secondsSince1970, millisecondsSince1970, iso8601
      case custom(@Sendable (Date) throws -> String)
    }

    let format: Format

    /// The format of `Date` itself: seconds since 1 January 2001, with a fraction if there is one.
    public static let deferred = DateEncoding(format: .deferred)
    /// Seconds since 1970, with a fraction if there is one.
    public static let secondsSince1970 = DateEncoding(format: .secondsSince1970)
    /// Milliseconds since 1970, with a fraction if there is one.
    public static let millisecondsSince1970 = DateEncoding(format: .millisecondsSince1970)
    /// ISO 8601, such as `2001-01-01T00:00:00Z`, with a fraction if there is one: `2001-01-01T00:00:00.500Z`. A date outside
    /// of the years 0000 to 9999 is an error.
    public static let iso8601 = DateEncoding(format: .iso8601)

    /// Returns a format that writes the text that `text` returns.
    public static func custom(_ text: @escaping @Sendable (Date) throws -> String) -> DateEncoding {
      DateEncoding(format: .custom(text))
    }
  }

  /// A format of `Data` values.
  public struct DataEncoding: Sendable {
    enum Format {
      case base64, deferred
      case custom(@Sendable (Data) throws -> String)
    }

    let format: Format

    /// Base64 with padding (RFC 4648 §4).
    public static let base64 = DataEncoding(format: .base64)
    /// The format of `Data` itself: an array of numbers.
    public static let deferred = DataEncoding(format: .deferred)

    /// Returns a format that writes the text that `text` returns.
    public static func custom(_ text: @escaping @Sendable (Data) throws -> String) -> DataEncoding {
      DataEncoding(format: .custom(text))
    }
  }

  /// A format of names, applied to each name separately, including the names of nested objects.
  ///
  /// In JSON, the keys of a `Dictionary` and of a `JSON` value are data, which is sent unchanged; queries and forms
  /// convert them, too. If two names become equal, a query contains both, and JSON fails with an error.
  public struct KeyEncoding: Sendable {
    enum Format {
      case asIs, snakeCase, kebabCase
      case custom(@Sendable (String) -> String)
    }

    let format: Format

    /// Unchanged names.
    public static let asIs = KeyEncoding(format: .asIs)
    /// Snake case by the rules of `JSONEncoder.KeyEncodingStrategy.convertToSnakeCase`: `firstName` becomes
    /// `first_name`.
    public static let snakeCase = KeyEncoding(format: .snakeCase)
    /// Kebab case by the rules of `snakeCase`: `firstName` becomes `first-name`.
    public static let kebabCase = KeyEncoding(format: .kebabCase)

    /// Returns a format that writes the name that `name` returns.
    public static func custom(_ name: @escaping @Sendable (String) -> String) -> KeyEncoding {
      KeyEncoding(format: .custom(name))
    }

    func name(_ key: String) -> String {
      switch format {
      case .asIs: key
      case .snakeCase: separated(key, by: "_")
      case .kebabCase: separated(key, by: "-")
      case .custom(let convert): convert(key)
      }
    }

    /// Returns the words of `key` in lowercase, split like Foundation's `convertToSnakeCase`: `myURLPath` becomes
    /// `my_url_path`, but `URL` becomes `u_rl`.
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
}
