import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

private typealias Plain = CacheFixture.Plain

/// Decisions of the cache in cases that seldom occur together.
final class CacheDecisionTests: XCTestCase {
  func test_rfc9111_aVaryWithOtherFieldsReplacesTheFormerOne() {
    let fields = Locked("Accept-Language")
    let fixture = CacheFixture { request in
      let names = fields.withLock { $0 }
      let values = names.split(separator: ",").map { request.headers[String($0)] ?? "none" }
      return .response(
        headers: ["Cache-Control": "max-age=60", "Vary": names],
        body: Data(values.joined(separator: " ").utf8))
    }
    XCTAssertEqual(fixture.get(["Accept-Language": "de", "X-Theme": "dark"]).bodies, ["de"])
    fields.withLock { $0 = "Accept-Language,X-Theme" }
    XCTAssertEqual(fixture.get(["Accept-Language": "zh", "X-Theme": "dark"]).bodies, ["zh dark"])
    XCTAssertEqual(fixture.get(["Accept-Language": "zh", "X-Theme": "light"]).bodies, ["zh light"])
    XCTAssertEqual(fixture.get(["Accept-Language": "zh", "X-Theme": "dark"]).bodies, ["zh dark"])
    XCTAssertEqual(fixture.get(["Accept-Language": "de", "X-Theme": "light"]).bodies, ["de light"])
    XCTAssertEqual(fixture.requests, 4)
  }

  func test_rfc9111_aWriteWithARedirectAsResponse_invalidates() {
    for status in [301, 302, 303, 307, 308] {
      let fixture = CacheFixture { request in
        request.method == .get
          ? .response(headers: ["Cache-Control": "max-age=60"]) : .response(status: status)
      }
      fixture.get()
      fixture.get(Plain(method: .post))
      XCTAssertEqual(fixture.get().origins, [.network], "\(status)")
    }
  }

  func test_rfc9111_onlyIfCached_revalidatesNothingInTheBackground() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=10, stale-while-revalidate=60"]))
    fixture.get()
    fixture.scheduler.advanceBy(20)
    XCTAssertEqual(fixture.get(["Cache-Control": "only-if-cached"]).origins, [.cache(age: .seconds(20), isStale: true)])
    XCTAssertEqual(fixture.requests, 1)
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(20), isStale: true)])
    XCTAssertEqual(fixture.requests, 2)
  }

  func test_a304ThatDoesNotConfirmTheEntry_removesIt() {
    let headers: HTTPHeaders = ["ETag": "\"a\"", "Cache-Control": "max-age=60"]
    let fixture = CacheFixture { request in
      request.headers["If-None-Match"] == nil
        ? .response(headers: headers, body: Data("own".utf8), after: .seconds(1))
        : .response(status: 304, headers: ["ETag": "\"b\""])
    }
    fixture.get()
    // The request without a condition is still on its way.
    let subscription = fixture.network.responses(Call(Plain(headers: ["Cache-Control": "no-cache"]))).subscribe()
    fixture.scheduler.advanceBy(0)
    XCTAssertEqual(fixture.requests, 3)
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    subscription.dispose()
  }

  func test_accountAndOwnKey_outliveTokens() {
    let fixture = CacheFixture(account: { _ in "ada" }, CacheFixture.counting(["Cache-Control": "max-age=60"]))
    let options = CacheOptions(key: "own")
    fixture.get(Plain(headers: ["Authorization": "old"], caching: options))
    XCTAssertEqual(fixture.get(Plain(headers: ["Authorization": "new"], caching: options)).bodies, ["1"])
  }

  func test_a304WithoutACondition_doesNotConfirmAnUnreadableEntry() {
    let turns = StubTransport.StubbedResponse.sequence([
      .response(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"], body: Data(#"{"old":1}"#.utf8)),
      .response(status: 304, headers: ["ETag": "\"a\""]),
    ])
    let fixture = CacheFixture { _ in turns }
    fixture.get()
    let observer = fixture.scheduler.createObserver(Int.self)
    let subscription = fixture.network.request(Plain()).map(Int.self, at: "id").asObservable().subscribe(observer)
    fixture.scheduler.start()
    XCTAssertEqual((observer.events.first?.value.error as? NetworkError)?.kind, .parse)
    XCTAssertEqual(fixture.get(), .init(bodies: ["304 "], origins: [.network]))
    subscription.dispose()
  }

  func test_unreadableEntryThatIsOnlyOnDisk_isRequestedAgain() {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "decisions-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let scheduler = TestScheduler()
    let stub = StubTransport(on: scheduler) { _ in
      .response(headers: ["Cache-Control": "max-age=60"], body: Data(#"{"old":1}"#.utf8))
    }
    // Nothing fits into the memory.
    let cache = ResponseCache(storingIn: directory, maxMemorySize: 0, clock: scheduler)
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: stub, clock: scheduler, mapping: scheduler,
        interceptors: [CacheInterceptor(cache)]))
    for count in 1...2 {
      let done = Locked<Bool>(false)
      let subscription = network.request(Plain()).map(Int.self, at: "id").asObservable().subscribe(
        onError: { _ in done.withLock { $0 = true } })
      // The disk is read on a queue of its own.
      let deadline = Date().addingTimeInterval(20)
      while !done.withLock({ $0 }), Date() < deadline {
        scheduler.start()
        _ = cache.settle()
      }
      _ = cache.settle()
      XCTAssertTrue(done.withLock { $0 })
      XCTAssertEqual(stub.requests.count, count)
      subscription.dispose()
    }
  }
}
