import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private struct User: Decodable, Equatable {
  var id: Int
}

private struct GetUser: Endpoint {
  typealias Output = User
  var id: Int
  var path: String { "/user/\(id)" }
}

private enum Other: Endpoint {
  case n(Int)
  var path: String {
    switch self {
    case .n(let id): "/n/\(id)"
    }
  }
}

final class RequestChainTests: XCTestCase {
  private func network(_ transport: StubTransport, _ host: String = "h") -> Network {
    Network(Backend(baseURL: URL(string: "http://\(host)"), transport: transport))
  }

  /// Responds to `/user/3` with `{"id":4}`, and fails for the paths in `failing`.
  private func transport(failing: Set<String> = []) -> StubTransport {
    StubTransport { request in
      if failing.contains(request.url.path) { return .json(#"{"message":"no"}"#, status: 503) }
      return .json(#"{"id":\#((Int(request.url.lastPathComponent) ?? 0) + 1)}"#)
    }
  }

  func test_row_1_13_eachStep_receivesThePreviousResult() throws {
    let transport = transport()
    let chain = RequestChain(on: network(transport)) { GetUser(id: 1) }
      .then { first in GetUser(id: first.id) }
      .then { second in Other.n(second.id).as(String.self) }
    XCTAssertEqual(transport.requests.count, 0, "nothing starts before it is subscribed")
    let results = record(chain.run())
    let (first, second, third) = try XCTUnwrap(results.elements.first)
    XCTAssertEqual(first, User(id: 2))
    XCTAssertEqual(second, User(id: 3))
    XCTAssertEqual(third, #"{"id":4}"#)
    XCTAssertEqual(transport.requests.map(\.url.path), ["/user/1", "/user/2", "/n/3"])
  }

  func test_row_1_13_error_hasItsIndexAndCause() throws {
    for (index, path) in ["/user/1", "/user/2", "/n/3"].enumerated() {
      let transport = transport(failing: [path])
      let error = try failure(
        of: RequestChain(on: network(transport)) { GetUser(id: 1) }
          .then { GetUser(id: $0.id) }
          .then { Other.n($0.id).as(String.self) }
          .run())
      XCTAssertEqual(error.kind, .status, "\(path)")
      XCTAssertEqual(error.index, index, "\(path)")
      XCTAssertEqual(error.code, 503, "\(path)")
      XCTAssertEqual(error.message, "no")
      XCTAssertEqual(error.response?.status, 503, "\(path)")
      XCTAssertTrue(error.reason.hasPrefix("step \(index) failed: "), "\(path): \(error.reason)")
      XCTAssertEqual(transport.requests.count, index + 1, "a failure stops the chain")
    }
  }

  func test_row_1_13_error_keepsItsKindForRetries() throws {
    for kind in [NetworkError.Kind.timeout, .connection, .parse, .authentication] {
      let transport = StubTransport { _ in .failure(kind) }
      let error = try failure(of: RequestChain(on: network(transport)) { GetUser(id: 1) }.run())
      XCTAssertEqual(error.kind, kind)
      XCTAssertEqual(error.index, 0)
    }
    struct Cause: Error {}
    let error = try failure(of: RequestChain<User, User> { () throws -> GetUser? in throw Cause() }.run())
    XCTAssertEqual(error.kind, .other)
    XCTAssertTrue(error.underlying is Cause)
  }

  func test_row_1_14_result_isATupleOfUpToSix() throws {
    let chain = RequestChain(on: network(transport())) { GetUser(id: 1) }
      .then { GetUser(id: $0.id) }.then { GetUser(id: $0.id) }.then { GetUser(id: $0.id) }
      .then { GetUser(id: $0.id) }.then { GetUser(id: $0.id) }
    let (a, b, c, d, e, f) = try XCTUnwrap(record(chain.run()).elements.first)
    XCTAssertEqual([a, b, c, d, e, f].map(\.id), [2, 3, 4, 5, 6, 7])
    let four = RequestChain(on: network(transport())) { GetUser(id: 1) }
      .then { GetUser(id: $0.id) }.then { GetUser(id: $0.id) }.then { GetUser(id: $0.id) }
    XCTAssertEqual(record(four.run()).elements.first?.3, User(id: 5))
    let single = RequestChain(on: network(transport())) { GetUser(id: 1) }
    XCTAssertEqual(record(single.run()).elements, [User(id: 2)])
  }

  func test_row_1_18_everyStep_hasItsOwnCallbacksProgressAndStub() throws {
    let notes = Notes()
    let transport = transport()
    let stub = StubTransport { _ in .json(#"{"id":10}"#) }
    let slow = StubTransport { _ in .failure(.timeout) }
    let chain = RequestChain(
      on: network(transport),
      StepOptions(
        progress: { notes.add("0: \($0.received)") }, onSuccess: { notes.add("0: \($0.id)") },
        onError: { _ in notes.add("0 failed") })
    ) { GetUser(id: 1) }
    .then(StepOptions(transport: stub, onSuccess: { notes.add("1: \($0.id)") })) { GetUser(id: $0.id) }
    .then(StepOptions(transport: slow, onError: { notes.add("2: \($0.kind)") })) { GetUser(id: $0.id) }
    XCTAssertEqual(try failure(of: chain.run()).index, 2)
    XCTAssertEqual(notes.all, ["0: 8", "0: 2", "1: 10", "2: timeout"])
    XCTAssertEqual(transport.requests.count, 1)
  }

  func test_row_1_19_stepWithoutNextRequest_endsTheChainWithoutError() {
    let transport = transport()
    let notes = Notes()
    let chain = RequestChain(on: network(transport), StepOptions(onSuccess: { notes.add("\($0.id)") })) {
      GetUser(id: 1)
    }
    .then { first in first.id > 1 ? nil : GetUser(id: first.id) }
    .then { GetUser(id: $0.id) }
    let recorded = record(chain.run())
    XCTAssertEqual(recorded.completions, 1)
    XCTAssertEqual(recorded.elements.count, 0)
    XCTAssertEqual(notes.all, ["2"])
    XCTAssertEqual(transport.requests.count, 1)
  }

  func test_row_1_20_steps_canUseDifferentBackends() throws {
    let (first, second) = (transport(), transport())
    let chain = RequestChain(on: network(first, "a")) { GetUser(id: 1) }
      .then(StepOptions(on: network(second, "b"))) { GetUser(id: $0.id) }
      .then { GetUser(id: $0.id) }
    _ = record(chain.run())
    XCTAssertEqual(first.requests.map(\.url.absoluteString), ["http://a/user/1", "http://a/user/3"])
    XCTAssertEqual(second.requests.map(\.url.absoluteString), ["http://b/user/2"])
  }

  func test_row_1_14_chain_canRunAgainAndConcurrently() {
    let transport = transport()
    let run = RequestChain(on: network(transport)) { GetUser(id: 1) }.then { GetUser(id: $0.id) }.run()
    for _ in 1...2 { XCTAssertEqual(record(run).elements.map(\.1.id), [3]) }
    let both = Observable.zip(run, run)
    XCTAssertEqual(record(both).elements.first?.1.1, User(id: 3))
    XCTAssertEqual(transport.requests.count, 8)
  }

  func test_row_1_13_disposing_cancelsTheCallInFlight() {
    let transport = StubTransport { $0.url.path == "/user/1" ? .json(#"{"id":2}"#) : .never }
    let reached = expectation(description: "second step")
    let chain = RequestChain(on: network(transport), StepOptions(onSuccess: { _ in })) { GetUser(id: 1) }
      .then { first -> GetUser? in
        reached.fulfill()
        return GetUser(id: first.id)
      }
    let subscription = chain.run().subscribe(onNext: { _ in XCTFail("a result") })
    wait(for: [reached], timeout: 60)
    let sent = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in transport.requests.count == 2 }, object: nil)
    wait(for: [sent], timeout: 60)
    subscription.dispose()
    // The transport may not have returned the disposable yet; the chain then disposes of it later.
    let cancelled = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in transport.cancelled.count == 1 }, object: nil)
    wait(for: [cancelled], timeout: 60)
  }

  func test_errorThrownByAStep_isItsFailure() throws {
    struct NoUser: Error {}
    let error = try failure(
      of: RequestChain(on: network(transport())) { GetUser(id: 1) }
        .then { _ -> GetUser? in throw NoUser() }.run())
    XCTAssertEqual(error.index, 1)
    XCTAssertTrue(error.underlying is NoUser)
  }
}

/// The events of a test, in order.
