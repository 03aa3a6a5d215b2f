import PortableFoundation

/// A complete message of a WebSocket (RFC 6455 §5.6), assembled from its fragments.
public enum WebSocketMessage: Sendable, Hashable {
  /// Text, which is UTF-8 on the wire.
  case text(String)
  /// Bytes.
  case binary(Data)

  /// The text; `nil` for a binary message.
  public var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The number of bytes of the message on the wire, without frame headers.
  public var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let data): data.count
    }
  }

  /// The bytes of the message; for text, its UTF-8.
  public var data: Data {
    switch self {
    case .text(let text): Data(text.utf8)
    case .binary(let data): data
    }
  }
}
