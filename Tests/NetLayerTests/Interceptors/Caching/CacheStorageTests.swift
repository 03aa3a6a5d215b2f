import Streams
import StreamsTesting
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerTesting

/// Responses that must not be stored, replaced or restored, in virtual time.
final class CacheStorageTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_a304WithNoStore_removesTheEntry() {
    for headers in [["Cache-Control": "no-store"], ["Vary": "*"]] as [HTTPHeaders] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""], body: Data("1".utf8)),
        .response(status: 304, headers: headers.merging(["ETag": "\"a\""])),
        .response(body: Data("2".utf8)),
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      fixture.scheduler.advanceBy(11)
      XCTAssertEqual(fixture.get(), .init(bodies: ["1"], origins: [.revalidated]))
      XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    }
  }

  func test_requestWithNoStore_doesNotUpdateTheEntry() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=10", "ETag": "\"a\""]))
    fixture.get()
    fixture.scheduler.advanceBy(11)
    XCTAssertEqual(fixture.get(["Cache-Control": "no-store"]).origins, [.revalidated])
    XCTAssertNotEqual(fixture.get().origins, [.cache(age: .seconds(0), isStale: false)])
  }

  func test_a304OfAnotherURL_isIgnored() {
    let fixture = CacheFixture { request in
      guard request.headers["If-Modified-Since"] != nil else {
        return .response(headers: ["Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"], body: Data("own".utf8))
      }
      var reply = StubTransport.StubbedResponse.response()
      reply.result = { .success(Response(request: $0, url: URL(string: "http://h/login"), status: 304)) }
      return reply
    }
    fixture.get()
    XCTAssertEqual(fixture.get(), .init(bodies: ["own"], origins: [.network]))
    XCTAssertEqual(fixture.requests, 3)
  }

  func test_responseRequestedBeforeAChange_isNotStored() {
    for fields in [[:], ["ETag": "\"a\""]] as [HTTPHeaders] {
      for removesAll in [false, true] {
        let fixture = CacheFixture { request in
          guard request.method == .get else { return .response(after: .seconds(1)) }
          guard request.headers["If-None-Match"] == nil else { return .response(status: 304, after: .seconds(2)) }
          return .response(headers: fields.merging(["Cache-Control": "max-age=60"]), after: .seconds(2))
        }
        if fields.count > 0 {
          fixture.get()
          fixture.scheduler.advanceBy(100)
        }
        let read = fixture.network.responses(.get, "/a").subscribe()
        let write = removesAll ? nil : fixture.network.responses(.post, "/a").subscribe()
        fixture.scheduler.advanceBy(1)
        if removesAll { fixture.cache.removeAll() }
        fixture.scheduler.start()
        read.dispose()
        write?.dispose()
        XCTAssertEqual(fixture.get().origins, [.network])
        XCTAssertEqual(
          fixture.get().origins, [.cache(age: .seconds(2), isStale: false)], "what comes later is kept again")
      }
    }
  }

  func test_changeOfAnotherURL_doesNotPreventStoring() {
    let fixture = CacheFixture { request in
      .response(headers: ["Cache-Control": "max-age=60"], after: request.method == .get ? .seconds(2) : .seconds(1))
    }
    let read = fixture.network.responses(.get, "/a").subscribe()
    let write = fixture.network.responses(.post, "/b").subscribe()
    fixture.scheduler.start()
    read.dispose()
    write.dispose()
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(2), isStale: false)])
  }

  func test_storedErrorStatus_isUsedOnlyByTheHTTPPolicy() {
    for (policy, bodies) in [
      (CachePolicy.cacheFirst(maxAge: .seconds(60)), ["2"]), (.cacheThenNetwork(), ["2"]), (.networkElseCache, ["2"]),
      (.cacheOnly, []),
    ] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(status: 404, headers: ["Cache-Control": "max-age=60"], body: Data("1".utf8)),
        .response(body: Data("2".utf8)),
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      XCTAssertEqual(fixture.get().bodies, ["404 1"])
      XCTAssertEqual(fixture.get(policy).bodies, bodies)
    }
  }

  func test_unreadableText_isSkipped_whenTheServersFollows() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["Content-Type": "text/plain; charset=nonsense"], body: Data("1".utf8)),
      .response(body: Data("2".utf8)),
    ])
    let fixture = CacheFixture(policy: .cacheThenNetwork()) { _ in turns }
    fixture.get()
    let observer = fixture.scheduler.createObserver(String.self)
    let subscription = fixture.network.string(.get, "/a").subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    XCTAssertEqual(observer.events.compactMap(\.value.element), ["2"])
  }

  func test_outage_doesNotReplaceTheEntryUsedInstead() {
    for policy in [CachePolicy.http, .networkElseCache] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(headers: ["Cache-Control": "max-age=10, stale-if-error=99"], body: Data("1".utf8)),
        .response(status: 503, headers: ["Cache-Control": "max-age=1"]),
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      fixture.scheduler.advanceBy(20)
      for _ in 0..<3 {
        XCTAssertEqual(fixture.get(policy).bodies, ["1"])
        fixture.scheduler.advanceBy(5)
      }
    }
  }

  func test_responseThatMatchesNoModel_isRequestedAgain() {
    for headers in [[:], ["ETag": "\"a\""]] as [HTTPHeaders] {
      let fixture = CacheFixture(CacheFixture.counting(headers))
      let endpoint = Plain(caching: CacheOptions(policy: .cacheFirst(maxAge: .seconds(100))))
      func read() {
        let subscription = fixture.network.request(endpoint, as: [String].self).subscribe(onError: { _ in })
        fixture.scheduler.start()
        subscription.dispose()
      }
      read()
      read()
      XCTAssertEqual(fixture.requests, 2)
      XCTAssertNil(fixture.stub.requests.last?.headers["If-None-Match"])
      fixture.get(.networkOnly)
      XCTAssertEqual(fixture.get(endpoint).bodies, ["3"], "who can read it uses it")
    }
  }

  func test_lateRejection_keepsANewerEntry() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    fixture.get(.networkOnly)
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.responses(Call(Plain(caching: CacheOptions(policy: .cacheOnly)))).subscribe(
      observer)
    fixture.scheduler.start()
    subscription.dispose()
    fixture.get(.networkOnly)
    try XCTUnwrap(observer.events.first?.value.element?.cached).refuse()
    XCTAssertEqual(fixture.get(.cacheFirst(maxAge: .seconds(10))).bodies, ["2"])
  }

  func test_miss_failsOnTheMappingScheduler() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    for method in [HTTPMethod.get, .post] {
      let observer = fixture.scheduler.createObserver(Response.self)
      let call = fixture.network.responses(Call(Plain(method: method, caching: CacheOptions(policy: .cacheOnly))))
      let subscription = call.subscribe(observer)
      XCTAssertEqual(observer.events.count, 0, "not from within subscribe")
      fixture.scheduler.start()
      XCTAssertEqual((observer.events.first?.value.error as? NetworkError)?.kind, .notCached)
      subscription.dispose()
    }
  }

  func test_redirects_areNotStored() {
    for status in [301, 302, 303, 307, 308] {
      let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"], status: status))
      fixture.get()
      XCTAssertEqual(fixture.get().origins, [.network], "\(status)")
    }
  }

  func test_responseStoredByTheApp_isNew() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let request = Request(url: try XCTUnwrap(URL(string: "http://h/a")))
    let old: HTTPHeaders = ["Age": "500", "Date": "Fri, 01 Dec 2000 00:00:00 GMT", "Cache-Control": "max-age=60"]
    try Plain().storeCachedResponse(
      Response(request: request, headers: old, body: Data("mine".utf8)), on: fixture.network)
    XCTAssertEqual(fixture.get(), .init(bodies: ["mine"], origins: [.cache(age: .seconds(0), isStale: false)]))
    var saved = Response(request: request)
    saved.file = URL(filePath: "/x")
    for bad in [Response(request: request, status: 206), Response(request: request, headers: ["Vary": "*"]), saved] {
      XCTAssertThrowsError(try Plain().storeCachedResponse(bad, on: fixture.network)) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      }
    }
  }

  func test_responseOfAnotherCache_isNotStoredAsANewOne() {
    let other = CacheInterceptor(ResponseCache(storingIn: nil), policy: .cacheFirst(maxAge: .seconds(20)))
    let fixture = CacheFixture(
      policy: .cacheFirst(maxAge: .seconds(10)), behind: [other], CacheFixture.counting([:]))
    XCTAssertEqual(fixture.get().bodies, ["1"])
    fixture.scheduler.advanceBy(15)
    XCTAssertEqual(fixture.get().bodies, ["1"], "of the other cache")
    fixture.scheduler.advanceBy(6)
    XCTAssertEqual(fixture.get().bodies, ["2"], "no cache has a younger one")
  }

  func test_coalescing_doesNotRepeatTheProvisionalResponse() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let repeats = CoalescingInterceptor(window: .seconds(10))
    let network = fixture.network.with { $0.interceptors.insert(repeats, at: 0) }
    fixture.get(.networkOnly)
    let call = Plain(caching: CacheOptions(policy: .cacheThenNetwork())).cache.request(on: network)
    let seen = Locked<[[String]]>([])
    let subscription = call.map { String(decoding: $0.body, as: UTF8.self) }
      .flatMap { first in
        // While the response of the server is pending.
        call.map { String(decoding: $0.body, as: UTF8.self) }.toArray().asObservable().map { [first] + $0 }
      }
      .subscribe(onNext: { all in seen.withLock { $0.append(all) } })
    fixture.scheduler.advanceBy(5)
    subscription.dispose()
    XCTAssertEqual(Set(seen.withLock { $0 }), [["1", "2"], ["2", "2"]])
    XCTAssertEqual(fixture.requests, 2)
  }

  func test_coalescing_doesNotRepeatTheResponseOfAnotherUser() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let jar = CookieJar()
    let repeats = CoalescingInterceptor(window: .seconds(10))
    let network = fixture.network.with { backend in
      backend.options.cookies = jar
      backend.interceptors = [repeats]
    }
    func get() -> [String] {
      let observer = fixture.scheduler.createObserver(Response.self)
      let subscription = network.responses(.get, "/a").subscribe(observer)
      fixture.scheduler.advanceBy(1)
      subscription.dispose()
      return observer.events.compactMap(\.value.element).map { String(decoding: $0.body, as: UTF8.self) }
    }
    XCTAssertEqual([get(), get()], [["1"], ["1"]])
    jar.store(["Set-Cookie": "session=ada"], from: try XCTUnwrap(URL(string: "http://h")))
    XCTAssertEqual([get(), get()], [["2"], ["2"]])
  }

  func test_rfc5861_aStaleResponseWithoutAValidatorStandsIn() {
    let count = Locked(0)
    let fixture = CacheFixture { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number == 1
        ? .response(headers: ["Cache-Control": "max-age=0, stale-if-error=60"], body: Data("first".utf8))
        : .response(status: 503)
    }
    XCTAssertEqual(fixture.get().bodies, ["first"])
    fixture.scheduler.advanceBy(10)
    XCTAssertEqual(fixture.get().bodies, ["first"])
    fixture.scheduler.advanceBy(60)
    XCTAssertEqual(fixture.get().bodies, ["503 "])
  }
}
