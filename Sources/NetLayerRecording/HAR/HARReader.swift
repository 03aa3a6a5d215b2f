import JSONText
import PortableFoundation

/// The reader of archives that this package, a browser, a proxy or a test tool has saved.
///
/// It accepts `null` and missing fields everywhere. It skips entries without a usable request, such as those of `data:`
/// URLs.
package enum HARReader {
  /// The maximum number of bytes of an archive.
  package static let maxSize = 256 << 20
  static let maxEntries = 100_000
  /// The maximum numbers of header fields of a message, and of messages or events of an entry.
  static let maxFields = 1_000
  /// The maximum number of header fields of an archive, some 100 MB in memory.
  static let maxAllFields = 500_000
  static let maxMessages = 10_000

  /// Returns the entries of the archive at `url`, the oldest first, without the secrets of `redaction`.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  package static func entries(
    of url: URL, hiding redaction: Redaction = .none
  ) throws(NetworkError) -> [HAREntry] {
    do {
      return try entries(in: try contents(of: url), hiding: redaction)
    } catch {
      throw NetworkError(
        kind: .file,
        reason: "the HAR file \(url.path) can't be read: \((error as? Invalid)?.reason ?? SystemError.text(of: error))",
        underlying: error)
    }
  }

  /// Returns the entries of an archive, the oldest first. Entries without a date stay after the ones that precede them.
  package static func entries(in bytes: Data, hiding redaction: Redaction = .none) throws(Invalid) -> [HAREntry] {
    guard bytes.count <= maxSize else { throw Invalid("it is larger than \(maxSize >> 20) MB") }
    // An entry that is not valid is found again in the whole archive, whose error has its offset.
    if let parts = HARParts(bytes), let frame = try? JSON(parsing: parts.frame), frame["log"]["entries"].kind == .array,
      let entries = try entries(at: parts.entries, in: bytes, frame, redaction)
    {
      return entries
    }
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw Invalid("\(error); save it again, or record again")
    }
    guard let list = json["log"]["entries"].array else {
      throw Invalid("it has no log.entries; save it as HAR 1.2, or record again")
    }
    guard list.count <= maxEntries else { throw Invalid("it has more than \(maxEntries) entries") }
    var entries = Entries(isOwn: isOwn(json), count: list.count, redaction)
    for entry in list { try entries.append(entry) }
    return entries.sorted()
  }

  private static func isOwn(_ json: JSON) -> Bool { json["log"]["creator"]["name"].string == "NetLayer" }

  /// Returns the entries at these places; `nil` if one is not valid JSON.
  private static func entries(
    at places: [Range<Int>], in bytes: Data, _ frame: JSON, _ redaction: Redaction
  ) throws(Invalid) -> [HAREntry]? {
    guard places.count <= maxEntries else { throw Invalid("it has more than \(maxEntries) entries") }
    var entries = Entries(isOwn: isOwn(frame), count: places.count, redaction)
    for place in places {
      guard let json = try? JSON(parsing: bytes.dropFirst(place.lowerBound).prefix(place.count)) else { return nil }
      try entries.append(json)
    }
    return entries.sorted()
  }

  /// The entries so far.
  private struct Entries {
    private let isOwn: Bool
    private let redaction: Redaction
    private var entries: [HAREntry] = []
    private var dates: [Date] = []
    private var fields = 0

    init(isOwn: Bool, count: Int, _ redaction: Redaction) {
      (self.isOwn, self.redaction) = (isOwn, redaction)
      entries.reserveCapacity(count)
      dates.reserveCapacity(count)
    }

    mutating func append(_ json: JSON) throws(Invalid) {
      guard let entry = HARReader.entry(json, isOwn: isOwn)?.redacted(redaction) else { return }
      dates.append(entry.started ?? dates.last ?? .distantPast)
      entries.append(entry)
      // Two bytes of a joined value are a field.
      fields += entry.requestHeaders.count + entry.responseHeaders.count
      guard fields <= maxAllFields else {
        throw Invalid("it has more than \(maxAllFields) header fields; save fewer calls")
      }
    }

    func sorted() -> [HAREntry] {
      // Most archives are in this order, and need no copy.
      if zip(dates, dates.dropFirst()).allSatisfy({ $0 <= $1 }) { return entries }
      return entries.indices.sorted { (dates[$0], $0) < (dates[$1], $1) }.map { entries[$0] }
    }
  }

  package struct Invalid: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }
  }

  private static func contents(of url: URL) throws -> Data {
    let file = openDescriptor(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw SystemError.last }
    defer { closeDescriptor(file) }
    let size = fileSize(file) ?? 0
    guard size <= maxSize else { throw Invalid("it is larger than \(maxSize >> 20) MB") }
    var bytes = Data(count: size)
    guard bytes.withUnsafeMutableBytes({ DurableDirectory.fill($0, from: file) }) else { throw SystemError.last }
    return bytes
  }

  /// Returns an entry; `nil` if it has no request that HTTP can send.
  fileprivate static func entry(_ json: JSON, isOwn: Bool) -> HAREntry? {
    let (request, response) = (json["request"], json["response"])
    guard let method = request["method"].string, !method.isEmpty, let text = request["url"].string,
      let url = URL(text: String(text.prefix { $0 != "#" })), let scheme = url.scheme?.lowercased(),
      ["http", "https", "ws", "wss"].contains(scheme), url.host?.isEmpty == false
    else { return nil }
    var entry = HAREntry(method: method, url: url.absoluteString, status: response["status"].int ?? 0)
    entry.started = json["startedDateTime"].string.flatMap(HARDate.date)
    entry.time = milliseconds(json["time"]) ?? 0
    entry.httpVersion = response["httpVersion"].string ?? request["httpVersion"].string ?? ""
    entry.address = json["serverIPAddress"].string.unlessEmpty
    entry.requestHeaders = fields(request["headers"])
    entry.requestBody = sentBody(request, entry.requestHeaders, isOwn: isOwn)
    entry.messages = messages(json["_webSocketMessages"])
    entry.events = events(json["_eventSourceMessages"])
    entry.resourceType = json["_resourceType"].string ?? (scheme.hasPrefix("ws") ? "websocket" : "fetch")
    readTimings(json["timings"], into: &entry.timings)
    readFacts(json, into: &entry.facts)
    entry.failure = failure(json, response, status: entry.status)
    entry.status = min(max(entry.status, 0), 999)
    guard entry.status > 0 else { return entry }
    readBody(json, into: &entry)
    // A browser keeps the status of a response that was cut, and its error, but not its body.
    if entry.failure == nil, response["content"]["text"].string == nil, entry.events.isEmpty,
      let failure = self.failure(json, response, status: 0), failure.reason != Self.unknownReason
    {
      entry.failure = failure
    }
    return entry
  }

  /// Returns the fields of a message. HTTP/2's names that start with a colon are not fields. Chromium joins the values of
  /// `Set-Cookie` by line feeds.
  static func fields(_ json: JSON) -> HTTPHeaders {
    var fields: [HTTPHeaders.Field] = []
    for field in (json.array ?? []).prefix(maxFields) {
      guard let name = field["name"].string, !name.isEmpty, !name.hasPrefix(":") else { continue }
      let value = field["value"].string ?? ""
      // Any other value is one field, even with line feeds: a short file could otherwise have any number of fields.
      guard name.lowercased() == "set-cookie" else {
        fields.append(HTTPHeaders.Field(name: name, value: value.replacing("\n", with: ", ")))
        continue
      }
      for line in value.split(separator: "\n", maxSplits: maxFields, omittingEmptySubsequences: false) {
        guard fields.count < maxFields else { return HTTPHeaders(fields) }
        fields.append(HTTPHeaders.Field(name: name, value: String(line)))
      }
    }
    return HTTPHeaders(fields)
  }

  private static let unknownReason = "recorded failure"

  private static func failure(_ json: JSON, _ response: JSON, status: Int) -> HAREntry.Failure? {
    let own = json["_error"]
    if let kind = own["kind"].string.unlessEmpty {
      return HAREntry.Failure(kind: kind, code: own["code"].int, reason: own["reason"].string ?? unknownReason)
    }
    guard status <= 0 else { return nil }
    let text = response["_error"].string.unlessEmpty ?? response["_failureText"].string.unlessEmpty
    return HAREntry.Failure(kind: "connection", reason: text ?? unknownReason)
  }

  /// Returns a duration in milliseconds, at most about 30 years; `nil` if it is negative or not a number.
  static func milliseconds(_ json: JSON) -> Double? {
    guard let value = json.double, value >= 0 else { return nil }
    return min(value, 1e12)
  }
}
