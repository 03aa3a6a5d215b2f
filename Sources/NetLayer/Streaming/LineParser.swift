import PortableFoundation

/// A state machine that splits a stream of bytes into lines.
struct LineParser {
  enum Ending {
    /// LF or CR LF, for line-delimited JSON, whose text contains no bare CR.
    case lineFeed
    /// LF, CR LF or CR, for server-sent events (HTML standard §9.2.6).
    case any
  }

  struct TooLong: Error, CustomStringConvertible {
    let limit: Int
    var isLineOfJSON = false
    var description: String {
      "it exceeds the limit of \(limit) bytes"
        + (isLineOfJSON ? "; raise maxLineLength, or read a body that is one value, such as an array, with fetch" : "")
    }
  }

  private let ending: Ending
  private let limit: Int
  private var begun: [UInt8] = []
  /// Whether the last byte was a CR that ended a line, so that a following LF belongs to it.
  private var skipsLineFeed = false
  private var isFirst = true

  init(_ ending: Ending, limit: Int) {
    self.ending = ending
    self.limit = limit
  }

  /// Passes every line that `bytes` completes to `line`, without its ending. A byte order mark before the first line is
  /// skipped.
  mutating func feed(_ bytes: Data, _ line: (ArraySlice<UInt8>) throws -> Void) throws {
    try bytes.withUnsafeBytes { try feed($0.bindMemory(to: UInt8.self), line) }
  }

  private mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>, _ line: (ArraySlice<UInt8>) throws -> Void) throws {
    var start = 0
    for (index, byte) in bytes.enumerated() {
      if skipsLineFeed {
        skipsLineFeed = false
        if byte == 0x0A {
          start = index + 1
          continue
        }
      }
      guard byte == 0x0A || (byte == 0x0D && ending == .any) else { continue }
      try keep(bytes[start..<index])
      start = index + 1
      skipsLineFeed = byte == 0x0D
      try emit(line)
    }
    try keep(bytes[start...])
  }

  /// Passes the text after the last line ending to `line`, if there is any.
  mutating func finish(_ line: (ArraySlice<UInt8>) throws -> Void) rethrows {
    if !begun.isEmpty { try emit(line) }
  }

  private mutating func keep(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws {
    guard begun.count + bytes.count <= limit else {
      throw TooLong(limit: limit, isLineOfJSON: ending == .lineFeed)
    }
    begun.append(contentsOf: bytes)
  }

  private mutating func emit(_ line: (ArraySlice<UInt8>) throws -> Void) rethrows {
    var whole = begun[...]
    if isFirst, whole.starts(with: [0xEF, 0xBB, 0xBF]) { whole = whole.dropFirst(3) }
    isFirst = false
    if ending == .lineFeed, whole.last == 0x0D { whole = whole.dropLast() }
    defer { begun.removeAll(keepingCapacity: true) }
    try line(whole)
  }
}
