import Foundation
import HTTPTransport
import LoopbackServer
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

final class TraceInterceptorTests: XCTestCase {
  private let parent = TraceContext(
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1")

  private func retry(_ virtual: VirtualNetwork) -> RetryInterceptor {
    RetryInterceptor(policy: RetryPolicy(attempts: 3, jitter: { $0.upperBound }, scheduler: virtual.scheduler))
  }

  func test_eachAttemptIsASpanOfTheCallersTrace() throws {
    let virtual = VirtualNetwork(.sequence([.failure(.connection), .json("busy", status: 503), .json("ok")]))
    let network = virtual.network(retry(virtual), TraceInterceptor())
    _ = TraceContext.$current.withValue(parent) { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @1500"])
    let spans = try virtual.stub.requests.map { request in
      try XCTUnwrap(TraceContext(traceparent: XCTUnwrap(request.headers["traceparent"])))
    }
    XCTAssertEqual(spans.map(\.traceID), Array(repeating: "0af7651916cd43dd8448eb211c80319c", count: 3))
    XCTAssertEqual(Set(spans.map(\.spanID) + ["b7ad6b7169203331"]).count, 4, "each attempt has a span of its own")
    XCTAssertEqual(spans.map(\.flags), [1, 1, 1])
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["tracestate"] }, ["vendor=1", "vendor=1", "vendor=1"])
    XCTAssertEqual(virtual.stub.requests.map { $0.trace?.spanID }, spans.map(\.spanID))
  }

  func test_withoutTraceNoFieldIsSent() {
    let virtual = VirtualNetwork(.json("ok"))
    virtual.note("", virtual.network(TraceInterceptor()).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["traceparent"] }, [nil])
  }

  func test_closureCanStartATraceForEachCall() {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(TraceInterceptor { TraceContext.current ?? TraceContext(isSampled: false) })
    for _ in 0..<2 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    let sent = virtual.stub.requests.compactMap { $0.headers["traceparent"].flatMap { TraceContext(traceparent: $0) } }
    XCTAssertEqual(Set(sent.map(\.traceID)).count, 2)
    XCTAssertEqual(sent.map(\.isSampled), [false, false])
  }

  func test_requestWithItsOwnTraceKeepsIt() {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(TraceInterceptor { TraceContext() })
    virtual.note("", network.request(.get("/x").header("traceparent", "own")))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["traceparent"] }, ["own"])
  }

  func test_traceIsSentWithARedirect() throws {
    let seen = Notes()
    var routes = TestServer.Routes()
    routes.on("GET", "/from") { request in
      seen.add(request.header("traceparent") ?? "none")
      return .redirect(to: "/to")
    }
    routes.on("GET", "/to") { request in
      seen.add(request.header("traceparent") ?? "none")
      return .json("1")
    }
    let server = try TestServer(routes: routes)
    defer { server.stop() }
    let network = Network(Backend(baseURL: server.url, interceptors: [TraceInterceptor { [parent] in parent }]))
    _ = try network.responses(.get, "/from").toBlocking().single()
    XCTAssertEqual(seen.all.count, 2)
    XCTAssertEqual(Set(seen.all).count, 1)
    XCTAssertEqual(TraceContext(traceparent: seen.all[0])?.traceID, parent?.traceID)
  }

  // MARK: The traceparent field (W3C Trace Context, section 3.2)

  func test_traceparentIsWrittenAsRead() {
    for text in [
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff",
    ] {
      XCTAssertEqual(TraceContext(traceparent: text)?.traceparent, text)
    }
    XCTAssertEqual(
      TraceContext(traceparent: "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later")?.traceparent,
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a later version is continued as the first")
    let own = TraceContext()
    XCTAssertEqual(TraceContext(traceparent: own.traceparent), own)
    XCTAssertEqual(own.child().traceID, own.traceID)
  }

  func test_invalidTraceparentIsRejected() {
    for text in [
      "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
      "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
      "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
      "00-00000000000000000000000000000000-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz",
      "0-00af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ] {
      XCTAssertNil(TraceContext(traceparent: text), text)
    }
    let long = TraceContext(
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: String(repeating: "a", count: 513))
    XCTAssertEqual(long?.state, "")
  }

  // MARK: OpenTelemetry attributes

  func test_eventsHaveOpenTelemetryAttributes() throws {
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let seen = Locked([[String: String]]())
    let observer = CallEventHandler { event in
      guard event.kind == .sent || event.kind == .finished else { return }
      seen.withLock { $0.append(event.attributes().mapValues { "\($0)" }) }
    }
    virtual.note("", virtual.network(retry(virtual), observer).responses(.get, "/x", parameters: ["token": "secret"]))
    virtual.scheduler.start()
    let common = [
      "http.request.method": "\"GET\"", "server.address": "\"h\"", "server.port": "80",
      "url.full": "\"\(Redaction.standard.redacted(try XCTUnwrap(URL(string: "http://h/x?token=secret"))))\"",
    ]
    func with(_ more: [String: String]) -> [String: String] { common.merging(more) { $1 } }
    XCTAssertEqual(
      seen.withLock { $0 },
      [
        common, with(["http.response.status_code": "503", "error.type": "\"503\""]),
        with(["http.request.resend_count": "1"]),
        with(["http.request.resend_count": "1", "http.response.status_code": "200"]),
      ])
  }

  func test_failureAndUnknownMethodHaveTheirAttributes() throws {
    let request = Request(method: "BREW", url: try XCTUnwrap(URL(string: "https://pot:8443/")))
    var failed = CallEvent(.failed, of: CallNumber(value: 1, start: .zero), at: .seconds(1), request)
    failed.error = NetworkError(kind: .timeout, reason: "late")
    let attributes = failed.attributes()
    XCTAssertEqual(attributes["http.request.method"], "_OTHER")
    XCTAssertEqual(attributes["http.request.method_original"], "BREW")
    XCTAssertEqual(attributes["server.port"], 8443)
    XCTAssertEqual(attributes["error.type"], "timeout")
    for (place, address) in [("127.0.0.1:81", "127.0.0.1"), ("[::1]:81", "::1")] {
      let metrics = TransferMetrics(total: .seconds(1), httpVersion: "2", remoteAddress: place)
      failed.error?.metrics = metrics
      let measured = failed.attributes()
      XCTAssertEqual(measured["network.peer.address"]?.string, address)
      XCTAssertEqual(measured["network.peer.port"], 81)
      XCTAssertEqual(measured["network.protocol.version"], "2")
    }
  }
}
