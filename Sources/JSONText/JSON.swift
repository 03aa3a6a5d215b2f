import PortableFoundation

/// A piece of valid JSON that keeps its bytes and reads what it is asked for (RFC 8259).
///
/// Making one costs a single pass that builds no tree but notes where each value stands; getters and decoders go there, and
/// nothing is parsed twice. A value that is not there is `exists == false`, with `nil` from every getter, so chains such as
/// `json["data"]["items"][0]` need no `?`. Of a key that comes twice, the first counts.
public struct JSON: Sendable {
  /// What sort of value it is.
  public enum Kind: String, Sendable {
    /// `{…}`
    case object
    /// `[…]`
    case array
    /// `"…"`
    case string
    /// Any number.
    case number
    /// `true` or `false`.
    case bool
    /// `null`
    case null
    /// Not there.
    case missing
  }

  /// The most levels of objects and arrays that are accepted; deeper text is a `JSONError`.
  ///
  /// 512 is what Foundation's decoder takes, too.
  public static let maximumDepth = 512

  let document: JSONDocument
  /// Where the value is in the index; `nil` if there is none.
  let position: Int?

  init(document: JSONDocument, position: Int?) {
    self.document = document
    self.position = position
  }

  /// Takes a whole text in UTF-8, with or without a byte order mark. UTF-16 and UTF-32 are recognised, too, and read as the
  /// UTF-8 that they stand for.
  ///
  /// The text is copied, so that the value depends on no one else's memory. A string with half of a surrogate pair or bytes that
  /// are not UTF-8 fails when it is read: ``string`` is `nil`, and decoding it throws an error with its path and byte.
  ///
  /// - Throws: `JSONError` with the offset of the first byte that is wrong.
  public init(_ data: Data) throws { try self.init(data, carrying: nil) }

  /// The same, with something of the caller's that travels with the value and with what is taken out of it.
  package init(_ data: Data, carrying context: (any AnyObject & Sendable)?) throws {
    self.init(document: JSONDocument(try JSONIndex(data), context: context), position: 0)
  }

  /// Takes a whole text. Named, since `JSON("…")` is the literal of a JSON string.
  ///
  /// - Throws: `JSONError` with the offset, in UTF-8 bytes, of the first one that is wrong.
  public init(parsing text: String) throws { self.init(document: JSONDocument(try JSONIndex(text)), position: 0) }

  /// What sort of value it is.
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

  /// Whether there is a value at all; `null` is one.
  public var exists: Bool { position != nil }

  /// Whether it is `null`; a value that is not there is not.
  public var isNull: Bool { kind == .null }

  /// A copy of the value's bytes as they came, in UTF-8; empty if it is not there.
  public var data: Data { word.map(document.index.slice) ?? Data() }

  /// Where the value begins in the text, in bytes of UTF-8.
  public var offset: Int { word?.start ?? 0 }

  /// The same value, with something of the caller's that travels with it and with what is taken out of it.
  package func carrying(_ context: any AnyObject & Sendable) -> JSON {
    JSON(document: JSONDocument(document.index, context: context), position: position)
  }

  /// What `carrying` put there.
  package var context: (any AnyObject & Sendable)? { document.context }

  /// A hash of the value's text, in this run of the program; `nil` if the value is not there.
  package var textHash: Int? {
    word.map { word in
      document.index.read { reader in
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(reader.bytes(word)))
        return hasher.finalize()
      }
    }
  }

  /// No fewer than the levels of objects and arrays that the value has, each of which takes three words; 0 for a scalar.
  var depthBound: Int {
    guard let position else { return 0 }
    return document.index.read { min(document.index.depth, ($0.next(position) - position) / 3) }
  }

  /// The value's entry in the index.
  var word: JSONWord? { position.map { position in document.index.read { $0.word(position) } } }
}

extension JSON: CustomStringConvertible {
  /// The value's text as it came; empty if it is not there.
  public var description: String {
    guard let word else { return "" }
    return document.index.read { String(decoding: $0.bytes(word), as: UTF8.self) }
  }
}
