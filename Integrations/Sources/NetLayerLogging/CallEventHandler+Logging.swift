import Logging
import NetLayer

extension CallEventHandler {
  /// Logs each request that is sent, when it has ended, each failure of a call that none of them had, and each cancelled call, with
  /// OpenTelemetry's attributes as metadata.
  ///
  /// ```swift
  /// Backend(baseURL: url, interceptors: [CallEventHandler.logging(to: Logger(label: "shop"))])
  /// ```
  /// - Parameters:
  ///   - logger: The logger for the messages, which it receives on the thread of the event.
  ///   - level: The level of responses below 400. Other responses and cancellations use `notice`, failures `warning`.
  ///   - more: The secrets to hide in URLs, in addition to those of the backend.
  public static func logging(
    to logger: Logger, level: Logger.Level = .info, redaction more: Redaction = .inherited
  ) -> CallEventHandler {
    CallEventHandler { event in
      let own: Logger.Level
      switch event.kind {
      case .cancelled: own = .notice
      case .failed where !event.repeatsAttempt: own = event.error?.kind == .cancelled ? .notice : .warning
      // The call is cancelled, too, or has another error.
      case .finished where event.error?.kind == .cancelled: return
      case .finished, .closed:
        own = event.error != nil ? .warning : (event.response?.status ?? 0) < 400 ? level : .notice
      default: return
      }
      // Redaction and attributes take time.
      guard logger.logLevel <= own else { return }
      let redaction = event.request.redaction(adding: more)
      let failure = event.error.map { "failed: \(redaction.redacted("\($0)"))" }
      let line =
        event.kind == .cancelled ? "cancelled" : failure ?? event.response.map { "\($0.status)" } ?? "closed"
      let request = event.request
      logger.log(
        level: own, "\(request.method) \(redaction.redacted(request.url)) \(line)",
        metadata: event.attributes(redaction: redaction).mapValues { value in
          value.string.map { .string($0) } ?? .stringConvertible(value)
        })
    }
  }
}
