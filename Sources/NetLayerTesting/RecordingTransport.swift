import NetLayerRecording
import PortableFoundation

/// A transport that sends requests through another transport and records the results in a HAR file, which
/// ``StubTransport/init(har:redaction:)`` replays and every browser opens.
///
/// ```swift
/// // Records the first run of the test, and replays the recording from then on.
/// let transport = try RecordingTransport(CurlTransport(), to: file, mode: .once)
/// ```
/// The file has one entry per request and redirect, with secrets replaced, and mode 0600. It is a complete HAR file at any
/// moment, even if the program crashes. Up to 256 KB, it has a response before the caller does. A larger file is replaced when
/// it has doubled, a second after a response, and when the transport is released. Secrets are also found in UTF-16, and in bodies of every encoding that extends ASCII;
/// bytes of a binary body may look like one. Cancelled requests are not recorded. If a call can't be recorded, for example
/// because the disk or the recording is full, it fails with `file`, because it would be missing in a replay. The recording
/// keeps all earlier calls.
public final class RecordingTransport: Transport {
  /// The choice between requests that are sent and recorded, and requests that are replayed.
  public struct Mode: Sendable, Hashable {
    private enum Kind { case all, append, once, strict }

    private let kind: Kind

    /// Sends and records all requests. Appends to an existing file.
    public static let all = Mode(kind: .all)
    /// Replays requests that are in the recording. Sends and records all other requests.
    public static let append = Mode(kind: .append)
    /// Sends and records all requests if the file does not exist. Otherwise replays all, as in `strict`.
    public static let once = Mode(kind: .once)
    /// Replays all requests. A request that is not in the recording fails.
    public static let strict = Mode(kind: .strict)
  }

  private let base: any Transport
  private let redaction: Redaction
  private let path: String
  /// The file, which the queue uses; `nil` if nothing is recorded.
  private let file: HARFile?
  private let recorded: RecordedResponses?
  private let replay: StubTransport
  /// The results that the queue has yet to record. Other threads add to it.
  private let waiting = Locked<[Recorded]>([])
  private let queue = DispatchQueue(label: "NetLayer.RecordingTransport")
  /// The mark that a write of the rest of the archive is scheduled.
  private let isSaving = Locked(false)

  /// The account of the base transport.
  public var account: String? { base.account }

  /// Shuts down the base transport, and then writes what is not in the file yet.
  public func shutdown() {
    base.shutdown()
    queue.async { [self] in save() }
  }

  /// Creates a transport that records the calls through `base` at the end of `file`. It creates the file if necessary,
  /// and replaces an existing one with the same entries, which only its owner can read.
  ///
  /// - Parameters:
  ///   - base: The transport for requests that are not replayed.
  ///   - file: The recording, a HAR file.
  ///   - mode: The requests to send and record; by default all.
  ///   - redaction: The secrets to hide in the recording, in addition to those of the backend. Requests are matched without them.
  ///   - maxSize: The maximum number of bytes of the recording, at most 256 MB.
  /// - Throws: `NetworkError` of kind `file` if the file can't be written, is not a HAR file, or belongs to another user.
  ///   In the mode `strict`, it is also thrown if the file is missing.
  public init(
    _ base: any Transport, to file: URL, mode: Mode = .all, redaction: Redaction = .inherited, maxSize: Int = 64 << 20
  ) throws(NetworkError) {
    self.base = base
    self.redaction = redaction
    path = file.path
    let isThere = FileManager.default.fileExists(atPath: file.path)
    let earlier = mode == .strict || isThere ? try HARReader.entries(of: file) : []
    let replays = mode == .strict || isThere && mode != .all
    let recorded = replays ? try RecordedResponses(earlier, of: file, redaction: redaction) : nil
    self.recorded = recorded
    replay = StubTransport { recorded?.next(for: $0) }
    guard mode != .strict, mode != .once || !isThere else {
      self.file = nil
      return
    }
    do {
      self.file = try HARFile(
        file, entries: earlier.map { $0.redacted(redaction == .inherited ? .standard : redaction) },
        limit: min(maxSize, HARReader.maxSize))
    } catch {
      throw Self.failure(error, file.path)
    }
  }

  /// Returns whether `request` is replayed, because it is in the recording or recording has ended.
  private func isReplayed(_ request: Request) -> Bool { file == nil || recorded?.contains(request) == true }

  /// Sends `request`; see `Transport.send`.
  public func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    guard !isReplayed(request) else { return replay.send(request, progress: progress, completion: completion) }
    let started = Date()
    return base.send(request, progress: progress) { [self] result in
      record(request, result, started) { completion($0 ?? result) }
    }
  }

  /// Sends `request` and delivers its response while it arrives; see `Transport.stream`.
  ///
  /// The whole body is kept in memory for the recording. Do not record endless bodies.
  public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
    guard !isReplayed(request) else { return replay.stream(request, progress: progress, receiver: receiver) }
    let started = Date()
    // The body so far. Used only on the transport's thread, which may change.
    let body = Locked(Data())
    return base.stream(
      request, progress: progress,
      receiver: StreamReceiver(
        head: receiver.head,
        chunk: { part in
          body.withLock { $0.append(part) }
          return receiver.chunk(part)
        },
        completion: { [self] result in
          let whole = result.map { response in
            var whole = response
            whole.body = body.withLock { $0 }
            return whole
          }
          record(request, whole, started) { receiver.completion($0 ?? result) }
        }))
  }

  private struct Recorded {
    let request: Request
    let result: Result<Response, NetworkError>
    let started: Date
    let then: @Sendable (Result<Response, NetworkError>?) -> Void
  }

  /// Records a result on a separate queue, because the disk must not delay the transport. Calls `then` when it is in the
  /// archive. `then` receives an error that replaces the result, or `nil`.
  private func record(
    _ request: Request, _ result: Result<Response, NetworkError>, _ started: Date,
    _ then: @escaping @Sendable (Result<Response, NetworkError>?) -> Void
  ) {
    if case .failure(let error) = result, error.kind == .cancelled { return then(nil) }
    waiting.withLock { $0.append(Recorded(request: request, result: result, started: started, then: then)) }
    queue.async { [self] in recordWaiting() }
  }

  private func save() {
    isSaving.withLock { $0 = false }
    do { try file?.save() } catch { StandardError.print(Self.failure(error, path).reason) }
  }

  deinit {
    do { try file?.save() } catch { StandardError.print(Self.failure(error, path).reason) }
  }

  /// Records all waiting results with one write.
  private func recordWaiting() {
    let all = waiting.withLock { exchange(&$0, with: []) }
    guard !all.isEmpty else { return }
    do {
      let isSaved = try file?.append(
        all.flatMap {
          HAREntry.entries(
            of: $0.request, $0.result, started: $0.started, redaction: $0.request.redaction(adding: redaction))
        })
      for recorded in all { recorded.then(nil) }
      if isSaved == false, isSaving.withLock({ !exchange(&$0, with: true) }) {
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.save() }
      }
    } catch {
      for recorded in all {
        var failure = Self.failure(error, path)
        (failure.request, failure.response) = (recorded.request, try? recorded.result.get())
        recorded.then(.failure(failure))
      }
    }
  }

  private static func failure(_ error: any Error, _ path: String) -> NetworkError {
    let isFull = SystemError.code(of: error) == EFBIG
    let cause = isFull ? "it would exceed maxSize" : SystemError.text(of: error)
    let remedy = isFull ? "raise maxSize or record fewer calls" : "make room on the disk, or record elsewhere"
    return NetworkError(
      kind: .file, reason: "the recording \(path) can't be written: \(cause); \(remedy)", underlying: error)
  }
}
