import Foundation
import LoopbackServer
import NetLayer
import Streams
import XCTest

private final class Durations: Sendable {
  let all = Locked([[String: JSON]]())
  func record(_ duration: Duration, _ attributes: [String: JSON]) { all.withLock { $0.append(attributes) } }
}

/// Runs the samples of the guide on logging and tracing.
final class LoggingSamples: XCTestCase {
  func test_logging() async throws {
    let server = try TestServer { _ in .json("{}") }
    let network = Network(
      Backend(baseURL: server.url, interceptors: [NetworkLogger { print($0) }, RetryInterceptor()]))

    let user = try await network.fetch(.get("/user?token=secret"), as: Data.self)
    XCTAssertEqual(user, Data("{}".utf8))
    let lines = Printed.take()
    XCTAssertEqual(lines.map { $0.prefix(3) }, ["-->", "<--"])
    let url = Redaction.standard.redacted(server.url("/user?token=secret"))
    XCTAssertEqual(lines.first, "--> GET \(url)")
    // As on the page.
    XCTAssert(url.hasSuffix("/user?token=***"), url)
  }

  func test_tracing() async throws {
    let server = try TestServer { _ in .json("{}") }
    let shop = Network(Backend(baseURL: server.url, interceptors: [RetryInterceptor(), TraceInterceptor()]))

    try await TraceContext.$current.withValue(TraceContext()) {
      try await shop.fetch(.post("/orders", parameters: ["item": "tea"]))
    }

    let headers = ["traceparent": try XCTUnwrap(server.requests.first?.header("traceparent"))]
    let received = TraceContext(traceparent: headers["traceparent"] ?? "", tracestate: headers["tracestate"] ?? "")
    XCTAssertEqual(received?.isSampled, true)
  }

  struct Waits: CallObserver {
    func observe(_ event: CallEvent) {
      switch event.kind {
      case .pause: print("call \(event.call) waits for attempt \(event.request.attempt)")
      case .received where event.response?.source.kind == .cache: print("call \(event.call) is a cache hit")
      case .failed: print("call \(event.call) failed: \(event.error?.kind.rawValue ?? "")")
      default: break
      }
    }
  }

  func test_observing() async throws {
    let statuses = Locked([503, 200])
    let server = try TestServer { _ in .json("7", status: statuses.withLock { $0.removeFirst() }) }
    let retry = RetryInterceptor(policy: RetryPolicy(initialDelay: .milliseconds(1)))
    try await Network(Backend(baseURL: server.url, interceptors: [retry, Waits()])).fetch(.get("/"))
    let lines = Printed.take()
    XCTAssertEqual(lines.count, 1)
    XCTAssert(lines.first?.hasSuffix(" waits for attempt 2") == true, "\(lines)")
  }

  func test_measuring() async throws {
    let durations = Durations()
    let observer = CallEventHandler { event in
      guard event.kind == .finished, let response = event.response, let duration = event.duration else { return }
      let attributes = event.attributes()
      durations.record(duration, attributes)
      if response.status >= 500 { print("failed:", attributes["url.full"]?.string ?? "") }
    }
    let server = try TestServer { _ in .json("{}") }
    try await Network(Backend(baseURL: server.url, interceptors: [observer])).fetch(.get("/"))
    XCTAssertEqual(durations.all.withLock { $0.first?["http.response.status_code"] }, 200)
    XCTAssertEqual(durations.all.withLock { $0.first?["network.protocol.version"]?.string }, "1.1")
  }
}
