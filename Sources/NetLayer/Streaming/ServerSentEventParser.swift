import PortableFoundation

/// A state machine that parses server-sent events (HTML standard §9.2.6).
struct ServerSentEventParser {
  private var lines: LineParser
  private let limit: Int
  private var data = ""
  private var hasData = false
  private var event = ""
  /// The ID of the next event.
  private var id: String
  /// The ID of the last event that was emitted, for `Last-Event-ID`.
  private(set) var lastID: String
  /// The delay before a reconnection, if the server requested one.
  private(set) var retry: Duration?

  /// Creates a parser that continues after the event `lastID`. An event may have up to `limit` bytes.
  init(lastID: String = "", limit: Int = 1 << 20) {
    lines = LineParser(.any, limit: limit)
    self.limit = limit
    self.lastID = lastID
    id = lastID
  }

  /// Creates a parser that continues after the last event of `former`, on a new connection.
  init(continuing former: ServerSentEventParser) {
    self.init(lastID: former.lastID, limit: former.limit)
    retry = former.retry
  }

  /// Emits every event that `bytes` completes. Text after the last blank line is not yet an event, and is discarded if
  /// the stream ends there.
  mutating func feed(_ bytes: Data, _ emit: (ServerSentEvent) throws -> Void) throws {
    // Taken out of the parser, because the closure modifies it. A copy would duplicate the start of a long line.
    var lines = exchange(&self.lines, with: LineParser(.any, limit: limit))
    defer { self.lines = lines }
    try lines.feed(bytes) { line in
      if line.isEmpty { try dispatch(emit) } else { try read(line) }
    }
  }

  var unfinishedData: String? {
    var copy = self
    var lines = lines
    try? lines.finish { try copy.read($0) }
    return copy.hasData ? copy.data : nil
  }

  private mutating func read(_ line: ArraySlice<UInt8>) throws {
    let name: ArraySlice<UInt8>
    var value: ArraySlice<UInt8>
    if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      name = line[..<colon]
      value = line[(colon + 1)...]
      if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    } else {
      name = line
      value = []
    }
    switch String(decoding: name, as: UTF8.self) {
    case "data":
      guard data.utf8.count + value.count < limit else { throw LineParser.TooLong(limit: limit) }
      if hasData { data += "\n" }
      data += String(decoding: value, as: UTF8.self)
      hasData = true
    case "event": event = String(decoding: value, as: UTF8.self)
    case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    case "retry":
      if let milliseconds = Int64(digits: String(decoding: value, as: UTF8.self)) {
        retry = .milliseconds(milliseconds)
      }
    // Ignore a comment, whose name is empty, or an unknown field.
    default: break
    }
  }

  private mutating func dispatch(_ emit: (ServerSentEvent) throws -> Void) rethrows {
    lastID = id
    defer {
      data = ""
      hasData = false
      event = ""
    }
    guard hasData else { return }
    try emit(ServerSentEvent(id: id, event: event.isEmpty ? "message" : event, data: data))
  }
}
