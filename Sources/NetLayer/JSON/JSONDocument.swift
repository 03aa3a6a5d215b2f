import Foundation

/// The bytes behind one or many `JSON` values, found to be valid once, and what that one pass saw on its way.
final class JSONDocument: Sendable {
  /// A member of the root object: where its key stands between the quotes, and where its value.
  struct Member: Sendable {
    var key: Range<Int>
    var value: Range<Int>
  }

  /// What a pass over the text found.
  struct Outline: Sendable {
    /// The root value, without the white space around it.
    var root: Range<Int>
    /// The first members of a root object, duplicates included. Envelopes have four or five.
    var members: [Member]
    /// Whether `members` has all of them.
    var complete: Bool
    /// The number of levels of the deepest value: 0 for a scalar.
    var depth: Int
  }

  /// How many members of the root are remembered; beyond that, look-ups scan.
  static let rememberedMembers = 16

  let data: Data
  let outline: Outline
  /// Whatever the layer above wants to travel with the values; nothing here looks at it.
  let context: (any Sendable)?

  init(_ data: Data) throws {
    self.data = data
    outline = try data.withUnsafeBytes { bytes in
      var scanner = JSONScanner(bytes)
      return try scanner.scan()
    }
    context = nil
  }

  /// No text at all, for values that are not there.
  static let empty = JSONDocument()

  private init() {
    data = Data()
    outline = Outline(root: 0..<0, members: [], complete: true, depth: 0)
    context = nil
  }

  /// The same text with another context.
  init(_ other: JSONDocument, context: any Sendable) {
    data = other.data
    outline = other.outline
    self.context = context
  }

  /// Runs `body` on a reader of the whole text.
  func read<Result>(_ body: (JSONReader) -> Result) -> Result {
    data.withUnsafeBytes { body(JSONReader($0)) }
  }

  /// The bytes of `range`; they share the document's storage.
  func slice(_ range: Range<Int>) -> Data {
    data[(data.startIndex + range.lowerBound)..<(data.startIndex + range.upperBound)]
  }
}
