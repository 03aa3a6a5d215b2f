import PortableFoundation

extension Redaction {
  /// Returns a body with its secrets replaced: in UTF-16, or in any encoding that extends ASCII.
  package func body(_ bytes: Data) -> Data {
    guard !hidesNothing else { return bytes }
    guard let encoding = Self.utf16(bytes), let text = String(data: bytes, encoding: encoding) else {
      return Data(self.bytes(bytes))
    }
    let hidden = redacted(text)
    guard hidden != text else { return bytes }
    return hidden.data(using: encoding) ?? Data()
  }

  /// Returns at most `limit` bytes of a text, without secrets. The rest is not searched for them.
  package func start(of text: String, limit: Int) -> String {
    guard text.utf8.count > limit else { return redacted(text) }
    var start = Data(text.utf8.prefix(limit))
    start.removeLast(start.unfinishedScalar)
    return String(decoding: bytes(start, isCut: true), as: UTF8.self)
  }

  /// Returns at most `limit` bytes of a binary message that is text, without secrets; `nil` for other bytes, in which secrets
  /// can't be found.
  package func binaryMessage(_ bytes: Data, limit: Int = .max) -> Data? {
    var start = Data(bytes.prefix(limit))
    let isCut = start.count < bytes.count
    if isCut { start.removeLast(start.unfinishedScalar) }
    guard !start.contains(0), String(validating: start, as: UTF8.self) != nil else { return nil }
    return Data(self.bytes(start, isCut: isCut))
  }

  /// Returns a body that is not text in UTF-8, or the start of one, without the secrets of a text in Latin-1 or UTF-16; `nil` if a
  /// secret remains.
  package func binaryBody(_ bytes: Data, isCut: Bool) -> Data? {
    let hidden = body(bytes)
    // Without zeros, UTF-16 and UTF-32 are ASCII, in each byte order and at each place.
    let text = hidden.filter { $0 != 0 }
    return self.bytes(text, isCut: isCut).elementsEqual(text) ? hidden : nil
  }

  /// Returns the byte order of UTF-16, detected by its mark, or else by the zeros of two ASCII characters.
  private static func utf16(_ bytes: Data) -> String.Encoding? {
    switch Array(bytes.prefix(4)) {
    case let start where start.starts(with: [0xFF, 0xFE]): .utf16LittleEndian
    case let start where start.starts(with: [0xFE, 0xFF]): .utf16BigEndian
    case let start where start.count == 4 && start[1] == 0 && start[3] == 0 && start[0] != 0: .utf16LittleEndian
    case let start where start.count == 4 && start[0] == 0 && start[2] == 0 && start[1] != 0: .utf16BigEndian
    default: nil
    }
  }
}

extension Data {
  /// The number of bytes at the end that are the start of a UTF-8 scalar.
  package var unfinishedScalar: Int {
    for (index, byte) in suffix(4).reversed().enumerated() where byte & 0xC0 != 0x80 {
      let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      return index + 1 < length ? index + 1 : 0
    }
    return 0
  }
}
