import PortableFoundation

/// A message of a WebSocket (RFC 6455 §5.6), whole: fragments are joined.
public enum SocketMessage: Sendable, Hashable {
  /// Text, which is UTF-8 on the wire.
  case text(String)
  /// Bytes.
  case binary(Data)

  /// The text; `nil` for a binary message.
  public var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The number of bytes that the message has on the wire, without its frames.
  public var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let data): data.count
    }
  }

  /// The bytes of the message; those of a text are its UTF-8.
  public var data: Data {
    switch self {
    case .text(let text): Data(text.utf8)
    case .binary(let data): data
    }
  }
}
