import PortableFoundation
import Streams

/// Sends through another transport, and writes what came of it to a file that `StubTransport(replaying:)` answers from
/// (article row 3.15).
///
/// ```swift
/// // Records when the test runs for the first time, and answers from the recording from then on.
/// let transport = try RecordingTransport(CurlTransport(), to: file, mode: .once)
/// ```
/// The file has one JSON object a line, a new line for each exchange, secrets replaced. Cancelled requests are left
/// out. An exchange that can't be written, on a full disk for example, fails with `file`, as a replay would lack it;
/// the recording keeps what was written before.
public final class RecordingTransport: Transport {
  /// Which requests are sent and recorded, and which are answered from the recording.
  public enum Mode: Sendable, Hashable {
    /// All are sent, and recorded behind what the file has.
    case all
    /// Those that the recording has no answer for are sent and recorded; the others are answered from it.
    case append
    /// All are sent and recorded if there is no file; otherwise all are answered from the recording, as in `strict`.
    case once
    /// None is sent: a request that the recording has no answer for fails.
    case strict
  }

  private let base: any Transport
  private let redaction: Redaction
  private let path: String
  /// The descriptor of the file; `nil` where nothing is recorded.
  private let file: Int32?
  private let recorded: RecordedResponses?
  /// Answers from the recording.
  private let replay: StubTransport
  private let queue = DispatchQueue(label: "NetLayer.RecordingTransport")

  /// Records what goes through `base` at the end of `file`, which is made if there is none.
  ///
  /// - Parameters:
  ///   - base: sends what the recording does not answer.
  ///   - file: one JSON object per line.
  ///   - mode: which requests are sent and recorded; all, by default.
  ///   - redaction: hides secrets in the recording. Answers are found without them.
  /// - Throws: `NetworkError` of kind `file` when the file can't be opened for writing, or, in a mode that answers from it, is
  ///   missing (`strict`) or not a recording.
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
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    self.file = descriptor
    guard descriptor >= 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
      let error = SystemError.last
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be written: \(SystemError.text(of: error))",
        underlying: error)
    }
  }

  deinit { if let file, file >= 0 { _ = close(file) } }

  /// Whether `request` is not sent: its answer is recorded, or nothing is to be recorded any more.
  private func isReplayed(_ request: Request) -> Bool { file == nil || recorded?[request] != nil }

  /// Sends `request`; see `Transport.send`.
  public func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    guard !isReplayed(request) else { return replay.send(request, completion: completion) }
    return base.send(request) { [self] result in
      record(request, result) { completion($0 ?? result) }
    }
  }

  /// Sends `request`, reporting how far it is; see `Transport.send`.
  public func send(
    _ request: Request, progress: @escaping ProgressHandler,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    guard !isReplayed(request) else { return replay.send(request, progress: progress, completion: completion) }
    return base.send(request, progress: progress) { [self] result in
      record(request, result) { completion($0 ?? result) }
    }
  }

  /// Sends `request` and hands its answer out while it comes in; see `Transport.stream`.
  ///
  /// What has come in is kept for the recording, so a body without end needs a transport without one.
  public func stream(
    _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
    chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    guard !isReplayed(request) else {
      return replay.stream(request, progress: progress, head: head, chunk: chunk, completion: completion)
    }
    // Taken by the transport's thread alone, which is not always the same.
    let body = Locked(Data())
    return base.stream(
      request, progress: progress, head: head,
      chunk: { piece in
        body.withLock { $0.append(piece) }
        return chunk(piece)
      },
      completion: { [self] result in
        let whole = result.map { response in
          var whole = response
          whole.body = body.withLock { $0 }
          return whole
        }
        record(request, whole) { completion($0 ?? result) }
      })
  }

  /// Writes on a queue of its own, as the disk must not hold up the transport, and goes on when it is written: who has
  /// an answer can read its recording. `then` gets the failure that takes the result's place, if there is one.
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

  /// Writes a line, or nothing: half a line would make the whole recording unreadable.
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
  /// Answers as the recording in `file` has it: by method, URL and body, secrets aside, in the order recorded; the last answer
  /// of each stays (article row 3.15).
  ///
  /// A body that was not in memory, as a file or a stream, is not compared.
  ///
  /// - Parameters:
  ///   - file: the recording.
  ///   - redaction: what the recording was made with.
  /// - Throws: `NetworkError` of kind `file` when the file can't be read or is no recording.
  public convenience init(replaying file: URL, redaction: Redaction = .standard) throws(NetworkError) {
    let recorded = try RecordedResponses(file, redaction: redaction)
    self.init { recorded[$0] }
  }
}
