import PortableFoundation

extension Outbox {
  /// A stored write.
  public struct Entry: Sendable, Identifiable, Hashable {
    private let content: OutboxEntry
    /// The event that the entry waits for.
    public let state: State

    init(_ content: OutboxEntry, _ state: State) { (self.content, self.state) = (content, state) }

    /// The identity, which is sent as `Idempotency-Key`. If the call's own key is not a UUID, it is a digest of the account
    /// and that key.
    public var id: UUID { content.id }
    /// The key of the entries that are sent in order; `nil` for an entry that waits for no other.
    public var key: String? { content.key }
    /// The account whose token the entry is sent with; `nil` for no token.
    public var account: String? { content.account }
    /// The method.
    public var method: HTTPMethod { content.call.method }
    /// The path with its query, relative to the base URL, or an absolute URL. Empty for an entry of a newer version whose
    /// description this version does not know.
    public var path: String { content.call.path }
    /// The header fields of the call, without those that the backend adds.
    public var headers: HTTPHeaders { content.call.headers }
    /// The encoded body; empty for none.
    public var body: Data { content.call.body }
    /// The time of `send`.
    public var createdAt: Date { content.createdAt }

    /// Returns the endpoint that was sent; `nil` if it was of another type, or this version of the app can't decode it.
    public func endpoint<E: Decodable>(as type: E.Type = E.self) -> E? {
      guard content.type == String(reflecting: type), let value = content.value else { return nil }
      return try? JSONDecoder().decode(type, from: value)
    }

    /// Compares the identity and the state.
    public static func == (a: Entry, b: Entry) -> Bool { a.id == b.id && a.state == b.state }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  /// The next event that an entry waits for.
  public enum State: Sendable, Hashable {
    /// Its turn: ``Outbox/start()``, or a free one of ``Outbox/Limits/concurrency``.
    case queued
    /// The response.
    case sending
    /// A network.
    case network
    /// The next attempt.
    case retry
    /// An earlier entry of its key.
    case earlierEntry
    /// A new sign-in of its user, because the server has rejected the token.
    case signIn
    /// A sign-in of its user, because another user is signed in, or none.
    case account
    /// Another process, which sends the entries of the directory.
    case otherProcess
    /// A decision: ``Outbox/retry(_:)`` or ``Outbox/drop(_:)``. The server has rejected it with `status`, or all attempts
    /// have failed; `nil` without a response.
    case parked(status: Int?)
    /// A newer version of the app, which has stored it.
    case newerVersion
  }
}
