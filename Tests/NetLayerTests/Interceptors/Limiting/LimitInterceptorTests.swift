import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

private struct Prioritised: Interceptor {
  let priority: Request.Priority

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    var request = request
    request.options.priority = priority
    return next(request)
  }
}

/// Counts the requests that run after it in the chain.
private final class Gauge: Interceptor {
  let state = Locked((now: 0, most: 0))

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable.deferred { [self] in
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      return next(request).do(onNext: { [self] _ in state.withLock { $0.now -= 1 } })
    }
  }
}

final class LimitInterceptorTests: XCTestCase {
  func test_row_0_10_limit_boundsConcurrentRequests_andReportsTheWait() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(LimitInterceptor(maxConcurrent: 2))
    let waits = Notes()
    for index in 0..<5 {
      _ = network.responses(.get, "/\(index)").subscribe(onNext: { waits.add("\($0.url.path) \($0.waitedForLimit)") })
    }
    XCTAssertEqual(virtual.paths, ["/0", "/1"])
    virtual.scheduler.start()
    XCTAssertEqual(
      waits.all, ["/0 0.0 seconds", "/1 0.0 seconds", "/2 1.0 seconds", "/3 1.0 seconds", "/4 2.0 seconds"])
  }

  func test_limit_appliesPerHost() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(LimitInterceptor(maxConcurrent: 3, maxPerHost: 2))
    for host in ["a", "a", "a", "a", "b", "b"] { virtual.note("\(host) ", network.responses(.get, "http://\(host)/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.notes.all,
      ["a 200 ok @1000", "a 200 ok @1000", "b 200 ok @1000", "a 200 ok @2000", "a 200 ok @2000", "b 200 ok @2000"])
  }

  func test_rateLimit_appliesAfterABurst() {
    let virtual = VirtualNetwork(.json("ok"))
    let rate = LimitInterceptor.Rate(4, per: .seconds(2))
    let network = virtual.network(LimitInterceptor(rate: rate))
    for _ in 0..<7 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    let times = [0, 0, 0, 0, 500, 1000, 1500]
    XCTAssertEqual(virtual.notes.all, times.map { "200 ok @\($0)" })
    virtual.scheduler.advanceTo(2500)
    for _ in 0..<4 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(
      Array(virtual.notes.all.suffix(4)), ["200 ok @2500", "200 ok @2500", "200 ok @3000", "200 ok @3500"])
  }

  func test_clockSetBack_doesNotStopRequests() {
    let start = Date(timeIntervalSinceReferenceDate: 10_000)
    var bucket = LimitInterceptor.TokenBucket(.init(1, per: .seconds(1)))
    XCTAssertNil(bucket.take(at: start), "the first may begin")
    XCTAssertNotNil(bucket.take(at: start - 3600), "the second waits")
    XCTAssertNil(bucket.take(at: start - 3599), "for a second, not an hour")
  }

  func test_waitingRequests_startByPriority_thenInOrder() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let limit = LimitInterceptor(maxConcurrent: 1)
    func network(_ priority: Request.Priority) -> Network { virtual.network(Prioritised(priority: priority), limit) }
    let (low, normal, high) = (network(.low), network(.normal), network(.high))
    for (index, network) in [normal, low, normal, high, low, high].enumerated() {
      virtual.note("", network.responses(.get, "/\(index)"))
    }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.paths, ["/0", "/3", "/5", "/2", "/1", "/4"])
  }

  func test_priority_appliesAcrossHosts() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let limit = LimitInterceptor(maxConcurrent: 1, maxPerHost: 1)
    func send(_ priority: Request.Priority, _ host: String, _ path: String) {
      virtual.note(
        "", virtual.network(Prioritised(priority: priority), limit).responses(.get, "http://\(host)/\(path)"))
    }
    send(.normal, "a", "0")
    for host in ["a", "b", "c"] { send(.low, host, "low-\(host)") }
    for host in ["a", "b", "c"] { send(.high, host, "high-\(host)") }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.paths, ["/0", "/high-a", "/high-b", "/high-c", "/low-a", "/low-b", "/low-c"])
  }

  func test_waitingRequest_isNotSent_whenCancelled() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(LimitInterceptor(maxConcurrent: 1))
    virtual.note("", network.responses(.get, "/a"))
    let second = virtual.note("", network.responses(.get, "/b"))
    virtual.note("", network.responses(.get, "/c"))
    virtual.scheduler.advanceTo(500)
    second.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(virtual.paths, ["/a", "/c"])
    XCTAssertEqual(virtual.notes.all, ["200 ok @1000", "200 ok @2000"])
  }

  func test_slot_isReleasedOnFailureAndCancellation() {
    let virtual = VirtualNetwork { $0.url.path == "/never" ? .never : .failure(.timeout, after: .seconds(1)) }
    let network = virtual.network(LimitInterceptor(maxConcurrent: 1))
    let first = virtual.note("", network.responses(.get, "/never"))
    virtual.note("", network.responses(.get, "/b"))
    virtual.note("", network.responses(.get, "/c"))
    virtual.scheduler.advanceTo(100)
    first.dispose()
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(virtual.notes.all, ["timeout @1100", "timeout @2100"])
  }

  func test_immediateResponses_doNotOverflowTheStack() {
    struct Canned: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .just(Response(request: request))
      }
    }
    let virtual = VirtualNetwork(.json("ok"))
    let limit = LimitInterceptor(maxConcurrent: 1)
    let blocked = virtual.note("", virtual.network(limit).responses(.get, "/x"))
    let network = virtual.network(limit, Canned())
    for _ in 0..<20_000 { virtual.note("", network.responses(.get, "/x")) }
    XCTAssertEqual(virtual.notes.all.count, 0)
    blocked.dispose()
    XCTAssertEqual(virtual.notes.all.count, 20_000)
  }

  func test_limit_holdsOnThreads() {
    let gauge = Gauge()
    let queue = ConcurrentDispatchQueueScheduler(qos: .utility)
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: StubTransport { _ in .json("ok") },
        interceptors: [LimitInterceptor(maxConcurrent: 3), gauge]))
    let all = Observable.range(start: 0, count: 500)
      .flatMap { _ in network.responses(.get, "/x").subscribeOn(queue) }
    XCTAssertEqual(record(all).elements.count, 500)
    XCTAssertEqual(gauge.state.withLock { $0.now }, 0)
    XCTAssertLessThanOrEqual(gauge.state.withLock { $0.most }, 3)
  }
}

/// A streamed request occupies its slot until the end of the body.
final class LimitStreamTests: XCTestCase {
  private struct Get: Endpoint {
    var name = "x"
    var path: String { "/\(name)" }
  }

  private func network(_ virtual: VirtualNetwork) -> Network {
    virtual.network(LimitInterceptor(maxConcurrent: 1))
  }

  private static func body(failing kind: NetworkError.Kind? = nil) -> StubTransport.StubbedResponse {
    .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(1), failing: kind)
  }

  func test_stream_occupiesItsSlotUntilTheEndOfItsBody() {
    for kind in [nil, NetworkError.Kind.connection] {
      let virtual = VirtualNetwork { $0.url.path == "/plain" ? .json("ok") : Self.body(failing: kind) }
      let network = network(virtual)
      let (scheduler, notes) = (virtual.scheduler, virtual.notes)
      for index in 0..<2 {
        let ended: @Sendable (String) -> Void = { notes.add("\(index) \($0) @\(scheduler.clock)") }
        _ = network.stream(Get()).subscribe(
          onNext: { _ in }, onError: { _ in ended("failed") }, onCompleted: { ended("ended") })
      }
      virtual.note("plain ", network.responses(.get, "/plain"))
      virtual.scheduler.start()
      let word = kind == nil ? "ended" : "failed"
      XCTAssertEqual(virtual.notes.all, ["0 \(word) @2000", "1 \(word) @4000", "plain 200 ok @4000"])
    }
  }

  func test_disposedReader_releasesTheSlot() {
    let virtual = VirtualNetwork { $0.url.path == "/plain" ? .json("ok") : Self.body() }
    let network = network(virtual)
    let reading = network.stream(Get()).subscribe(onNext: { _ in })
    virtual.note("", network.responses(.get, "/plain"))
    virtual.scheduler.advanceTo(1500)
    XCTAssertEqual(virtual.notes.all, [])
    reading.dispose()
    virtual.scheduler.advanceTo(1600)
    XCTAssertEqual(virtual.notes.all, ["200 ok @1500"])
  }

  func test_unreadResponse_releasesTheSlot() {
    let virtual = VirtualNetwork { $0.url.path == "/plain" ? .json("ok") : Self.body() }
    let network = network(virtual)
    _ = network.response(streaming: Get()).subscribe(onSuccess: { _ in })
    virtual.note("", network.responses(.get, "/plain"))
    virtual.scheduler.advanceTo(100)
    XCTAssertEqual(virtual.notes.all, ["200 ok @0"])
  }

  func test_download_occupiesItsSlotUntilTheLastByte() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("limit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let server = try TestServer { _ in
      .init(body: .chunked((0..<5).map { _ in .init(String(repeating: "x", count: 1000), after: 0.01) }))
    }
    defer { server.stop() }
    let bodies = Bodies()
    let network = Network(Backend(baseURL: server.url, interceptors: [LimitInterceptor(maxConcurrent: 1), bodies]))
    let all = Observable.range(start: 0, count: 4).flatMap { index in
      let file = directory.appendingPathComponent("\(index)")
      return network.transfer(downloadingTo: file) { Get(name: "\(index)") }.asObservable()
    }
    XCTAssertNil(record(all).error)
    XCTAssertEqual(bodies.counts.withLock { $0.most }, 1)
    XCTAssertEqual(bodies.counts.withLock { $0.ended }, 4)
  }

  /// Counts the bodies that are being received.
  private final class Bodies: Interceptor {
    let counts = Locked((now: 0, most: 0, ended: 0))

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      Observable.deferred { [self] in
        counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.ended) }
        return next(request).do(onNext: { [self] response in
          response.context[BodyReader.self]?.buffer.whenOver { [self] in
            counts.withLock { $0 = ($0.now - 1, $0.most, $0.ended + 1) }
          }
        })
      }
    }
  }
}
