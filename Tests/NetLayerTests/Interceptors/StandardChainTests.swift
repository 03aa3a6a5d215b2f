import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// All interceptors in their documented order: logger, coalescing, reachability, retry, authentication, limits.
final class StandardChainTests: XCTestCase {
  func test_standardChain_interceptorsWorkIndependently() throws {
    let tries = Counter()
    let virtual = VirtualNetwork { request in
      guard request.headers["Authorization"] == "Bearer new" else {
        return .json("who?", status: 401, after: .seconds(0.1))
      }
      return tries.next() == 1 ? .json("busy", status: 503, after: .seconds(0.1)) : .json("ok", after: .seconds(0.1))
    }
    let scheduler = virtual.scheduler
    let log = Notes()
    let refreshes = Counter()
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old"))
    ) { _ in
      _ = refreshes.next()
      return Single.just(Token(access: "new")).delaySubscription(.seconds(1), scheduler: scheduler)
    }
    let network = virtual.network(
      NetworkLogger { log.add($0) },
      CoalescingInterceptor(),
      ReachabilityInterceptor(SystemUp()),
      RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }, scheduler: scheduler)),
      authentication,
      LimitInterceptor(maxConcurrent: 1))
    virtual.note("a ", network.responses(.get, "/x"))
    virtual.note("b ", network.responses(.get, "/x"))
    virtual.note("c ", network.responses(.get, "/y"))
    scheduler.start()
    // /x gets a 401 at 100 and /y at 200. Both wait for the refresh until 1100. /x gets a 503 at 1200 and is retried
    // after 500 ms. /y occupies the only slot from 1200 to 1300.
    XCTAssertEqual(virtual.notes.all, ["c 200 ok @1300", "a 200 ok @1800", "b 200 ok @1800"])
    XCTAssertEqual(refreshes.value, 1)
    XCTAssertEqual(virtual.paths, ["/x", "/y", "/x", "/y", "/x"])
    XCTAssertEqual(
      log.all,
      [
        "--> GET http://h/x", "<-- 401 GET http://h/x (100 ms, 4 bytes)",
        "--> GET http://h/y", "<-- 401 GET http://h/y (100 ms, 4 bytes)",
        "--> GET http://h/x", "<-- 503 GET http://h/x (100 ms, 4 bytes)",
        "--> GET http://h/y", "<-- 200 GET http://h/y (100 ms, 2 bytes)",
        "--> GET http://h/x (attempt 2)", "<-- 200 GET http://h/x (100 ms, 2 bytes) (attempt 2)",
      ])
  }

  func test_standardChain_disposing_cancelsAtAnyPoint() throws {
    for time in stride(from: 0, through: 2000, by: 50) {
      let virtual = VirtualNetwork(.json("busy", status: 503, after: .seconds(0.1)))
      let scheduler = virtual.scheduler
      let network = virtual.network(
        CoalescingInterceptor(), ReachabilityInterceptor(SystemUp()),
        RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }, scheduler: scheduler)),
        LimitInterceptor(maxConcurrent: 1))
      let first = virtual.note("", network.responses(.get, "/x"))
      let second = virtual.note("", network.responses(.get, "/y"))
      scheduler.advanceTo(time)
      first.dispose()
      second.dispose()
      let (sent, seen) = (virtual.stub.requests.count, virtual.notes.all.count)
      scheduler.start()
      XCTAssertEqual(virtual.stub.requests.count, sent, "disposed at \(time)")
      XCTAssertEqual(virtual.notes.all.count, seen, "disposed at \(time)")
      XCTAssertEqual(record(network.requestsInFlight.take(1)).elements, [0])
    }
  }
}

private struct SystemUp: Reachability {
  var isReachable: Observable<Bool> { .just(true) }
}
