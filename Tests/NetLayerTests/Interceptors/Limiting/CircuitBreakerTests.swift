import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class CircuitBreakerTests: XCTestCase {
  /// A server that fails until `recovery`, in milliseconds.
  private func failing(
    until recovery: Int = .max, _ reply: StubTransport.StubbedResponse = .json("", status: 503)
  ) -> VirtualNetwork {
    let clock = Box<TestScheduler?>(nil)
    let virtual = VirtualNetwork { _ in (clock.value?.clock ?? 0) < recovery ? reply : .json("ok") }
    clock.value = virtual.scheduler
    return virtual
  }

  /// Makes a call each `interval` ms.
  private func calls(
    _ count: Int, each interval: Int = 200, _ virtual: VirtualNetwork, _ network: Network, _ path: String = "/x"
  ) {
    for _ in 0..<count {
      virtual.note("", network.responses(.get, path))
      virtual.scheduler.advanceBy(interval)
    }
  }

  private func failure(of network: Network, _ virtual: VirtualNetwork) -> NetworkError? {
    let errors = Box<[NetworkError]>([])
    _ = network.responses(.get, "/x").subscribe(onError: { error in errors.update { $0.append(.wrapping(error)) } })
    virtual.scheduler.advanceBy(1)
    return errors.value.first
  }

  func test_aServerThatIsDown_isNotAsked_andAProbeFindsItsRecovery() {
    let virtual = failing(until: 10_000)
    let network = virtual.network(CircuitBreakerInterceptor())
    calls(150, virtual, network)
    let (sent, ok) = (virtual.stub.requests.count, virtual.notes.all.filter { $0.hasPrefix("200") }.count)
    XCTAssertLessThan(sent, 6 + 20 + ok)
    XCTAssertGreaterThan(ok, 50, "it closes within 8 s of the recovery, 20 s before the end")
    XCTAssertEqual(Set(virtual.notes.all.compactMap { $0.split(separator: " ").first }), ["503", "200", "unavailable"])
  }

  func test_aRejection_saysWhatAndWhen_andIsNotSent() throws {
    let virtual = failing()
    let network = virtual.network(CircuitBreakerInterceptor(pause: .seconds(2)))
    calls(11, virtual, network)
    let count = virtual.stub.requests.count
    let error = try XCTUnwrap(failure(of: network, virtual))
    XCTAssertEqual(error.kind, .unavailable)
    XCTAssertEqual(virtual.stub.requests.count, count)
    let wait = try XCTUnwrap(error.retryAfter)
    XCTAssertGreaterThan(wait, .zero)
    XCTAssertLessThanOrEqual(wait, .seconds(3))
    XCTAssertTrue(error.reason.contains("not sent: almost every recent request to http://h has failed"), error.reason)
    XCTAssertEqual(error.request?.url.path, "/x")
  }

  func test_failuresAreConnections_timeoutsAndThreeStatuses() {
    for kind in [NetworkError.Kind.connection, .unknownHost, .timeout] {
      let virtual = failing(.failure(kind))
      calls(10, virtual, virtual.network(CircuitBreakerInterceptor()))
      XCTAssertLessThan(virtual.stub.requests.count, 10, kind.rawValue)
    }
    for status in [502, 503, 504] {
      let virtual = failing(.json("", status: status))
      calls(10, virtual, virtual.network(CircuitBreakerInterceptor()))
      XCTAssertLessThan(virtual.stub.requests.count, 10, "\(status)")
    }
    for status in [400, 401, 404, 408, 429, 500, 501] {
      let virtual = failing(.json("", status: status))
      calls(10, virtual, virtual.network(CircuitBreakerInterceptor()))
      XCTAssertEqual(virtual.stub.requests.count, 10, "\(status)")
    }
    for kind in [NetworkError.Kind.parse, .tls, .tooLarge, .invalidRequest, .unavailable, .authentication, .file] {
      let virtual = failing(.failure(kind))
      calls(10, virtual, virtual.network(CircuitBreakerInterceptor()))
      XCTAssertEqual(virtual.stub.requests.count, 10, kind.rawValue)
    }
  }

  func test_probesWhoseBodiesCannotBeRead_closeTheCircuit() {
    for kind in [NetworkError.Kind.parse, .tooLarge] {
      let isUp = Flag()
      let virtual = VirtualNetwork { _ in isUp.isRaised ? .failure(kind) : .json("", status: 503) }
      let changes = Notes()
      let network = virtual.network(CircuitBreakerInterceptor(probes: 3, onChange: { changes.add("\($1)") }))
      calls(6, virtual, network)
      XCTAssertEqual(changes.all, ["open"], kind.rawValue)
      isUp.raise()
      virtual.scheduler.advanceBy(10_000)
      calls(2, virtual, network)
      XCTAssertEqual(changes.all, ["open", "half-open"], kind.rawValue)
      calls(1, virtual, network)
      XCTAssertEqual(changes.all, ["open", "half-open", "closed"], kind.rawValue)
    }
  }

  func test_retryAfterOfAFailedResponse_isTheMinimumPause() {
    let virtual = failing(.response(status: 503, headers: ["Retry-After": "30"]))
    let network = virtual.network(CircuitBreakerInterceptor())
    calls(6, virtual, network)
    XCTAssertEqual(virtual.stub.requests.count, 6)
    // The last response came at 1 s.
    virtual.scheduler.advanceTo(30_999)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceBy(1)
    XCTAssertEqual(virtual.stub.requests.count, 6)
    // The random part is at most a tenth.
    virtual.scheduler.advanceTo(34_001)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceBy(1)
    XCTAssertEqual(virtual.stub.requests.count, 7)
  }

  func test_ownFailures() {
    let virtual = failing(.json("", status: 500))
    calls(10, virtual, virtual.network(CircuitBreakerInterceptor(isFailure: { $0.status == 500 })))
    XCTAssertLessThan(virtual.stub.requests.count, 10)
  }

  func test_aCallerWhoLeaves_isNoVerdict_theEndOfTheLimitOfACallIsOne() {
    let leaving = VirtualNetwork(.never)
    let network = leaving.network(CircuitBreakerInterceptor())
    for _ in 0..<30 {
      let call = leaving.note("", network.responses(.get, "/x"))
      leaving.scheduler.advanceBy(200)
      call.dispose()
    }
    XCTAssertEqual(leaving.stub.requests.count, 30)

    let hanging = VirtualNetwork(.never)
    let limited = hanging.network(CircuitBreakerInterceptor()).with { $0.timeouts.call = .milliseconds(400) }
    calls(60, each: 500, hanging, limited)
    XCTAssertLessThan(hanging.stub.requests.count, 25)
    XCTAssertTrue(hanging.notes.all.contains { $0.hasPrefix("unavailable") })
  }

  func test_originsAndGroups_haveTheirOwnCircuits() {
    let virtual = VirtualNetwork {
      $0.url.host == "bad" || $0.url.path == "/bad" ? .json("", status: 503) : .json("ok")
    }
    let changes = Notes()
    let byPath = CircuitBreakerInterceptor(group: { $0.url.path }, onChange: { changes.add("\($0) \($1)") })
    let network = virtual.network(byPath)
    for _ in 0..<10 {
      for url in ["http://h/good", "http://h/bad", "http://bad/x"] { virtual.note("", network.responses(.get, url)) }
      virtual.scheduler.advanceBy(200)
    }
    let paths = virtual.stub.requests.map { "\($0.url.host ?? "")\($0.url.path)" }
    XCTAssertEqual(paths.filter { $0 == "h/good" }.count, 10)
    XCTAssertLessThan(paths.filter { $0 == "h/bad" }.count, 9)
    XCTAssertLessThan(paths.filter { $0 == "bad/x" }.count, 9)
    XCTAssertEqual(changes.all.prefix(2).sorted(), ["http://bad /x open", "http://h /bad open"])
  }

  func test_manyOrigins_haveALimitedTable() {
    let virtual = failing()
    let network = virtual.network(CircuitBreakerInterceptor())
    calls(6, virtual, network)
    XCTAssertEqual(failure(of: network, virtual)?.kind, .unavailable)
    for number in 0..<4096 { _ = network.responses(.get, "http://h\(number)/").subscribe(onError: { _ in }) }
    virtual.scheduler.advanceBy(1)
    XCTAssertNil(failure(of: network, virtual), "the table was emptied")
  }

  func test_aTokenServerThatIsDown_saysNothingAboutTheAPI() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))],
      store: MemoryTokenStore(Token(access: "old", expiresAt: .distantPast))
    ) { _ in throw NetworkError(kind: .connection, reason: "down") }
    let changes = Notes()
    let breaker = CircuitBreakerInterceptor(onChange: { changes.add("\($0) \($1)") })
    calls(20, virtual, virtual.network(breaker, login))
    XCTAssertEqual(changes.all, [])
    XCTAssertEqual(Set(virtual.notes.all.compactMap { $0.split(separator: " ").first }), ["connection"])
  }

  /// An interceptor of a user has what it needs.
  func test_ownInterceptors_knowOriginsAndTransientFailures() throws {
    func origin(_ text: String) throws -> String { Request(method: .get, url: try XCTUnwrap(URL(string: text))).origin }
    XCTAssertEqual(try origin("http://A.example:80/x?y"), "http://a.example")
    XCTAssertEqual(try origin("https://a.example:8443"), "https://a.example:8443")
    XCTAssertTrue(NetworkError(kind: .unavailable, reason: "").isTransient)
    XCTAssertFalse(NetworkError(kind: .tls, reason: "").isTransient)
    let response = Response(
      request: Request(method: .get, url: try XCTUnwrap(URL(string: "http://h"))), status: 503,
      headers: ["Retry-After": "7"])
    XCTAssertEqual(response.retryAfter, .seconds(7))
    XCTAssertEqual(NetworkError(kind: .status, reason: "", response: response).retryAfter, .seconds(7))
    XCTAssertNil(NetworkError(kind: .connection, reason: "").retryAfter)
  }

  func test_aStream_isJudgedAtItsHead() {
    let virtual = VirtualNetwork { _ in .response(status: 503, body: Data("x".utf8)) }
    let network = virtual.network(CircuitBreakerInterceptor())
    for _ in 0..<10 {
      _ = network.stream(.get("/x")).subscribe(onError: { _ in })
      virtual.scheduler.advanceBy(200)
    }
    XCTAssertLessThan(virtual.stub.requests.count, 10)
  }

  func test_changesAreReportedInTheirOrder_oneAtATime() {
    let (notes, isInside, isOver, end) = (Notes(), Flag(), Flag(), DispatchSemaphore(value: 0))
    let count = Counter()
    let breaker = CircuitBreakerInterceptor(
      minimum: 1, pause: .zero,
      onChange: { _, state in
        if isInside.raise() { end.wait() }
        notes.add("\(state)")
      })
    let stub = StubTransport { _ in count.next() == 1 ? .json("", status: 503) : .json("1") }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub, interceptors: [breaker]))
    DispatchQueue.global().async { _ = network.responses(.get, "/a").subscribe() }
    XCTAssertTrue(holds { isInside.isRaised })
    DispatchQueue.global().async {
      // A probe, whose change another thread reports meanwhile.
      _ = network.responses(.get, "/a").subscribe()
      isOver.raise()
    }
    XCTAssertTrue(holds { isOver.isRaised })
    XCTAssertEqual(notes.all, [])
    end.signal()
    XCTAssertTrue(holds { notes.all.count >= 2 }, "\(notes.all)")
    XCTAssertEqual(Array(notes.all.prefix(2)), ["open", "half-open"])
  }
}
