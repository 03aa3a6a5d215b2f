import Foundation
import NetLayerTesting
import Races
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Servers that are not down: a circuit breaker makes no call fail that would succeed without it.
final class CircuitHarmTests: XCTestCase {
  /// A server that decides about each request by its number and path, at a time in milliseconds.
  private struct Case {
    var name: String
    /// Calls in a second, for a time in seconds.
    var rate = 20.0
    var seconds = 60.0
    var routes = 1
    var limit: Duration? = nil
    var isBurst = false
    var reply: @Sendable (_ number: Int, _ route: Int, _ time: Int) -> StubTransport.StubbedResponse
  }

  private static func part(_ percent: Int, _ number: Int) -> Bool {
    var random = SplitMix64(seed: UInt64(number) &* 7919 &+ 13)
    return random.next() % 100 < UInt64(percent)
  }

  private static let ok = StubTransport.StubbedResponse.json("1")
  private static let busy = StubTransport.StubbedResponse.json("", status: 503)

  private static func rejecting(_ percent: Int, status: Int = 503, after delay: Duration = .zero) -> Case {
    Case(name: "\(percent) % of \(status), others after \(delay)") { number, _, _ in
      part(percent, number) ? .json("", status: status) : .json("1", after: delay)
    }
  }

  private static func routes(
    _ name: String, limit: Duration? = nil, _ bad: StubTransport.StubbedResponse,
    _ isBad: @escaping @Sendable (Int) -> Bool
  ) -> Case {
    Case(name: name, routes: 10, limit: limit) { _, route, _ in isBad(route) ? bad : ok }
  }

  private static let cases: [Case] = [
    rejecting(1), rejecting(10), rejecting(30), rejecting(30, after: .milliseconds(400)), rejecting(60),
    rejecting(40, status: 429), routes("one of ten routes always 503", busy) { $0 == 3 },
    routes("one of ten routes hangs", limit: .seconds(2), .never) { $0 == 3 },
    routes("half of the routes 500", .json("", status: 500)) { $0 < 5 },
    Case(name: "a call a minute, 5 % of 503", rate: 1.0 / 60, seconds: 12_000) { number, _, _ in
      part(5, number) ? busy : ok
    },
    Case(name: "a call a minute, down for an hour", rate: 1.0 / 60, seconds: 36_000) { _, _, time in
      (7_200_000..<10_800_000).contains(time) ? .failure(.connection) : ok
    },
    Case(name: "5 ms or 1 s") { number, _, _ in .json("1", after: part(50, number) ? .milliseconds(5) : .seconds(1)) },
    Case(name: "a slow start") { _, _, time in .json("1", after: .milliseconds(time < 20_000 ? 1_500 : 10)) },
    Case(name: "bursts of 200", rate: 0.1, isBurst: true) { _, _, _ in .json("1", after: .milliseconds(50)) },
    Case(name: "refused for 2 s", seconds: 300) { _, _, time in
      (20_000..<22_000).contains(time) ? .failure(.connection) : ok
    },
    Case(name: "all good") { _, _, _ in ok },
  ]

  /// Returns the calls that fail, in percent.
  private func failures(_ test: Case, _ interceptors: [any Interceptor]) -> Double {
    let (clock, count) = (Box<TestScheduler?>(nil), Counter())
    let virtual = VirtualNetwork { request in
      let route = Int(request.url.lastPathComponent) ?? 0
      return test.reply(count.next(), route, clock.value?.clock ?? 0)
    }
    clock.value = virtual.scheduler
    let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))
    let network = virtual.network().with {
      $0.interceptors = [retry] + interceptors
      $0.timeouts.call = test.limit
    }
    let (failed, calls) = (Counter(), Int(test.rate * test.seconds) * (test.isBurst ? 200 : 1))
    for call in 0..<calls {
      let turn = test.isBurst ? call / 200 : call
      virtual.scheduler.scheduleAt(Int(Double(turn) / test.rate * 1_000)) {
        _ = network.responses(.get, "/\(call % test.routes)").subscribe(
          onNext: { if $0.status != 200 { failed.next() } }, onError: { _ in failed.next() })
      }
    }
    virtual.scheduler.start()
    return 100 * Double(failed.value) / Double(calls)
  }

  func test_noServerThatIsUp_losesMoreThanAPoint() {
    XCTAssertEqual(Self.cases.count, 16)
    for test in Self.cases {
      let (without, with) = (failures(test, []), failures(test, [CircuitBreakerInterceptor()]))
      XCTAssertLessThanOrEqual(with, without + 1, test.name)
    }
  }

  /// The exception that the type documents.
  func test_behindACache_oneFailingRouteNeedsItsOwnCircuit() {
    let test = Case(name: "", rate: 100, seconds: 60, routes: 10) { _, route, _ in
      route == 3 ? Self.busy : .response(headers: ["Cache-Control": "max-age=15"], body: Data("1".utf8))
    }
    func failed(_ breaker: CircuitBreakerInterceptor?) -> Double {
      failures(test, [CacheInterceptor(ResponseCache(storingIn: nil))] + (breaker.map { [$0] } ?? []))
    }
    XCTAssertEqual(failed(nil), 10, accuracy: 0.1)
    XCTAssertGreaterThan(failed(CircuitBreakerInterceptor()), 12)
    XCTAssertEqual(failed(CircuitBreakerInterceptor(group: { $0.url.path })), 10, accuracy: 0.1)
  }
}
