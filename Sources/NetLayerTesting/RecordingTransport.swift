import NetLayer
import PortableFoundation

/// A transport that sends requests through another transport and records the results in a file, which
/// `StubTransport(replaying:)` plays back.
///
/// ```swift
/// // Records the first run of the test, and plays the recording back from then on.
/// let transport = try RecordingTransport(CurlTransport(), to: file, mode: .once)
/// ```
/// The file has one line of JSON per call, with secrets replaced, and mode 0600. Secrets in a body that is not UTF-8 are
/// found by their names, too, if its encoding extends ASCII; bytes of a binary body may look like one. Cancelled requests are not recorded. If a call can't
/// be recorded, for example because the disk is full, it fails with `file`, because it would be missing in a replay.
/// The recording keeps all earlier calls.
public final class RecordingTransport: Transport {
  /// The choice between requests that are sent and recorded, and requests that are played back.
  public struct Mode: Sendable, Hashable {
    private enum Kind { case all, append, once, strict }

    private let kind: Kind

    /// Sends and records all requests. Appends to an existing file.
    public static let all = Mode(kind: .all)
    /// Plays back requests that are in the recording. Sends and records all other requests.
    public static let append = Mode(kind: .append)
    /// Sends and records all requests if the file does not exist. Otherwise plays all back, as in `strict`.
    public static let once = Mode(kind: .once)
    /// Plays back all requests. A request that is not in the recording fails.
    public static let strict = Mode(kind: .strict)
  }

  private let base: any Transport
  private let redaction: Redaction
  private let path: String
  /// The descriptor of the file; `nil` if nothing is recorded.
  private let file: Int32?
  private let recorded: RecordedResponses?
  /// The transport that plays the recording back.
  private let replay: StubTransport
  private let queue = DispatchQueue(label: "NetLayer.RecordingTransport")

  /// The account of the base transport.
  public var account: String? { base.account }

  /// Creates a transport that records the calls through `base` at the end of `file`. It creates the file if necessary,
  /// and removes the access of other users to an existing one.
  ///
  /// - Parameters:
  ///   - base: The transport for requests that are not played back.
  ///   - file: The recording, with one JSON object per line.
  ///   - mode: The requests to send and record; by default all.
  ///   - redaction: The secrets to hide in the recording. Requests are matched without them.
  /// - Throws: `NetworkError` of kind `file` if the file can't be opened for writing, or belongs to another user. In modes that play it back, it is
  ///   also thrown if the file is missing (`strict`) or not a recording.
  public init(
    _ base: any Transport, to file: URL, mode: Mode = .all, redaction: Redaction = .standard
  ) throws(NetworkError) {
    self.base = base
    self.redaction = redaction
    path = file.path
    let isThere = FileManager.default.fileExists(atPath: file.path)
    let replays = mode == .strict || isThere && mode != .all
    let recorded = replays ? try RecordedResponses(file, redaction: redaction) : nil
    self.recorded = recorded
    replay = StubTransport { recorded?[$0] }
    guard mode != .strict, mode != .once || !isThere else {
      self.file = nil
      return
    }
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    self.file = descriptor
    guard descriptor >= 0, Self.makePrivate(descriptor), lseek(descriptor, 0, SEEK_END) >= 0 else {
      let error = SystemError.last
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be written: \(SystemError.text(of: error))",
        underlying: error)
    }
  }

  /// Removes the access of other users to an existing file, and returns whether that is done.
  private static func makePrivate(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let isShared = status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    return !isShared || fchmod(descriptor, 0o600) == 0
  }

  deinit { if let file, file >= 0 { _ = close(file) } }

  /// Returns whether `request` is played back, because it is in the recording or recording has ended.
  private func isReplayed(_ request: Request) -> Bool { file == nil || recorded?[request] != nil }

  /// Sends `request`; see `Transport.send`.
  public func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    guard !isReplayed(request) else { return replay.send(request, progress: progress, completion: completion) }
    return base.send(request, progress: progress) { [self] result in
      record(request, result) { completion($0 ?? result) }
    }
  }

  /// Sends `request` and delivers its response while it arrives; see `Transport.stream`.
  ///
  /// The whole body is kept in memory for the recording. Do not record endless bodies.
  public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
    guard !isReplayed(request) else { return replay.stream(request, progress: progress, receiver: receiver) }
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
          record(request, whole) { receiver.completion($0 ?? result) }
        }))
  }

  /// Records a result on a separate queue, because the disk must not delay the transport. Calls `then` when the line is
  /// written, so that a caller who has a response can read its recording. `then` receives an error that replaces the
  /// result, or `nil`.
  private func record(
    _ request: Request, _ result: Result<Response, NetworkError>,
    _ then: @escaping @Sendable (Result<Response, NetworkError>?) -> Void
  ) {
    if case .failure(let error) = result, error.kind == .cancelled { return then(nil) }
    queue.async { [self] in
      do {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try append(try encoder.encode(RecordedCall(request, result, redaction: redaction)) + Data("\n".utf8))
        then(nil)
      } catch {
        then(
          .failure(
            NetworkError(
              kind: .file,
              reason:
                "the recording \(path) can't be written: \(SystemError.text(of: error)); make room on the disk, or "
                + "record elsewhere",
              request: request, response: try? result.get(), underlying: error)))
      }
    }
  }

  /// Writes a complete line, or nothing. An incomplete line would make the whole recording unreadable.
  private func append(_ line: Data) throws {
    guard let file else { return }
    let end = lseek(file, 0, SEEK_CUR)
    guard end < 0 || !writeAll(line, to: file) else { return }
    let error = SystemError.last
    if end >= 0, ftruncate(file, end) == 0 { _ = lseek(file, end, SEEK_SET) }
    throw error
  }
}

extension StubTransport {
  /// Creates a stub that plays back the recording in `file`.
  ///
  /// Requests are matched by method, URL and body, without secrets. The responses of equal requests are played back in
  /// the recorded order; the last one is repeated. Bodies that were not in memory, such as files and streams, are not
  /// compared.
  ///
  /// - Parameters:
  ///   - file: The recording.
  ///   - redaction: The redaction that was used for the recording.
  /// - Throws: `NetworkError` of kind `file` if the file can't be read or is not a recording.
  public convenience init(replaying file: URL, redaction: Redaction = .standard) throws(NetworkError) {
    let recorded = try RecordedResponses(file, redaction: redaction)
    self.init { recorded[$0] }
  }
}
