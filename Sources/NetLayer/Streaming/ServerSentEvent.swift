import PortableFoundation

/// An event that a server sent (HTML standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The last event ID that the server gave, in this event or before; empty when none.
  public var id: String
  /// The event's type; `message` where the server named none.
  public var event: String
  /// The data, its lines joined by LF.
  public var data: String

  /// An event.
  public init(id: String = "", event: String = "message", data: String) {
    self.id = id
    self.event = event
    self.data = data
  }
}
