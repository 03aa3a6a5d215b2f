import PortableFoundation
import Streams

/// The raw field lines of a response, parsed on first access. Parsing rarely happens on the transport's thread, and
/// often not at all.
final class ReceivedFields: Sendable {
  private enum State {
    case lines([UInt8])
    case read([HTTPHeaders.Field])
  }

  /// The lines, or the fields parsed from them. Only parsing runs under the lock.
  private let state: Locked<State>

  /// Creates the fields from the lines of a head after its status line, each ended by a line feed alone.
  init(lines: [UInt8]) { state = Locked(.lines(lines)) }

  var fields: [HTTPHeaders.Field] {
    state.withLock { state in
      switch state {
      case .read(let fields): return fields
      case .lines(let lines):
        let fields = lines.withUnsafeBufferPointer(Self.read)
        state = .read(fields)
        return fields
      }
    }
  }

  private static func read(_ lines: UnsafeBufferPointer<UInt8>) -> [HTTPHeaders.Field] {
    var fields: [HTTPHeaders.Field] = []
    fields.reserveCapacity(8)
    var rest = lines[...]
    while let end = rest.firstIndex(of: 0x0a) {
      let line = UnsafeBufferPointer(rebasing: rest[..<end])
      rest = rest[(end + 1)...]
      if line.first.map(isBlank) == true {
        // A folded line continues the previous value (RFC 9112 §5.2).
        guard let last = fields.indices.last else { continue }
        fields[last].value += " " + text(trimmed(line))
      } else if let colon = line.firstIndex(of: 0x3a) {
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...])
        fields.append(HTTPHeaders.Field(name: text(name), value: text(trimmed(value))))
      }
    }
    return fields
  }

  /// Returns whether a byte within a value is replaced by a space (RFC 9110 §5.5). If copied into another message, CR
  /// or LF would start a new field.
  private static func isForbidden(_ byte: UInt8) -> Bool { byte == 0x0d || byte == 0x0a || byte == 0 }

  /// Returns the value with CR, LF and NUL replaced by spaces.
  static func plain(_ value: String) -> String {
    guard value.utf8.contains(where: isForbidden) else { return value }
    return String(decoding: value.utf8.map { isForbidden($0) ? 0x20 : $0 }, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Returns the value without surrounding spaces and tabs.
  static func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = value.count
    while start < end, isBlank(value[start]) { start += 1 }
    while end > start, isBlank(value[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: value[start..<end])
  }

  /// Decodes UTF-8, or Latin-1 if the bytes are not valid UTF-8 (RFC 9110 §5.5).
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    if bytes.contains(where: isForbidden) {
      let plain = bytes.map { isForbidden($0) ? 0x20 : $0 }
      return plain.withUnsafeBufferPointer { text(trimmed($0)) }
    }
    // Nearly all headers are ASCII, and the general check is generic code that is not specialized.
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
