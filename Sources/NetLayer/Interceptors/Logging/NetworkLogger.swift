import PortableFoundation
import Streams

/// Writes requests and answers to a log (article rows 1.3, 2.19).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [NetworkLogger(level: .body)])
/// ```
/// One entry for a request, one for what came of it. Secrets are hidden by `redaction`; bodies that are no text or are
/// large are summarised.
public struct NetworkLogger: Interceptor {
  /// How much is written.
  public enum Level: Int, Sendable, Comparable {
    /// Nothing.
    case none
    /// Method, URL, status, time and sizes.
    case basic
    /// The header fields, too.
    case headers
    /// The bodies, too.
    case body

    /// Whether `a` writes less than `b`.
    public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// How much is written.
  public var level: Level
  /// What is hidden.
  public var redaction: Redaction
  /// Whether requests are written as `curl` commands.
  public var showsCurl: Bool
  /// Bodies with more bytes than this are only summarised: a log is to be read.
  public var maxBodySize: Int
  private let clock: any SchedulerType
  private let output: @Sendable (String) -> Void

  /// A logger.
  ///
  /// - Parameters:
  ///   - level: how much is written.
  ///   - redaction: what is hidden.
  ///   - showsCurl: whether requests are written as `curl` commands.
  ///   - maxBodySize: the most bytes of a body that is written, 4 KB by default.
  ///   - clock: what times are taken from.
  ///   - output: takes each entry, on whatever thread it arises; standard error by default.
  public init(
    level: Level = .basic, redaction: Redaction = .standard, showsCurl: Bool = false, maxBodySize: Int = 4096,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    output: @escaping @Sendable (String) -> Void = { StandardError.print($0) }
  ) {
    self.level = level
    self.redaction = redaction
    self.showsCurl = showsCurl
    self.maxBodySize = maxBodySize
    self.clock = clock
    self.output = output
  }

  /// Writes `request`, and what comes of it.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    guard level > .none else { return next(request) }
    let logger = self
    return Observable.deferred {
      let start = logger.clock.now
      let hasEnded = Locked(false)
      logger.output(logger.entry(request))
      return next(request).do(
        onNext: { response in
          // Before all that follows: a retry ends this with its answer.
          hasEnded.withLock { $0 = true }
          logger.output(logger.entry(response, logger.milliseconds(since: start)))
        },
        onError: { error in
          hasEnded.withLock { $0 = true }
          logger.output(logger.entry(NetworkError.wrapping(error), request, logger.milliseconds(since: start)))
        },
        onCompleted: { hasEnded.withLock { $0 = true } },
        onDispose: {
          guard !hasEnded.withLock({ $0 }) else { return }
          logger.output(
            "<-- CANCELLED \(request.method) \(logger.redaction.url(request.url)) "
              + "(\(logger.milliseconds(since: start)) ms)")
        })
    }
  }

  private func milliseconds(since start: Date) -> Int { Int((clock.now.timeIntervalSince(start) * 1000).rounded()) }
}

extension NetworkLogger {
  private func entry(_ request: Request) -> String {
    if showsCurl { return request.curlCommand(redaction: redaction) }
    var lines = ["--> \(request.method) \(redaction.url(request.url))\(size(request.body))\(request.attemptNote)"]
    if level >= .headers { lines += fields(request.headers) }
    if level >= .body { lines += content(request.body, request.headers) }
    return lines.joined(separator: "\n")
  }

  private func entry(_ response: Response, _ milliseconds: Int) -> String {
    var lines = [
      "<-- \(response.status) \(response.request.method) \(redaction.url(response.url)) "
        + "(\(milliseconds) ms, \(response.body.count) bytes)\(response.request.attemptNote)"
    ]
    if level >= .headers { lines += fields(response.headers) }
    if level >= .body { lines += content(response.body, response.headers) }
    return lines.joined(separator: "\n")
  }

  private func entry(_ error: NetworkError, _ request: Request, _ milliseconds: Int) -> String {
    "<-- FAILED \(request.method) \(redaction.url(request.url)) (\(milliseconds) ms): "
      + redaction.text("\(error.kind) \(error.code): \(error.reason)") + (error.request ?? request).attemptNote
  }

  private func fields(_ headers: HTTPHeaders) -> [String] {
    redaction.headers(headers).map { "\($0.name): \($0.value)" }
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
    case .parts(let parts): ["", "<\(parts.count) pieces, files among them>"]
    }
  }

  private func content(_ data: Data, _ headers: HTTPHeaders) -> [String] {
    guard !data.isEmpty else { return [] }
    guard data.count <= maxBodySize, let text = String(validating: data, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value < 9 })
    else { return ["", "<\(data.count) bytes of \(headers["Content-Type"] ?? "an unknown type")>"] }
    return ["", redaction.text(text)]
  }
}
