import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The explicit policies, in virtual time. Responses have no caching fields.
final class CachePolicyTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  private func kept(_ age: Double, isStale: Bool = true) -> Response.Source {
    .cache(age: .seconds(age), isStale: isStale)
  }

  func test_networkOnly_sendsEachTime_andStoresTheResponse() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get(.networkOnly).bodies, ["1"])
    XCTAssertEqual(fixture.get(.networkOnly).bodies, ["2"])
    XCTAssertEqual(fixture.get(.cacheOnly), .init(bodies: ["2"], origins: [kept(0)]))
  }

  func test_cacheOnly_neverSendsARequest() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    XCTAssertEqual(fixture.get(Plain(method: .post, caching: CacheOptions(policy: .cacheOnly))).failure, .notCached)
    XCTAssertEqual(fixture.requests, 0)
    fixture.get(.networkOnly)
    fixture.scheduler.advanceBy(1_000_000)
    XCTAssertEqual(fixture.get(.cacheOnly), .init(bodies: ["1"], origins: [kept(1_000_000)]))
  }

  func test_cacheFirst_usesTheTimeSinceTheResponse() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))).origins, [.network])
    fixture.scheduler.advanceBy(9)
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))), .init(bodies: ["1"], origins: [kept(9)]))
    fixture.scheduler.advanceBy(1)
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))), .init(bodies: ["2"], origins: [.network]))
  }

  func test_cacheFirst_treatsA304AsANewResponse() {
    let fixture = CacheFixture(CacheFixture.counting(["ETag": "\"a\""]))
    fixture.get(.cacheFirst(maxAge: .seconds(10)))
    fixture.scheduler.advanceBy(20)
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))).origins, [.revalidated])
    fixture.scheduler.advanceBy(9)
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))).bodies, ["1"])
    XCTAssertEqual(fixture.requests, 2)
  }

  func test_cacheThenNetwork_emitsBoth() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get(.cacheThenNetwork()), .init(bodies: ["1"], origins: [.network]))
    fixture.scheduler.advanceBy(5)
    XCTAssertEqual(fixture.get(.cacheThenNetwork()), .init(bodies: ["1", "2"], origins: [kept(5), .network]))
    let single = fixture.network.request(Plain(caching: CacheOptions(policy: .cacheThenNetwork()))) as Single<Response>
    XCTAssertEqual(fixture.run(single.asObservable()).bodies, ["3"], "a single is the last of them")
  }

  func test_cacheThenNetwork_skipsAnEqualResponse_onRequest() {
    let isNew = Locked(false)
    let fixture = CacheFixture { _ in .response(body: Data((isNew.withLock { $0 } ? "b" : "a").utf8)) }
    fixture.get(.cacheThenNetwork(skipsEqual: true))
    XCTAssertEqual(fixture.get(.cacheThenNetwork(skipsEqual: true)), .init(bodies: ["a"], origins: [kept(0)]))
    XCTAssertEqual(fixture.get(.cacheThenNetwork()).bodies, ["a", "a"])
    isNew.withLock { $0 = true }
    XCTAssertEqual(fixture.get(.cacheThenNetwork(skipsEqual: true)).bodies, ["a", "b"])
  }

  func test_cacheThenNetwork_failsAfterTheCachedResponse() {
    let turns = StubTransport.StubbedResponse.sequence([.response(body: Data("1".utf8)), .failure(.connection)])
    let fixture = CacheFixture { _ in turns }
    fixture.get(.cacheThenNetwork())
    XCTAssertEqual(
      fixture.get(.cacheThenNetwork()), .init(bodies: ["1"], origins: [kept(0)], failure: .connection))
  }

  func test_networkElseCache_usesCache_whenTheNetworkOrTheServerFails() {
    for (failure, bodies) in [
      (StubTransport.StubbedResponse.failure(.connection), ["1"]), (.failure(.unknownHost), ["1"]),
      (.failure(.timeout), ["1"]),
      (.response(status: 500), ["1"]), (.response(status: 502), ["1"]), (.response(status: 504), ["1"]),
      (.response(status: 404), ["404 "]), (.response(status: 401), ["401 "]),
    ] {
      let turns = StubTransport.StubbedResponse.sequence([.response(body: Data("1".utf8)), failure])
      let fixture = CacheFixture { _ in turns }
      XCTAssertEqual(fixture.get(.networkElseCache).origins, [.network])
      XCTAssertEqual(fixture.get(.networkElseCache).bodies, bodies)
      XCTAssertEqual(
        fixture.get(.cacheOnly).bodies, bodies == ["1"] ? ["1"] : [],
        "a failure is not kept, and may say that it is gone")
    }
  }

  func test_networkElseCache_usesCacheWhenTokenRefreshIsOffline_butNotWhenItIsRejected() {
    struct Failing: Interceptor {
      let cause: NetworkError.Kind

      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .error(NetworkError.ofRefresh(NetworkError(kind: cause, reason: "for a reason")))
      }
    }
    let fixture = CacheFixture(CacheFixture.counting([:]))
    fixture.get(.networkOnly)
    for (cause, bodies) in [(NetworkError.Kind.connection, ["1"]), (.status, [])] {
      let network = fixture.network.with { $0.interceptors.append(Failing(cause: cause)) }
      XCTAssertEqual(fixture.run(Plain().caching(.networkElseCache).request(on: network)).bodies, bodies)
    }
  }

  func test_networkElseCache_failsWithoutAnEntry() {
    let fixture = CacheFixture { _ in .failure(.connection) }
    XCTAssertEqual(fixture.get(.networkElseCache).failure, .connection)
  }

  func test_policyOfTheCall_overridesThatOfTheEndpointAndBackend() {
    let fixture = CacheFixture(policy: .cacheFirst(maxAge: .seconds(100)), CacheFixture.counting([:]))
    fixture.get()
    XCTAssertEqual(fixture.get().origins, [kept(0)], "the back end's")
    XCTAssertEqual(fixture.get(.networkOnly).origins, [.network], "the endpoint's")
    let call = Plain(caching: CacheOptions(policy: .networkOnly)).caching(.cacheOnly)
    XCTAssertEqual(fixture.run(call.request(on: fixture.network)).origins, [kept(0)], "the call's")
    let network = fixture.network.with { $0.interceptors = [CacheInterceptor(fixture.cache, policy: .networkOnly)] }
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.network], "that of calls without an endpoint")
  }

  func test_optionsThatAnInterceptorCreates_keepTagsAndRefetch() throws {
    var request = Request(url: try XCTUnwrap(URL(string: "http://h/a")))
    request.caching.tags = ["list"]
    request.caching.isRefetch = true
    request.caching = CacheOptions(policy: .networkOnly)
    XCTAssertEqual(request.caching.tags, ["list"])
    XCTAssertTrue(request.caching.isRefetch)
    XCTAssertFalse(CacheOptions().isRefetch)
    var refetch = CacheOptions()
    refetch.isRefetch = true
    XCTAssertFalse(refetch.isDefault)
    XCTAssertNotEqual(refetch.identity, CacheOptions().identity)
  }

  func test_posts_areKeyedByTheirBodies_ifTheEndpointAllowsIt() {
    func search(_ word: String, byBody: Bool = true) -> Plain {
      Plain(
        method: .post, task: .json(["word": word]),
        caching: CacheOptions(policy: .cacheFirst(maxAge: .seconds(60)), includesBody: byBody))
    }
    let fixture = CacheFixture(CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get(search("a")).bodies, ["1"])
    XCTAssertEqual(fixture.get(search("b")).bodies, ["2"])
    XCTAssertEqual(fixture.get(search("a")).bodies, ["1"])
    XCTAssertEqual(fixture.get(search("a", byBody: false)).bodies, ["3"])
    XCTAssertEqual(fixture.get(search("a", byBody: false)).bodies, ["4"])
  }

  func test_httpPolicy_storesNoPost_evenWithIncludesBody() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    let search = Plain(
      method: .post, task: .json(["word": "a"]), caching: CacheOptions(policy: .http, includesBody: true))
    XCTAssertEqual(fixture.get(search).bodies, ["1"])
    XCTAssertEqual(fixture.get(search).bodies, ["2"])
  }

  func test_customKey_replacesURLAndBody() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    func signed(_ time: Int) -> Plain {
      Plain(
        path: "/a", task: .parameters(["t": time]),
        caching: CacheOptions(policy: .cacheFirst(maxAge: .seconds(60)), key: "a"))
    }
    XCTAssertEqual(fixture.get(signed(1)).bodies, ["1"])
    XCTAssertEqual(fixture.get(signed(2)).bodies, ["1"])
  }

  func test_noStore_appliesToAllPolicies() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "no-store"]))
    fixture.get(.cacheThenNetwork())
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
  }

  func test_onlySuccesses_areStored() {
    for reply in [
      StubTransport.StubbedResponse.response(status: 404, headers: ["Cache-Control": "max-age=60"]),
      .response(status: 500),
      .response(status: 206), .json(#"{"code":40301,"message":"no"}"#),
    ] {
      let fixture = CacheFixture(envelope: .standard) { _ in reply }
      fixture.get(.networkOnly)
      XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    }
  }

  func test_responseThatIsNotJSON_doesNotReplaceJSON() {
    let turns = StubTransport.StubbedResponse.sequence([
      .json("[1]"), .response(body: Data("<html>sign in to this network</html>".utf8)),
    ])
    let fixture = CacheFixture { _ in turns }
    fixture.get(["Accept": "application/json"], .networkOnly)
    fixture.get(["Accept": "application/json"], .networkOnly)
    XCTAssertEqual(fixture.get(.cacheOnly).bodies, ["[1]"])
  }

  func test_unreadableEntry_isSkipped_whenTheServersResponseFollows() {
    let turns = StubTransport.StubbedResponse.sequence([.json(#"{"old":1}"#), .json(#"{"id":2}"#)])
    let fixture = CacheFixture { _ in turns }
    fixture.get(.networkOnly)
    let errors = Locked(0)
    let network = fixture.network.with { $0.onError = { _ in errors.withLock { $0 += 1 } } }
    let ids = fixture.scheduler.createObserver(Int.self)
    let subscription = Plain().cache.request(on: network).map(Int.self, at: "id").subscribe(ids)
    fixture.scheduler.start()
    subscription.dispose()
    XCTAssertEqual(ids.events.compactMap(\.value.element), [2])
    XCTAssertEqual(errors.withLock { $0 }, 0)
  }

  func test_equalResponse_isNotSkipped_whenTheEntryWasSkipped() {
    let fixture = CacheFixture { _ in .json(#"{"old":1}"#) }
    fixture.get(.networkOnly)
    let ids = fixture.scheduler.createObserver(Int.self)
    let call = Plain().caching(.cacheThenNetwork(skipsEqual: true)).request(on: fixture.network)
    let subscription = call.map(Int.self, at: "id").subscribe(ids)
    fixture.scheduler.start()
    subscription.dispose()
    XCTAssertEqual((ids.events.first?.value.error as? NetworkError)?.kind, .parse, "the error must not get lost")
    let single = fixture.network.request(
      Plain(caching: CacheOptions(policy: .cacheThenNetwork(skipsEqual: true))), as: [String].self)
    let models = fixture.scheduler.createObserver([String].self)
    let other = single.asObservable().subscribe(models)
    fixture.scheduler.start()
    other.dispose()
    XCTAssertEqual((models.events.first?.value.error as? NetworkError)?.kind, .parse)
  }

  func test_unreadableResponse_isRequestedAgain() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["ETag": "\"a\""], body: Data(#"{"old":1}"#.utf8)), .json(#"{"id":2}"#),
    ])
    let fixture = CacheFixture { _ in turns }
    let endpoint = Plain(caching: CacheOptions(policy: .cacheFirst(maxAge: .seconds(100))))
    fixture.get(endpoint)
    func read() -> TestableObserver<Int> {
      let observer = fixture.scheduler.createObserver(Int.self)
      let subscription = fixture.network.request(endpoint).map(Int.self, at: "id").asObservable().subscribe(observer)
      fixture.scheduler.start()
      subscription.dispose()
      return observer
    }
    XCTAssertEqual((read().events.first?.value.error as? NetworkError)?.kind, .parse)
    XCTAssertEqual(fixture.get(.cacheOnly).bodies, [#"{"old":1}"#], "it is still there for who can read it")
    XCTAssertEqual(read().events.compactMap(\.value.element), [2])
    XCTAssertNil(fixture.stub.requests.last?.headers["If-None-Match"], "the same again would help nobody")
  }

  func test_concurrentCallsOnThreads_eachReceiveTheirResponse() {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "policies-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let stub = StubTransport { .response(headers: ["ETag": "\"1\""], body: Data($0.url.path.utf8)) }
    let cache = ResponseCache(storingIn: directory, maxMemorySize: 4000, maxDiskSize: 8000)
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: stub, interceptors: [CacheInterceptor(cache)]))
    let policies: [CachePolicy] = [
      .cacheFirst(maxAge: .seconds(60)), .cacheThenNetwork(), .networkElseCache, .networkOnly,
    ]
    let done = expectation(description: "all have ended")
    done.expectedFulfillmentCount = 400
    DispatchQueue.concurrentPerform(iterations: 400) { number in
      let path = "/\(number % 20)"
      let call = Plain(path: path).caching(policies[number % 4]).request(on: network)
      _ = call.subscribe(
        onNext: { XCTAssertEqual(String(decoding: $0.body, as: UTF8.self), $0.status == 304 ? "" : path) },
        onError: { XCTFail("\($0)") }, onDisposed: { done.fulfill() })
      if number % 50 == 49 { cache.removeAll() }
    }
    wait(for: [done], timeout: 30)
    _ = cache.settle()
  }
}
