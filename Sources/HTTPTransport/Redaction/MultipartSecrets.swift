/// A scanner for the values of secret parts in a text that is or quotes a multipart body (RFC 7578).
struct MultipartSecrets {
  private let bytes: [UInt8]
  private let redaction: Redaction

  init(_ bytes: [UInt8], redaction: Redaction) {
    self.bytes = bytes
    self.redaction = redaction
  }

  func ranges() -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var delimiter: ArraySlice<UInt8> = []
    var at = 0
    while at < bytes.count {
      let text = line(at)
      if text.starts(with: "--".utf8) { delimiter = text }
      guard Self.isDisposition(text) else {
        at = next(at)
        continue
      }
      let start = endOfHead(at)
      if isSecret(bytes[at..<start]) {
        at = end(of: start, before: delimiter)
        if start < at { ranges.append(start..<at) }
      } else {
        at = start
      }
    }
    return ranges
  }

  /// Returns whether the head of a part has a secret name, or a name with a secret word, such as `user[password]`.
  private func isSecret(_ head: ArraySlice<UInt8>) -> Bool {
    let mark = Array("name=".utf8)
    var at = head.startIndex + 1
    while at + mark.count < head.endIndex {
      // `filename` is a different parameter.
      guard Self.lowercased(head[at..<at + mark.count]) == mark, !SecretScanner.isName(head[at - 1]) else {
        at += 1
        continue
      }
      at += mark.count
      let name: ArraySlice<UInt8>
      if head[at] == UInt8(ascii: "\"") {
        name = head[(at + 1)...].prefix { $0 != UInt8(ascii: "\"") }
      } else {
        name = head[at...].prefix { $0 > 0x20 && $0 != UInt8(ascii: ";") }
      }
      let words = name.split { !SecretScanner.isName($0) }
      if ([name] + words).contains(where: { redaction.hides(String(decoding: $0, as: UTF8.self)) }) { return true }
      at = name.endIndex
    }
    return false
  }

  /// Returns the index after the empty line that ends the head at `at`. A delimiter or the end of the text also ends
  /// the head.
  private func endOfHead(_ at: Int) -> Int {
    var at = next(at)
    while at < bytes.count {
      let text = line(at)
      if text.isEmpty { return next(at) }
      if text.starts(with: "--".utf8) { return at }
      at = next(at)
    }
    return at
  }

  /// Returns the end of the value at `start`, before the line break and the delimiter. If no delimiter precedes the
  /// part, every line that looks like one ends the value.
  private func end(of start: Int, before delimiter: ArraySlice<UInt8>) -> Int {
    var at = start
    while at < bytes.count {
      if line(at).starts(with: delimiter.isEmpty ? ArraySlice("--".utf8) : delimiter) {
        var end = max(start, at - 1)
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        return end
      }
      at = next(at)
    }
    return bytes.count
  }

  /// Returns the line at `at`, without its line break and trailing space.
  private func line(_ at: Int) -> ArraySlice<UInt8> {
    var line = bytes[at...].prefix { $0 != 0x0A }
    while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
    return line
  }

  private func next(_ at: Int) -> Int { (bytes[at...].firstIndex(of: 0x0A) ?? bytes.count - 1) + 1 }

  private static func isDisposition(_ line: ArraySlice<UInt8>) -> Bool {
    line.count > disposition.count && lowercased(line.prefix(disposition.count)) == disposition
  }

  private static let disposition = Array("content-disposition:".utf8)

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
  }
}
