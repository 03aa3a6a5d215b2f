import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// The rows of `AccountSource` about users without a name, constant users, several sources and none; calls, and the moment of
/// a sign-out.
final class AccountCallTests: AccountTestCase {
  // MARK: Users without a name, constant users, several sources, none

  func test_accounts_row_09_userWithoutAName_isKnownByTheNumberOfSignIns() async throws {
    let server = try AskedServer()
    let errors = Notes()
    let login = AuthenticationInterceptor(
      for: [server.url], store: MemoryTokenStore(Token(access: "t1")), apply: { $1.headers["X-User"] = $0.access }
    ) { _ in .never() }
    let network = Network(
      Backend(baseURL: server.url, interceptors: [login], onError: { errors.add($0.reason) }))
    let (shown, end) = watch(network)
    XCTAssertTrue(holds { shown.all.last == "t1" })
    login.set(Token(access: "t2"))
    XCTAssertTrue(holds { shown.all.last == "t2" }, "\(shown.all)")
    XCTAssertTrue(shown.all.contains("none"))
    XCTAssertThrowsError(try outbox(network).outbox.send(Call<Response>.post("/1")))
    let uploads = try UploadServer(.tus)
    try write(3000)
    let nameless = AuthenticationInterceptor(
      for: [uploads.url], store: MemoryTokenStore(Token(access: "t1")), apply: { $1.headers["X-User"] = $0.access }
    ) { _ in .never() }
    let uploading = self.network(uploads) {
      $0.interceptors = [nameless]
      $0.onError = { errors.add($0.reason) }
    }
    pause(uploading, uploads)
    XCTAssertTrue(errors.all.contains { $0.contains("Token that has an account") }, "\(errors.all)")
    nameless.set(Token(access: "t2"))
    let result = await upload(uploads, .tus, on: uploading)
    XCTAssertNil(result.kind)
    XCTAssertEqual(kinds(uploads), another, "the note is that of the token")
    end.dispose()
  }

  func test_accounts_row_10_constantUser_isPartOfTheKeys_andOfNoEntry() async throws {
    let server = try AskedServer { _ in 401 }
    func network(_ user: String, _ url: URL) -> Network {
      Network(
        Backend(baseURL: url, interceptors: [ChallengeInterceptor(for: [url], user: user, password: "p")]))
    }
    let call = CallContent(Call<Response>.get("/me"))
    XCTAssertNotEqual(
      try network("ann", server.url).address(call, accept: nil).key,
      try network("bob", server.url).address(call, accept: nil).key)
    let (outbox, states) = try outbox(network("ann", server.url))
    outbox.start()
    try outbox.send(Call<Response>.post("/1"))
    XCTAssertTrue(holds { states.value == ["- parked (status 401)"] }, "\(states.value)")
    let uploads = try UploadServer(.tus)
    try write(3000)
    pause(network("ann", uploads.url), uploads)
    let result = await upload(uploads, .tus, on: network("bob", uploads.url))
    XCTAssertNil(result.kind)
    XCTAssertEqual(kinds(uploads), another)
  }

  func test_accounts_row_11_twoSources_areBothFollowed() async throws {
    let server = try AskedServer()
    let (first, second) = (OwnLogin(.user("ann"), for: server.url), OwnLogin(.user("org"), for: server.url))
    // The last one writes the field.
    let network = Network(Backend(baseURL: server.url, interceptors: [first, second]))
    let (shown, end) = watch(network)
    XCTAssertTrue(holds { shown.all.last == "org 1" })
    first.set(.user("bob"))
    XCTAssertTrue(holds { server.seen.count == 2 && shown.all.contains("none") }, "\(shown.all)")
    second.set(.user("club"))
    XCTAssertTrue(holds { shown.all.last == "club 1" })
    let (outbox, states) = try outbox(network)
    try outbox.send(Call<Response>.post("/1"))
    first.set(.nobody)
    outbox.start()
    XCTAssertTrue(holds { states.value == ["bob otherUser"] }, "the entry belongs to the first one: \(states.value)")
    let uploads = try UploadServer(.tus)
    try write(3000)
    let (one, two) = (OwnLogin(.user("ann"), for: uploads.url), OwnLogin(.user("org"), for: uploads.url))
    let uploading = self.network(uploads) { $0.interceptors = [one, two] }
    pause(uploading, uploads)
    two.set(.user("club"))
    let result = await upload(uploads, .tus, on: uploading)
    XCTAssertNil(result.kind)
    XCTAssertEqual(kinds(uploads), another, "both are in the key")
    end.dispose()
  }

  /// A constant user.
  private final class Named: Interceptor, AccountSource {
    let name: String
    init(name: String) { self.name = name }
    var accountState: AccountState { .user(name) }
    var accountChanges: Observable<Void>? { nil }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
  }

  func test_accounts_row_12_constantUsers_arePartOfTheKeys_andOwnNoEntry() async throws {
    let server = try AskedServer()
    func network(_ name: String, _ url: URL) -> Network {
      Network(Backend(baseURL: url, interceptors: [Named(name: name)]))
    }
    let call = CallContent(Call<Response>.get("/me"))
    XCTAssertNotEqual(
      try network("ann", server.url).address(call, accept: nil).key,
      try network("bob", server.url).address(call, accept: nil).key)
    let (outbox, states) = try outbox(network("ann", server.url))
    outbox.start()
    try outbox.send(Call<Response>.post("/1"))
    XCTAssertTrue(holds { states.value.isEmpty && server.seen == ["POST /1 -"] })
    let uploads = try UploadServer(.tus)
    try write(3000)
    pause(network("ann", uploads.url), uploads)
    let result = await upload(uploads, .tus, on: network("bob", uploads.url))
    XCTAssertNil(result.kind)
    XCTAssertEqual(kinds(uploads), another)
  }

  // MARK: Calls

  /// Holds the first request until the test lets it continue.
  private struct Gate: Interceptor {
    let subject = PublishSubject<Void>()
    let held = Counter()
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      held.next()
      return subject.asObservable().take(1).flatMap { _ in next(request) }
    }
  }

  func test_accounts_call_thatOneUserBegan_isNotSentAsAnother() async throws {
    for (from, to) in [("ann", "bob"), ("ann", nil), (nil, "ann")] as [(String?, String?)] {
      let server = try AskedServer()
      for login in logins(server.url, from) {
        server.clear()
        let gate = Gate()
        let network = Network(Backend(baseURL: server.url, interceptors: [gate, login.source]))
        login.waits()
        let result = Box<String>("")
        let subscription = network.request(Call<Response>.get("/me")).subscribe(
          onSuccess: { result.value = "\($0.status)" }, onError: { result.value = "\(NetworkError.wrapping($0).kind)" })
        XCTAssertTrue(holds { gate.held.value == 1 })
        login.signIn(to)
        gate.subject.onNext(())
        XCTAssertTrue(holds { !result.value.isEmpty })
        // A call that nobody began may be sent as the first user, such as at the start of an app.
        XCTAssertEqual(result.value, from == nil ? "200" : "authentication")
        XCTAssertEqual(server.seen, from == nil ? ["GET /me ann 1"] : [])
        subscription.dispose()
      }
    }
  }

  func test_accounts_call_ofAUserWhoIsBack_isSent() throws {
    let server = try AskedServer()
    for login in logins(server.url, "ann") {
      server.clear()
      let gate = Gate()
      let network = Network(Backend(baseURL: server.url, interceptors: [gate, login.source]))
      login.waits()
      let statuses = Notes()
      let subscription = network.request(Call<Response>.get("/me")).subscribe(onSuccess: {
        statuses.add("\($0.status)")
      })
      XCTAssertTrue(holds { gate.held.value == 1 })
      login.signIn("bob")
      login.signIn("ann")
      gate.subject.onNext(())
      XCTAssertTrue(holds { statuses.all == ["200"] })
      XCTAssertEqual(server.seen, ["GET /me ann 1"])
      subscription.dispose()
    }
  }

  // MARK: Watchers and the moment of a sign-out

  func test_accounts_watcher_receivesNoValueOfAFormerUser_afterTheSignOut() throws {
    let server = try AskedServer()
    let login = OwnLogin(.user("ann"), for: server.url)
    let main = TestScheduler(resolution: .milliseconds(1))
    let network = Network(Backend(baseURL: server.url, delivery: main, interceptors: [login]))
    let (shown, end) = watch(network)
    XCTAssertTrue(
      holds {
        main.start()
        return shown.all.last == "ann 1"
      })
    let count = server.seen.count
    network.invalidateAll()
    // The response has arrived, and its snapshot waits for the delivery.
    let inFlight = Box(1)
    let counting = network.requestsInFlight.subscribe(onNext: { inFlight.value = $0 })
    XCTAssertTrue(holds { server.seen.count == count + 1 && inFlight.value == 0 })
    counting.dispose()
    login.set(.nobody)
    let before = shown.all.count
    XCTAssertTrue(
      holds {
        main.start()
        return shown.all.last == "-"
      })
    XCTAssertFalse(shown.all[before...].contains("ann 1"), "\(shown.all)")
    end.dispose()
  }

  func test_accounts_watcher_whoseUserWasAwayAtTheDelivery_receivesTheNextValue() throws {
    let server = try AskedServer()
    let login = SilentLogin("ann 1")
    let main = TestScheduler(resolution: .milliseconds(1))
    let network = Network(Backend(baseURL: server.url, delivery: main, interceptors: [login]))
    let (shown, end) = watch(network)
    // Another watcher keeps the query busy, so that it sees the user only when she is back.
    let (isInside, release, other) = (Flag(), DispatchSemaphore(value: 0), Box<(any Disposable)?>(nil))
    DispatchQueue.global().async {
      other.value = network.with { $0.delivery = nil }.watch(Call<Response>.get("/me").as(JSON.self)).subscribe(
        onNext: { if $0.value != nil, isInside.raise() { release.wait() } })
    }
    XCTAssertTrue(holds { isInside.isRaised })
    login.user.value = "bob 1"
    main.start()
    XCTAssertFalse(shown.all.contains("ann 1"), "\(shown.all)")
    login.user.value = "ann 1"
    release.signal()
    XCTAssertTrue(
      holds {
        main.start()
        return shown.all.last == "ann 1"
      }, "\(shown.all)")
    XCTAssertEqual(server.seen, ["GET /me ann 1", "GET /me ann 1"])
    XCTAssertTrue(holds { other.value != nil })
    other.value?.dispose()
    end.dispose()
  }
}
