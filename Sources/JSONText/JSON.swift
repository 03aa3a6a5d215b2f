import PortableFoundation

/// A JSON value that keeps its bytes and parses them on demand (RFC 8259).
///
/// Creating a value takes a single pass that builds an index of the values instead of a tree; getters and decoders use
/// the index, and nothing is parsed twice. A missing value has `exists == false` and returns `nil` from every getter,
/// so chains such as `json["data"]["items"][0]` need no `?`. Of duplicate keys, the first is used.
public struct JSON: Sendable {
  /// The kind of a JSON value.
  public enum Kind: Sendable {
    /// An object, `{…}`.
    case object
    /// An array, `[…]`.
    case array
    /// A string, `"…"`.
    case string
    /// A number.
    case number
    /// A Boolean, `true` or `false`.
    case bool
    /// The value `null`.
    case null
    /// A value that does not exist.
    case missing
  }

  /// The maximum number of nested objects and arrays; deeper text throws `JSONError`.
  ///
  /// Foundation's decoder has the same limit of 512.
  package static let maxDepth = 512

  let document: JSONDocument
  /// The position of the value in the index, or `nil` if it is missing.
  let position: Int?
  /// Whether getters convert numbers, strings and Booleans into one another, as `lenient` states.
  let isLenient: Bool

  init(document: JSONDocument, position: Int?, isLenient: Bool = false) {
    self.document = document
    self.position = position
    self.isLenient = isLenient
  }

  /// Parses UTF-8 text, with or without a byte order mark; UTF-16 and UTF-32 are detected and converted to UTF-8.
  ///
  /// The text is copied. A string with an unpaired surrogate or invalid UTF-8 is an error only when it is read:
  /// ``string`` is `nil`, and decoding it throws an error with its path and byte offset.
  ///
  /// - Throws: `JSONError` with the offset of the first invalid byte.
  public init(parsing data: Data) throws { try self.init(data, carrying: nil) }

  /// Parses text and attaches a context, which is passed on to all values inside.
  package init(_ data: Data, carrying context: (any AnyObject & Sendable)?) throws {
    self.init(document: try JSONDocument(data, context: context), position: 0)
  }

  /// Parses text. The argument is labeled because `JSON("…")` is the literal of a JSON string.
  ///
  /// - Throws: `JSONError` with the offset of the first invalid byte in UTF-8.
  public init(parsing text: String) throws { self.init(document: try JSONDocument(text), position: 0) }

  /// The kind of the value.
  public var kind: Kind {
    switch word?.kind {
    case .object: .object
    case .array: .array
    case .string, .badString: .string
    case .number: .number
    case .true, .false: .bool
    case .null: .null
    case nil: .missing
    }
  }

  /// Whether the value exists; `null` is a value.
  public var exists: Bool { position != nil }

  /// Whether the value is `null`; `false` if it is missing.
  public var isNull: Bool { kind == .null }

  /// A copy of the value's bytes in UTF-8, unchanged; empty if the value is missing.
  public var data: Data { word.map(document.slice) ?? Data() }

  /// The offset of the value in the text, in bytes of UTF-8.
  public var offset: Int { word?.start ?? 0 }

  /// Returns the same value with a context, which is passed on to all values inside.
  package func carrying(_ context: any AnyObject & Sendable) -> JSON {
    JSON(document: JSONDocument(document, context: context), position: position, isLenient: isLenient)
  }

  /// The context attached by `carrying(_:)`.
  package var context: (any AnyObject & Sendable)? { document.context }

  /// A hash of the value's text, valid during this run of the program; `nil` if the value is missing.
  package var textHash: Int? {
    word.map { word in
      document.read { reader in
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(reader.bytes(word)))
        return hasher.finalize()
      }
    }
  }

  /// An upper bound for the number of nested levels, each of which takes three words; 0 for a scalar.
  var depthBound: Int {
    guard let position else { return 0 }
    return document.read { min(document.depth, ($0.next(position) - position) / 3) }
  }

  var word: JSONWord? { position.map { position in document.read { $0.word(position) } } }
}

extension JSON: CustomStringConvertible {
  /// The text of the value, unchanged; empty if the value is missing.
  public var description: String {
    guard let word else { return "" }
    return document.read { String(decoding: $0.bytes(word), as: UTF8.self) }
  }
}
