import PortableFoundation

/// An event that a server sent (HTML standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The last event ID that the server set, in this event or an earlier one; empty if it set none.
  public var id: String
  /// The type of the event; `message` if the server named none.
  public var event: String
  /// The data of the event, with its lines joined by LF.
  public var data: String

  /// Creates an event.
  public init(id: String = "", event: String = "message", data: String) {
    self.id = id
    self.event = event
    self.data = data
  }
}
