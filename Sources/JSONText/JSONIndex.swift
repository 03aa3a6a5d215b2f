import PortableFoundation

/// A text that one pass found to be JSON, and the index that this pass wrote: who reads a value goes to where it stands,
/// and nothing is parsed twice.
///
/// A key takes one word, a scalar one, a container three, in the order of the text; in an object, each value stands right
/// behind its key:
///
/// | word | of | has |
/// |---|---|---|
/// | 0 | all | kind, first byte, last byte, flag (`JSONWord`) |
/// | 1 | containers | position of the container around it (`none` for the root), its place among that one's values |
/// | 2 | containers | position behind all that is in it, number of elements or members |
///
/// So a sibling is one step away, and the way up, which error paths need, is as short as the value is deep.
///
/// Memory: the text is copied, so that no pointer ever depends on how long a `Data` keeps its bytes in
/// place; the index takes about as much as the text, at most 8 bytes per byte (`[[],[],…]`). Both are freed with this
/// object, and pointers to them do not leave `read`.
// Safe: nothing is written after `init`.
final class JSONIndex: @unchecked Sendable {
  /// No position.
  static let none = UInt32.max
  /// Readable zero bytes behind the text: every scan ends there at the latest, and eight bytes can be loaded anywhere.
  static let padding = 16

  /// The number of levels of the deepest value: 0 for a scalar.
  let depth: Int
  private let text: UnsafeMutablePointer<UInt8>
  private let words: UnsafeMutablePointer<UInt64>

  /// - Throws: `JSONError` with the offset of the first byte that is wrong.
  convenience init(_ data: Data) throws { try self.init(copy: data.withUnsafeBytes { try Self.copy($0) }) }

  /// Takes characters, of which no encoding must be found out.
  ///
  /// - Throws: as above.
  convenience init(_ text: String) throws {
    var text = text
    try self.init(copy: text.withUTF8 { try Self.allocate(UnsafeRawBufferPointer($0)) })
  }

  /// Takes over the memory of a text that has zeros behind it.
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

  /// An index of `null`.
  private init() {
    text = .allocate(capacity: Self.padding)
    text.initialize(repeating: 0, count: Self.padding)
    words = .allocate(capacity: 1)
    words.initialize(to: JSONWord(.null, from: 0).bits)
    depth = 0
  }

  /// For values that are not there.
  static let empty = JSONIndex()

  deinit {
    text.deallocate()
    words.deallocate()
  }

  /// Runs `body` on a reader, which must not leave it.
  @inline(__always)
  func read<Result>(_ body: (JSONReader) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) { try body(JSONReader(text: text, words: words)) }
  }

  /// A copy of the bytes of a value: whoever has the only reference to a `Data` writes to its memory in place.
  func slice(_ word: JSONWord) -> Data { Data(bytes: text + word.start, count: word.count) }

  /// The text in UTF-8, without byte order mark, in memory of our own with zeros behind it.
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
