import PortableFoundation
import Streams

/// One exchange of real traffic, as a recording keeps it: a line of JSON.
struct RecordedExchange: Codable, Sendable {
  struct Field: Codable, Sendable {
    var name: String
    var value: String
  }

  var method: String
  /// The URL without secrets, by which requests are matched.
  var url: String
  var status: Int?
  var headers: [Field] = []
  /// The body as text where it is some, else in base64.
  var text: String?
  var base64: String?
  /// The kind and reason of a failure.
  var failure: String?
  var reason: String?

  init(_ request: Request, _ result: Result<Response, NetworkError>, redaction: Redaction) {
    method = request.method.rawValue
    url = redaction.url(request.url)
    switch result {
    case .success(let response):
      status = response.status
      headers = redaction.headers(response.headers).map { Field(name: $0.name, value: $0.value) }
      if let body = String(validating: response.body, as: UTF8.self) {
        text = redaction.text(body)
      } else {
        base64 = response.body.base64EncodedString()
      }
    case .failure(let error):
      failure = error.kind.rawValue
      reason = redaction.text(error.reason)
    }
  }

  var answer: StubTransport.Answer {
    if let failure {
      return .failure(NetworkError.Kind(rawValue: failure), reason: reason ?? "recorded failure")
    }
    let fields = HTTPHeaders(headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
    let body = base64.flatMap { Data(base64Encoded: $0) } ?? Data((text ?? "").utf8)
    return .response(status: status ?? 200, headers: fields, body: body)
  }
}

/// Sends through another transport, and writes what came of it to a file that `StubTransport(replaying:)` answers from
/// (article row 3.15).
///
/// The file has one JSON object a line, a new line for each exchange, secrets replaced. Cancelled requests are left
/// out. An exchange that can't be written, on a full disk for example, fails with `file`, as a replay would lack it;
/// the recording keeps what was written before.
public final class RecordingTransport: Transport {
  private let base: any Transport
  private let redaction: Redaction
  private let path: String
  private let file: Int32
  private let queue = DispatchQueue(label: "NetLayer.RecordingTransport")

  /// Records what goes through `base` at the end of `file`, which is made if there is none.
  ///
  /// - Throws: `NetworkError` of kind `file` when it can't be opened for writing.
  public init(_ base: any Transport, to file: URL, redaction: Redaction = .standard) throws(NetworkError) {
    self.base = base
    self.redaction = redaction
    path = file.path
    self.file = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard self.file >= 0, lseek(self.file, 0, SEEK_END) >= 0 else {
      let error = SystemError.last
      if self.file >= 0 { _ = close(self.file) }
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be written: \(SystemError.text(of: error))",
        underlying: error)
    }
  }

  deinit { _ = close(file) }

  /// Sends `request`; see `Transport.send`.
  public func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    base.send(request) { [self] result in
      record(request, result) { completion($0 ?? result) }
    }
  }

  /// Sends `request`, reporting how far it is; see `Transport.send`.
  public func send(
    _ request: Request, progress: @escaping ProgressHandler,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    base.send(request, progress: progress) { [self] result in
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
        try append(try encoder.encode(RecordedExchange(request, result, redaction: redaction)) + Data("\n".utf8))
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
    let end = lseek(file, 0, SEEK_CUR)
    guard end < 0 || !writeAll(line, to: file) else { return }
    let error = SystemError.last
    if end >= 0, ftruncate(file, end) == 0 { _ = lseek(file, end, SEEK_SET) }
    throw error
  }
}

extension StubTransport {
  /// Answers as the recording in `file` has it: by method and URL, secrets aside, in the order recorded; the last answer
  /// of each stays (article row 3.15).
  ///
  /// - Parameters:
  ///   - file: the recording.
  ///   - redaction: what the recording was made with.
  /// - Throws: `NetworkError` of kind `file` when the file can't be read or is no recording.
  public convenience init(replaying file: URL, redaction: Redaction = .standard) throws(NetworkError) {
    var answers: [String: [Answer]] = [:]
    do {
      for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
        let exchange = try JSONDecoder().decode(RecordedExchange.self, from: line)
        answers["\(exchange.method) \(exchange.url)", default: []].append(exchange.answer)
      }
    } catch {
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be read: \(error)", underlying: error)
    }
    let stubs = answers.mapValues(Answer.sequence)
    self.init { request in stubs["\(request.method) \(redaction.url(request.url))"] }
  }
}
