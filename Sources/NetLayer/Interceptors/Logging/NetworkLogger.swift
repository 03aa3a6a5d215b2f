import PortableFoundation
import Streams

/// An observer that logs requests and responses.
///
/// ```swift
/// Backend(baseURL: url, interceptors: [NetworkLogger(level: .body)])
/// ```
/// It writes one entry per request that is sent and one per result, a retry included. A cached response, a failure that no request
/// had and the end of a cancelled call have an entry, too. `redaction` hides secrets; large and non-text bodies are
/// summarized. Lines of a body are indented, and control characters are visible, as in `\u{1B}`, so that a server can't add
/// a line that looks like an entry.
public struct NetworkLogger: CallObserver {
  /// A level of detail.
  public struct Level: Sendable, Hashable, Comparable {
    private let rank: Int

    /// Nothing.
    public static let off = Level(rank: 0)
    /// The method, URL, status, time and sizes.
    public static let basic = Level(rank: 1)
    /// The same as `basic`, and the header fields.
    public static let headers = Level(rank: 2)
    /// The same and the bodies.
    public static let body = Level(rank: 3)

    /// Returns whether `a` logs less than `b`.
    public static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
  }

  /// The level of detail.
  public var level: Level
  /// The secrets to hide, in addition to those of the backend.
  public var redaction: Redaction
  /// Whether requests are logged as `curl` commands.
  public var showsCurl: Bool
  /// The maximum size in bytes of a logged body. Larger bodies are summarized, to keep the log readable.
  public var maxBodySize: Int
  private let output: @Sendable (String) -> Void

  /// Creates a logger.
  ///
  /// - Parameters:
  ///   - level: The level of detail.
  ///   - redaction: The secrets to hide, in addition to those of the backend; `.none` hides nothing.
  ///   - showsCurl: `true` to log requests as `curl` commands.
  ///   - maxBodySize: The maximum size in bytes of a logged body, 4 KB by default.
  ///   - output: A closure that receives each entry, on any thread. By default it writes to standard error.
  public init(
    level: Level = .basic, redaction: Redaction = .inherited, showsCurl: Bool = false, maxBodySize: Int = 4096,
    output: @escaping @Sendable (String) -> Void = { StandardError.print($0) }
  ) {
    self.level = level
    self.redaction = redaction
    self.showsCurl = showsCurl
    self.maxBodySize = maxBodySize
    self.output = output
  }

  /// Logs the event.
  public func observe(_ event: CallEvent) {
    guard level > .off else { return }
    var logger = self
    logger.redaction = event.request.redaction(adding: redaction)
    if let entry = logger.entry(event) { output(entry) }
  }
}

extension NetworkLogger {
  private func entry(_ event: CallEvent) -> String? {
    let milliseconds = Int64(exactly: ((event.duration ?? .zero) / .milliseconds(1)).rounded()) ?? .max
    let request = event.request
    switch event.kind {
    case .sent: return entry(request)
    case .head, .received, .finished, .closed, .failed:
      if let error = event.error {
        // The call is cancelled, too, or has another error.
        guard error.kind != .cancelled, event.kind != .failed || !event.repeatsAttempt else { return nil }
        return entry(error, request, milliseconds)
      }
      guard let response = event.response else { return nil }
      let isNew = event.kind == .received ? response.source.isCache : event.kind == .head || !request.isStreamed
      return isNew ? entry(response, milliseconds) : nil
    case .cancelled:
      return text(["<-- CANCELLED \(request.method) \(redaction.redacted(request.url)) (\(milliseconds) ms)"])
    default: return nil
    }
  }

  private func entry(_ request: Request) -> String {
    if showsCurl { return request.curlCommand(redaction: redaction) }
    var lines = ["--> \(request.method) \(redaction.redacted(request.url))\(size(request.body))\(request.attemptNote)"]
    if level >= .headers { lines += fields(request.headers) }
    if level >= .body { lines += content(request.body, request.headers) }
    return text(lines)
  }

  private func entry(_ response: Response, _ milliseconds: Int64) -> String {
    var lines = [
      "<-- \(response.status) \(response.request.method) \(redaction.redacted(response.url)) "
        + "(\(milliseconds) ms, \(response.body.count) bytes)\(response.request.attemptNote)"
    ]
    if level >= .headers { lines += fields(response.headers) }
    if level >= .body { lines += content(response.body, response.headers) }
    return text(lines)
  }

  private func entry(_ error: NetworkError, _ request: Request, _ milliseconds: Int64) -> String {
    text([
      "<-- FAILED \(request.method) \(redaction.redacted(request.url)) (\(milliseconds) ms): "
        + redaction.redacted("\(error.kind) \(error.code): \(error.reason)") + (error.request ?? request).attemptNote
    ])
  }

  /// Returns an entry of these lines.
  private func text(_ lines: [String]) -> String {
    lines.map { $0.escapingControls(except: "\t") }.joined(separator: "\n")
  }

  private func fields(_ headers: HTTPHeaders) -> [String] {
    redaction.redacted(headers).map { "\($0.name): \($0.value)" }
  }

  private func size(_ body: Request.Body) -> String {
    switch body.byteCount {
    case nil: " (a body from disk)"
    case 0?: ""
    case let count?: " (\(count) bytes)"
    }
  }

  private func content(_ body: Request.Body, _ headers: HTTPHeaders) -> [String] {
    switch body {
    case .none: []
    case .data(let data): content(data, headers)
    case .file(let file): ["", "<the file \(file.path)>"]
    case .stream(let stream): ["", "<a stream of \(stream.count.map(String.init) ?? "unknown") bytes>"]
    case .parts(let parts): ["", "<\(parts.count) parts, including files>"]
    }
  }

  private func content(_ data: Data, _ headers: HTTPHeaders) -> [String] {
    guard !data.isEmpty else { return [] }
    guard data.count <= maxBodySize, let text = String(validating: data, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value < 9 })
    else {
      return ["", "<\(data.count) bytes of \(redaction.redacted(headers["Content-Type"] ?? "an unknown type"))>"]
    }
    let lines = redaction.redacted(text).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return [""] + lines.map { "  " + String($0) }
  }
}
