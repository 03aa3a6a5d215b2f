/// The bytes of a text with its percent-encoding removed, including repeated encoding such as `%253D`, and the escapes
/// `\/` and `\u003d` of JSON, with their places in the text. Secrets are thus found in encoded URLs, too, and
/// everything else is copied unchanged.
struct DecodedText {
  let bytes: [UInt8]
  private let raw: [UInt8]
  /// The start of each byte in `raw`, and the end; empty if nothing is encoded.
  private let starts: [Int]

  init(_ raw: [UInt8]) {
    self.raw = raw
    guard raw.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") }) else {
      (bytes, starts) = (raw, [])
      return
    }
    var (bytes, starts): ([UInt8], [Int]) = ([], [])
    bytes.reserveCapacity(raw.count)
    starts.reserveCapacity(raw.count + 1)
    var at = 0
    while at < raw.count {
      starts.append(at)
      var byte = raw[at]
      if byte == UInt8(ascii: "\\"), let (escaped, width) = Self.escaped(raw[at...]) {
        bytes.append(escaped)
        at += width
        continue
      }
      at += 1
      // `%2541` is `A`, encoded twice.
      while byte == UInt8(ascii: "%"), at + 1 < raw.count, let high = Self.digit(raw[at]),
        let low = Self.digit(raw[at + 1])
      {
        byte = high << 4 | low
        at += 2
      }
      bytes.append(byte)
    }
    self.bytes = bytes
    self.starts = starts + [raw.count]
  }

  /// Returns the place of the byte at `index` in the text.
  func start(_ index: Int) -> Int { starts.isEmpty ? index : starts[index] }

  /// Returns the number of bytes that encode the byte at `index`: 1 if it is not encoded, 3 if it is encoded once. A
  /// delimiter does not end a part of the text that has a smaller width.
  func width(_ index: Int) -> Int { starts.isEmpty ? 1 : starts[index + 1] - starts[index] }

  /// Returns the original bytes of a range.
  func raw(_ range: Range<Int>) -> ArraySlice<UInt8> { raw[start(range.lowerBound)..<start(range.upperBound)] }

  /// Returns the byte that an escape of JSON stands for, and the width of the escape; `nil` for other escapes.
  private static func escaped(_ rest: ArraySlice<UInt8>) -> (UInt8, Int)? {
    if rest.dropFirst().first == UInt8(ascii: "/") { return (UInt8(ascii: "/"), 2) }
    let digits = rest.dropFirst(4).prefix(2)
    guard rest.starts(with: "\\u00".utf8), digits.count == 2, let high = digits.first.flatMap(digit), high < 8,
      let low = digits.last.flatMap(digit)
    else { return nil }
    return (high << 4 | low, 6)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x57
    default: nil
    }
  }
}
