import Streams
import StreamsTesting
import XCTest

@testable import NetLayer

/// What may not be kept, replaced or brought back, in virtual time.
final class CacheStorageTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_aRefusalThatComesLateLeavesANewerAnswerAlone() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    fixture.get(.networkOnly)
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.responses(Call(Plain(cachePolicy: .cacheOnly))).subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    fixture.get(.networkOnly)
    try XCTUnwrap(observer.events.first?.value.element?.cached).refuse()
    XCTAssertEqual(fixture.get(.cacheFirst(seconds: 10)).bodies, ["2"])
  }

  func test_whatNobodyStoredFailsOnTheMappingSchedulerToo() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    for method in [HTTPMethod.get, .post] {
      let observer = fixture.scheduler.createObserver(Response.self)
      let call = fixture.network.responses(Call(Plain(method: method, cachePolicy: .cacheOnly)))
      let subscription = call.subscribe(observer)
      XCTAssertEqual(observer.events.count, 0, "not from within subscribe")
      fixture.scheduler.start()
      XCTAssertEqual((observer.events.first?.value.error as? NetworkError)?.kind, .notCached)
      subscription.dispose()
    }
  }

  func test_redirectsAreNeverKept() {
    for status in [301, 302, 303, 307, 308] {
      let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"], status: status))
      fixture.get()
      XCTAssertEqual(fixture.get().origins, [.network], "\(status)")
    }
  }

  func test_whatAnAppStoresCountsAsNew() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let request = Request(url: try XCTUnwrap(URL(string: "http://h/a")))
    let old: HTTPHeaders = ["Age": "500", "Date": "Fri, 01 Dec 2000 00:00:00 GMT", "Cache-Control": "max-age=60"]
    try Plain().storeCachedResponse(
      Response(request: request, headers: old, body: Data("mine".utf8)), on: fixture.network)
    XCTAssertEqual(fixture.get(), .init(bodies: ["mine"], origins: [.cache(age: 0, isStale: false)]))
    var saved = Response(request: request)
    saved.file = URL(filePath: "/tmp/x")
    for bad in [Response(request: request, status: 206), Response(request: request, headers: ["Vary": "*"]), saved] {
      XCTAssertThrowsError(try Plain().storeCachedResponse(bad, on: fixture.network)) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      }
    }
  }

  func test_repetitionsDoNotGetTheProvisionalAnswer() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let repeats = CoalescingInterceptor(window: .seconds(10), scheduler: fixture.scheduler)
    let network = fixture.network.with { $0.interceptors.insert(repeats, at: 0) }
    fixture.get(.networkOnly)
    let call = Plain(cachePolicy: .cacheThenNetwork()).cache.request(on: network)
    let seen = Locked<[[String]]>([])
    let subscription = call.map { String(decoding: $0.body, as: UTF8.self) }
      .flatMap { first in
        // While the server's is on its way.
        call.map { String(decoding: $0.body, as: UTF8.self) }.toArray().asObservable().map { [first] + $0 }
      }
      .subscribe(onNext: { all in seen.withLock { $0.append(all) } })
    fixture.scheduler.advanceBy(5)
    subscription.dispose()
    XCTAssertEqual(Set(seen.withLock { $0 }), [["1", "2"], ["2", "2"]])
    XCTAssertEqual(fixture.requests, 2)
  }

  func test_repetitionsOfAnotherUserAreNotAnswered() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let jar = CookieJar()
    let repeats = CoalescingInterceptor(window: .seconds(10), scheduler: fixture.scheduler)
    let network = fixture.network.with { backend in
      backend.options.cookies = jar
      backend.interceptors = [repeats]
    }
    func get() -> [String] {
      let observer = fixture.scheduler.createObserver(Response.self)
      let subscription = network.response(.get, "/a").subscribe(observer)
      fixture.scheduler.advanceBy(1)
      subscription.dispose()
      return observer.events.compactMap(\.value.element).map { String(decoding: $0.body, as: UTF8.self) }
    }
    XCTAssertEqual([get(), get()], [["1"], ["1"]])
    jar.store(["Set-Cookie": "session=ada"], from: try XCTUnwrap(URL(string: "http://h")))
    XCTAssertEqual([get(), get()], [["2"], ["2"]])
  }
}
