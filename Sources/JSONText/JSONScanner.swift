/// A scanner that validates a text in one pass (RFC 8259) and writes its index, or throws the position of the first
/// error.
///
/// It keeps the open containers in the index instead of recursing, so that no input can overflow the stack. While a
/// container is open, its third word holds the number of values so far and, in the upper half, a bit for each hash of a
/// key.
struct JSONScanner {
  let text: UnsafePointer<UInt8>
  let end: Int
  /// The memory of the text and of the index, which the caller must free.
  private(set) var memory: JSONMemory

  private var words: UnsafeMutablePointer<UInt64> { memory.words }
  private var count = 0

  /// Creates a scanner of the text of `end` bytes in `memory`.
  init(_ memory: JSONMemory, end: Int) {
    self.memory = memory
    self.end = end
    text = UnsafePointer(memory.text)
  }

  /// Scans the whole text, and returns the number of nested levels.
  ///
  /// - Throws: `JSONError` with the offset of the first invalid byte.
  mutating func scan() throws -> Int {
    let depth = try scanText()
    memory.trim(to: count)
    return depth
  }

  private mutating func scanText() throws -> Int {
    // RFC 8259 §8.1 allows a parser to ignore the byte order mark; PHP and .NET servers send it.
    var at = end >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    skipSpace(&at)
    guard at < end else { throw JSONError(.empty, at: 0) }
    let depth = try scanValues(&at)
    skipSpace(&at)
    guard at == end else { throw JSONError(.trailingContent, at: at, byte: text[at]) }
    return depth
  }

  /// Scans the value at `at` and its contents; returns the number of nested levels.
  private mutating func scanValues(_ at: inout Int) throws -> Int {
    var container = -1
    var isObject = false
    var members: UInt64 = 0
    var depth = 0
    var deepest = 0
    while true {
      // A value begins here: reserve three words for it, and one for the next key.
      if count + 4 > memory.capacity { memory.resize(to: 2 * memory.capacity + 4, count: count) }
      let start = at
      switch text[at] {
      case UInt8(ascii: "\""):
        append(try scanString(&at))
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let isInteger = try scanNumber(&at)
        append(JSONWord(.number, from: start, to: at, flag: !isInteger))
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth < JSON.maxDepth else { throw JSONError(.tooDeep, at: at) }
        depth += 1
        if depth > deepest { deepest = depth }
        if container >= 0 { words[container + 2] = members }
        isObject = text[at] == UInt8(ascii: "{")
        words[count] = JSONWord(isObject ? .object : .array, from: start).bits
        words[count + 1] = UInt64(UInt32(truncatingIfNeeded: container)) | members << 32
        container = count
        members = 0
        count += 3
        at += 1
        skipSpace(&at)
        if text[at] != UInt8(ascii: isObject ? "}" : "]") {
          if isObject { try scanKey(&at, in: container, &members) }
          continue
        }
        // The container is empty: its end is handled below, as after a value.
        members &-= 1
      case UInt8(ascii: "t"):
        try scanLiteral("true", &at)
        append(JSONWord(.true, from: start, to: at))
      case UInt8(ascii: "f"):
        try scanLiteral("false", &at)
        append(JSONWord(.false, from: start, to: at))
      case UInt8(ascii: "n"):
        try scanLiteral("null", &at)
        append(JSONWord(.null, from: start, to: at))
      default:
        throw unexpected(at)
      }
      // A value has ended; close the containers that end with it.
      while true {
        guard container >= 0 else { return deepest }
        members &+= 1
        skipSpace(&at)
        let next = text[at]
        if next == UInt8(ascii: ",") {
          at += 1
          skipSpace(&at)
          if isObject { try scanKey(&at, in: container, &members) }
          break
        }
        guard next == UInt8(ascii: isObject ? "}" : "]") else { throw unexpected(at) }
        at += 1
        words[container] |= UInt64(at) << 30
        words[container + 2] = UInt64(count) | members << 32
        depth -= 1
        let outer = UInt32(truncatingIfNeeded: words[container + 1])
        guard outer != JSONDocument.none else { return deepest }
        container = Int(outer)
        isObject = JSONWord(bits: words[container]).kind == .object
        members = words[container + 2]
      }
    }
  }

  /// Scans a key and its colon, up to the value.
  @inline(__always)
  private mutating func scanKey(_ at: inout Int, in object: Int, _ members: inout UInt64) throws {
    guard text[at] == UInt8(ascii: "\"") else { throw unexpected(at) }
    let key = try scanString(&at)
    let bit = UInt64(1) << (32 + hash(key))
    if members & bit != 0 || key.flag { compare(key, with: object, count: UInt32(truncatingIfNeeded: members)) }
    members |= bit
    append(key)
    skipSpace(&at)
    guard text[at] == UInt8(ascii: ":") else { throw unexpected(at) }
    at += 1
    skipSpace(&at)
  }

  /// Returns a hash from 0 to 31 of the first and last eight bytes of a key.
  @inline(__always)
  private func hash(_ key: JSONWord) -> UInt64 {
    let bytes = UnsafeRawPointer(text)
    var first = bytes.loadUnaligned(fromByteOffset: key.textStart, as: UInt64.self)
    if key.textCount < 8 {
      first &= 1 << (UInt64(key.textCount) * 8) - 1
    } else {
      first ^= bytes.loadUnaligned(fromByteOffset: key.end - 9, as: UInt64.self) &* 31
    }
    return (first &* 0x9E37_79B9_7F4A_7C15) >> 59
  }

  /// Sets the flag of the object if `key` may repeat one of its keys; the result is exact for up to 40 members.
  private mutating func compare(_ key: JSONWord, with object: Int, count members: UInt32) {
    guard !JSONWord(bits: words[object]).flag else { return }
    var isRepeated = key.flag || members > 40
    if !isRepeated {
      let reader = JSONReader(text: text, words: words)
      var position = object + 3
      for _ in 0..<members where !isRepeated {
        isRepeated = reader.areSame(JSONWord(bits: words[position]), key)
        position = reader.next(position + 1)
      }
    }
    if isRepeated { words[object] |= 1 << 63 }
  }

  @inline(__always)
  private mutating func append(_ word: JSONWord) {
    words[count] = word.bits
    count += 1
  }

  @inline(__always)
  private func skipSpace(_ at: inout Int) {
    while JSONReader.isSpace(text[at]) { at += 1 }
  }

  func unexpected(_ at: Int) -> JSONError {
    at < end ? JSONError(.unexpectedCharacter, at: at, byte: text[at]) : JSONError(.unexpectedEnd, at: end)
  }
}
