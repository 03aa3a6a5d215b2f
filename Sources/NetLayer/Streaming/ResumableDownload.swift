import PortableFoundation
import Streams

/// A download into a file. It interprets the head, writes the chunks and measures the rate.
final class ResumableDownload: Disposable {
  enum Step {
    case read
    case isComplete
    /// The partial file can't be resumed: request the resource without a range.
    case restart
    case fail
  }

  private struct State {
    var part: PartialFile
    var total: Int64?
    /// The end of the range that is being read.
    var end: Int64?
    var rate: TransferRate
  }

  /// Guards the state, which the body's thread and the disposer access. File system calls run under the lock: they
  /// belong to one download, whose disposer waits for the write in progress.
  private let state: Locked<State>
  private let sha256: Data?
  private let clock: any SchedulerType

  init(_ part: sending PartialFile, sha256: Data?, clock: any SchedulerType) {
    state = Locked(State(part: part, rate: TransferRate()))
    self.sha256 = sha256
    self.clock = clock
  }

  /// Releases the file, so that another download can resume it immediately.
  func dispose() { state.withLock { $0.part.letGo() } }

  /// The header fields that request the rest of the file.
  var conditions: [(String, String)] {
    state.withLock { state in
      guard state.part.count > 0, let validator = state.part.note?.validator else { return [] }
      return [("Range", "bytes=\(state.part.count)-"), ("If-Range", validator)]
    }
  }

  /// - Parameter mayBeCoded: Whether the caller has asked for a content coding, so that the file is stored as it is sent.
  func begin(_ response: Response, mayBeCoded: Bool) throws(NetworkError) -> Step {
    let now = clock.now
    return try state.withLock { state throws(NetworkError) in
      let step = try Self.begin(response, mayBeCoded, &state)
      state.rate.begin(state.part.count, now)
      return step
    }
  }

  private static func begin(_ response: Response, _ mayBeCoded: Bool, _ state: inout State) throws(NetworkError) -> Step
  {
    let range = response.headers["Content-Range"].flatMap(ContentRange.init)
    let isResumption = state.part.count > 0
    switch response.status {
    case 206:
      // A different range, version or resource, a content coding, or an invalid range (RFC 9110 §15.3.7): the partial
      // file can't be continued with this response.
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
    case 200..<300 where !mayBeCoded && response.remainingCoding != nil:
      throw response.parseFailure(
        "the server sent the file with the Content-Encoding \((response.remainingCoding ?? "").debugDescription), although "
          + "the download accepts none; let fetch decode it, with the task .download(to:), or store it coded, with an "
          + "Accept-Encoding of the call")
    case 204, 205:
      // An empty response to a range request does not contain the file.
      if isResumption { return .fail }
      fallthrough
    case _ where response.isSuccess:
      let total = response.headers["Content-Length"].flatMap { Int64(digits: $0) }
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

  /// Returns a note that identifies this version of the resource, or `nil` if it can't be resumed.
  private static func note(of response: Response, total: Int64?) -> PartialFile.Note? {
    guard isPlain(response), response.headers["Accept-Ranges"]?.lowercased() != "none" else { return nil }
    let resource = resource(of: response)
    if let tag = response.headers.values(of: "ETag").first {
      let isStrong = tag.hasPrefix("\"") && RequestCheck.isSendable(tag)
      return isStrong ? .init(validator: tag, resource: resource, total: total) : nil
    }
    // A date identifies a version only if it was at least a second old (RFC 9110 §8.8.2.2, §13.1.5).
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

  /// Returns whether `response` has the same resource and version as `note`, if both declare them.
  private static func isSame(_ response: Response, as note: PartialFile.Note?, _ total: Int64?) -> Bool {
    guard let note, note.resource == nil || note.resource == resource(of: response) else { return false }
    if let total, let known = note.total, total != known { return false }
    let name = note.validator?.hasPrefix("\"") == true ? "ETag" : "Last-Modified"
    return response.headers.values(of: name).allSatisfy { $0 == note.validator }
  }

  func write(_ chunk: Data, to observer: AnyObserver<TransferEvent<URL>>) {
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

  func finish(_ response: Response, _ observer: AnyObserver<TransferEvent<URL>>) {
    let now = clock.now
    do throws(NetworkError) {
      let (progress, file) = try state.withLock { state throws(NetworkError) in
        let count = state.part.count
        if let total = state.total ?? state.end, total != count {
          let reason = "received \(count) of \(total) bytes; subscribe again to resume"
          throw NetworkError(kind: .connection, reason: reason, response: response)
        }
        if let sha256, case let found = try state.part.digest(), found != sha256 {
          state.part.discard()
          let reason = "the download has the SHA-256 \(found.hex) instead of \(sha256.hex); the file was removed"
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

/// The range of a resource that a response contains (RFC 9110 §14.4).
struct ContentRange: Equatable {
  /// The first byte; `nil` for a range that can't be satisfied.
  var first: Int64?
  /// The last byte; `nil` for a range that can't be satisfied.
  var last: Int64?
  /// The total number of bytes; `nil` if the server does not know it.
  var total: Int64?

  /// Parses `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`. The last byte is before the total, and therefore
  /// before `Int64.max`.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    total = halves[1] == "*" ? nil : Int64(digits: halves[1])
    if halves[1] != "*", total == nil { return nil }
    guard halves[0] != "*" else { return }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64(digits: $0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total ?? .max else {
      return nil
    }
    self.first = first
    self.last = last
  }
}

/// The rate of a transfer over the last five seconds, a compromise between stability and accuracy.
struct TransferRate {
  private var marks: [(time: Date, count: Int64)] = []
  private var reported: Date?

  mutating func begin(_ count: Int64, _ now: Date) { marks = [(now, count)] }

  /// Returns the progress to report at `now`, at most every 50 ms.
  mutating func report(_ count: Int64, of total: Int64?, _ now: Date) -> TransferProgress? {
    if let reported, now.timeIntervalSince(reported) < 0.05 { return nil }
    reported = now
    return progress(count, of: total, now)
  }

  mutating func progress(_ count: Int64, of total: Int64?, _ now: Date) -> TransferProgress {
    marks.append((now, count))
    while marks.count > 2, now.timeIntervalSince(marks[1].time) > 5 { marks.removeFirst() }
    var progress = TransferProgress(received: count, receiveTotal: total)
    if let first = marks.first, case let span = now.timeIntervalSince(first.time), span > 0 {
      progress.bytesPerSecond = Double(count - first.count) / span
    }
    return progress
  }
}
