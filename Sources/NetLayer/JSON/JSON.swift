import Foundation

/// A piece of valid JSON that keeps its bytes and parses what it is asked for (RFC 8259).
///
/// Making one costs a single pass that builds no tree; `json["data"]["items"][0]` then only finds where that value
/// stands. A value that is not there is `exists == false`, with `nil` from every getter, so chains need no `?`. Of a key
/// that comes twice, the first counts.
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
  /// Where the value stands; empty if there is none.
  let range: Range<Int>

  init(document: JSONDocument, range: Range<Int>) {
    self.document = document
    self.range = range
  }

  /// Takes a whole text in UTF-8, with or without a byte order mark; the bytes are shared, not copied.
  ///
  /// - Throws: `JSONError` with the offset of the first byte that is wrong.
  public init(_ data: Data) throws {
    document = try JSONDocument(data)
    range = document.outline.root
  }

  /// Takes a whole text. Named, since `JSON("…")` is the literal of a JSON string.
  ///
  /// - Throws: `JSONError` with the offset, in UTF-8 bytes, of the first one that is wrong.
  public init(parsing text: String) throws { try self.init(Data(text.utf8)) }

  /// What sort of value it is.
  public var kind: Kind {
    guard !range.isEmpty else { return .missing }
    return document.read { reader in
      switch reader.byte(range.lowerBound) {
      case UInt8(ascii: "{"): .object
      case UInt8(ascii: "["): .array
      case UInt8(ascii: "\""): .string
      case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
      case UInt8(ascii: "n"): .null
      default: .number
      }
    }
  }

  /// Whether there is a value at all; `null` is one.
  public var exists: Bool { !range.isEmpty }

  /// Whether it is `null`; a value that is not there is not.
  public var isNull: Bool { kind == .null }

  /// The value's bytes as they came, sharing storage with the whole; empty if it is not there.
  public var data: Data { document.slice(range) }

  /// Where the value begins in the text, in bytes.
  public var offset: Int { range.lowerBound }

  /// The same value, with something of the caller's that travels with it and with what is taken out of it.
  func carrying(_ context: any Sendable) -> JSON {
    JSON(document: JSONDocument(document, context: context), range: range)
  }

  /// What `carrying` put there.
  var context: (any Sendable)? { document.context }
}

extension JSON: CustomStringConvertible {
  /// The value's text as it came; empty if it is not there.
  public var description: String { String(decoding: data, as: UTF8.self) }
}
