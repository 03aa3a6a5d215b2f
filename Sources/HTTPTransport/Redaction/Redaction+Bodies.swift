import PortableFoundation

extension Redaction {
  /// Returns a body with its secrets replaced: in UTF-16, or in any encoding that extends ASCII.
  package func body(_ bytes: Data) -> Data {
    guard !hidesNothing else { return bytes }
    guard let encoding = Self.utf16(bytes), let text = String(bytes, in: encoding) else {
      return Data(self.bytes(bytes))
    }
    let hidden = redacted(text)
    guard hidden != text else { return bytes }
    return hidden.data(using: encoding) ?? Data()
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
