import Foundation
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries
@testable import Streams

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
      // A request is sent after the check, and not before it. A write cancels it.
      XCTAssertEqual(app.stub.cancelled.count, name == "a write that begins" ? 1 : 0, name)
    }
  }

  private func signedIn() -> (WatchFixture, AuthenticationInterceptor) {
    let authentication = AuthenticationInterceptor(
      for: [URL(string: "http://h")].compactMap(\.self), store: MemoryTokenStore(Token(access: "a", account: "ada"))
    ) { _ in Single.just(Token(access: "new")) }
    return (WatchFixture(interceptors: [authentication]), authentication)
  }

  func test_query_behindALogin_theCacheIsNotAskedWithoutTheUser() {
    let authentication = AuthenticationInterceptor(
      for: [URL(string: "http://h")].compactMap(\.self), store: MemoryTokenStore()
    ) { _ in Single.just(Token(access: "new")) }
    let app = WatchFixture(interceptors: [authentication, CacheInterceptor(ResponseCache(storingIn: nil))])
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    authentication.set(nil)
    app.run(app.network.request(Posts()))
    app.advance(10)
    authentication.set(Token(access: "a", account: "ada"))
    app.set([2])
    let screen = app.watch()
    app.advance(10)
    XCTAssertEqual(screen.all, ["nil fetching", "[2]"], "not the response to nobody")
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

  /// An endpoint whose decoding runs an action once.
  private struct Hooked: Endpoint {
    typealias Output = [Int]
    let hook: Box<(@Sendable () -> Void)?>
    var path: String { "/feed" }
    func read(_ response: Response) throws -> [Int] {
      hook.update { $0.take() }?()
      return try response.decode([Int].self)
    }
  }

  func test_query_responseThatIsReadDuringASignIn_isDropped() {
    let (app, authentication) = signedIn()
    let hook = Box<(@Sendable () -> Void)?>(nil)
    let numbers = app.watch(Hooked(hook: hook))
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    hook.value = { authentication.set(Token(access: "b", account: "bob")) }
    app.script("GET /feed", .json("[1]", after: .milliseconds(10)), .json(#"["x"]"#, after: .milliseconds(10)))
    app.advance(100)
    XCTAssertEqual([numbers.last, json.last], ["nil parse", #"["x"]"#])
    XCTAssertFalse(numbers.all.contains { $0.contains("1") }, "\(numbers.all)")
    XCTAssertEqual(app.reads, 2)
  }

  /// A subscriber that is not ready at first.
  private final class SlowSubscription: Subscription, @unchecked Sendable {  // safe: the state is in boxes
    let isReady = Box(false)
    let resume = Box<(@Sendable () -> Void)?>(nil)
    /// Whether the subscriber becomes ready while it is asked.
    let becomesReady: Bool

    init(becomesReady: Bool) {
      self.becomesReady = becomesReady
      super.init()
    }

    override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
      guard !isReady.value else { return true }
      isReady.value = becomesReady
      if becomesReady { resume() } else { self.resume.value = resume }
      return false
    }
  }

  func test_query_subscriberThatBecomesReady_receivesTheNewestSnapshotOnly() {
    for becomesReady in [false, true] {
      let (delivery, notes) = (TestScheduler(), Notes())
      let subscription = SlowSubscription(becomesReady: becomesReady)
      let watcher = QueryWatcher<Int>(1, Sink(subscription) { notes.add(snapshotText($0)) }, delivery)
      for number in 1...3 { watcher.push(Snapshot(value: number)) }
      delivery.start()
      XCTAssertEqual(notes.all, becomesReady ? ["3"] : [])
      if !becomesReady {
        for number in 4...5 { watcher.push(Snapshot(value: number)) }
        delivery.start()
        XCTAssertEqual(notes.all, [])
        subscription.isReady.value = true
        subscription.resume.value?()
        delivery.start()
        XCTAssertEqual(notes.all, ["5"])
      }
      watcher.push(Snapshot(value: 6))
      watcher.push(Snapshot(value: 7))
      delivery.start()
      XCTAssertEqual(notes.all.suffix(2), ["6", "7"], "a subscriber that is ready receives all")
    }
  }

  func test_query_snapshotsThatASubscriberCauses_followTheCurrentOne() {
    let notes = Notes()
    let causes = Box<(@Sendable () -> Void)?>(nil)
    let sink = Sink<Snapshot<Int>>(Subscription()) { snapshot in
      notes.add("begin \(snapshot.value ?? 0)")
      causes.update { $0.take() }?()
      notes.add("end")
    }
    let watcher = QueryWatcher<Int>(1, sink, nil)
    causes.value = { for number in 2...3 { watcher.push(Snapshot(value: number)) } }
    watcher.push(Snapshot(value: 1))
    watcher.push(Snapshot(value: 4))
    XCTAssertEqual(notes.all, (1...4).flatMap { ["begin \($0)", "end"] })
  }

  func test_query_intervalOfAWatcherThatHasLeft_hasNoEffectOnTheOthers() {
    let app = WatchFixture()
    let (timed, other) = (app.watch(Posts(), every: .milliseconds(100)), app.watch())
    app.advance(50)
    timed.leave()
    app.advance(1000)
    XCTAssertEqual(app.reads, 1)
    XCTAssertEqual(other.last, "[1]")
    let again = app.watch(Posts(), every: .milliseconds(100))
    app.advance(105)
    XCTAssertEqual(app.reads, 2)
    again.leave()
  }

  func test_query_snapshotThatWaits_isNotDeliveredToAnotherUser() {
    for reply in [WatchFixture.list([1]), .failure(.connection, after: .milliseconds(10))] {
      let (source, delivery) = (LateSource(), TestScheduler())
      let app = WatchFixture(interceptors: [source], delivery: delivery)
      app.script("GET /feed", reply)
      let screen = app.watch()
      app.advance(20)
      XCTAssertEqual(screen.all, [])
      source.user.value = "bob"
      app.set([7])
      delivery.start()
      app.advance(20)
      delivery.start()
      XCTAssertEqual(screen.all, ["nil fetching", "nil fetching", "[7]"])
    }
  }

  func test_query_tagOfAQueryThatEnds_staysWithTheOthers() {
    let app = WatchFixture()
    let (first, second) = (app.watch(Posts()), app.watch(Posts(path: "/other")))
    app.advance(10)
    first.leave()
    app.network.invalidate(["posts"])
    app.advance(10)
    XCTAssertEqual(app.stub.requests.map(\.url.path), ["/feed", "/other", "/other"])
    second.leave()
    app.checkEnd()
  }

  func test_query_keyOfARequest_hasItsFieldsInAnyOrderAndCase() throws {
    let network = WatchFixture().network
    func key(_ headers: HTTPHeaders, _ path: String = "/feed") throws -> String {
      try network.address(CallContent(Posts(path: path, headers: headers)), accept: nil).key
    }
    let known = try key(["A": "1", "B": "2"])
    for same in [["B": "2", "A": "1"], ["a": "1", "b": "2"]] as [HTTPHeaders] { XCTAssertEqual(try key(same), known) }
    for other in [["A": "1", "C": "2"], ["A": "1", "B": "3"], ["A": "2", "B": "1"], ["A": "1"], [:]] as [HTTPHeaders] {
      XCTAssertNotEqual(try key(other), known, "\(other)")
    }
    XCTAssertNotEqual(try key(["A": "1", "B": "2"], "/other"), known)
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
    // A tenth of the age, without a query (RFC 9111 §4.2.2).
    for (hasQuery, isPast) in [(false, false), (true, true)] {
      let freshness = Freshness(
        status: 200,
        headers: ["Last-Modified": "Sun, 31 Dec 2000 00:00:00 GMT", "Date": "Mon, 01 Jan 2001 00:01:40 GMT"],
        requestedAt: 100, receivedAt: 100, hasQuery: hasQuery)
      let now = Date(timeIntervalSinceReferenceDate: 102)
      XCTAssertEqual(Loaded(freshness: freshness).isPast(at: now, countsUnstated: true), isPast)
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
