/// One pass over a text that either proves it to be JSON (RFC 8259) or says where it is not.
///
/// It keeps one bit per open level instead of recursing, so that no input overflows a stack, however small, and it
/// allocates nothing per value.
struct JSONScanner {
  let base: UnsafeRawPointer
  let end: Int
  var at = 0

  private var levels = Levels()
  private var members: [JSONDocument.Member] = []
  private var complete = true
  private var deepest = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    // An empty Data may have no address; with a length of 0 this one is never read.
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = bytes.count
  }

  @inline(__always)
  func byte(_ index: Int) -> UInt8 { base.load(fromByteOffset: index, as: UInt8.self) }

  /// Scans the whole text.
  ///
  /// - Throws: `JSONError` with the offset of the first byte that is wrong.
  mutating func scan() throws -> JSONDocument.Outline {
    skipByteOrderMark()
    skipSpace()
    guard at < end else { throw JSONError(.empty, at: 0) }
    let start = at
    try scanValues()
    let root = start..<at
    skipSpace()
    guard at == end else { throw JSONError(.trailingContent, at: at, byte: byte(at)) }
    return JSONDocument.Outline(root: root, members: members, complete: complete, depth: deepest)
  }

  /// The value at `at` with everything in it.
  private mutating func scanValues() throws {
    var key = 0..<0
    var valueStart = 0
    while true {
      // A value begins here.
      if levels.depth == 1 { valueStart = at }
      guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
      let first = byte(at)
      switch first {
      case UInt8(ascii: "\""):
        try scanString()
      case UInt8(ascii: "{"):
        try open(object: true)
        if try !closes(with: UInt8(ascii: "}")) {
          let found = try scanKey()
          if levels.depth == 1 { key = found }
          continue
        }
      case UInt8(ascii: "["):
        try open(object: false)
        if try !closes(with: UInt8(ascii: "]")) { continue }
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        try scanNumber()
      case UInt8(ascii: "t"): try scanLiteral("true")
      case UInt8(ascii: "f"): try scanLiteral("false")
      case UInt8(ascii: "n"): try scanLiteral("null")
      default:
        throw JSONError(.unexpectedCharacter, at: at, byte: first)
      }
      // A value has ended; close what ends with it.
      closing: while true {
        if levels.depth == 0 { return }
        if levels.depth == 1 && levels.inObject { remember(key: key, value: valueStart..<at) }
        skipSpace()
        guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
        switch (byte(at), levels.inObject) {
        case (UInt8(ascii: ","), true):
          at += 1
          skipSpace()
          let found = try scanKey()
          if levels.depth == 1 { key = found }
          break closing
        case (UInt8(ascii: ","), false):
          at += 1
          skipSpace()
          break closing
        case (UInt8(ascii: "}"), true), (UInt8(ascii: "]"), false):
          at += 1
          levels.pop()
        default:
          throw JSONError(.unexpectedCharacter, at: at, byte: byte(at))
        }
      }
    }
  }

  private mutating func open(object: Bool) throws {
    guard levels.depth < JSON.maximumDepth else { throw JSONError(.tooDeep, at: at) }
    levels.push(object: object)
    if levels.depth > deepest { deepest = levels.depth }
    at += 1
    skipSpace()
  }

  /// Whether the container just opened is empty; steps over its end then.
  private mutating func closes(with closer: UInt8) throws -> Bool {
    guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
    guard byte(at) == closer else { return false }
    at += 1
    levels.pop()
    return true
  }

  /// A key and its colon, up to the value; gives the range between the quotes.
  private mutating func scanKey() throws -> Range<Int> {
    guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
    guard byte(at) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedCharacter, at: at, byte: byte(at)) }
    let start = at + 1
    try scanString()
    let key = start..<(at - 1)
    skipSpace()
    guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
    guard byte(at) == UInt8(ascii: ":") else { throw JSONError(.unexpectedCharacter, at: at, byte: byte(at)) }
    at += 1
    skipSpace()
    return key
  }

  private mutating func remember(key: Range<Int>, value: Range<Int>) {
    guard members.count < JSONDocument.rememberedMembers else {
      complete = false
      return
    }
    if members.isEmpty { members.reserveCapacity(8) }
    members.append(JSONDocument.Member(key: key, value: value))
  }

  @inline(__always)
  private mutating func skipSpace() {
    while at < end, JSONReader.isSpace(byte(at)) { at += 1 }
  }

  /// RFC 8259 §8.1 lets a parser ignore the mark; PHP and .NET servers send it.
  private mutating func skipByteOrderMark() {
    if end >= 3, byte(0) == 0xEF, byte(1) == 0xBB, byte(2) == 0xBF { at = 3 }
  }

  /// One bit per open level: set for an object.
  private struct Levels {
    private var bits: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private(set) var depth = 0
    private(set) var inObject = false

    @inline(__always)
    mutating func push(object: Bool) {
      let (word, bit) = (depth >> 6, UInt64(1) << UInt64(depth & 63))
      let value = object
      withUnsafeMutableBytes(of: &bits) { raw in
        let words = raw.assumingMemoryBound(to: UInt64.self)
        if value { words[word] |= bit } else { words[word] &= ~bit }
      }
      depth += 1
      inObject = object
    }

    @inline(__always)
    mutating func pop() {
      depth -= 1
      guard depth > 0 else {
        inObject = false
        return
      }
      let level = depth - 1
      inObject = withUnsafeBytes(of: &bits) { raw in
        raw.assumingMemoryBound(to: UInt64.self)[level >> 6] & (UInt64(1) << UInt64(level & 63)) != 0
      }
    }
  }
}
