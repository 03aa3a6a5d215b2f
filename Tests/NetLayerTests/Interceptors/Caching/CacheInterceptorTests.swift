import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerTesting

/// The cache with the policy `http` (RFC 9111), in virtual time.
final class CacheInterceptorTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_freshEntry_isReturnedWithItsAge_withoutARequest() throws {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    XCTAssertEqual(fixture.get().origins, [.network])
    fixture.scheduler.advanceBy(59)
    XCTAssertEqual(fixture.get(), .init(bodies: ["1"], origins: [.cache(age: .seconds(59), isStale: false)]))
    fixture.scheduler.advanceBy(1)
    XCTAssertEqual(fixture.get(), .init(bodies: ["2"], origins: [.network]))
    XCTAssertEqual(fixture.requests, 2)
  }

  func test_cachedResponse_hasFieldsAndAgeOfTheEntry() throws {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60", "Age": "7", "X": "1"]))
    fixture.get()
    fixture.scheduler.advanceBy(3)
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.responses(.get, "/a", headers: ["Y": "2"]).subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    let response = try XCTUnwrap(observer.events.first?.value.element)
    XCTAssertEqual(response.headers["Age"], "10")
    XCTAssertEqual(response.headers["X"], "1")
    XCTAssertEqual(response.request.headers["Y"], "2", "the request is the one that was made now")
    XCTAssertEqual(fixture.requests, 1)
  }

  func test_staleEntry_isRevalidatedWithItsEntityTag() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=10", "ETag": "\"a\""]))
    fixture.get()
    fixture.scheduler.advanceBy(11)
    XCTAssertEqual(fixture.get(), .init(bodies: ["1"], origins: [.revalidated]))
    XCTAssertEqual(fixture.stub.requests.map { $0.headers["If-None-Match"] }, [nil, "\"a\""])
    fixture.scheduler.advanceBy(9)
    XCTAssertEqual(
      fixture.get().origins, [.cache(age: .seconds(9), isStale: false)], "it is as new as its confirmation")
  }

  func test_validatorThatCanNotBeSent_isNotSent() {
    for value in ["\"a\u{1}b\"", "\"\u{7F}\"", "\"\(String(repeating: "a", count: 2000))\""] {
      for name in ["ETag", "Last-Modified"] {
        let fixture = CacheFixture { _ in
          .response(headers: ["Cache-Control": "max-age=0", name: value], body: Data("a".utf8))
        }
        for _ in 0..<2 { XCTAssertEqual(fixture.get(), .init(bodies: ["a"], origins: [.network]), name) }
      }
    }
  }

  func test_noCache_isRevalidatedEachTime() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "no-cache, max-age=99", "ETag": "\"a\""]))
    for origin in [Response.Source.network, .revalidated, .revalidated] {
      XCTAssertEqual(fixture.get(), .init(bodies: ["1"], origins: [origin]))
    }
  }

  func test_a304WithAnotherEntityTag_isIgnored() {
    let fixture = CacheFixture { request in
      request.headers["If-None-Match"] == nil
        ? .response(headers: ["ETag": "\"a\""], body: Data("a".utf8))
        : .response(status: 304, headers: ["ETag": "\"b\""])
    }
    fixture.get()
    XCTAssertEqual(fixture.get(), .init(bodies: ["a"], origins: [.network]))
    XCTAssertEqual(fixture.requests, 3)
  }

  func test_responseToARevalidation_replacesTheEntry() {
    let fixture = CacheFixture { request in
      request.headers["If-None-Match"] == nil
        ? .response(headers: ["ETag": "\"1\"", "Cache-Control": "max-age=5"], body: Data("old".utf8))
        : .response(headers: ["ETag": "\"2\"", "Cache-Control": "max-age=5"], body: Data("new".utf8))
    }
    fixture.get()
    fixture.scheduler.advanceBy(6)
    XCTAssertEqual(fixture.get().bodies, ["new"])
    XCTAssertEqual(fixture.get(), .init(bodies: ["new"], origins: [.cache(age: .seconds(0), isStale: false)]))
  }

  func test_noStore_storesNothing_andRemovesTheEntry() {
    let isSecret = Locked(false)
    let fixture = CacheFixture { _ in
      .response(headers: ["Cache-Control": isSecret.withLock { $0 } ? "no-store" : "max-age=10"])
    }
    fixture.get()
    isSecret.withLock { $0 = true }
    fixture.get(["Cache-Control": "no-cache"])
    XCTAssertEqual(fixture.get().origins, [.network])
    XCTAssertEqual(fixture.get(["Cache-Control": "only-if-cached"]).bodies, ["504 "])
  }

  func test_onlyIfCached_is504WithoutAnEntry() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=10"]))
    XCTAssertEqual(fixture.get(["Cache-Control": "only-if-cached"]).bodies, ["504 "])
    XCTAssertEqual(fixture.requests, 0)
    fixture.get()
    XCTAssertEqual(fixture.get(["Cache-Control": "only-if-cached"]).bodies, ["1"])
    fixture.scheduler.advanceBy(20)
    XCTAssertEqual(fixture.get(["Cache-Control": "only-if-cached"]).bodies, ["504 "])
    XCTAssertEqual(
      fixture.get(["Cache-Control": "only-if-cached, max-stale"]),
      .init(bodies: ["1"], origins: [.cache(age: .seconds(20), isStale: true)]))
    XCTAssertEqual(fixture.requests, 1)
  }

  func test_variants_areStoredTogether() {
    let fixture = CacheFixture { request in
      .response(
        headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language, X-Theme"],
        body: Data((request.headers["Accept-Language"] ?? "none").utf8))
    }
    for _ in 0..<2 {
      for language in ["de", "zh", "en, de"] {
        XCTAssertEqual(fixture.get(["Accept-Language": language]).bodies, [language])
      }
      XCTAssertEqual(fixture.get().bodies, ["none"])
    }
    XCTAssertEqual(fixture.requests, 4)
    XCTAssertEqual(fixture.get(["Accept-Language": "en,  de"]).bodies, ["en, de"], "white space says nothing")
    XCTAssertEqual(fixture.get(["Accept-Language": "de", "X-Theme": "dark"]).origins, [.network])
  }

  func test_varyStar_isNotStored() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": "*"]))
    fixture.get()
    XCTAssertEqual(fixture.get().bodies, ["2"])
  }

  func test_varyOnAFieldOfTheTransport_isIgnored() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": "Accept-Encoding"]))
    fixture.get()
    XCTAssertEqual(fixture.get().bodies, ["1"])
    XCTAssertEqual(fixture.get(["Accept-Encoding": "identity"]).bodies, ["2"], "unless the caller does")
  }

  func test_unsafeMethods_invalidateAllEntriesOfTheURL() {
    for method in [HTTPMethod.post, .put, .patch, .delete] {
      let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": "Accept-Language"]))
      fixture.get(["Accept-Language": "de"])
      fixture.get(["Accept-Language": "zh"])
      fixture.get(Plain(method: method))
      XCTAssertEqual(fixture.get(["Accept-Language": "de"]).origins, [.network], "\(method)")
      XCTAssertEqual(fixture.get(["Accept-Language": "zh"]).origins, [.network], "\(method)")
    }
  }

  func test_failedOrSafeMethod_invalidatesNothing() {
    let fixture = CacheFixture { request in
      request.method == .get
        ? .response(headers: ["Cache-Control": "max-age=60"]) : .response(status: request.method == .put ? 500 : 200)
    }
    fixture.get()
    fixture.get(Plain(method: .put))
    fixture.get(Plain(method: .options))
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(0), isStale: false)])
  }

  func test_locationsOfTheSameOrigin_areInvalidated() {
    let fixture = CacheFixture { request in
      request.method == .get
        ? .response(headers: ["Cache-Control": "max-age=60"])
        : .response(
          status: 201, headers: ["Location": "/b", "Content-Location": "http://other/c"])
    }
    fixture.get(path: "/b")
    fixture.get(path: "http://other/c")
    fixture.get(Plain(path: "/all", method: .post))
    XCTAssertEqual(fixture.get(path: "/b").origins, [.network])
    XCTAssertEqual(fixture.get(path: "http://other/c").origins, [.cache(age: .seconds(0), isStale: false)])
  }

  func test_aLocationWithInvalidCharacters_invalidatesItsURL() {
    for field in ["Location", "Content-Location"] {
      let fixture = CacheFixture { request in
        request.method == .get
          ? .response(headers: ["Cache-Control": "max-age=60"])
          : .response(status: 201, headers: [field: "/b?f=[x]&s=%2F"])
      }
      fixture.get(path: "/b?f=%5Bx%5D&s=%2F")
      XCTAssertEqual(fixture.get(path: "/b?f=[x]&s=%2F").origins, [.cache(age: .seconds(0), isStale: false)])
      fixture.get(Plain(path: "/all", method: .post))
      XCTAssertEqual(fixture.get(path: "/b?f=%5Bx%5D&s=%2F").origins, [.network])
    }
  }

  func test_staleWhileRevalidate_returnsTheStaleEntry_andRevalidatesOnce() {
    let fixture = CacheFixture(
      CacheFixture.counting(["Cache-Control": "max-age=10, stale-while-revalidate=20"]))
    fixture.get()
    fixture.scheduler.advanceBy(15)
    let all = Observable.merge((0..<5).map { _ in fixture.network.responses(Call(Plain())) })
    let seen = fixture.run(all)
    XCTAssertEqual(seen.bodies, ["1", "1", "1", "1", "1"])
    XCTAssertEqual(Set(seen.origins), [.cache(age: .seconds(15), isStale: true)])
    XCTAssertEqual(fixture.requests, 2)
    XCTAssertEqual(fixture.get(), .init(bodies: ["2"], origins: [.cache(age: .seconds(0), isStale: false)]))
  }

  func test_disposingOfAStaleResponse_doesNotCancelItsRevalidation() {
    let count = Locked(0)
    let fixture = CacheFixture { _ in
      count.withLock { $0 += 1 }
      return .response(headers: ["Cache-Control": "max-age=10, stale-while-revalidate=20"], after: .seconds(2))
    }
    fixture.get()
    fixture.scheduler.advanceBy(15)
    let subscription = fixture.network.responses(Call(Plain())).subscribe()
    subscription.dispose()
    fixture.scheduler.start()
    XCTAssertEqual(count.withLock { $0 }, 2)
    XCTAssertEqual(
      fixture.get().origins, [.cache(age: .seconds(2), isStale: false)], "as old as it was long on its way")
  }

  func test_failedBackgroundRevalidation_isRetriedByTheNextCall() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["Cache-Control": "max-age=10, stale-while-revalidate=99"], body: Data("1".utf8)),
      .failure(.connection), .response(headers: ["Cache-Control": "max-age=10"], body: Data("2".utf8)),
    ])
    let fixture = CacheFixture { _ in turns }
    fixture.get()
    fixture.scheduler.advanceBy(20)
    XCTAssertEqual(fixture.get().bodies, ["1"])
    XCTAssertEqual(fixture.get().bodies, ["1"])
    XCTAssertEqual(fixture.get(), .init(bodies: ["2"], origins: [.cache(age: .seconds(0), isStale: false)]))
  }

  func test_staleIfError_appliesToServerAndNetworkErrors() {
    for failure in [
      StubTransport.StubbedResponse.response(status: 500), .response(status: 503), .failure(.connection),
      .failure(.timeout),
    ] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(headers: ["Cache-Control": "max-age=10, stale-if-error=20"], body: Data("1".utf8)), failure,
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      fixture.scheduler.advanceBy(30)
      XCTAssertEqual(fixture.get(), .init(bodies: ["1"], origins: [.cache(age: .seconds(30), isStale: true)]))
      fixture.scheduler.advanceBy(1)
      XCTAssertNotEqual(fixture.get().bodies, ["1"], "not for ever")
    }
  }

  func test_withoutStaleIfError_errorsAreReturned() {
    for control in ["max-age=10", "max-age=10, must-revalidate, stale-if-error=99"] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(headers: ["Cache-Control": control]), .failure(.connection), .response(status: 404),
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      fixture.scheduler.advanceBy(11)
      XCTAssertEqual(fixture.get().failure, .connection)
      XCTAssertEqual(fixture.get().bodies, ["404 "])
    }
  }

  func test_user_neverReceivesAnotherUsersResponse() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    XCTAssertEqual(fixture.get(["Authorization": "Bearer a"]).bodies, ["1"])
    XCTAssertEqual(fixture.get(["Authorization": "Bearer b"]).bodies, ["2"])
    XCTAssertEqual(fixture.get().bodies, ["3"])
    XCTAssertEqual(fixture.get(["X-Auth-Token": "a"]).bodies, ["4"])
    XCTAssertEqual(fixture.get(["authorization": "Bearer a"]).bodies, ["1"])
  }

  func test_account_canOutliveTokens() {
    let user = Locked("ada")
    let fixture = CacheFixture(
      account: { _ in user.withLock { $0 } }, CacheFixture.counting(["Cache-Control": "max-age=60"]))
    fixture.get(["Authorization": "old"])
    XCTAssertEqual(fixture.get(["Authorization": "new"]).bodies, ["1"])
    user.withLock { $0 = "bob" }
    XCTAssertEqual(fixture.get(["Authorization": "new"]).bodies, ["2"])
  }

  func test_credentialsAddedAfterTheCache_areDetected() {
    struct Sign: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.headers["Authorization"] = "Bearer secret"
        return next(request)
      }
    }
    let problems = Problems()
    let scheduler = TestScheduler()
    let stub = StubTransport(on: scheduler, CacheFixture.counting(["Cache-Control": "max-age=60"]))
    let cache = ResponseCache(storingIn: nil, clock: scheduler) { problems.note($0) }
    func requests(_ interceptor: CacheInterceptor) -> Int {
      let network = Network(
        Backend(
          baseURL: URL(string: "http://h"), transport: stub, clock: scheduler, mapping: scheduler,
          interceptors: [interceptor, Sign()]))
      let before = stub.requests.count
      for _ in 0..<3 {
        let subscription = network.request(Plain()).subscribe()
        scheduler.start()
        subscription.dispose()
      }
      return stub.requests.count - before
    }
    XCTAssertEqual(requests(CacheInterceptor(cache)), 3)
    XCTAssertEqual(problems.reports.count, 1, "told once")
    XCTAssertEqual(requests(CacheInterceptor(cache, account: { _ in "ada" })), 1)
  }

  func test_conditionalRangeAndDownloadRequests_bypassTheCache() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    fixture.get()
    for name in ["If-None-Match", "if-modified-since", "Range", "If-Range", "If-Match", "If-Unmodified-Since"] {
      XCTAssertEqual(fixture.get([name: "x"]).origins, [.network], name)
    }
    XCTAssertEqual(fixture.get().bodies, ["1"])
    var request = Request(url: URL(string: "http://h/a")!)
    request.destination = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
    let before = fixture.requests
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.send(request).asObservable().subscribe(observer)
    // The file is written on a real queue, independently of the virtual time.
    let isOver = NSPredicate { _, _ in
      fixture.scheduler.start()
      return observer.events.last?.value.isStopEvent == true
    }
    wait(for: [XCTNSPredicateExpectation(predicate: isOver, object: nil)], timeout: 20)
    XCTAssertEqual(observer.events.compactMap(\.value.element?.source), [.network])
    XCTAssertEqual(fixture.requests, before + 1)
    subscription.dispose()
    request.destination.map { try? FileManager.default.removeItem(at: $0) }
  }

  func test_headAndGet_haveSeparateEntries() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    fixture.get()
    for _ in 0..<2 { XCTAssertEqual(fixture.get(Plain(method: .head)).bodies, ["2"]) }
  }

  func test_envelopeErrors_areNotStored() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["Cache-Control": "max-age=60"], body: Data(#"{"code":500}"#.utf8)),
      .response(headers: ["Cache-Control": "max-age=60"], body: Data(#"{"code":200}"#.utf8)),
    ])
    let fixture = CacheFixture(envelope: .standard) { _ in turns }
    fixture.get()
    XCTAssertEqual(fixture.get().bodies, [#"{"code":200}"#])
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(0), isStale: false)])
  }

  func test_hit_arrivesOnTheMappingScheduler() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    fixture.get()
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.responses(Call(Plain())).subscribe(observer)
    XCTAssertEqual(observer.events.count, 0, "not from within subscribe")
    fixture.scheduler.start()
    XCTAssertEqual(observer.events.count, 2)
    subscription.dispose()
  }

  func test_redirectedResponse_isStoredOnlyByAnExplicitPolicy() throws {
    let fixture = CacheFixture { _ in
      var reply = StubTransport.StubbedResponse.response()
      reply.result = { request in
        .success(
          Response(
            request: request, url: URL(string: "http://h/version/7"), headers: ["Cache-Control": "max-age=9999999"]))
      }
      return reply
    }
    for _ in 0..<2 { XCTAssertEqual(fixture.get().origins, [.network], "the redirect may lead elsewhere tomorrow") }
    fixture.get(.networkOnly)
    let observer = fixture.scheduler.createObserver(Response.self)
    let call = fixture.network.responses(Call(Plain(caching: CacheOptions(policy: .cacheOnly))))
    let subscription = call.subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    let response = try XCTUnwrap(observer.events.first?.value.element)
    XCTAssertEqual(response.url.path, "/version/7")
    XCTAssertEqual(response.request.url.path, "/a")
  }

  func test_unusableResponse_isNotStored_andReplacesTheEntry() {
    let isBare = Locked(false)
    let fixture = CacheFixture { _ in
      isBare.withLock { $0 } ? .response() : .response(headers: ["Cache-Control": "max-age=5, stale-if-error=999"])
    }
    fixture.get()
    isBare.withLock { $0 = true }
    fixture.scheduler.advanceBy(6)
    XCTAssertEqual(fixture.get().origins, [.network])
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached, "nor what it has replaced")
  }

  func test_cookiesOfTheJar_separateAccounts() {
    let jar = CookieJar()
    let base = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    let network = base.network.with { $0.options.cookies = jar }
    func get() -> [String] { base.run(network.responses(.get, "/a")).bodies }
    let url = base.network.backend.baseURL ?? URL(filePath: "/")
    XCTAssertEqual(get(), ["1"])
    jar.store(["Set-Cookie": "session=ada"], from: url)
    XCTAssertEqual(get(), ["2"])
    XCTAssertEqual(get(), ["2"])
    jar.store(["Set-Cookie": "session=bob"], from: url)
    XCTAssertEqual(get(), ["3"])
    jar.removeAll()
    XCTAssertEqual(get(), ["1"])
  }

  func test_streamedResponses_bypassTheCache() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    for number in ["1", "2"] {
      let observer = fixture.scheduler.createObserver(String.self)
      let subscription = fixture.network.stream(Plain()).map { String(decoding: $0, as: UTF8.self) }.subscribe(observer)
      fixture.scheduler.start()
      subscription.dispose()
      XCTAssertEqual(observer.events.compactMap(\.value.element), [number])
    }
  }
}
