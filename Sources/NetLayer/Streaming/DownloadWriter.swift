import Foundation
import Streams

/// Writes one download: decides what the head means, writes the pieces, measures the rate.
final class DownloadWriter: Disposable {
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
    var rate: TransferRate
  }

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
      guard state.part.count > 0, let note = state.part.note else { return [] }
      return [("Range", "bytes=\(state.part.count)-"), ("If-Range", note.validator)]
    }
  }

  func begin(_ response: Response) throws(NetworkError) -> Step {
    let now = clock.now
    let result = state.withLock { state -> Result<Step, NetworkError> in
      do throws(NetworkError) {
        let step = try Self.begin(response, &state)
        state.rate.begin(state.part.count, now)
        return .success(step)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func begin(_ response: Response, _ state: inout State) throws(NetworkError) -> Step {
    let range = response.headers["Content-Range"].flatMap(ContentRange.init)
    switch response.status {
    case 206:
      guard let range, let first = range.first else {
        throw response.failure("the answer is 206 without a Content-Range that can be read (RFC 9110 §15.3.7)")
      }
      if first == 0 { try state.part.restart(note(of: response)) }
      guard first == state.part.count, first == 0 || isSame(response, as: state.part.note) else {
        // Another range than was asked for, or of another version (RFC 9110 §15.3.7.3).
        try state.part.restart(nil)
        return .restart
      }
      state.total = range.total
      return .read
    case 416:
      if let total = range?.total, total == state.part.count, total > 0 {
        state.total = total
        return .isComplete
      }
      try state.part.restart(nil)
      return .restart
    case 200...299:
      try state.part.restart(note(of: response))
      state.total = response.headers["Content-Length"].flatMap { Int64($0) }
      return .read
    default:
      return .fail
    }
  }

  /// What tells this version of the resource from another; `nil` when no one could go on from it.
  private static func note(of response: Response) -> PartialFile.Note? {
    let coding = response.headers["Content-Encoding"] ?? "identity"
    guard coding.lowercased() == "identity", response.headers["Accept-Ranges"]?.lowercased() != "none" else {
      return nil
    }
    if let tag = response.headers.values(of: "ETag").first {
      return tag.hasPrefix("\"") ? .init(validator: tag) : nil
    }
    // A date tells versions apart only when it was past by a second (RFC 9110 §8.8.2.2, §13.1.5).
    guard let changed = response.headers.values(of: "Last-Modified").first, let date = seconds(changed),
      let sent = response.headers.values(of: "Date").first.flatMap(seconds), sent - date >= 1
    else { return nil }
    return .init(validator: changed)
  }

  private static func seconds(_ date: String) -> Double? {
    HTTPDate.seconds(date, now: Date().timeIntervalSinceReferenceDate)
  }

  /// Whether `response` says nothing else than `note`.
  private static func isSame(_ response: Response, as note: PartialFile.Note?) -> Bool {
    guard let validator = note?.validator else { return false }
    let name = validator.hasPrefix("\"") ? "ETag" : "Last-Modified"
    return response.headers.values(of: name).allSatisfy { $0 == validator }
  }

  func write(_ chunk: Data, to observer: AnyObserver<Transfer<URL>>) {
    let now = clock.now
    let result = state.withLock { state -> Result<TransferProgress?, NetworkError> in
      do throws(NetworkError) {
        try state.part.append(chunk)
      } catch {
        return .failure(error)
      }
      return .success(state.rate.report(state.part.count, of: state.total, now))
    }
    switch result {
    case .success(let progress?): observer.onNext(.progress(progress))
    case .success: break
    case .failure(let error): observer.onError(error)
    }
  }

  func finish(_ response: Response, _ observer: AnyObserver<Transfer<URL>>) {
    let now = clock.now
    let result = state.withLock { state -> Result<(TransferProgress, URL), NetworkError> in
      do throws(NetworkError) {
        let count = state.part.count
        if let total = state.total, total != count {
          let reason = "\(count) bytes of \(total) have come; subscribe again to go on"
          throw NetworkError(kind: .connection, reason: reason, response: response)
        }
        if let sha256, case let found = try state.part.digest(), found != sha256 {
          state.part.discard()
          let reason = "the download has the SHA-256 \(found.hex) instead of \(sha256.hex); it was removed"
          throw NetworkError(kind: .file, reason: reason, response: response)
        }
        try state.part.complete()
        return .success((state.rate.progress(count, of: count, now), state.part.destination))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let (progress, file)):
      observer.onNext(.progress(progress))
      observer.onNext(.result(file))
      observer.onCompleted()
    case .failure(let error): observer.onError(error)
    }
  }
}

/// Which part of a resource an answer has (RFC 9110 §14.4).
struct ContentRange: Equatable {
  /// The first byte; `nil` for a range that can't be satisfied.
  var first: Int64?
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
