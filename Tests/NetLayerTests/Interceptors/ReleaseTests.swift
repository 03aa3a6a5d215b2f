import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A call that has ended is released, also after a failure, whose error has the request and its context.
final class ReleaseTests: XCTestCase {
  private final class Canary: ContextKey, Sendable {
    static var defaultValue: Canary? { nil }
  }

  /// Marks requests. A context of the caller would not be shared.
  private struct Marking: Interceptor {
    let canary: Canary
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      request.context[Canary.self] = canary
      return next(request)
    }
  }

  private static let interceptors: [(String, @Sendable (VirtualNetwork) -> any Interceptor)] = [
    ("none", { _ in CallEventHandler { _ in } }), ("coalescing", { _ in CoalescingInterceptor() }),
    ("coalescing with a window", { _ in CoalescingInterceptor(window: .milliseconds(10)) }),
    ("cache", { _ in CacheInterceptor(ResponseCache(storingIn: nil)) }),
    ("retry", { RetryInterceptor(policy: RetryPolicy(attempts: 3, scheduler: $0.scheduler)) }),
    ("breaker", { _ in CircuitBreakerInterceptor() }), ("limit", { _ in LimitInterceptor(maxPerHost: 2) }),
    ("limit with a longest wait", { _ in LimitInterceptor(maxPerHost: 1, maxWait: .milliseconds(10)) }),
    (
      "authentication",
      { _ in
        AuthenticationInterceptor(for: [URL(filePath: "/")], store: MemoryTokenStore(Token(access: "a"))) { _ in
          .never()
        }
      }
    ),
    ("trace", { _ in TraceInterceptor { TraceContext() } }), ("compression", { _ in CompressionInterceptor() }),
    ("logger", { _ in NetworkLogger { _ in } }),
  ]

  private static let outcomes: [(String, StubTransport.StubbedResponse)] = [
    ("200", .json("1")), ("503", .json("{}", status: 503)), ("connection", .failure(.connection)),
    ("late", .json("1", after: .seconds(20))),
  ]

  func test_endedCalls_areReleased() {
    for (name, make) in Self.interceptors {
      for (outcome, response) in Self.outcomes {
        for limit in [Duration?.none, .seconds(10)] {
          for isCancelled in [false, true] {
            // The stub keeps its requests, so it is released first.
            var virtual: VirtualNetwork? = VirtualNetwork(response)
            guard let interceptor = virtual.map(make) else { return }
            let text = "\(name), \(outcome), \(limit == nil ? "no limit" : "limit")\(isCancelled ? ", cancelled" : "")"
            weak let kept = virtual.map { begin($0, interceptor, limit, isCancelled) }
            virtual?.scheduler.start()
            virtual = nil
            XCTAssertNil(kept, text)
            withExtendedLifetime(interceptor) {}
          }
        }
      }
    }
  }

  /// Begins two equal calls, and returns what their requests carry.
  private func begin(
    _ virtual: VirtualNetwork, _ interceptor: any Interceptor, _ limit: Duration?, _ isCancelled: Bool
  ) -> Canary {
    let canary = Canary()
    let network = virtual.network(Marking(canary: canary), interceptor)
    for _ in 0..<2 {
      let call = Call<Response>.get("/a")
      let result = network.request(limit.map { call.timeout($0) } ?? call)
      let calls = result.subscribe(onSuccess: { _ in }, onError: { _ in })
      if isCancelled { _ = virtual.scheduler.scheduleRelative(.milliseconds(1)) { calls.dispose() } }
    }
    return canary
  }

  func test_aFailedRefreshOfTheCache_thatOutlivesItsCall_isReleased() {
    let failures: [StubTransport.StubbedResponse] = [
      .failure(.connection, after: .seconds(1)), .json("x", status: 404, after: .seconds(1)),
    ]
    for failure in failures {
      for limit in [Duration?.none, .seconds(10)] {
        let count = Counter()
        var virtual: VirtualNetwork? = VirtualNetwork { _ in
          let fields: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=100"]
          return count.next() == 1 ? .response(headers: fields, body: Data("1".utf8)) : failure
        }
        let cache = CacheInterceptor(ResponseCache(storingIn: nil))
        _ = virtual?.network(cache).request(.get("/a")).subscribe()
        virtual?.scheduler.advanceBy(5000)
        weak let kept = virtual.map { begin($0, cache, limit, false) }
        virtual?.scheduler.start()
        XCTAssertGreaterThan(count.value, 1)
        virtual = nil
        XCTAssertNil(kept, limit == nil ? "no limit" : "limit")
      }
    }
  }
}
