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
    /// The name of the lane, whose entries are sent in order; `nil` for an entry without an order.
    public var lane: String? { content.lane }
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
  public struct State: Sendable, Hashable, CustomStringConvertible {
    enum Known: Hashable {
      case queued, sending, waitingForNetwork, waitingForRetry, earlierEntry, waitingForSignIn, otherUser, otherProcess,
        newerVersion
      case parked(status: Int?)
    }

    let known: Known

    private init(_ known: Known) { self.known = known }

    /// Its turn: ``Outbox/start()``, or a free one of ``Outbox/Limits/maxConcurrent``.
    public static let queued = State(.queued)
    /// The response.
    public static let sending = State(.sending)
    /// A network.
    public static let waitingForNetwork = State(.waitingForNetwork)
    /// The next attempt.
    public static let waitingForRetry = State(.waitingForRetry)
    /// An earlier entry of its lane.
    public static let earlierEntry = State(.earlierEntry)
    /// A new sign-in of its user, because the server has rejected the token.
    public static let waitingForSignIn = State(.waitingForSignIn)
    /// A sign-in of its user, because another user is signed in, or none.
    public static let otherUser = State(.otherUser)
    /// Another process, which sends the entries of the directory.
    public static let otherProcess = State(.otherProcess)
    /// A newer version of the app, which has stored it.
    public static let newerVersion = State(.newerVersion)
    /// A decision: ``Outbox/retry(_:)`` or ``Outbox/drop(_:)``. The server has rejected it with `status`, or all attempts
    /// have failed; `nil` without a response.
    public static func parked(status: Int?) -> State { State(.parked(status: status)) }

    /// Whether the entry is parked, whatever its status.
    public var isParked: Bool { if case .parked = known { true } else { false } }

    /// The status with which the server has rejected a parked entry; `nil` for others, and without a response.
    public var status: Int? { if case .parked(let status) = known { status } else { nil } }

    /// The name of the state, and the status of a parked entry.
    public var description: String {
      if case .parked(let status) = known { "parked\(status.map { " (status \($0))" } ?? "")" } else { "\(known)" }
    }
  }

  /// An entry and its result.
  public struct Outcome: Sendable {
    /// The entry, as it was when its result arrived.
    public let entry: Entry
    /// The response, whose status and envelope report a success, or the error of a parked entry.
    public let result: Result<Response, NetworkError>
  }

  /// An entry, its endpoint and its result.
  public struct EndpointOutcome<E: Endpoint>: Sendable {
    /// The entry, as it was when its result arrived.
    public let entry: Entry
    /// The endpoint that was sent.
    public let endpoint: E
    /// The output of the endpoint, or the error of a parked entry or of a response that can't be read.
    public let result: Result<E.Output, NetworkError>
  }
}
