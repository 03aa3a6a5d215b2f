import PortableFoundation
import Streams

/// Writes one download: decides what the head means, writes the pieces, measures the rate.
final class ResumableDownload: Disposable {
  enum Step {
    /// The body is to be written.
    case read
    /// Everything has come already.
    case isComplete
    /// What there is can't be gone on from: ask without a range.
    case restart
    /// The answer is no file.
    case fail
  }

  private struct State {
    var part: PartialFile
    var total: Int64?
    /// Where the range ends that is being read.
    var end: Int64?
    var rate: TransferRate
  }

  /// Taken by the body's thread, one at a time, and by the disposer. File system calls run inside: they are those of one
  /// download, whose disposer waits for the write under way.
  private let state: Locked<State>
  private let sha256: Data?
  private let clock: any SchedulerType

  init(_ part: sending PartialFile, sha256: Data?, clock: any SchedulerType) {
    state = Locked(State(part: part, rate: TransferRate()))
    self.sha256 = sha256
    self.clock = clock
  }

  /// Lets go of the file, so that another may go on with it at once.
  func dispose() { state.withLock { $0.part.letGo() } }

  /// The header fields that ask for the rest.
  var conditions: [(String, String)] {
    state.withLock { state in
      guard state.part.count > 0, let validator = state.part.note?.validator else { return [] }
      return [("Range", "bytes=\(state.part.count)-"), ("If-Range", validator)]
    }
  }

  func begin(_ response: Response) throws(NetworkError) -> Step {
    let now = clock.now
    return try state.withLock { state throws(NetworkError) in
      let step = try Self.begin(response, &state)
      state.rate.begin(state.part.count, now)
      return step
    }
  }

  private static func begin(_ response: Response, _ state: inout State) throws(NetworkError) -> Step {
    let range = response.headers["Content-Range"].flatMap(ContentRange.init)
    let isResumption = state.part.count > 0
    switch response.status {
    case 206:
      // Another range than was asked for, of another version or resource, coded, or no range that can be read
      // (RFC 9110 §15.3.7): what is there is of no use with it.
      guard let range, let first = range.first, first == state.part.count || first == 0, isPlain(response),
        first == 0 || isSame(response, as: state.part.note, range.total)
      else {
        try state.part.restart(nil)
        return .restart
      }
      if first == 0 { try state.part.restart(note(of: response, total: range.total)) }
      state.total = range.total ?? state.part.note?.total
      state.end = range.last.map { $0 + 1 }
      return .read
    case 416:
      if let total = range?.total, total == state.part.count, isResumption,
        isSame(response, as: state.part.note, total)
      {
        state.total = total
        return .isComplete
      }
      try state.part.restart(nil)
      return .restart
    case 204, 205:
      // Nothing instead of the rest is no file.
      if isResumption { return .fail }
      fallthrough
    case _ where response.isSuccess:
      let total = response.headers["Content-Length"].flatMap { Int64($0) }
      try state.part.restart(note(of: response, total: total))
      state.total = total
      return .read
    default:
      return .fail
    }
  }

  private static func isPlain(_ response: Response) -> Bool {
    (response.headers["Content-Encoding"] ?? "identity").lowercased() == "identity"
  }

  /// What tells this version of the resource from another; `nil` when no one could go on from it.
  private static func note(of response: Response, total: Int64?) -> PartialFile.Note? {
    guard isPlain(response), response.headers["Accept-Ranges"]?.lowercased() != "none" else { return nil }
    let resource = resource(of: response)
    if let tag = response.headers.values(of: "ETag").first {
      return tag.hasPrefix("\"") ? .init(validator: tag, resource: resource, total: total) : nil
    }
    // A date tells versions apart only when it was past by a second (RFC 9110 §8.8.2.2, §13.1.5).
    guard let changed = response.headers.values(of: "Last-Modified").first, let date = seconds(changed),
      let sent = response.headers.values(of: "Date").first.flatMap(seconds), sent - date >= 1
    else { return nil }
    return .init(validator: changed, resource: resource, total: total)
  }

  private static func seconds(_ date: String) -> Double? {
    HTTPDate.seconds(date, now: Date().timeIntervalSinceReferenceDate)
  }

  private static func resource(of response: Response) -> String {
    let url = response.request.url.absoluteString
    return String(url.prefix { $0 != "?" && $0 != "#" })
  }

  /// Whether `response` is of the resource and the version of `note`, as far as both say.
  private static func isSame(_ response: Response, as note: PartialFile.Note?, _ total: Int64?) -> Bool {
    guard let note, note.resource == nil || note.resource == resource(of: response) else { return false }
    if let total, let known = note.total, total != known { return false }
    let name = note.validator?.hasPrefix("\"") == true ? "ETag" : "Last-Modified"
    return response.headers.values(of: name).allSatisfy { $0 == note.validator }
  }

  func write(_ chunk: Data, to observer: AnyObserver<Transfer<URL>>) {
    let now = clock.now
    do throws(NetworkError) {
      let progress = try state.withLock { state throws(NetworkError) in
        try state.part.append(chunk)
        return state.rate.report(state.part.count, of: state.total, now)
      }
      if let progress { observer.onNext(.progress(progress)) }
    } catch {
      observer.onError(error)
    }
  }

  func finish(_ response: Response, _ observer: AnyObserver<Transfer<URL>>) {
    let now = clock.now
    do throws(NetworkError) {
      let (progress, file) = try state.withLock { state throws(NetworkError) in
        let count = state.part.count
        if let total = state.total ?? state.end, total != count {
          let reason = "\(count) bytes of \(total) have come; subscribe again to go on"
          throw NetworkError(kind: .connection, reason: reason, response: response)
        }
        if let sha256, case let found = try state.part.digest(), found != sha256 {
          state.part.discard()
          let reason = "the download has the SHA-256 \(found.hex) instead of \(sha256.hex); it was removed"
          throw NetworkError(kind: .file, reason: reason, response: response)
        }
        try state.part.complete()
        return (state.rate.progress(count, of: count, now), state.part.destination)
      }
      observer.onNext(.progress(progress))
      observer.onNext(.result(file))
      observer.onCompleted()
    } catch {
      observer.onError(error)
    }
  }
}

/// Which part of a resource an answer has (RFC 9110 §14.4).
struct ContentRange: Equatable {
  /// The first byte; `nil` for a range that can't be satisfied.
  var first: Int64?
  /// The last byte; `nil` for a range that can't be satisfied.
  var last: Int64?
  /// How many bytes there are in all; `nil` when the server does not know.
  var total: Int64?

  /// `bytes 0-499/1234`, `bytes 0-499/*`, `bytes */1234`.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    total = halves[1] == "*" ? nil : Int64(halves[1])
    if halves[1] != "*", total == nil { return nil }
    guard halves[0] != "*" else { return }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, last >= first else { return nil }
    self.first = first
    self.last = last
  }
}

/// How fast a transfer is, over the last five seconds: steady enough to read, quick enough to be true.
struct TransferRate {
  private var marks: [(time: Date, count: Int64)] = []
  private var reported: Date?

  mutating func begin(_ count: Int64, _ now: Date) { marks = [(now, count)] }

  /// What to report at `now`, at most every 50 ms.
  mutating func report(_ count: Int64, of total: Int64?, _ now: Date) -> TransferProgress? {
    if let reported, now.timeIntervalSince(reported) < 0.05 { return nil }
    reported = now
    return progress(count, of: total, now)
  }

  mutating func progress(_ count: Int64, of total: Int64?, _ now: Date) -> TransferProgress {
    marks.append((now, count))
    while marks.count > 2, now.timeIntervalSince(marks[1].time) > 5 { marks.removeFirst() }
    var progress = TransferProgress(received: count, toReceive: total)
    if let first = marks.first, case let span = now.timeIntervalSince(first.time), span > 0 {
      progress.bytesPerSecond = Double(count - first.count) / span
    }
    return progress
  }
}
