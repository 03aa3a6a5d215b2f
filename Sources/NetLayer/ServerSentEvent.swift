import PortableFoundation

/// An event that a server sent (HTML standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The last event ID that the server set, in this event or an earlier one; empty if it set none.
  public var id: String
  /// The type of the event; `message` if the server named none.
  public var event: String
  /// The data of the event, with its lines joined by LF.
  public var data: String
  /// The head of the response that contained the event, for its decoder; `nil` for an event that was created manually.
  var response: Response?

  /// Creates an event.
  public init(id: String = "", event: String = "message", data: String) {
    self.id = id
    self.event = event
    self.data = data
  }

  /// Returns whether both events have the same ID, type and data.
  public static func == (a: ServerSentEvent, b: ServerSentEvent) -> Bool {
    (a.id, a.event, a.data) == (b.id, b.event, b.data)
  }

  /// Hashes the ID, the type and the data.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(event)
    hasher.combine(data)
  }
}
