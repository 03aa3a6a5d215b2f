import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The decision after a lookup, as a table: policy, directives of the request, age of the stored response in seconds.
final class CacheDecisionTableTests: XCTestCase {
  private func decision(
    _ policy: CachePolicy, _ stored: HTTPHeaders?, age: Double = 0, requested: String = "", isDistrusted: Bool = false
  ) -> CacheDecision {
    let entry = stored.map {
      CacheEntry(
        status: 200, headers: $0, body: Data(), requestedAt: 1_000, receivedAt: 1_000, isDistrusted: isDistrusted)
    }
    return CacheDecision(
      policy: policy, headers: requested.isEmpty ? [:] : ["Cache-Control": requested], entry: entry, at: 1_000 + age)
  }

  func test_policies_withoutAStoredResponse() {
    let cases: [(CachePolicy, CacheDecision)] = [
      (.networkOnly, .fetch), (.cacheOnly, .fail), (.cacheFirst(maxAge: .seconds(9)), .fetch),
      (.cacheThenNetwork(), .fetch), (.networkElseCache, .fetch), (.http, .fetch),
    ]
    for (policy, expected) in cases { XCTAssertEqual(decision(policy, nil), expected, "\(policy)") }
  }

  func test_policies_withAStoredResponse() {
    let cases: [(CachePolicy, Double, CacheDecision)] = [
      (.networkOnly, 0, .fetch), (.cacheOnly, 1e9, .deliver),
      (.cacheFirst(maxAge: .seconds(9)), 8.9, .deliver), (.cacheFirst(maxAge: .seconds(9)), 9, .fetch),
      (.cacheFirst(maxAge: .seconds(9)), -9, .fetch),
      (.cacheThenNetwork(), 0, .deliverThenFetch(skipsEqual: false)),
      (.cacheThenNetwork(skipsEqual: true), 0, .deliverThenFetch(skipsEqual: true)),
      (.networkElseCache, 0, .fetchUnlessOutage),
    ]
    for (policy, age, expected) in cases {
      XCTAssertEqual(decision(policy, ["Cache-Control": "no-cache"], age: age), expected, "\(policy) at \(age) s")
    }
    XCTAssertEqual(decision(.cacheFirst(maxAge: .seconds(9)), [:], isDistrusted: true), .fetch)
  }

  func test_rfc9111_section4_http() {
    let swr = "max-age=10, stale-while-revalidate=5"
    let cases: [(stored: String, age: Double, requested: String, CacheDecision)] = [
      ("max-age=10", 9, "", .deliver), ("max-age=10", 10, "", .fetch), ("max-age=10", 10, "max-stale=3", .deliver),
      ("max-age=10", 0, "no-cache", .fetch), ("max-age=10", 0, "no-cache, only-if-cached", .gatewayTimeout),
      ("max-age=10", 10, "only-if-cached", .gatewayTimeout), ("max-age=10", 9, "only-if-cached", .deliver),
      (swr, 12, "", .deliverAndRevalidate), (swr, 12, "only-if-cached", .deliver), (swr, 16, "", .fetch),
      ("max-age=10, stale-if-error=5", 12, "", .fetchUnlessOutage),
      ("max-age=10, stale-if-error=5, must-revalidate", 12, "", .fetch),
      ("max-age=10", 12, "stale-if-error=5", .fetchUnlessOutage),
      ("max-age=10", 12, "stale-if-error=5, only-if-cached", .gatewayTimeout),
    ]
    for (stored, age, requested, expected) in cases {
      let found = decision(.http, ["Cache-Control": stored], age: age, requested: requested)
      XCTAssertEqual(found, expected, "stored with \(stored), at \(age) s, requested with \(requested)")
    }
    XCTAssertEqual(decision(.http, nil, requested: "only-if-cached"), .gatewayTimeout)
    let unreadable = decision(.http, ["Cache-Control": "max-age=10"], isDistrusted: true)
    XCTAssertEqual(unreadable, .fetch)
  }
}
