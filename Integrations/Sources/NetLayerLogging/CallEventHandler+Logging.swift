import Logging
import NetLayer

extension CallEventHandler {
  /// Logs each request that is sent, when it has ended, and each failure of a call before it is sent, with OpenTelemetry's
  /// attributes as metadata.
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
      case .failed where !event.repeatsAttempt: own = .warning
      case .finished, .closed:
        if let error = event.error {
          own = error.kind == .cancelled ? .notice : .warning
        } else {
          own = (event.response?.status ?? 0) < 400 ? level : .notice
        }
      default: return
      }
      // Redaction and attributes take time.
      guard logger.logLevel <= own else { return }
      let redaction = event.request.redaction(adding: more)
      let line: String
      if let error = event.error {
        line = error.kind == .cancelled ? "cancelled" : "failed: \(redaction.redacted("\(error)"))"
      } else {
        line = event.response.map { "\($0.status)" } ?? "closed"
      }
      let request = event.request
      logger.log(
        level: own, "\(request.method) \(redaction.redacted(request.url)) \(line)",
        metadata: event.attributes(redaction: redaction).mapValues { value in
          value.string.map { .string($0) } ?? .stringConvertible(value)
        })
    }
  }
}
