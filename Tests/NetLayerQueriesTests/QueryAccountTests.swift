import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// Another user, noticed at each event of a query, and values that are read or compared at the wrong moment.
final class QueryAccountTests: XCTestCase {
  /// A source whose signal of a change does not arrive.
  private final class LateSource: Interceptor, AccountSource {
    let user = Box("ada")
    var accountState: AccountState { .user(user.value) }
    var accountChanges: Observable<Void>? { .never() }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
  }

  func test_query_anotherUser_isNoticedAtEachEvent() {
    let write = AddPost(number: 2)
    let updated = FeedWrite()
    // The events before and after the user changes.
    let events: [(String, before: (WatchFixture) -> Void, after: (WatchFixture) -> Void)] = [
      ("another watcher", { _ in }, { _ = $0.watch() }),
      ("an invalidation", { _ in }, { $0.network.invalidate(["posts"]) }),
      (
        "a refresh after an error",
        { app in
          app.script("GET /feed", .failure(.connection))
          app.network.invalidate(["posts"])
          app.advance(20)
        }, { $0.network.refetchStale() }
      ),
      ("a write that begins", { _ in }, { app in app.run(app.add(7, .json("{}"), applies: false)) }),
      (
        "a write that ends", { app in app.run(app.network.request(write, editing: Posts()) { $0.append(2) }) },
        { $0.advance(10) }
      ),
      (
        "a write that ends with the value",
        { app in
          app.script("POST /feed/new", .json("[1, 2]", after: .milliseconds(10)))
          app.run(app.network.request(updated, updating: Posts()))
        }, { $0.advance(10) }
      ),
      ("the interval", { _ in }, { $0.advance(1000) }),
    ]
    for (name, before, after) in events {
      let source = LateSource()
      let app = WatchFixture(interceptors: [source])
      let screen = app.watch(Posts(), every: .milliseconds(500))
      app.advance(10)
      before(app)
      let count = screen.all.count
      XCTAssertTrue(screen.last.hasPrefix("[1"), name)
      source.user.value = "bob"
      app.set([7])
      after(app)
      app.advance(100)
      let shown = screen.all.dropFirst(count)
      XCTAssertEqual(shown.first, "nil fetching", name)
      XCTAssertTrue(["[7]", "[7, 2]"].contains(shown.last), "\(name): \(shown)")
      XCTAssertFalse(shown.contains { $0.contains("1") }, "\(name): \(shown)")
    }
  }

  private func signedIn() -> (WatchFixture, AuthenticationInterceptor) {
    let authentication = AuthenticationInterceptor(
      for: [URL(string: "http://h")].compactMap(\.self), store: MemoryTokenStore(Token(access: "a", account: "ada"))
    ) { _ in Single.just(Token(access: "new")) }
    return (WatchFixture(interceptors: [authentication]), authentication)
  }

  func test_query_watcherThatLeaves_leavesTheOthersTheSignals() {
    let (app, authentication) = signedIn()
    let (first, second) = (app.watch(), app.watch())
    app.advance(10)
    first.leave()
    authentication.set(Token(access: "b", account: "bob"))
    XCTAssertEqual(second.last, "nil fetching", "immediately")
    second.leave()
    app.checkEnd()
  }

  /// The value of the former user is read on the mapping queue while another user signs in.
  func test_query_readingThatEndsAfterASignIn_isDropped() {
    let (app, authentication) = signedIn()
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    app.advance(10)
    let numbers = app.watch()
    app.script("GET /feed", .json(#"["x"]"#, after: .milliseconds(10)))
    authentication.set(Token(access: "b", account: "bob"))
    app.advance(100)
    XCTAssertEqual([numbers.last, json.last], ["nil parse", #"["x"]"#])
    XCTAssertFalse(numbers.all.contains { $0.contains("1") }, "\(numbers.all)")
  }

  func test_query_lifetimeOfASecond_isALifetime() {
    let cache: [(String, isPast: Bool, isPastIfZeroCounts: Bool)] = [
      ("max-age=1", true, true), ("max-age=9", false, false), ("max-age=0", false, true), ("private", false, true),
    ]
    for (field, isPast, isPastIfZeroCounts) in cache {
      let freshness = Freshness(
        status: 200, headers: ["Cache-Control": field], requestedAt: 100, receivedAt: 100, hasQuery: false)
      let loaded = Loaded(freshness: freshness)
      let now = Date(timeIntervalSinceReferenceDate: 102)
      XCTAssertEqual(loaded.isPast(at: now), isPast, field)
      XCTAssertEqual(loaded.isPast(at: now, countsUnstated: true), isPastIfZeroCounts, field)
      XCTAssertFalse(Loaded().isPast(at: now, countsUnstated: true))
    }
  }

  func test_query_sameContent_isThatOfStatusBodyAndType() {
    func loaded(_ status: Int = 200, _ type: String = "a/b", _ body: String = "1", age: String = "1") -> Loaded {
      let request = Request(url: URL(filePath: "/"))
      return Loaded(
        response: Response(
          request: request, status: status, headers: ["Content-Type": type, "Age": age], body: Data(body.utf8)))
    }
    XCTAssertTrue(loaded().isSame(as: loaded(age: "2")), "its times differ")
    for other in [loaded(201), loaded(200, "a/c"), loaded(200, "a/b", "2"), Loaded(value: 1)] {
      XCTAssertFalse(loaded().isSame(as: other))
      XCTAssertFalse(other.isSame(as: loaded()))
    }
    XCTAssertFalse(loaded().isSame(as: nil))
    XCTAssertFalse(Loaded(value: 1).isSame(as: Loaded(value: 1)), "a value has no response to compare")
  }

  /// A write whose response is the new list.
  private struct FeedWrite: Endpoint {
    typealias Output = [Int]
    var path: String { "/feed/new" }
    var method: HTTPMethod { .post }
  }
}
