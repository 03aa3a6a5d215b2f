#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import StreamsTesting
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests that every request has metrics, whether it succeeds or fails: on the response or the error, and as an event.
  final class MetricsTests: XCTestCase {
    private struct Body: Endpoint { let path: String }

    private final class Events: Sendable {
      private let all = Locked<[(path: String, metrics: TransferMetrics)]>([])

      func add(_ path: String, _ metrics: TransferMetrics) { all.withLock { $0.append((path, metrics)) } }
      func of(_ path: String) -> [TransferMetrics] { all.withLock { $0.filter { $0.path == path }.map(\.metrics) } }
    }

    private let events = Events()
    private var server: TestServer!
    private var transport: CurlTransport!
    private var network: Network!

    override func setUpWithError() throws {
      server = try TestServer { request in
        switch request.path {
        case "/never": .neverResponding
        case "/cut": .truncatedBody()
        case "/moved": .redirect(to: "file:///etc/passwd")
        case "/stalled": .stalledBody()
        default: .text("hello")
        }
      }
      transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let observer = CallEventHandler { [events] event in
        guard event.kind == .finished, let metrics = event.metrics else { return }
        events.add(event.request.url.path, metrics)
      }
      network = Network(Backend(baseURL: server.url, transport: transport, interceptors: [observer]))
    }

    private func outcome(_ path: String, _ timeouts: Request.Timeouts = .init()) throws -> TransportSuite.Outcome {
      let pending = PendingCall(self)
      _ = pending.send(Request(url: server.url(path), timeouts: timeouts), on: transport)
      return try pending.outcome()
    }

    private func metrics(of outcome: TransportSuite.Outcome, _ kind: NetworkError.Kind) throws -> TransferMetrics {
      guard case .failure(let error) = outcome else {
        XCTFail("answered, where \(kind) was to come")
        throw CancellationError()
      }
      XCTAssertEqual(error.kind, kind)
      return try XCTUnwrap(error.metrics, error.reason)
    }

    /// Returns the only event of `path`, which may arrive with a short delay.
    private func measured(_ path: String) throws -> TransferMetrics {
      LeakCheck.wait { [events] in !events.of(path).isEmpty }
      XCTAssertEqual(events.of(path).count, 1, path)
      return try XCTUnwrap(events.of(path).first)
    }

    func test_aRejectedRedirectIsMeasured() throws {
      let metrics = try metrics(of: outcome("/moved"), .redirect)
      XCTAssertEqual(metrics.remoteAddress, "127.0.0.1:\(server.port)")
    }

    func test_requestsInFlightQueuedAndAfterAShutdownAreMeasured() throws {
      let pendingCalls = [PendingCall(self), PendingCall(self)]
      for pending in pendingCalls { _ = pending.send(Request(url: server.url("/never")), on: transport) }
      let server: TestServer = self.server
      LeakCheck.wait { server.requestCount == 1 }
      transport.shutdown()
      let all = try pendingCalls.map { try metrics(of: $0.outcome(), .cancelled) }
      XCTAssertEqual(all[0].remoteAddress, "127.0.0.1:\(server.port)")
      XCTAssertNil(all[1].remoteAddress)
      XCTAssertLessThanOrEqual(all[1].total - (try XCTUnwrap(all[1].queued)), .milliseconds(1))
      XCTAssertLessThanOrEqual(try XCTUnwrap(all[1].queued), all[1].total)
      _ = try metrics(of: outcome("/late"), .cancelled)
    }

    func test_aTimeoutInTheQueueIsMeasuredAsQueueing() throws {
      let first = PendingCall(self)
      let held = first.send(Request(url: server.url("/never")), on: transport)
      let waited = try metrics(
        of: outcome("/late", .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.2))), .timeout)
      XCTAssertGreaterThanOrEqual(try XCTUnwrap(waited.queued), .milliseconds(200))
      XCTAssertNil(waited.firstByte)
      held.dispose()
      let left = try metrics(of: first.outcome(), .cancelled)
      XCTAssertNotNil(left.remoteAddress)
    }

    func test_theTimeOfSendingIsPartOfTheTimeToTheFirstByte() throws {
      guard CurlTransport.capabilities?.http2 == true else { throw XCTSkip("requires libcurl 8.14 with HTTP/2") }
      let large = HTTPTask.data(Data(repeating: 1, count: 8 << 20), contentType: "image/png")
      let sent = try [HTTPTask.none, large].map { task in
        let response = try network.responses(Call(.post, "/ok", task: task)).toBlocking().single()
        let metrics = try XCTUnwrap(response.metrics)
        let send = try XCTUnwrap(metrics.send)
        XCTAssertLessThanOrEqual(send, try XCTUnwrap(metrics.firstByte))
        return send
      }
      XCTAssertLessThan(sent[0], sent[1], "8 MB take longer than nothing")
    }

    func test_responsesAndFailuresAreEvents() throws {
      XCTAssertEqual(try network.responses(.get, "/ok").toBlocking().single().status, 200)
      XCTAssertEqual(try measured("/ok").bytesReceived, 5)
      XCTAssertThrowsError(try network.responses(.get, "/cut").toBlocking().single())
      XCTAssertEqual(try measured("/cut").bytesReceived, 100)
      XCTAssertThrowsError(try network.responses(.get, "/moved").toBlocking().single())
      XCTAssertNotNil(try measured("/moved").firstByte)
    }

    func test_aCancelledRequestIsMeasuredInFlightAndInTheQueue() throws {
      let first = network.responses(.get, "/never").subscribe()
      let server: TestServer = self.server
      LeakCheck.wait { server.requestCount == 1 }
      let second = network.responses(.get, "/late").subscribe()
      second.dispose()
      XCTAssertNil(try measured("/late").remoteAddress)
      first.dispose()
      XCTAssertEqual(try measured("/never").remoteAddress, "127.0.0.1:\(server.port)")
    }

    func test_aStreamIsMeasuredAtItsEndOnItsResponseAndAsAnEvent() throws {
      let reply = try network.response(streaming: Body(path: "/ok")).toBlocking().single()
      XCTAssertEqual(try reply.body.toBlocking().toArray().reduce(Data(), +), Data("hello".utf8))
      XCTAssertEqual(reply.metrics?.bytesReceived, 5)
      XCTAssertEqual(try measured("/ok").bytesReceived, 5)
      let cut = try network.response(streaming: Body(path: "/cut")).toBlocking().single()
      XCTAssertThrowsError(try cut.body.toBlocking().toArray())
      XCTAssertEqual(cut.metrics?.bytesReceived, 100)
      XCTAssertEqual(try measured("/cut").bytesReceived, 100)
    }

    func test_aDisposedStreamIsMeasured() throws {
      let subscription = network.response(streaming: Body(path: "/stalled")).asObservable().flatMap { $0.body }
        .subscribe()
      let server: TestServer = self.server
      LeakCheck.wait { server.requestCount == 1 }
      subscription.dispose()
      XCTAssertNotNil(try measured("/stalled").remoteAddress)
    }
  }
#endif
