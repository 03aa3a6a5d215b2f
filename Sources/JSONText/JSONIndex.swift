import PortableFoundation

/// A valid JSON text and the index that the scanner wrote in one pass; readers use the index, and nothing is parsed
/// twice.
///
/// A key and a scalar take one word each, and a container takes three, in the order of the text. In an object, each
/// value follows its key:
///
/// | word | of | contents |
/// |---|---|---|
/// | 0 | all | kind, first byte, last byte, flag (`JSONWord`) |
/// | 1 | containers | position of the enclosing container (`none` for the root), index among its values |
/// | 2 | containers | position after its contents, number of elements or members |
///
/// A sibling is therefore one step away. The path to the root, which error paths need, takes one step per level.
///
/// The text is copied, so that no pointer depends on the storage of a `Data`. The index takes about as much memory as
/// the text, at most 8 bytes per byte (`[[],[],…]`). Both are freed with this object, and pointers to them do not
/// escape `read`.
// Safe: immutable after `init`.
final class JSONIndex: @unchecked Sendable {
  /// The position that represents a missing value.
  static let none = UInt32.max
  /// The number of zero bytes after the text: every scan ends there at the latest, and any load of eight bytes is valid.
  static let padding = 16

  /// The maximum number of nested levels: 0 for a scalar.
  let depth: Int
  private let text: UnsafeMutablePointer<UInt8>
  private let words: UnsafeMutablePointer<UInt64>

  /// - Throws: `JSONError` with the offset of the first invalid byte.
  convenience init(_ data: Data) throws { try self.init(copy: data.withUnsafeBytes { try Self.copy($0) }) }

  /// Indexes a string, whose encoding is known.
  ///
  /// - Throws: As above.
  convenience init(_ text: String) throws {
    var text = text
    try self.init(copy: text.withUTF8 { try Self.allocate(UnsafeRawBufferPointer($0)) })
  }

  /// Takes ownership of the memory of a text that is followed by zeros.
  private init(copy: (UnsafeMutablePointer<UInt8>, Int)) throws {
    let (text, count) = copy
    do {
      var scanner = JSONScanner(text, count: count)
      (words, depth) = try scanner.scan()
      self.text = text
    } catch {
      text.deallocate()
      throw error
    }
  }

  /// Creates an index of `null`.
  private init() {
    text = .allocate(capacity: Self.padding)
    text.initialize(repeating: 0, count: Self.padding)
    words = .allocate(capacity: 1)
    words.initialize(to: JSONWord(.null, from: 0).bits)
    depth = 0
  }

  /// An index for missing values.
  static let empty = JSONIndex()

  deinit {
    text.deallocate()
    words.deallocate()
  }

  /// Runs `body` with a reader, which must not escape it.
  @inline(__always)
  func read<Result>(_ body: (JSONReader) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) { try body(JSONReader(text: text, words: words)) }
  }

  /// Returns a copy of the bytes of a value, because the only owner of a `Data` may modify its memory in place.
  func slice(_ word: JSONWord) -> Data { Data(bytes: text + word.start, count: word.count) }

  /// Returns the text in UTF-8, without a byte order mark, in newly allocated memory followed by zeros.
  private static func copy(_ bytes: UnsafeRawBufferPointer) throws -> (UnsafeMutablePointer<UInt8>, Int) {
    let encoding = JSONEncoding(of: bytes)
    if encoding != .utf8 {
      let text = try encoding.transcode(bytes)
      return try text.withUnsafeBytes { try allocate($0) }
    }
    return try allocate(bytes)
  }

  private static func allocate(_ bytes: UnsafeRawBufferPointer) throws -> (UnsafeMutablePointer<UInt8>, Int) {
    guard bytes.count <= JSONWord.maximumOffset else { throw JSONError(.tooLong, at: JSONWord.maximumOffset) }
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + padding)
    let buffer = UnsafeMutableRawBufferPointer(start: text, count: bytes.count + padding)
    buffer.copyMemory(from: bytes)
    (text + bytes.count).initialize(repeating: 0, count: padding)
    return (text, bytes.count)
  }
}
