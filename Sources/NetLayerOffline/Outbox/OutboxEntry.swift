import PortableFoundation

/// The content of an entry's file. It never changes.
final class OutboxEntry: Sendable {
  let id: UUID
  let account: String?
  let lane: String?
  let createdAt: Date
  let call: FrozenCall
  /// The type of the endpoint and its properties, if it is `Encodable`.
  let type: String?
  let value: Data?
  /// Whether this version of the package can send it.
  let isKnown: Bool

  /// The description in the file. The account and the lane have the same form in all versions.
  private struct Head: Codable {
    var method, path: String
    var headers: [[String]]
    var invalidates: [String]
    var createdAt: Date
    var account, lane, accept, type, fingerprint: String?
    var value: Data?
  }

  private static let version = 1

  init(
    _ id: UUID, _ call: FrozenCall, account: String?, lane: String?, createdAt: Date, type: String?, value: Data?
  ) {
    (self.id, self.call, self.account, self.lane) = (id, call, account, lane)
    (self.createdAt, self.type, self.value, isKnown) = (createdAt, type, value, true)
  }

  /// Reads the content of a file; `nil` if it is damaged.
  init?(_ bytes: Data, id: UUID) {
    guard let record = DurableRecord(bytes) else { return nil }
    let head = try? JSONDecoder().decode(Head.self, from: record.head.data)
    isKnown = record.lowestVersion <= Self.version
    guard head != nil || !isKnown else { return nil }
    self.id = id
    (account, lane) = (record.head["account"].string, record.head["lane"].string)
    let fields = (head?.headers ?? []).filter { $0.count == 2 }.map { HTTPHeaders.Field(name: $0[0], value: $0[1]) }
    call = FrozenCall(
      method: HTTPMethod(rawValue: head?.method ?? "POST"), path: head?.path ?? "", headers: HTTPHeaders(fields),
      accept: head?.accept, body: record.body,
      invalidates: Set((head?.invalidates ?? []).map { CacheTag(rawValue: $0) }), fingerprint: head?.fingerprint)
    createdAt = head?.createdAt ?? Date(timeIntervalSince1970: 0)
    (type, value) = (head?.type, head?.value)
  }

  var bytes: Data {
    get throws {
      let head = Head(
        method: call.method.rawValue, path: call.path, headers: call.headers.map { [$0.name, $0.value] },
        invalidates: call.invalidates.map(\.rawValue).sorted(), createdAt: createdAt, account: account, lane: lane,
        accept: call.accept, type: type, fingerprint: call.fingerprint, value: value)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return DurableRecord(
        lowestVersion: Self.version, head: try JSON(parsing: encoder.encode(head)), body: call.body
      ).bytes
    }
  }

  /// Returns whether both are one write: the same request of the same account.
  func isSame(as other: OutboxEntry) -> Bool {
    account == other.account && call.fingerprint != nil && call.fingerprint == other.call.fingerprint
  }

  /// The memory and disk space that it takes, roughly.
  var size: Int { 256 + call.body.count + call.path.utf8.count + (value?.count ?? 0) }
}
