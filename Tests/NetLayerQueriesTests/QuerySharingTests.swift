import Foundation
import NetLayer
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// Rows 30 to 39 and 45 of docs/queries.md: users, copies of networks, time, and many watchers.
final class QuerySharingTests: XCTestCase {
  /// A fixture with a token, whose server responds with a list for each user.
  private func signedIn(_ token: Token?, refresh: Token = Token(access: "new")) -> (
    WatchFixture, AuthenticationInterceptor
  ) {
    let authentication = AuthenticationInterceptor(
      for: [URL(string: "http://h")].compactMap(\.self), store: MemoryTokenStore(token)
    ) { _ in Single.just(refresh) }
    let app = WatchFixture(caches: true, interceptors: [authentication])
    return (app, authentication)
  }

  func test_query_row_30_signIn_removesTheFormerUsersValue_andIgnoresLateWrites() {
    let (app, authentication) = signedIn(Token(access: "a", account: "ada"))
    app.server.update { $0.headers = ["Cache-Control": "max-age=1000"] }
    let screen = app.watch()
    app.advance(10)
    app.run(app.add(2, .json("{}", after: .milliseconds(50))))
    XCTAssertEqual(screen.last, "[1, 2] edited")
    app.set([7])
    authentication.set(Token(access: "b", account: "bob"))
    XCTAssertEqual(screen.last, "nil fetching", "immediately")
    app.advance(20)
    XCTAssertEqual(screen.last, "[7]", "the former user's write does not delay it")
    let count = screen.all.count
    app.advance(100)
    XCTAssertEqual(screen.all.count, count, "the late end of the write is ignored")
    XCTAssertEqual(app.stub.requests.last?.headers["Authorization"], "Bearer b")
    XCTAssertEqual(app.reads, 2)
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_30_unreadableResponse_showsNothingOfTheFormerUser() {
    let (app, authentication) = signedIn(Token(access: "a", account: "ada"))
    let numbers = app.watch()
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    app.advance(10)
    app.script("GET /feed", .json(#"["x"]"#))
    authentication.set(Token(access: "b", account: "bob"))
    app.advance(100)
    XCTAssertEqual([numbers.last, json.last], ["nil parse", #"["x"]"#])
  }

  func test_query_row_30_signOut_duringAWriteThatNobodyWatches_removesItsEdit() {
    let (app, authentication) = signedIn(Token(access: "a", account: "ada"))
    app.run(app.add(2, .json("{}", after: .milliseconds(50))))
    authentication.set(nil)
    app.set([7])
    let screen = app.watch()
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[7]"])
  }

  func test_query_row_31_tokenRefresh_changesNothing() {
    for account in ["ada", nil] {
      let (app, _) = signedIn(Token(access: "a", account: account), refresh: Token(access: "b"))
      let screen = app.watch()
      app.advance(10)
      app.script("GET /other", .json("{}", status: 401))
      app.run(app.network.request(Posts(path: "/other")))
      app.advance(100)
      XCTAssertEqual(app.stub.requests.last?.headers["Authorization"], "Bearer b")
      XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
      app.network.invalidate(["posts"])
      app.advance(100)
      XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1] fetching stale", "[1]"])
    }
  }

  func test_query_row_31_firstLookAtTheToken_changesNothing() {
    let (app, _) = signedIn(Token(access: "a", account: "ada"))
    let screen = app.watch()
    app.advance(10)
    app.network.refetchStale()
    app.advance(10)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
  }

  func test_query_row_32_signOutWhileFetching_cancelsTheRequest() {
    let (app, authentication) = signedIn(Token(access: "a", account: "ada"))
    let screen = app.watch()
    app.advance(5)
    app.set([7])
    authentication.set(nil)
    XCTAssertEqual(app.stub.cancelled.count, 1)
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[7]"])
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_32_anotherUserOfAnInterceptor_isNoticedAtTheResponse() {
    let user = Box("ada")
    final class Names: Interceptor, AccountSource {
      let user: Box<String>
      init(user: Box<String>) { self.user = user }
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { nil }
      func covers(_ request: Request) -> Bool { true }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
    }
    let app = WatchFixture(interceptors: [Names(user: user)])
    let screen = app.watch()
    app.advance(5)
    user.value = "bob"
    app.set([7])
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[7]"], "the response of the former user is dropped")
  }

  func test_query_row_32_challenge_isNotAnotherUser() {
    let login = ChallengeInterceptor(
      for: [URL(string: "http://h")].compactMap(\.self), user: "ada", password: "p", allowsBasicWithoutTLS: true)
    let app = WatchFixture(interceptors: [login])
    app.script(
      "GET /feed", .response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""], after: .milliseconds(10)))
    let screen = app.watch()
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
    XCTAssertEqual(app.stub.requests.map { $0.headers["Authorization"] != nil }, [false, true])
    // A server that rejects the credentials once does not sign the user out.
    app.script("POST /feed/add", .response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""]))
    app.run(app.network.request(AddPost(number: 2)))
    app.advance(100)
    XCTAssertEqual(screen.last, "[1]")
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_33_anotherTimeout_isTheSameQuery() {
    let app = WatchFixture()
    let first = app.watch()
    let second = app.watch(Posts(), on: app.network.with { $0.timeouts.attempt = .seconds(1) })
    let third = app.watch(Call(Posts()).timeout(.seconds(2)))
    app.advance(10)
    XCTAssertEqual([first, second, third].map(\.last), ["[1]", "[1]", "[1]"])
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_34_anotherDecoder_isAnotherView_otherHeadersAreAnotherQuery() {
    let app = WatchFixture()
    let first = app.watch()
    let decoded = Counter()
    let second = app.watch(Posts(), on: app.network.with { $0.coding.decoder = CountingDecoder(count: decoded) })
    app.advance(10)
    XCTAssertEqual([first.last, second.last], ["[1]", "[1]"])
    XCTAssertEqual(app.reads, 1)
    XCTAssertEqual(decoded.value, 1)
    let third = app.watch(Posts(), on: app.network.with { $0.headers["X-Tenant"] = "2" })
    app.advance(10)
    XCTAssertEqual(third.last, "[1]")
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_35_releasedNetwork_continues() {
    let app = WatchFixture()
    let screen = app.watch(Posts(), on: app.network.with { $0.timeouts.attempt = .seconds(1) })
    app.advance(10)
    app.set([1, 2])
    app.network.invalidate(["posts"])
    app.advance(10)
    XCTAssertEqual(screen.last, "[1, 2]")
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_36_clockSetBack_hasNoEffect() {
    final class Clock: SchedulerType {
      let inner: TestScheduler
      let offset = Box(0.0)
      init(_ inner: TestScheduler) { self.inner = inner }
      var now: Date { inner.now.addingTimeInterval(offset.value) }
      var uptime: Duration { inner.uptime }
      func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { inner.schedule(action) }
      func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        inner.scheduleRelative(dueTime, action)
      }
    }
    let app = WatchFixture()
    let clock = Clock(app.scheduler)
    let screen = app.watch(Posts(), on: app.network.with { $0.clock = clock }, every: .milliseconds(100))
    app.advance(10)
    for offset in [-3600.0, 7200] {
      clock.offset.value = offset
      let reads = app.reads
      app.advance(100)
      XCTAssertEqual(app.reads, reads + 1)
    }
    XCTAssertEqual(screen.last, "[1]")
  }

  func test_query_row_37_interval_isOneTimerForEachKey() {
    let app = WatchFixture()
    let slow = app.watch(Posts(), every: .milliseconds(100))
    let fast = app.watch(Posts(), every: .milliseconds(30))
    app.advance(95)
    XCTAssertEqual(app.reads, 4, "at 0, 30, 60 and 90")
    fast.leave()
    app.advance(99)
    XCTAssertEqual(app.reads, 4, "the interval of the other watcher has begun")
    app.advance(10)
    XCTAssertEqual(app.reads, 5)
    slow.leave()
    app.advance(1000)
    XCTAssertEqual(app.reads, 5)
    app.checkEnd()
  }

  func test_query_row_37_intervalDuringARequest_sendsNoSecondOne() {
    let app = WatchFixture()
    app.server.update { $0.roundTrip = .milliseconds(35) }
    let screen = app.watch(Posts(), every: .milliseconds(10))
    app.advance(36)
    XCTAssertEqual(app.reads, 1)
    screen.leave()
  }

  func test_query_row_37_intervalThatIsNotPositive_isIgnored() {
    let app = WatchFixture()
    for interval in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
      let screen = app.watch(Posts(), every: interval)
      app.advance(100)
      screen.leave()
    }
    XCTAssertEqual(app.reads, 3)
  }

  func test_query_row_38_thousandWatchers_shareOneDecode() {
    let app = WatchFixture()
    let decoded = Counter()
    let network = app.network.with { $0.coding.decoder = CountingDecoder(count: decoded) }
    let live = Hooks.liveSubscriptionCount
    var screens = (0..<1000).map { _ in app.watch(Posts(), on: network) }
    app.advance(10)
    XCTAssertTrue(screens.allSatisfy { $0.last == "[1]" })
    XCTAssertEqual([app.reads, decoded.value], [1, 1])
    app.set([1, 2])
    network.invalidate(["posts"])
    app.advance(10)
    let shown = Set(screens.map { $0.all.suffix(3) })
    XCTAssertEqual(shown, [["[1]", "[1] fetching stale", "[1, 2]"]])
    XCTAssertEqual([app.reads, decoded.value], [2, 2])
    print("1,000 watchers: \(app.reads) requests, \(Hooks.liveSubscriptionCount - live) live subscriptions")
    for screen in screens { screen.leave() }
    screens = []
    app.checkEnd()
    // Subscriptions of earlier tests may end meanwhile.
    XCTAssertLessThanOrEqual(Hooks.liveSubscriptionCount, live)
  }

  func test_query_row_39_tenThousandKeys_anInvalidationReachesTheTaggedOnes() {
    let app = WatchFixture()
    let (live, memory) = (Hooks.liveSubscriptionCount, residentBytes() ?? 0)
    var screens = (0..<10_000).map { number in
      let call = Call(.get, "/list/\(number)").as([Int].self)
      return app.watch(number % 1000 == 0 ? call.tags(["tagged"]) : call)
    }
    app.advance(10)
    XCTAssertEqual(app.reads, 10_000)
    app.network.invalidate(["tagged"])
    app.advance(10)
    XCTAssertEqual(app.reads, 10_010)
    XCTAssertTrue(screens.allSatisfy { $0.last == "[]" })
    let growth = ((residentBytes() ?? 0) - memory) / 10_000
    print("10,000 keys: \(Hooks.liveSubscriptionCount - live) live subscriptions, about \(growth) bytes for each key")
    for screen in screens { screen.leave() }
    screens = []
    app.checkEnd()
    // Subscriptions of earlier tests may end meanwhile.
    XCTAssertLessThanOrEqual(Hooks.liveSubscriptionCount, live)
  }

  func test_query_row_45_slowLoop_receivesTheNewestSnapshotOnly() async throws {
    for delivery in [nil, ImmediateScheduler.instance] {
      let app = WatchFixture(delivery: delivery)
      var iterator = app.network.watch(Posts()).values.makeAsyncIterator()
      let first = try await iterator.next()
      XCTAssertEqual(first.map { snapshotText($0) }, "nil fetching")
      app.advance(10)
      for number in 2...5 {
        app.server.update { $0.lists["/feed"]?.append(number) }
        app.network.invalidate(["posts"])
        app.advance(20)
      }
      var seen: [String] = []
      while seen.last != "[1, 2, 3, 4, 5]" {
        guard let next = try await iterator.next() else { return XCTFail("the stream ended") }
        seen.append(snapshotText(next))
      }
      XCTAssertEqual(seen.count, 1, "\(seen)")
    }
  }

  func test_query_lastWatcher_leavesNoSubscriptionToTheToken() {
    let (app, authentication) = signedIn(Token(access: "a", account: "ada"))
    let live = Hooks.liveSubscriptionCount
    var screen: Screen? = app.watch(Posts(), every: .milliseconds(60))
    app.advance(100)
    XCTAssertGreaterThan(Hooks.liveSubscriptionCount, live)
    screen?.leave()
    screen = nil
    // Subscriptions of earlier tests may end meanwhile.
    XCTAssertLessThanOrEqual(Hooks.liveSubscriptionCount, live)
    authentication.set(nil)
    app.advance(100)
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_delivery_usesTheScheduler_inOrder() {
    let app = WatchFixture()
    let delivery = TestScheduler()
    let screen = app.watch(Posts(), on: app.network.with { $0.delivery = delivery })
    app.advance(10)
    XCTAssertEqual(screen.all, [])
    delivery.start()
    XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
  }

  func test_query_invalidRequest_isASnapshotWithItsError() {
    let app = WatchFixture()
    let screen = app.watch(Posts(path: "/a/../b"))
    XCTAssertEqual(screen.all, ["nil invalidRequest"])
    XCTAssertEqual(app.errors.all, ["invalidRequest"])
    app.network.invalidate(Posts(path: "/a/../b"))
    screen.leave()
    app.checkEnd()
  }

  func test_query_refetch_doesNotJoinAnEarlierGET() {
    let app = WatchFixture(interceptors: [CoalescingInterceptor()])
    app.run(app.network.request(Posts()))
    let screen = app.watch()
    app.advance(1)
    XCTAssertEqual(app.reads, 1, "a first load shares the request")
    app.network.invalidate(["posts"])
    app.advance(9)
    app.run(app.network.request(Posts()))
    app.advance(5)
    XCTAssertEqual(app.reads, 3)
    XCTAssertEqual(app.stub.requests[1].headers["Cache-Control"], "no-cache")
    XCTAssertNil(app.stub.requests[2].headers["Cache-Control"])
    app.advance(100)
    XCTAssertEqual(screen.last, "[1]")
  }

  func test_query_refetch_isSentWithinTheWindow() {
    let app = WatchFixture(interceptors: [CoalescingInterceptor(window: .seconds(2))])
    let screen = app.watch()
    app.advance(50)
    app.network.invalidate(["posts"])
    app.advance(50)
    app.set([2])
    app.network.invalidate(["posts"])
    app.advance(50)
    XCTAssertEqual(screen.last, "[2]")
    XCTAssertEqual(app.reads, 3)
    screen.leave()
    app.advance(5_000)
    app.checkEnd()
  }

  func test_query_cachePolicies_refetchFromTheServer() {
    for policy in [
      CachePolicy.http, .networkOnly, .cacheFirst(maxAge: .seconds(1000)), .cacheThenNetwork(), .networkElseCache,
    ] {
      let app = WatchFixture(caches: true, policy: policy)
      app.server.update { $0.headers = ["Cache-Control": "max-age=1000", "ETag": "\"a\""] }
      let screen = app.watch(Posts(), every: .milliseconds(100))
      app.advance(50)
      app.server.update { ($0.headers["ETag"], $0.lists["/feed"]) = ("\"b\"", [2]) }
      app.advance(100)
      XCTAssertEqual(screen.last, "[2]", "\(policy)")
      XCTAssertEqual(app.stub.requests.last?.headers["If-None-Match"], "\"a\"", "\(policy)")
      screen.leave()
    }
  }

  func test_query_cacheOnly_neverSendsARequest() {
    let app = WatchFixture(caches: true)
    let endpoint = Posts(caching: CacheOptions(policy: .cacheOnly))
    let screen = app.watch(endpoint)
    app.advance(100)
    XCTAssertEqual(screen.last, "nil notCached")
    app.server.update { $0.headers = ["Cache-Control": "max-age=1000"] }
    app.run(app.network.request(Posts()))
    app.advance(100)
    app.network.refetchStale()
    app.advance(100)
    XCTAssertEqual(screen.last, "[1]")
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_refetchStale_requestsWhatIsPastItsLifetime() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=10"] }
    let screen = app.watch()
    app.advance(100)
    app.network.refetchStale()
    app.advance(100)
    XCTAssertEqual(app.reads, 1, "fresh")
    app.advance(10_000)
    XCTAssertEqual(app.watch().all, ["[1] stale"])
    app.network.refetchStale()
    app.advance(100)
    XCTAssertEqual(app.reads, 2)
    XCTAssertEqual(screen.last, "[1]")
  }

  /// A decoder that counts its calls.
  private struct CountingDecoder: ModelDecoder {
    let count: Counter
    func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model {
      count.next()
      return try JSONModelDecoder.default.decode(type, from: json)
    }
  }

  func test_query_preparedWrite_invalidatesNothing() async throws {
    let stub = StubTransport { _ in .json("[1]") }
    let network = Network(Backend(baseURL: URL(string: "http://h/"), transport: stub))
    let shown = Box<[Int]?>(nil)
    let watching = network.watch(Posts()).subscribe(onNext: { shown.value = $0.value })
    try await eventually("the list is shown") { shown.value == [1] }
    let request = try await network.preparedRequest(for: AddPost(number: 2, invalidates: ["posts"]))
    XCTAssertEqual(request.url.path, "/feed/add")
    XCTAssertTrue(standsStill { stub.requests.count })
    XCTAssertEqual(stub.requests.count, 1)
    watching.dispose()
  }
}
