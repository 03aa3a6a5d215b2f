import Foundation
import Logging

/// The settings of the process, from its environment.
package struct Settings: Sendable {
  package let articles: URL
  package let authors: URL
  package let port: Int
  /// The maximum number of connections to each upstream.
  package let connections: Int
  /// The level of the log; with `debug`, it has a line for each call and each span.
  package let logLevel: Logger.Level
  /// Whether the gateway only passes deadlines on: no retries, coalescing, cache, traces and metrics. For measurements.
  package let isPlain: Bool
  /// Whether requests are handled on the thread of the transport.
  package let runsOnTransport: Bool

  /// Reads `ARTICLES_URL` and `AUTHORS_URL`, and optionally `PORT`, `CONNECTIONS`, `LOG_LEVEL`, `PLAIN=1` and
  /// `EXECUTOR=1`.
  package init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
    func url(_ name: String) throws -> URL {
      guard let url = environment[name].flatMap({ URL(string: $0) }), url.host != nil else {
        throw Invalid(description: "Set \(name) to the URL of a service, such as http://127.0.0.1:8081.")
      }
      return url
    }
    articles = try url("ARTICLES_URL")
    authors = try url("AUTHORS_URL")
    port = environment["PORT"].flatMap { Int($0) } ?? 8080
    connections = environment["CONNECTIONS"].flatMap { Int($0) } ?? 64
    logLevel = environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .info
    isPlain = environment["PLAIN"] == "1"
    runsOnTransport = environment["EXECUTOR"] == "1"
  }

  /// Returns a logger with the level of the process.
  package func logger(_ label: String) -> Logger {
    var logger = Logger(label: label)
    logger.logLevel = logLevel
    return logger
  }

  private struct Invalid: Error, CustomStringConvertible {
    let description: String
  }
}
