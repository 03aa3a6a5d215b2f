import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// `timeouts(idle:attempt:)` and `longPoll(_:)` of a call, and retry delays from a body.
final class CallLimitTests: XCTestCase {
  private func sent(_ call: some Endpoint) throws -> Request.Timeouts {
    let stub = StubTransport { _ in .json("{}") }
    _ = record(
      Network(Backend(baseURL: URL(string: "http://h"), transport: stub)).request(Call(call).as(NoContent.self)))
    return try XCTUnwrap(stub.requests.first).timeouts
  }

  func test_limitsOfACall_replaceTheBackends() throws {
    let call = Call.get("/a")
    // The limits without data, of an attempt, and of the call.
    let rows: [(Call<Response>, Duration?, Duration?, Duration?)] = [
      (call, .seconds(60), nil, nil), (call.timeout(.seconds(40)), .seconds(60), nil, .seconds(40)),
      (call.timeouts(idle: .seconds(60), attempt: .seconds(300)), .seconds(60), .seconds(300), nil),
      (call.timeouts(idle: nil, attempt: nil), nil, nil, nil),
      (call.timeouts(idle: nil, attempt: nil).timeout(.seconds(5)), nil, nil, .seconds(5)),
      (call.longPoll(.seconds(45)), .seconds(45), .seconds(45), nil),
      (call.longPoll(.seconds(45)).timeout(.seconds(50)), .seconds(45), .seconds(45), .seconds(50)),
      (call.timeout(.seconds(5)).longPoll(.seconds(45)), .seconds(45), .seconds(45), .seconds(5)),
      (call.longPoll(.zero), .milliseconds(1), .milliseconds(1), nil),
      (call.timeouts(idle: .seconds(-1), attempt: nil), .milliseconds(1), nil, nil),
    ]
    for (index, (call, idle, attempt, whole)) in rows.enumerated() {
      let timeouts = try sent(call)
      XCTAssertEqual(timeouts.idle, idle, "row \(index)")
      XCTAssertEqual(timeouts.attempt, attempt, "row \(index)")
      XCTAssertEqual(timeouts.call, whole, "row \(index)")
      XCTAssertEqual(timeouts.connect, .seconds(15))
    }
  }

  func test_longPoll_outlivesTheBackendsIdleLimit() async throws {
    let server = try TestServer { _ in
      var response = TestServer.Response.json("[]")
      response.delay = 0.2
      return response
    }
    let timeouts = Request.Timeouts(idle: .milliseconds(20))
    let api = Network(Backend(baseURL: server.url, timeouts: timeouts))
    let events = try await api.fetch(.get("/events").longPoll(.seconds(20)), as: [Int].self)
    XCTAssertEqual(events, [])
  }

  func test_everyPageHasTheLimits() throws {
    let stub = StubTransport { request in
      request.url.query == nil ? .response(headers: ["Link": "<?p=2>; rel=next"], body: Data("[1]".utf8)) : .json("[2]")
    }
    let api = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
    _ = record(api.pages(Call.get("/a").timeouts(idle: nil, attempt: .seconds(7)), of: Int.self))
    XCTAssertEqual(stub.requests.map(\.timeouts.attempt), [.seconds(7), .seconds(7)])
    XCTAssertEqual(stub.requests.map(\.timeouts.idle), [nil, nil])
  }

  private func times(
    _ virtual: VirtualNetwork, _ delay: @escaping @Sendable (Response) -> Duration?
  ) -> [String] {
    let network = virtual.network(RetryInterceptor(maxRetryAfter: .seconds(10), requestedDelay: delay))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    return virtual.notes.all
  }

  func test_delayInTheBody_precedesRetryAfterAndThePolicy() {
    let limited = StubTransport.StubbedResponse.response(
      status: 429, headers: ["Retry-After": "1", "Content-Type": "application/json"],
      body: Data(#"{"retry_after_ms":167}"#.utf8))
    let delay: @Sendable (Response) -> Duration? = {
      (try? $0.decode(Int.self, at: "retry_after_ms")).map { .milliseconds($0) }
    }
    XCTAssertEqual(times(VirtualNetwork(.sequence([limited, .json("ok")])), delay), ["200 ok @167"])
    XCTAssertEqual(times(VirtualNetwork(.sequence([limited, .json("ok")]))) { _ in nil }, ["200 ok @1000"])
    XCTAssertEqual(times(VirtualNetwork(.sequence([limited, .json("ok")]))) { _ in .seconds(-5) }, ["200 ok @0"])
    let refused = times(VirtualNetwork(.sequence([limited, .json("ok")]))) { _ in .seconds(11) }
    XCTAssertEqual(refused, [#"429 {"retry_after_ms":167} @0"#])
  }
}
