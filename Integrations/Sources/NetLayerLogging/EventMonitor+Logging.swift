import Logging
import NetLayer

extension EventMonitor {
  /// Logs the outcome of each request, with OpenTelemetry's attributes as metadata.
  ///
  /// ```swift
  /// Backend(baseURL: url, interceptors: [EventMonitor.logging(to: Logger(label: "shop"))])
  /// ```
  /// - Parameters:
  ///   - logger: The logger for the messages, which it receives on the thread of the event.
  ///   - level: The level of responses below 400. Other responses and cancellations use `notice`, failures `warning`.
  ///   - more: The secrets to hide in URLs, in addition to those of the backend.
  public static func logging(
    to logger: Logger, level: Logger.Level = .info, redaction more: Redaction = .backend
  ) -> EventMonitor {
    EventMonitor { event in
      let own: Logger.Level
      if let response = event.response {
        own = response.status < 400 ? level : .notice
      } else if event.error != nil {
        own = .warning
      } else if event.kind == .cancelled {
        own = .notice
      } else {
        return
      }
      // Redaction and attributes take time.
      guard logger.logLevel <= own else { return }
      let redaction = event.request.redaction(adding: more)
      let line =
        event.response.map { "\($0.status)" }
        ?? event.error.map { "failed: \(redaction.redacted("\($0)"))" } ?? "cancelled"
      let request = event.request
      logger.log(
        level: own, "\(request.method) \(redaction.redacted(request.url)) \(line)",
        metadata: event.attributes(redaction: redaction).mapValues { value in
          value.string.map { .string($0) } ?? .stringConvertible(value)
        })
    }
  }
}
