import JSONText
import PortableFoundation

/// One request of an HTTP archive (HAR 1.2), with its response or error: an attempt of a call, or a redirect.
///
/// The properties that HAR does not define are fields whose names start with an underscore.
package struct HAREntry: Sendable, Equatable {
  /// The start of the request; `nil` if the archive has no valid date.
  package var started: Date?
  /// The time from the start to the end, in milliseconds.
  package var time = 0.0
  package var timings = Timings()
  package var method: String
  /// The absolute URL without its fragment.
  package var url: String
  package var httpVersion = ""
  package var requestHeaders = HTTPHeaders()
  /// The status; 0 if no response arrived.
  package var status: Int
  package var responseHeaders = HTTPHeaders()
  /// The body, with its content coding removed.
  package var body = Data()
  package var messages: [Message] = []
  package var events: [Event] = []
  private var rare = Rare.none

  package init(method: String, url: String, status: Int) {
    (self.method, self.url, self.status) = (method, url, status)
  }

  /// The properties that few entries have. Entries without them share one object, because an archive may have 100,000
  /// entries.
  private struct Rare: Sendable, Equatable {
    var requestBody = SentBody.none
    var fullCount: Int?
    var missingBody: String?
    var address: String?
    var failure: Failure?
    var resourceType = "fetch"
    var facts = Facts()

    static let none = Box(Rare())

    final class Box: @unchecked Sendable, Equatable {  // safe: changed only while a single entry refers to it
      var value: Rare

      init(_ value: Rare) { self.value = value }

      static func == (a: Box, b: Box) -> Bool { a === b || a.value == b.value }
    }
  }

  private subscript<Value: Equatable>(_ path: WritableKeyPath<Rare, Value>) -> Value {
    get { rare.value[keyPath: path] }
    set {
      guard rare.value[keyPath: path] != newValue else { return }
      if !isKnownUniquelyReferenced(&rare) { rare = Rare.Box(rare.value) }
      rare.value[keyPath: path] = newValue
    }
  }

  package var requestBody: SentBody {
    get { self[\.requestBody] }
    set { self[\.requestBody] = newValue }
  }
  /// The number of bytes of the whole body, if `body` is only its start.
  package var fullCount: Int? {
    get { self[\.fullCount] }
    set { self[\.fullCount] = newValue }
  }
  /// The reason why the archive does not contain the body; `nil` if it does.
  package var missingBody: String? {
    get { self[\.missingBody] }
    set { self[\.missingBody] = newValue }
  }
  /// The address of the server, without the port.
  package var address: String? {
    get { self[\.address] }
    set { self[\.address] = newValue }
  }
  package var failure: Failure? {
    get { self[\.failure] }
    set { self[\.failure] = newValue }
  }
  package var resourceType: String {
    get { self[\.resourceType] }
    set { self[\.resourceType] = newValue }
  }
  package var facts: Facts {
    get { self[\.facts] }
    set { self[\.facts] = newValue }
  }

  /// The duration of each phase in milliseconds; -1 for a phase that is unknown or did not occur.
  package struct Timings: Sendable, Equatable {
    package var blocked = -1.0
    package var dns = -1.0
    /// The time of the connection, including TLS.
    package var connect = -1.0
    package var ssl = -1.0
    package var send = 0.0
    package var wait = 0.0
    package var receive = 0.0
  }

  /// The body of a request, as it is stored and compared.
  package enum SentBody: Sendable, Equatable {
    case none
    case text(String, type: String)
    /// The SHA-256 of a body that is not text, as hexadecimal digits.
    case digest(String, count: Int, type: String)
    /// A body that was not in memory, or whose bytes the archive does not contain.
    case unknown
  }

  /// The error of an attempt, or of the call that it belongs to.
  package struct Failure: Sendable, Equatable {
    package var kind: String
    package var code: Int?
    package var reason: String

    package init(kind: String, code: Int? = nil, reason: String) {
      (self.kind, self.code, self.reason) = (kind, code, reason)
    }
  }

  /// A message of a WebSocket. Binary data is base64.
  package struct Message: Sendable, Equatable {
    package var isSent: Bool
    /// The time in seconds since 1970.
    package var time: Double
    /// The opcode of the frame: 1 for text, 2 for binary data.
    package var opcode: Int
    package var data: String
  }

  package struct Event: Sendable, Equatable {
    /// The time in seconds since 1970.
    package var time: Double
    package var name: String
    package var id: String
    package var data: String
  }

  /// The facts about the call that HAR does not define.
  package struct Facts: Sendable, Equatable {
    /// The number of the call, which joins its attempts.
    package var call: Int?
    package var attempt: Int?
    /// The delay before the attempt, in milliseconds.
    package var pause: Double?
    /// The use of the cache: `hit`, `stale` or `revalidated`.
    package var cache: String?
    /// The number of the call that was sent in place of this one.
    package var coalesced: Int?
    package var endpoint: String?
    /// The time of decoding, in milliseconds.
    package var decoding: Double?

    /// Returns the use of the cache by a response of `source`; `nil` for none.
    package static func cache(of source: Response.Source?) -> String? {
      switch source?.kind {
      case .cache: source?.isStale == true ? "stale" : "hit"
      case .revalidated: "revalidated"
      default: nil
      }
    }
  }
}

enum HARDate {
  /// Returns the date in UTC, with milliseconds. A date before the year 0000 or after 9999 is the first or the last of
  /// these years.
  static func text(_ date: Date) -> String {
    date.iso8601Text(digits: 3)
      ?? (date.timeIntervalSince1970 < 0 ? "0000-01-01T00:00:00.000Z" : "9999-12-31T23:59:59.999Z")
  }

  /// Returns the date of a text with up to nine decimal digits; one without a time zone is in UTC. Returns `nil` for any
  /// other text.
  static func date(_ text: String) -> Date? {
    guard text.utf8.count <= 64 else { return nil }
    return Date(iso8601: text) ?? Date(iso8601: text + "Z")
  }
}
