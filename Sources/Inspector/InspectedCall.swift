import NetLayerRecording
import PortableFoundation

/// A call as the page shows it, from a recorder or a HAR file.
struct InspectedCall: Sendable {
  struct Attempt: Sendable {
    var entry: HAREntry
    var redirects: [HAREntry] = []
    /// The delay before the attempt, in milliseconds.
    var pause: Double?
    /// The time from the start to the end in milliseconds; `nil` for an open attempt.
    var time: Double?
    var failure: HAREntry.Failure?
    /// The number of bytes of the body.
    var size: Int
    var isReused: Bool?
  }

  var number: Int
  var started: Date
  var method: String
  var url: String
  var endpoint: String?
  var state: String
  /// The time from the start to the end in milliseconds; `nil` for an open call.
  var time: Double?
  var attempts: [Attempt] = []
  var cache: String?
  var shared: Int?
  /// The time of decoding, in milliseconds.
  var decoding: Double?
  var failure: HAREntry.Failure?

  init(_ entry: Recorder.Entry) {
    number = entry.number
    started = entry.started
    method = entry.method.rawValue
    url = entry.url
    endpoint = entry.endpoint
    state = "\(entry.state)"
    time = entry.duration?.milliseconds
    cache = HAREntry.Facts.cache(of: entry.source)
    shared = entry.sharedWith
    decoding = entry.decoding?.milliseconds
    failure = entry.failure.map(Self.failure)
    attempts = entry.attempts.map { attempt in
      Attempt(
        entry: attempt.archived, redirects: attempt.redirects, pause: attempt.pause?.milliseconds,
        time: attempt.duration?.milliseconds, failure: attempt.failure.map(Self.failure), size: attempt.bodySize,
        isReused: attempt.metrics?.isReused)
    }
  }

  private static func failure(_ failure: Recorder.Entry.Failure) -> HAREntry.Failure {
    HAREntry.Failure(kind: failure.kind.rawValue, code: failure.code, reason: failure.reason)
  }

  /// Creates the call of the entries at `places`, without secrets, of an archive.
  init(_ places: [Int], of entries: [HAREntry], number: Int) {
    let first = entries[places[0]]
    self.number = number
    started = first.started ?? Date(timeIntervalSince1970: 0)
    (method, url, endpoint) = (first.method, first.url, first.facts.endpoint)
    state = "done"
    attempts = [Self.attempt(first)]
    finish(with: first)
    for place in places.dropFirst() { add(entries[place]) }
  }

  private static func attempt(_ entry: HAREntry) -> Attempt {
    Attempt(
      entry: entry, pause: entry.facts.pause, time: entry.time, failure: entry.failure,
      size: entry.fullCount ?? entry.body.count)
  }

  private mutating func add(_ entry: HAREntry) {
    let last = attempts.count - 1
    if attempts[last].entry.facts.attempt == entry.facts.attempt {
      // In place, because a copy for each redirect would take quadratic time.
      var next = Self.attempt(entry)
      swap(&next.redirects, &attempts[last].redirects)
      next.redirects.append(attempts[last].entry)
      attempts[last] = next
    } else {
      attempts.append(Self.attempt(entry))
    }
    finish(with: entry)
  }

  /// Applies the facts of the call, which its last entry has.
  private mutating func finish(with entry: HAREntry) {
    (cache, shared, decoding) = (entry.facts.cache, entry.facts.coalesced, entry.facts.decoding)
    failure = entry.failure
    state = entry.failure == nil ? "done" : entry.failure?.kind == "cancelled" ? "cancelled" : "failed"
    time = milliseconds(since: entry) + entry.time + (decoding ?? 0)
  }

  /// Returns the time from the start of the call to the start of an entry.
  func milliseconds(since entry: HAREntry) -> Double {
    entry.started.map { max(0, $0.timeIntervalSince(started)) * 1_000 } ?? 0
  }

  /// The entries of a HAR file.
  var entries: [HAREntry] { attempts.flatMap { $0.redirects + [$0.entry] } }
}
