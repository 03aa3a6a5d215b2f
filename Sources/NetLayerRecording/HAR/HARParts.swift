import PortableFoundation

/// The places of the entries in the text of an archive. They are read one by one, because the index of a whole archive and
/// all its JSON values take several times its size.
struct HARParts {
  /// The archive without its entries.
  let frame: Data
  let entries: [Range<Int>]

  /// Finds the entries; `nil` if the text is not an archive in UTF-8, so that it must be parsed as a whole.
  init?(_ archive: Data) {
    guard let parts = archive.withUnsafeBytes({ Self.find($0) }) else { return nil }
    (frame, entries) = (archive.prefix(parts.list.lowerBound) + archive.dropFirst(parts.list.upperBound), parts.entries)
  }

  /// Returns the range between the brackets of `log.entries`, and those of its elements.
  private static func find(_ bytes: UnsafeRawBufferPointer) -> (list: Range<Int>, entries: [Range<Int>])? {
    var (at, depth, keys) = (0, 0, [Range<Int>]())
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        let end = endOfString(bytes, at)
        if depth > 0, depth <= 2 { keys = Array(keys.prefix(depth - 1)) + [at + 1..<end] }
        at = end
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "["):
        if depth == 2, keys.count == 2, bytes[keys[0]].elementsEqual("log".utf8),
          bytes[keys[1]].elementsEqual("entries".utf8)
        {
          return elements(bytes, from: at + 1)
        }
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      // A byte order mark, or another encoding.
      case 0, 0x80...: return nil
      default: break
      }
      at += 1
    }
    return nil
  }

  private static func elements(
    _ bytes: UnsafeRawBufferPointer, from start: Int
  ) -> (list: Range<Int>, entries: [Range<Int>])? {
    var (at, depth, first, entries) = (start, 0, start, [Range<Int>]())
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""): at = endOfString(bytes, at)
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ",") where depth == 0:
        entries.append(first..<at)
        first = at + 1
      case UInt8(ascii: "]") where depth == 0:
        let isEmpty = entries.isEmpty && bytes[first..<at].allSatisfy { $0 <= 0x20 }
        if !isEmpty { entries.append(first..<at) }
        return (start..<at, entries)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      at += 1
    }
    return nil
  }

  /// Returns the offset of the quote that ends the string at `start`, or of the end of the text.
  private static func endOfString(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
    var at = start + 1
    while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(at, bytes.count)
  }
}
