import Foundation
import InMemoryTracing
import Logging
import LoopbackServer
import Metrics
import MetricsTestKit
import NetLayer
import NetLayerLogging
import NetLayerMetrics
import NetLayerTracing
import Streams
import Synchronization
import Tracing
import XCTest

/// Tests of log messages, metrics and spans, with calls to a loopback server.
final class ObservabilityTests: XCTestCase {
  private var server: TestServer!

  override func setUpWithError() throws {
    var routes = TestServer.Routes()
    routes.on("GET", "/ok") { _ in .json("1") }
    routes.on("GET", "/bad") { _ in .json("1", status: 404) }
    let count = Counted()
    routes.on("GET", "/busy") { _ in
      .json("1", status: count.next() < 3 ? 503 : 200)
    }
    routes.on("GET", "/cut") { _ in .closeBeforeHead }
    server = try TestServer(routes: routes)
  }

  override func tearDown() { server.stop() }

  private func network(_ interceptors: any Interceptor...) -> Network {
    Network(Backend(baseURL: server.url, interceptors: interceptors))
  }

  private var place: [String: String] { ["server.address": "127.0.0.1", "server.port": "\(server.url.port ?? 0)"] }

  // MARK: swift-log

  func test_callsAreLoggedWithTheirAttributes() async throws {
    let log = Log()
    let network = network(CallEventHandler.logging(to: Logger(label: "test") { _ in LogHandlerOfTests(log: log) }))
    try await network.fetch(.get("/ok?token=secret"))
    _ = try? await network.fetch(.get("/bad"))
    _ = try? await network.fetch(.get("/cut"))
    let lines = log.lines.withLock { $0 }
    XCTAssertEqual(lines.map(\.level), [.info, .notice, .warning])
    XCTAssert(lines[0].message.hasPrefix("GET http://127.0.0.1"), lines[0].message)
    XCTAssert(lines[0].message.hasSuffix("/ok?token=*** 200"), lines[0].message)
    XCTAssert(lines[1].message.hasSuffix("/bad 404"), lines[1].message)
    XCTAssertEqual("\(lines[1].metadata["http.response.status_code"] ?? "")", "404")
    XCTAssertEqual("\(lines[2].metadata["error.type"] ?? "")", "connection")
    XCTAssertFalse("\(lines)".contains("secret"))
  }

  // MARK: swift-metrics

  func test_callsAreTimedAndCounted() async throws {
    let metrics = TestMetrics()
    let network = network(CallEventHandler.metrics(metrics))
    try await network.fetch(.get("/ok"))
    _ = try? await network.fetch(.get("/bad"))
    let server = [
      ("http.request.method", "GET"), ("server.address", "127.0.0.1"), ("server.port", place["server.port"] ?? ""),
    ]
    let good = try metrics.expectTimer("http.client.request.duration", server + [("http.response.status_code", "200")])
    XCTAssertEqual(good.values.count, 1)
    XCTAssertGreaterThan(good.values.first ?? 0, 0)
    let bad = try metrics.expectTimer(
      "http.client.request.duration", server + [("http.response.status_code", "404"), ("error.type", "404")])
    XCTAssertEqual(bad.values.count, 1)
    let active = try metrics.expectMeter("http.client.active_requests", server)
    XCTAssertEqual(active.values.max(), 1)
    XCTAssertEqual(active.lastValue, 0)
  }

  func test_metricsOfTheSystem_mayBeBootstrappedAfterTheMonitor() async throws {
    let network = network(CallEventHandler.metrics())
    let metrics = TestMetrics()
    // Only this test uses the system's factory, which a process can set once.
    MetricsSystem.bootstrap(metrics)
    try await network.fetch(.get("/ok"))
    XCTAssertEqual(metrics.timers.filter { $0.label == "http.client.request.duration" }.map(\.values.count), [1])
  }

  // MARK: swift-distributed-tracing

  func test_eachAttemptHasASpanWithTheCallersSpanAsParent() async throws {
    let tracer = InMemoryTracer()
    let network = network(
      RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1))),
      TracingInterceptor(tracer: tracer))
    let parent = tracer.startSpan("caller")
    _ = try await ServiceContext.withValue(parent.context) { try await network.fetch(.get("/busy")) }
    parent.end()
    let spans = tracer.finishedSpans.filter { $0.operationName == "GET" }
    XCTAssertEqual(spans.count, 3)
    XCTAssertEqual(Set(spans.map(\.spanContext.traceID)), [parent.context.inMemorySpanContext?.traceID ?? ""])
    XCTAssertEqual(Set(spans.map(\.spanContext.spanID)).count, 3)
    XCTAssertEqual(spans.map { $0.attributes.get("http.response.status_code")?.toSpanAttribute() }, [503, 503, 200])
    XCTAssertEqual(
      spans.map { $0.attributes.get("http.request.resend_count")?.toSpanAttribute() }, [nil, 1, 2])
    XCTAssertEqual(spans.map { $0.status?.code == .error }, [true, true, false])
    let sent = server.requests.compactMap { $0.header(InMemoryTracer.spanIDKey) }
    XCTAssertEqual(Set(sent), Set(spans.map(\.spanContext.spanID)))
  }
}

private final class Counted: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

private final class Log: Sendable {
  struct Line { var level: Logger.Level, message: String, metadata: Logger.Metadata }
  let lines = Mutex([Line]())
}

private struct LogHandlerOfTests: LogHandler {
  let log: Log
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
  func log(event: LogEvent) {
    log.lines.withLock {
      $0.append(.init(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
    }
  }
}
