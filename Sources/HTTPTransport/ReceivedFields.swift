import PortableFoundation
import Streams

/// The field lines of an answer as they came in, read when someone first asks for them: that is seldom on the
/// transport's thread, and often never.
final class ReceivedFields: Sendable {
  private enum State {
    case lines([UInt8])
    case read([HTTPHeaders.Field])
  }

  /// Whoever asks for a field first reads the lines; only our own bytes are touched under it.
  private let state: Locked<State>

  /// The lines of a head behind its status line, each with a line feed at its end and no carriage return before it.
  init(lines: [UInt8]) { state = Locked(.lines(lines)) }

  /// The fields in order.
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
        // A folded line continues the value before (RFC 9112 §5.2).
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

  /// Whether a byte within a field counts as a space (RFC 9110 §5.5): whoever writes CR or LF on begins another field.
  private static func isForbidden(_ byte: UInt8) -> Bool { byte == 0x0d || byte == 0x0a || byte == 0 }

  /// The value without CR, LF and NUL.
  static func plain(_ value: String) -> String {
    guard value.utf8.contains(where: isForbidden) else { return value }
    return String(decoding: value.utf8.map { isForbidden($0) ? 0x20 : $0 }, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Without the spaces and tabs around it.
  static func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = value.count
    while start < end, isBlank(value[start]) { start += 1 }
    while end > start, isBlank(value[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: value[start..<end])
  }

  /// UTF-8 where it is, else Latin-1, in which every byte is a character (RFC 9110 §5.5).
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    if bytes.contains(where: isForbidden) {
      let plain = bytes.map { isForbidden($0) ? 0x20 : $0 }
      return plain.withUnsafeBufferPointer { text(trimmed($0)) }
    }
    // Nearly every header is ASCII, and the general check is generic code that does not specialise.
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
