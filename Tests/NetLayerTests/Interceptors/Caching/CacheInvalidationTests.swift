import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Invalidation by writes, by responses that withdraw an entry, and by the app, in virtual time.
final class CacheInvalidationTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  private func fresh() -> CacheFixture { CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=600"])) }

  func test_write_invalidatesAllAccountsAndVariants() {
    for (read, write) in [
      ([:], ["X-CSRF-Token": "c"]), (["Authorization": "a"], [:]), (["Authorization": "a"], ["Authorization": "b"]),
      (["Accept-Encoding": "identity"], [:]), ([:], ["Accept-Encoding": "identity"]),
      (["Cookie": "s=1"], ["Cookie": "s=2"]),
    ] as [(HTTPHeaders, HTTPHeaders)] {
      let fixture = fresh()
      fixture.get(read)
      XCTAssertEqual(fixture.get(read).bodies, ["1"])
      fixture.get(Plain(method: .put, headers: write))
      XCTAssertEqual(fixture.get(read).bodies, ["3"], "\(read) \(write)")
    }
  }

  func test_write_invalidatesEntriesOfItsURLWithCustomKeys() {
    let fixture = CacheFixture(policy: .cacheFirst(maxAge: .seconds(600)), CacheFixture.counting([:]))
    let feed = Plain(path: "/feed", caching: CacheOptions(key: "feed"))
    let query = Plain(path: "/query", method: .post, task: .json(["q": 1]), caching: CacheOptions(includesBody: true))
    fixture.get(feed)
    fixture.get(query)
    XCTAssertEqual([fixture.get(feed).bodies, fixture.get(query).bodies], [["1"], ["2"]])
    fixture.get(Plain(path: "/feed", method: .delete))
    fixture.get(Plain(path: "/query", method: .put))
    XCTAssertEqual([fixture.get(feed).bodies, fixture.get(query).bodies], [["5"], ["6"]])
  }

  func test_write_keepsOtherURLs() {
    let fixture = fresh()
    let paths = ["/a/b", "http://h/a?x=1", "/", "/ab", "http://other/a"]
    for path in paths { fixture.get(path: path) }
    fixture.get(Plain(path: "/a", method: .put))
    XCTAssertEqual(paths.flatMap { fixture.get(path: $0).bodies }, ["1", "2", "3", "4", "5"])
  }

  func test_responseRequestedBeforeAWrite_isNotStored() {
    let fixture = CacheFixture { request in
      .response(headers: ["Cache-Control": "max-age=600"], after: request.method == .get ? .seconds(2) : .seconds(1))
    }
    let subscriptions = [
      fixture.network.responses(.get, "/a", headers: ["Authorization": "a"]).subscribe(),
      fixture.network.responses(.put, "/a", headers: ["Authorization": "b"]).subscribe(),
    ]
    fixture.scheduler.start()
    subscriptions.forEach { $0.dispose() }
    XCTAssertEqual(fixture.get(["Authorization": "a"]).origins, [.network])
  }

  func test_reloadWithAClientError_removesTheEntry() {
    for (status, control, isKept) in [
      (404, "", false), (410, "", false), (403, "", false), (401, "", false), (404, "no-store", false),
      (500, "", true), (502, "", true), (503, "", true), (504, "no-store", true),
    ] {
      let turns = StubTransport.StubbedResponse.sequence([
        .response(headers: ["Cache-Control": "max-age=600"], body: Data("old".utf8)),
        .response(status: status, headers: ["Cache-Control": control]), .response(body: Data("new".utf8)),
      ])
      let fixture = CacheFixture { _ in turns }
      fixture.get()
      XCTAssertEqual(fixture.get(["Cache-Control": "no-cache"]).bodies, ["\(status) "])
      XCTAssertEqual(fixture.get().bodies, [isKept ? "old" : "new"], "\(status)")
    }
  }

  func test_withdrawnEntry_isRemovedUnderEveryPolicy_forThatUserOnly() {
    for policy in [CachePolicy.networkOnly, .cacheFirst(maxAge: .seconds(-1)), .cacheThenNetwork(), .networkElseCache] {
      let isGone = Locked(false)
      let fixture = CacheFixture { _ in
        isGone.withLock { $0 }
          ? .response(status: 404, headers: ["Cache-Control": "max-age=60"]) : .response(body: Data("1".utf8))
      }
      fixture.get(["Authorization": "b"], .networkOnly)
      fixture.get(.networkOnly)
      isGone.withLock { $0 = true }
      fixture.get(policy)
      XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached, "\(policy)")
      XCTAssertEqual(fixture.get(["Authorization": "b"], .cacheOnly).bodies, ["1"])
    }
  }

  func test_a404ThatIsNotStored_removesTheEntry() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["Cache-Control": "max-age=600"], body: Data("old".utf8)),
      .response(status: 404, headers: ["Cache-Control": "max-age=60"], body: Data(#"{"code":40401}"#.utf8)),
      .response(body: Data("new".utf8)),
    ])
    let fixture = CacheFixture(envelope: .standard) { _ in turns }
    fixture.get()
    fixture.get(["Cache-Control": "no-cache"])
    XCTAssertEqual(fixture.get().bodies, ["new"])
  }

  func test_storable404_replacesTheEntry() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["Cache-Control": "max-age=600"]),
      .response(status: 404, headers: ["Cache-Control": "max-age=60"]),
    ])
    let fixture = CacheFixture { _ in turns }
    fixture.get()
    fixture.get(["Cache-Control": "no-cache"])
    XCTAssertEqual(fixture.get(), .init(bodies: ["404 "], origins: [.cache(age: .seconds(0), isStale: false)]))
  }

  func test_entriesBelowAURL_areRemovedForAllUsers() throws {
    let gone = [
      "/shop", "http://h/shop?page=2", "/shop/", "/shop/1", "http://h/shop/1/2?x=1&a=2", "/shop//3",
      "http://h/shop/4#f",
      "http://ann:secret@h/shop/5", "HTTP://H/shop/6",
    ]
    let kept = ["/", "/shopping", "/sho", "http://other/shop", "http://h:8080/shop/1", "/a/shop", "http://h/?shop=1"]
    for prefix in ["http://h/shop", "http://h/shop/", "http://h/shop?page=9#x", "HTTP://H/shop", "http://bob@h/shop"] {
      let fixture = fresh()
      for path in gone + kept {
        fixture.get(path: path)
        fixture.get(Plain(path: path, headers: ["Authorization": "a"]))
      }
      fixture.cache.removeAll(below: try XCTUnwrap(URL(string: prefix)))
      for path in gone {
        XCTAssertEqual(fixture.get(path: path).origins, [.network], path)
        XCTAssertEqual(fixture.get(Plain(path: path, headers: ["Authorization": "a"])).origins, [.network], path)
      }
      for path in kept {
        XCTAssertEqual(fixture.get(path: path).origins, [.cache(age: .seconds(0), isStale: false)], path)
      }
    }
    let fixture = fresh()
    for path in kept { fixture.get(path: path) }
    fixture.cache.removeAll(below: try XCTUnwrap(URL(string: "http://h")))
    XCTAssertEqual(
      kept.filter { fixture.get(path: $0).origins == [.network] },
      ["/", "/shopping", "/sho", "/a/shop", "http://h/?shop=1"])
  }

  func test_revalidatedEntry_isStillFoundByItsURL() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=10", "ETag": "\"a\""]))
    fixture.get()
    fixture.scheduler.advanceBy(11)
    XCTAssertEqual(fixture.get().origins, [.revalidated])
    fixture.get(Plain(method: .put, headers: ["X-CSRF-Token": "c"]))
    XCTAssertEqual(fixture.get().origins, [.network])
  }

  func test_onlyIfCached_neverSendsARequest() {
    let fixture = fresh()
    let requested: HTTPHeaders = ["Cache-Control": "only-if-cached"]
    fixture.get()
    for endpoint in [
      Plain(headers: requested.merging(["Range": "bytes=0-1"])),
      Plain(headers: requested.merging(["If-None-Match": "\"a\""])),
      Plain(method: .post, headers: requested), Plain(method: .put, task: .json(["a": 1]), headers: requested),
    ] {
      XCTAssertEqual(
        fixture.get(endpoint), .init(bodies: ["504 "], origins: [.cache(age: .seconds(0), isStale: false)]),
        "\(endpoint)")
    }
    XCTAssertEqual(fixture.requests, 1)
    XCTAssertEqual(fixture.get(requested).bodies, ["1"], "and nothing was removed")
  }

  func test_postKeyedByItsBody_isNotStoredByTheHTTPPolicy() {
    let fixture = fresh()
    let query = Plain(method: .post, task: .json(["q": 1]), caching: CacheOptions(includesBody: true))
    XCTAssertEqual([fixture.get(query).bodies, fixture.get(query).bodies], [["1"], ["2"]])
    var first = query
    first.caching.policy = .cacheFirst(maxAge: .seconds(60))
    XCTAssertEqual([fixture.get(first).bodies, fixture.get(first).bodies], [["3"], ["3"]])
  }

  func test_memberNamedCode_isStored_unlessItIsAnEnvelope() {
    for (body, isKept) in [
      (#"{"code":"DE","name":"Germany"}"#, true), (#"{"code":"E1001","message":"no"}"#, false),
      (#"{"code":"E1001","data":null}"#, false), (#"{"code":500}"#, false), (#"{"code":"500"}"#, false),
      (#"{"code":200,"data":1}"#, true), (#"{"code":"200"}"#, true), (#"{"code":null}"#, false),
    ] {
      let fixture = CacheFixture(envelope: .standard) { _ in .json(body) }
      fixture.get(.networkOnly)
      XCTAssertEqual(fixture.get(.cacheOnly).bodies, isKept ? [body] : [], body)
    }
    let words = Envelope(code: "state", success: "ok")
    XCTAssertTrue(words.refuses(["state": "failed"]))
    XCTAssertFalse(words.refuses(["state": "ok"]))
  }

  /// Rejects what is sent while `isDown`.
  private struct Rejecting: Interceptor {
    let isDown: Box<Bool>
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      .deferred {
        guard isDown.value else { return next(request) }
        throw NetworkError(kind: .unavailable, reason: "not sent", request: request)
      }
    }
  }

  func test_aWriteThatWasNotSent_removesNothing() {
    let fields: HTTPHeaders = ["Cache-Control": "max-age=1, stale-if-error=600"]
    let virtual = VirtualNetwork(.response(headers: fields, body: Data("1".utf8)))
    let isDown = Box(false)
    let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil)), Rejecting(isDown: isDown))
    var (read, write) = (Call<Response>.get("/a"), Call<Response>.post("/b"))
    (read.tags, write.invalidates) = (["t"], ["t"])
    virtual.note("read ", network.request(read))
    virtual.scheduler.advanceTo(10_000)
    isDown.value = true
    virtual.note("write ", network.request(write))
    virtual.scheduler.advanceTo(20_000)
    virtual.note("read ", network.request(read))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "read 200 1 @20000", "\(virtual.notes.all)")
    // One that was sent before may have changed the data.
    let again = Request(method: .post, url: URL(filePath: "/"))
    for (attempt, outcome) in [(1, WriteOutcome.rejected), (2, .unknown)] {
      var request = again
      request.attempt = attempt
      XCTAssertEqual(WriteOutcome(after: NetworkError(kind: .unavailable, reason: "", request: request)), outcome)
    }
  }
}
