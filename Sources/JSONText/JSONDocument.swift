import PortableFoundation

/// A valid JSON text, the index that the scanner wrote in one pass, and a context that upper modules attach. Readers use
/// the index, and nothing is parsed twice.
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
final class JSONDocument: @unchecked Sendable {
  /// The position that represents a missing value.
  static let none = UInt32.max
  /// The number of zero bytes after the text: every scan ends there at the latest, and any load of eight bytes is valid.
  static let padding = 16

  /// The maximum number of nested levels: 0 for a scalar.
  let depth: Int
  /// The attached context; this module does not use it.
  let context: (any AnyObject & Sendable)?
  private let memory: JSONMemory
  /// The document whose memory this one uses; `nil` if it has its own.
  private let owner: JSONDocument?

  /// - Throws: `JSONError` with the offset of the first invalid byte.
  convenience init(_ data: Data, context: (any AnyObject & Sendable)? = nil) throws {
    try self.init(try data.withUnsafeBytes { try Self.copy($0) }, context)
  }

  /// Indexes a string, whose encoding is known.
  ///
  /// - Throws: As above.
  convenience init(_ text: String) throws {
    var text = text
    try self.init(try text.withUTF8 { try JSONMemory(copying: UnsafeRawBufferPointer($0)) }, nil)
  }

  /// Indexes the text in `memory` and takes ownership of it.
  private init(_ memory: JSONMemory, _ context: (any AnyObject & Sendable)?) throws {
    var scanner = JSONScanner(memory, end: memory.count)
    do {
      depth = try scanner.scan()
    } catch {
      scanner.memory.free()
      throw error
    }
    self.memory = scanner.memory
    self.context = context
    owner = nil
  }

  init(_ other: JSONDocument, context: any AnyObject & Sendable) {
    depth = other.depth
    memory = other.memory
    owner = other.owner ?? other
    self.context = context
  }

  private init() {
    memory = JSONMemory(count: 0)
    memory.words.initialize(to: JSONWord(.null, from: 0).bits)
    depth = 0
    context = nil
    owner = nil
  }

  static let empty = JSONDocument()

  deinit {
    if owner == nil { memory.free() }
  }

  /// Runs `body` with a reader, which must not escape it.
  @inline(__always)
  func read<Result>(_ body: (JSONReader) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) { try body(JSONReader(text: memory.text, words: memory.words)) }
  }

  /// Returns a copy of the bytes of a value, because the only owner of a `Data` may modify its memory in place.
  func slice(_ word: JSONWord) -> Data { Data(bytes: memory.text + word.start, count: word.count) }

  /// Returns the text in UTF-8, without a byte order mark.
  private static func copy(_ bytes: UnsafeRawBufferPointer) throws -> JSONMemory {
    guard let encoding = JSONEncoding(of: bytes) else { return try JSONMemory(copying: bytes) }
    return try encoding.transcode(bytes).withUnsafeBytes { try JSONMemory(copying: $0) }
  }
}

/// The memory of a document: the text, followed by zeros, and the words of its index.
struct JSONMemory {
  let text: UnsafeMutablePointer<UInt8>
  /// The number of bytes of the text.
  let count: Int
  /// The words. They are in the block of the text unless it is long, or the block is too small.
  private(set) var words: UnsafeMutablePointer<UInt64>
  /// The number of words that there is space for.
  private(set) var capacity: Int
  private var hasBlockOfWords: Bool

  /// Longer texts have a separate block of words, so that its unused end can be freed.
  private static let longestInOneBlock = 1 << 14

  /// - Throws: `JSONError` if the text is too long.
  init(copying bytes: UnsafeRawBufferPointer) throws {
    guard bytes.count <= JSONWord.maxOffset else { throw JSONError(.tooLong, at: JSONWord.maxOffset) }
    self.init(count: bytes.count)
    UnsafeMutableRawBufferPointer(start: text, count: bytes.count).copyMemory(from: bytes)
  }

  /// Allocates memory for a text of `count` bytes, and writes the zeros after it.
  init(count: Int) {
    self.count = count
    // Most texts have at least eight bytes per key or value.
    capacity = count / 8 + 16
    hasBlockOfWords = count > Self.longestInOneBlock
    // Words have eight bytes and follow the zeros.
    let words = (count + JSONDocument.padding + 7) / 8 * 8
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: words + (hasBlockOfWords ? 0 : 8 * capacity), alignment: 8)
    text = block.bindMemory(to: UInt8.self, capacity: words)
    (text + count).initialize(repeating: 0, count: JSONDocument.padding)
    self.words =
      hasBlockOfWords
      ? .allocate(capacity: capacity) : (block + words).bindMemory(to: UInt64.self, capacity: capacity)
  }

  /// Moves the first `count` words to a block with space for `capacity`.
  mutating func resize(to capacity: Int, count: Int) {
    let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
    larger.moveInitialize(from: words, count: count)
    if hasBlockOfWords { words.deallocate() }
    (words, self.capacity, hasBlockOfWords) = (larger, capacity, true)
  }

  /// Frees the unused end of a large block of words.
  mutating func trim(to count: Int) {
    if hasBlockOfWords, capacity > 2 * count + 512 { resize(to: count, count: count) }
  }

  func free() {
    if hasBlockOfWords { words.deallocate() }
    text.deallocate()
  }
}
