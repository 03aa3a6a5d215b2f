import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// `Timeouts.call`, the time limit for all attempts of a call.
final class CallTimeoutTests: XCTestCase {
  private func retry(
    _ virtual: VirtualNetwork, attempts: Int = 5, pause: Duration = .milliseconds(500)
  ) -> RetryInterceptor {
    RetryInterceptor(
      policy: RetryPolicy(
        attempts: attempts, initialDelay: pause, jitter: { $0.upperBound }, scheduler: virtual.scheduler))
  }

  func test_callTimeout_coversAttemptsAndDelays() throws {
    let virtual = VirtualNetwork(.json("busy", status: 503, after: .seconds(1)))
    let network = virtual.network(retry(virtual, pause: .milliseconds(100))).with { $0.timeouts.call = .seconds(3.2) }
    let errors = Locked<[NetworkError]>([])
    virtual.note("", network.responses(.get, "/x"))
    _ = network.responses(.get, "/x").subscribe(onError: { error in
      errors.withLock { $0.append(NetworkError.wrapping(error)) }
    })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @3200"])
    XCTAssertEqual(virtual.stub.requests.count, 6, "three attempts each; the third would end at 4.5 s")
    let error = try XCTUnwrap(errors.withLock { $0 }.first)
    XCTAssertTrue(error.reason.contains("Timeouts.call") && error.reason.contains("3.2 s"), error.reason)
    XCTAssertEqual(error.request?.url.path, "/x")
  }

  func test_timeoutOfACall_coversAttemptsAndDelays_andMayBeLongerThanAnAttempt() {
    let virtual = VirtualNetwork(.json("busy", status: 503, after: .seconds(1)))
    let network = virtual.network(retry(virtual))
    virtual.note("retried ", network.responses(Call(.get, "/x").timeout(.seconds(3.2))))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["retried 503 busy @2500"], "the next attempt would be at 3.5 s")
    XCTAssertEqual(virtual.stub.requests.count, 2)

    let requests = VirtualNetwork(.json("ok"))
    let short = requests.network().with { $0.timeouts.attempt = .seconds(60) }
    for call in [
      Call(.get, "/a").timeout(.seconds(5)), Call(.get, "/b").timeout(.seconds(300)),
      Call(.get, "/c").timeouts(idle: nil, attempt: .seconds(2)).timeout(.seconds(9)),
      Call(.get, "/d").timeout(.seconds(-1)),
    ] {
      requests.note("", short.responses(call))
    }
    requests.scheduler.start()
    let limits = requests.stub.requests.map { [$0.timeouts.attempt, $0.timeouts.call] }
    XCTAssertEqual(
      limits,
      [
        [.seconds(60), .seconds(5)], [.seconds(300), .seconds(300)], [.seconds(2), .seconds(9)],
        [.seconds(60), .milliseconds(1)],
      ])
  }

  func test_callTimeout_coversTheWaitForASlotAndForAToken() throws {
    let virtual = VirtualNetwork(.never)
    let limit = virtual.network(LimitInterceptor(maxConcurrent: 1))
    _ = limit.responses(.get, "/x").subscribe()
    virtual.note("limit ", limit.with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))],
      store: MemoryTokenStore(Token(access: "", expiresAt: virtual.scheduler.now.addingTimeInterval(-1))),
      refresh: { _ in .never() })
    virtual.note(
      "token ", virtual.network(authentication).with { $0.timeouts.call = .seconds(2) }.responses(.get, "/x"))
    virtual.scheduler.advanceTo(3000)
    XCTAssertEqual(virtual.notes.all, ["limit timeout @1000", "token timeout @2000"])
  }

  func test_callTimeout_applies_withoutInterceptors() {
    let virtual = VirtualNetwork(.json("late", after: .seconds(5)))
    virtual.note("", virtual.network().with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
    var request = Request(url: URL(filePath: "/"), timeouts: .init(call: .seconds(2)))
    request.url = URL(string: "http://h/x") ?? request.url
    virtual.note("", virtual.network().send(request))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @1000", "timeout @2000"])
  }

  func test_callInTime_isUnchanged_andLeavesNoTimer() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    virtual.note("", virtual.network(retry(virtual)).with { $0.timeouts.call = .seconds(1.5) }.responses(.get, "/x"))
    virtual.note("", virtual.network(retry(virtual)).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @1000", "200 ok @1000"])
    XCTAssertEqual(virtual.scheduler.clock, 1000)
  }

  func test_callTimeout_isRejectedIfItIsNotPositive_andMayBeEnormous() throws {
    for limit in [Duration.seconds(-1), .zero] {
      let network = Network(Backend(baseURL: URL(string: "http://127.0.0.1:1"), timeouts: .init(call: limit)))
      let error = try failure(of: network.responses(.get, "/x"))
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssertTrue(error.reason.contains("Timeouts.call is \(limit / .seconds(1)) s; set"), error.reason)
    }
    for limit in [nil, Duration.seconds(Int64.max)] {
      let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
      virtual.note("", virtual.network(retry(virtual)).with { $0.timeouts.call = limit }.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 ok @1000"])
    }
  }
}
