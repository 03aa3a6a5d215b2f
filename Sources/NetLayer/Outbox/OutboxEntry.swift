import PortableFoundation

/// The content of an entry's file. It never changes.
final class OutboxEntry: Sendable {
  let id: UUID
  let account: String?
  let key: String?
  let createdAt: Date
  let call: FrozenCall
  /// The type of the endpoint and its properties, if it is `Encodable`.
  let type: String?
  let value: Data?
  /// Whether this version of the package can send it.
  let isKnown: Bool

  init(
    _ id: UUID, _ call: FrozenCall, account: String?, key: String?, createdAt: Date, type: String?, value: Data?
  ) {
    (self.id, self.call, self.account, self.key) = (id, call, account, key)
    (self.createdAt, self.type, self.value, isKnown) = (createdAt, type, value, true)
  }

  /// Reads the content of a file; `nil` if it is damaged.
  init?(_ bytes: Data, id: UUID) {
    guard let record = DurableRecord(bytes) else { return nil }
    let head = record.head
    self.id = id
    // These two have the same form in all versions.
    (account, key) = (head["account"].string, head["key"].string)
    isKnown = record.lowestVersion <= Self.version
    guard let method = head["method"].string, let path = head["path"].string else {
      guard !isKnown else { return nil }
      call = FrozenCall(method: .post, path: "", headers: [:], body: record.body)
      (createdAt, type, value) = (Date(timeIntervalSince1970: 0), nil, nil)
      return
    }
    var headers = HTTPHeaders()
    for field in head["headers"].array ?? [] {
      guard let name = field[0].string, let value = field[1].string else { return nil }
      headers.append(name, value)
    }
    call = FrozenCall(
      method: HTTPMethod(rawValue: method), path: path, headers: headers, accept: head["accept"].string,
      body: record.body,
      invalidates: Set((head["invalidates"].array ?? []).compactMap(\.string).map { CacheTag(rawValue: $0) }))
    createdAt = Date(timeIntervalSince1970: head["createdAt"].double ?? 0)
    (type, value) = (head["type"].string, head["value"].exists ? head["value"].data : nil)
  }

  private static let version: UInt32 = 1

  /// The content of the file.
  var bytes: Data {
    var head: [(String, JSON)] = [
      ("method", JSON(stringLiteral: call.method.rawValue)), ("path", JSON(stringLiteral: call.path)),
      ("createdAt", JSON(floatLiteral: createdAt.timeIntervalSince1970)),
    ]
    let fields = call.headers.map { "[\(JSON.quoted($0.name)),\(JSON.quoted($0.value))]" }
    head.append(("headers", Self.array(fields)))
    if !call.invalidates.isEmpty {
      head.append(("invalidates", Self.array(call.invalidates.map { JSON.quoted($0.rawValue) }.sorted())))
    }
    let texts = [("account", account), ("key", key), ("accept", call.accept), ("type", type)]
    head += texts.compactMap { name, text in text.map { (name, JSON(stringLiteral: $0)) } }
    if let value, let json = try? JSON(parsing: value) { head.append(("value", json)) }
    var record = DurableRecord(lowestVersion: Self.version, body: call.body)
    for (name, value) in head { record.set(name, value) }
    return record.bytes
  }

  private static func array(_ elements: [String]) -> JSON {
    (try? JSON(parsing: "[\(elements.joined(separator: ","))]")) ?? []
  }

  /// The memory and disk space that it takes, roughly.
  var size: Int { 256 + call.body.count + call.path.utf8.count + (value?.count ?? 0) }
}
