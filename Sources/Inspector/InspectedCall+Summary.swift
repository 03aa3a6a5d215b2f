import NetLayerRecording
import PortableFoundation

extension InspectedCall {
  /// A row of the list. Times are in milliseconds.
  struct Summary: Encodable {
    struct Attempt: Encodable {
      /// The time from the start of the call.
      var at: Double
      var pause: Double?
      /// The phases, in the order of `HAREntry.Timings`, with the TLS handshake apart from the connection.
      var phases: [Double]
      var time: Double?
      var status: Int
      var error: String?
    }

    var id: Int
    var at: Double
    var method: String
    var url: String
    var endpoint: String?
    var kind: String
    var status: Int
    var state: String
    var error: String?
    var code: Int?
    var size: Int
    var time: Double?
    var cache: String?
    var shared: Int?
    var decode: Double?
    var redirects: Int
    var messages: Int
    /// The times of the last messages, from the start of the call.
    var ticks: [Double]
    var attempts: [Attempt]
  }

  /// The number of messages that the waterfall shows.
  private static let maxTicks = 64

  var summary: Summary {
    let last = attempts.last
    let times = (last?.entry.messages.map(\.time) ?? []) + (last?.entry.events.map(\.time) ?? [])
    let start = started.timeIntervalSince1970
    return Summary(
      id: number, at: start * 1_000, method: method, url: url, endpoint: endpoint, kind: kind,
      status: last?.entry.status ?? 0, state: state, error: failure?.kind,
      code: failure.flatMap { $0.kind == "rejected" ? $0.code : nil }, size: last?.size ?? 0, time: time, cache: cache,
      shared: shared, decode: decoding, redirects: attempts.reduce(0) { $0 + $1.redirects.count },
      messages: times.count, ticks: times.suffix(Self.maxTicks).map { max(0, ($0 - start) * 1_000) },
      attempts: attempts.map { attempt in
        let timings = attempt.entry.timings
        let tls = max(0, timings.ssl)
        return Summary.Attempt(
          at: milliseconds(since: attempt.redirects.first ?? attempt.entry), pause: attempt.pause,
          phases: [
            max(0, timings.blocked), max(0, timings.dns), max(0, timings.connect - tls), tls, timings.send,
            timings.wait,
            timings.receive,
          ].map { ($0 * 1_000).rounded() / 1_000 },
          time: attempt.time, status: attempt.entry.status, error: attempt.failure?.kind)
      })
  }

  /// The kind of content: `json`, `image`, `event`, `socket` or `other`.
  private var kind: String {
    guard let entry = attempts.last?.entry else { return "other" }
    switch entry.resourceType {
    case "websocket": return "socket"
    case "eventsource": return "event"
    default: break
    }
    let type = MediaType(entry.responseHeaders["Content-Type"] ?? "").essence
    if type == "application/json" || type.hasSuffix("+json") { return "json" }
    if type.hasPrefix("image/") { return "image" }
    return type == "text/event-stream" ? "event" : "other"
  }
}
