import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// An interceptor that waits, on the backend's clock.
struct Pause: Interceptor {
  let time: @Sendable (Request) -> Duration

  init(_ time: @escaping @Sendable (Request) -> Duration) { self.time = time }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let time = time(request)
    guard time > .zero else { return next(request) }
    return Observable<Int>.timer(time, scheduler: next.clock).flatMap { _ in next(request) }
  }
}

/// A cache of an app that forgets whose a response is.
final class ForgetfulCache: Interceptor {
  private let stored = Box<[URL: Response]>([:])

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    .deferred { [stored] in
      if request.method == .get, let response = stored.value[request.url] { return .just(response) }
      return next(request).do(onNext: { response in
        if response.status == 200 { stored.update { $0[request.url] = response } }
      })
    }
  }
}

/// Calls that wait while the user changes: each carries the user who began it, and is compared with that one.
final class CarriedAccountTests: UploadTestCase {
  private let home = URL(string: "http://h") ?? URL(filePath: "/")
  private let clock = TestScheduler(resolution: .milliseconds(1))

  private func network(_ stub: StubTransport, _ interceptors: [any Interceptor]) -> Network {
    Network(Backend(baseURL: home, transport: stub, clock: clock, mapping: clock, interceptors: interceptors))
  }

  private func logins() -> [any Login] { logins(home, "ann") }

  /// Returns the user in the body, or the kind of the error, of a call that begins now.
  private func result(_ network: Network, _ call: Call<Response> = .get("/me")) -> Box<String?> {
    let result = Box<String?>(nil)
    let running = network.response(to: CallContent(call)).subscribe(
      onSuccess: { result.value = String(decoding: $0.body, as: UTF8.self) },
      onError: { result.value = "\(NetworkError.wrapping($0).kind)" })
    addTeardownBlock { running.dispose() }
    return result
  }

  /// A server whose first response to `user` is a 503 with a pause of a second.
  private func server(busyFor user: String = "ann 1") -> StubTransport {
    let isBusy = Box(true)
    return StubTransport(on: clock) { request in
      let who = request.headers["X-User"] ?? "-"
      if who == user, isBusy.update({ exchange(&$0, with: false) }) {
        return .response(status: 503, headers: ["Retry-After": "1"])
      }
      return .response(
        headers: ["Cache-Control": "max-age=600"], body: Data(who.utf8), after: .milliseconds(who == "bob 1" ? 900 : 10)
      )
    }
  }

  private func users(_ stub: StubTransport) -> [String] { stub.requests.map { $0.headers["X-User"] ?? "-" } }

  // MARK: Responses of the next user

  func test_retriedCall_receivesNoSharedOrStoredResponse_ofTheNextUser_inAnyOrder() {
    for number in 0..<2 {
      for order in 0..<7 {
        let retry = RetryInterceptor()
        let login = logins()[number]
        login.waits()
        let coalescing = CoalescingInterceptor(window: .seconds(5))
        let cache = CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let orders: [[any Interceptor]] = [
          [retry, coalescing, login.source], [retry, login.source, coalescing], [retry, cache, login.source],
          [retry, login.source, cache], [coalescing, retry, login.source], [cache, retry, login.source],
          [retry, login.source],
        ]
        let stub = server()
        let network = network(stub, orders[order])
        let ann = result(network)
        clock.advanceBy(50)
        login.signIn("bob")
        let bob = result(network)
        clock.advanceBy(5000)
        XCTAssertEqual(ann.value, "authentication", "order \(order), login \(number)")
        XCTAssertEqual(bob.value, "bob 1", "order \(order), login \(number)")
        XCTAssertEqual(users(stub), ["ann 1", "bob 1"], "order \(order), login \(number)")
      }
    }
  }

  func test_callOfAUserWhoHasSignedOut_receivesNoStoredResponse_notEvenItsOwn() {
    for number in 0..<2 {
      for order in 0..<2 {
        let login = logins()[number]
        login.waits()
        let store: any Interceptor =
          order == 0
          ? CoalescingInterceptor(window: .milliseconds(800))
          : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let network = network(server(), [RetryInterceptor(), store, login.source])
        let first = result(network)
        clock.advanceBy(850)
        let second = result(network)
        clock.advanceBy(50)
        XCTAssertEqual(second.value, "ann 1")
        login.signIn("bob")
        clock.advanceBy(5000)
        XCTAssertEqual(first.value, "authentication", "login \(number), order \(order)")
      }
    }
  }

  func test_storedResponse_standsInForNoError_ofAUserWhoHasSignedOut() {
    for number in 0..<2 {
      for isError in [false, true] {
        let login = logins()[number]
        login.waits()
        let isDown = Flag()
        let stub = StubTransport(on: clock) { request in
          guard isDown.isRaised else { return .response(body: Data((request.headers["X-User"] ?? "-").utf8)) }
          return isError ? .failure(.connection, after: .seconds(1)) : .response(status: 503, after: .seconds(1))
        }
        let cache = CacheInterceptor(ResponseCache(storingIn: nil, clock: clock), policy: .networkElseCache)
        let network = network(stub, [cache, login.source])
        let first = result(network)
        clock.advanceBy(50)
        isDown.raise()
        let second = result(network)
        clock.advanceBy(2000)
        XCTAssertEqual([first.value, second.value], ["ann 1", "ann 1"])
        let third = result(network)
        clock.advanceBy(50)
        login.signIn("bob")
        clock.advanceBy(2000)
        XCTAssertEqual(third.value, "authentication")
      }
    }
  }

  /// A source in whom another user is signed in for some looks, and who signals nothing.
  private final class Flickering: Interceptor, AccountSource {
    let looks = Box(0)
    private let away: Range<Int>
    init(_ away: Range<Int>) { self.away = away }
    var isBack: Bool { looks.value > away.upperBound }
    private var name: String {
      looks.update {
        $0 += 1
        return $0 < 0 || away.contains($0) ? "bob" : "ann"
      }
    }
    var accountState: AccountState { .user(name) }
    var accountChanges: Observable<Void>? { .never() }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      let name = name
      return next(request, with: Request.Credentials(account: name, headers: ["X-User": name]))
    }
  }

  func test_userWhoIsAnotherOneForAnInstant_givesACallNothingOfTheOther() {
    for first in 2...12 {
      for count in 1...8 {
        for order in 0..<2 {
          let source = Flickering(first..<first + count)
          let store: any Interceptor =
            order == 0
            ? CoalescingInterceptor(window: .seconds(60))
            : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
          let stub = StubTransport(on: clock) { request in
            .response(headers: ["Cache-Control": "max-age=600"], body: Data((request.headers["X-User"] ?? "-").utf8))
          }
          let network = network(stub, [store, source])
          source.looks.value = -1_000
          let bob = result(network)
          clock.advanceBy(100)
          XCTAssertEqual(bob.value, "bob")
          source.looks.value = 0
          let ann = result(network)
          clock.advanceBy(100)
          XCTAssertTrue(
            ["ann", "authentication"].contains(ann.value), "\(ann.value ?? "nothing") at \(first), \(count), \(order)")
        }
      }
    }
  }

  func test_query_showsNothingOfAUserWhoWasSignedInForAnInstant() {
    for first in 1...12 {
      for count in 1...8 {
        let source = Flickering(first..<first + count)
        let stub = StubTransport(on: clock) { request in
          .json(#"{"user":"\#(request.headers["X-User"] ?? "-")"}"#, after: .milliseconds(10))
        }
        let shown = Notes()
        let bag = DisposeBag()
        network(stub, [source]).watch(Call<Response>.get("/me").as(JSON.self)).subscribe(onNext: { snapshot in
          if source.isBack, let user = snapshot.value?["user"].string { shown.add(user) }
        }).disposed(by: bag)
        clock.advanceBy(1000)
        XCTAssertEqual(shown.all.filter { $0 == "bob" }, [], "looks \(first) to \(first + count - 1)")
      }
    }
  }

  func test_cacheOfAnAppThatForgetsUsers_givesNobodyTheResponseOfAnother() {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let network = network(server(), [RetryInterceptor(), ForgetfulCache(), login.source])
      let ann = result(network)
      clock.advanceBy(50)
      login.signIn("bob")
      let bob = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual([ann.value, bob.value], ["authentication", "bob 1"])
      login.signIn("ann")
      let again = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual(again.value, "authentication", "a stored response of bob")
      // Of nobody, everybody may have a response.
      let call = Call<Response>.get("/news")
      login.signIn(nil)
      let nobody = result(network, call)
      clock.advanceBy(5000)
      login.signIn("ann")
      let news = result(network, call)
      clock.advanceBy(5000)
      XCTAssertEqual([nobody.value, news.value], ["-", "-"])
    }
  }

  func test_cacheOfAnApp_makesItsKeyOfTheAccount_andIsRefusedAfterASignOut() throws {
    final class OwnCache: Interceptor {
      let stored = Box<[String: Response]>([:])
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .deferred { [stored] in
          let key = "\(try next.account(of: request) ?? "") \(request.url)"
          if let response = stored.value[key] { return .just(response) }
          return next(request).do(onNext: { response in
            if response.status == 200 { stored.update { $0[key] = response } }
          })
        }
      }
    }
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let cache = OwnCache()
      let stub = server()
      let network = network(stub, [RetryInterceptor(), cache, login.source])
      let first = result(network)
      clock.advanceBy(50)
      let second = result(network)
      clock.advanceBy(50)
      login.signIn("bob")
      let bob = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual([first.value, second.value, bob.value], ["authentication", "ann 1", "bob 1"])
      login.signIn("ann")
      let again = result(network)
      clock.advanceBy(5000)
      XCTAssertEqual(again.value, "ann 1")
      XCTAssertEqual(users(stub), ["ann 1", "ann 1", "bob 1"])
      XCTAssertFalse(cache.stored.value.keys.contains { $0.contains("ann") || $0.contains("bob") }, "digests")
      XCTAssertEqual(Set(cache.stored.value.keys.map { $0.prefix(64).count }), [64])
    }
  }

  /// A source that signs another user in while it is asked whether it covers a request.
  private final class Switching: Interceptor, AccountSource {
    let login: OwnLogin
    let calls = Box(0)
    private let at: Int
    private let home: URL
    init(_ home: URL, at: Int) { (login, self.at, self.home) = (OwnLogin(.user("ann"), for: home), at, home) }
    var accountState: AccountState { login.accountState }
    var accountChanges: Observable<Void>? { login.accountChanges }
    func covers(_ request: Request) -> Bool {
      if calls.update({
        $0 += 1; return $0
      }) == at {
        login.set(.user("bob"))
      }
      return request.url.host == home.host
    }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      guard covers(request), let name = login.accountState.name else { return next(request) }
      return next(request, with: Request.Credentials(account: name, headers: ["X-User": "\(name) 1"]))
    }
  }

  func test_userWhoChangesAtAnyLookOfACall_givesItNothingOfTheOther() {
    for at in 1...12 {
      for order in 0..<2 {
        let source = Switching(home, at: at)
        let store: any Interceptor =
          order == 0
          ? CoalescingInterceptor(window: .seconds(60)) : CacheInterceptor(ResponseCache(storingIn: nil, clock: clock))
        let stub = server(busyFor: "none")
        let network = network(stub, [store, source])
        // Bob's response is stored, and Ann is back.
        source.calls.value = -1_000_000
        source.login.set(.user("bob"))
        let bob = result(network)
        clock.advanceBy(1000)
        XCTAssertEqual(bob.value, "bob 1")
        source.login.set(.user("ann"))
        source.calls.value = 0
        let ann = result(network)
        clock.advanceBy(1000)
        XCTAssertTrue(
          ["ann 1", "authentication"].contains(ann.value), "\(ann.value ?? "nothing") at look \(at), \(order)")
      }
    }
  }

  // MARK: Credentials of another user

  func test_userWhoIsBack_sendsNothingWithTheCredentialsOfAnother() {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = server()
      let network = network(stub, [RetryInterceptor(), login.source, LimitInterceptor(maxPerHost: 1)])
      let ann = result(network, Call(.put, "/note", task: .data(Data("secret of ann".utf8))))
      clock.advanceBy(500)
      login.signIn("bob")
      let bob = result(network, .get("/slow"))
      // The retry would take Bob's token, and wait for his request.
      clock.advanceBy(700)
      login.signIn("ann")
      clock.advanceBy(5000)
      XCTAssertEqual(ann.value, "authentication")
      XCTAssertEqual(bob.value, "bob 1")
      XCTAssertEqual(stub.requests.filter { $0.url.path == "/note" }.map { $0.headers["X-User"] }, ["ann 1"])
    }
  }

  func test_sourceThatPassesNoCredentials_sendsNothingOfAUserWhoIsBackThen() {
    let login = OwnLogin(.user("ann"), for: home)
    let stub = server(busyFor: "none")
    let pause = Pause { _ in .milliseconds(100) }
    let ann = result(
      network(stub, [pause, login, pause]), Call(.post, "/note", task: .data(Data("secret of ann".utf8))))
    clock.advanceBy(50)
    login.set(.nobody)
    clock.advanceBy(100)
    login.set(.user("ann"))
    clock.advanceBy(1000)
    XCTAssertEqual(ann.value, "authentication")
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_sourceThatIsATransport_isFollowed() {
    // Its credentials are where no comparison finds them, such as in a certificate.
    final class Certificate: Transport, AccountSource {
      let user = BehaviorRelay(value: "ann")
      let stub: StubTransport
      init(_ stub: StubTransport) { self.stub = stub }
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
      func covers(_ request: Request) -> Bool { true }
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable {
        var request = request
        request.headers["X-User"] = "\(user.value) 1"
        return stub.send(request, progress: progress, completion: completion)
      }
    }
    for isBack in [false, true] {
      let transport = Certificate(server())
      let network = Network(
        Backend(
          baseURL: home, transport: transport, clock: clock, mapping: clock, interceptors: [RetryInterceptor()]))
      let ann = result(network)
      clock.advanceBy(500)
      transport.user.accept("bob")
      if isBack { transport.user.accept("ann") }
      clock.advanceBy(5000)
      XCTAssertEqual(ann.value, isBack ? "ann 1" : "authentication")
      XCTAssertEqual(users(transport.stub), isBack ? ["ann 1", "ann 1"] : ["ann 1"])
    }
  }

  func test_unknownUser_receivesNoResponseOfAKnownOne() {
    let login = OwnLogin(.user("ann"), for: home)
    let network = network(server(busyFor: "none"), [ForgetfulCache(), login])
    let ann = result(network)
    clock.advanceBy(100)
    XCTAssertEqual(ann.value, "ann 1")
    login.set(.unknown)
    let unknown = result(network)
    clock.advanceBy(100)
    XCTAssertEqual(unknown.value, "authentication")
  }

  /// Sends requests for another host to the host of the login.
  private struct Alias: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      if let url = URL(string: "http://h" + request.url.path) { request.url = url }
      return next(request)
    }
  }

  func test_entryOfNobody_carriesNoCredentials_ofASourceThatDidNotCoverIt() throws {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let (outbox, states) = try outbox(network(stub, [Alias(), login.source]))
      outbox.start()
      try outbox.send(Call<Response>.post("http://alias/note"))
      clock.advanceBy(10_000)
      XCTAssertEqual(users(stub), [], "login \(number)")
      XCTAssertEqual(states.value, ["- account"])
    }
  }

  func test_upload_isSentAsItsUser_orNotAtAll_whenTheUserChangesAtAnyLook() throws {
    for at in 1...40 {
      let source = Switching(home, at: at)
      let stub = StubTransport(on: clock) { request in
        switch request.method {
        case .post: .response(status: 201, headers: ["Location": "/up/1", "Tus-Resumable": "1.0.0"])
        case .head: .response(headers: ["Upload-Offset": "0", "Upload-Length": "10", "Tus-Resumable": "1.0.0"])
        default: .response(status: 204, headers: ["Upload-Offset": "10", "Tus-Resumable": "1.0.0"])
        }
      }
      try write(10)
      let upload = network(stub, [source]).transfer(film, to: Call<Response>.post("/files"), by: .tus).subscribe(
        onError: { _ in })
      clock.advanceBy(10_000)
      upload.dispose()
      let users = users(stub)
      XCTAssertEqual(Set(users).count, users.isEmpty ? 0 : 1, "at look \(at): \(users)")
      try removeNotes()
    }
  }

  func test_outboxEntry_isNotSentWithTheCredentialsOfAnother_whoseUserIsBackThen() throws {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let pause = Pause { _ in .milliseconds(100) }
      let network = network(stub, [pause, login.source, pause])
      let (outbox, states) = try outbox(network)
      outbox.start()
      try outbox.send(Call<Response>.post("/note"))
      clock.advanceBy(50)
      login.signIn("bob")
      clock.advanceBy(100)
      login.signIn("ann")
      clock.advanceBy(200)
      XCTAssertEqual(users(stub).filter { $0 != "ann 1" }, [])
      clock.advanceBy(200_000)
      XCTAssertEqual(users(stub), ["ann 1"])
      XCTAssertEqual(states.value, [])
    }
  }

  private func outbox(_ network: Network) throws -> (outbox: Outbox, states: Box<[String]>) {
    let states = Box<[String]>([])
    let outbox = try Outbox(
      storingIn: folder.appending(path: UUID().uuidString), on: network, reachability: TestReachability())
    _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.account ?? "-") \($0.state)" }
    })
    return (outbox, states)
  }

  private func logins(_ url: URL, _ name: String?) -> [any Login] {
    [OwnKind(login: OwnLogin(name.map { .user($0) } ?? .nobody, for: url)), TokenKind(url, name)]
  }

  func test_outboxEntry_isSentAsItsUser_orNotAtAll_whenTheUserChangesAtAnyLook() throws {
    for at in 1...10 {
      let source = Switching(home, at: at)
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let (outbox, states) = try outbox(network(stub, [source]))
      source.calls.value = -1_000_000
      try outbox.send(Call<Response>.post("/note"))
      source.calls.value = 0
      outbox.start()
      clock.advanceBy(10_000)
      XCTAssertEqual(users(stub).filter { $0 != "ann 1" }, [], "at look \(at)")
      XCTAssertEqual(states.value, users(stub).isEmpty ? ["ann account"] : [], "at look \(at)")
    }
  }

  func test_signerThatWaits_signsNothingWithTheKeyOfAnother() async throws {
    final class Keys: Signer, AccountSource {
      let user = BehaviorRelay(value: "ann")
      let isWaiting = Flag()
      let mayContinue = AsyncStream<Void>.makeStream()
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
      func covers(_ request: Request) -> Bool { true }
      func sign(_ content: SignedContent) async throws -> RequestSignature {
        isWaiting.raise()
        for await _ in mayContinue.stream { break }
        let name = user.value
        isWaiting.raise()
        user.accept("ann")
        return RequestSignature(headers: ["X-User": name], account: name)
      }
    }
    let keys = Keys()
    let stub = StubTransport { _ in .response() }
    let network = Network(Backend(baseURL: home, transport: stub, signer: keys))
    let call = Task { try await network.fetch(Call<Response>.post("/note")) }
    XCTAssertTrue(holds { keys.isWaiting.isRaised })
    keys.user.accept("bob")
    keys.mayContinue.continuation.yield()
    do {
      _ = try await call.value
      XCTFail("sent as bob")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .authentication)
    }
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_sourceThatPassesAnotherAccountThanItNames_isRefused_withTheRemedy() {
    final class Misnamed: Interceptor, AccountSource {
      var accountState: AccountState { .user("ann") }
      var accountChanges: Observable<Void>? { nil }
      func covers(_ request: Request) -> Bool { true }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request, with: Request.Credentials(account: "key-s3cret", headers: ["X-Key": "key-s3cret"]))
      }
    }
    let stub = server()
    let seen = Box<NetworkError?>(nil)
    _ = network(stub, [Misnamed()]).response(to: CallContent(Call<Response>.get("/me"))).subscribe(
      onError: { seen.value = NetworkError.wrapping($0) })
    clock.start()
    XCTAssertEqual(seen.value?.kind, .authentication)
    XCTAssertEqual(seen.value?.reason.contains("Misnamed has passed credentials of another account"), true)
    XCTAssertEqual(seen.value?.reason.contains("s3cret"), false)
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_interceptorThatIsNotASource_mayPassCredentialsOfAConstantUser() {
    let stub = server(busyFor: "none")
    struct Key: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request, with: Request.Credentials(account: "app", headers: ["X-User": "app"]))
      }
    }
    let stamp = AsyncInterceptor { request, next in
      try await next(request, with: Request.Credentials(account: "stamp", headers: ["X-Stamp": "s"]))
    }
    let signed = result(network(stub, [Key()]))
    clock.start()
    XCTAssertEqual(signed.value, "app")
    let stamped = result(Network(Backend(baseURL: home, transport: stub, mapping: clock, interceptors: [stamp])))
    XCTAssertTrue(
      holds {
        clock.start()
        return stamped.value != nil
      })
    XCTAssertEqual(stub.requests.last?.headers["X-Stamp"], "s")
    XCTAssertEqual(stub.requests.last?.originBoundHeaders["X-Stamp"], "s")
  }

  // MARK: Users who become known late

  func test_entryWhoseUserIsStillUnknownAfterTheStoreWasRead_doesNotWaitForAnotherAccount() throws {
    let folder = folder.appending(path: UUID().uuidString)
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let known = network(stub, [OwnLogin(.user("ann"), for: home)])
    try Outbox(storingIn: folder, on: known, reachability: TestReachability()).send(Call<Response>.post("/note"))
    let login = OwnLogin(.unknown, for: home)
    let states = Box<[String]>([])
    let outbox = try Outbox(storingIn: folder, on: network(stub, [login]), reachability: TestReachability())
    _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.state)" } })
    outbox.start()
    clock.advanceBy(1)
    XCTAssertTrue(holds { states.value == ["retry"] }, "\(states.value)")
    login.set(.user("ann"))
    clock.advanceBy(1)
    XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, ["ann 1"])
    XCTAssertEqual(states.value, [])
  }

  /// A login whose store never responds.
  private final class Silent: Interceptor, AccountSource {
    let login: OwnLogin
    let loads = Counter()
    private let fails: Bool
    init(_ home: URL, fails: Bool = false) { (login, self.fails) = (OwnLogin(.unknown, for: home), fails) }
    var accountState: AccountState { login.accountState }
    var accountChanges: Observable<Void>? { login.accountChanges }
    func covers(_ request: Request) -> Bool { login.covers(request) }
    func loadAccount() async throws {
      loads.next()
      if fails { throw POSIXError(.EAGAIN) }
      for await _ in AsyncStream<Void>.makeStream().stream {}
    }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      login.intercept(request, next: next)
    }
  }

  func test_loadAccountThatNeverReturns_endsWithTheSignIn() throws {
    for fails in [false, true] {
      let folder = folder.appending(path: UUID().uuidString)
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let known = network(stub, [OwnLogin(.user("ann"), for: home)])
      try Outbox(storingIn: folder, on: known, reachability: TestReachability()).send(Call<Response>.post("/note"))
      let login = Silent(home, fails: fails)
      let states = Box<[String]>([])
      let outbox = try Outbox(storingIn: folder, on: network(stub, [login]), reachability: TestReachability())
      _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.state)" } })
      outbox.start()
      clock.advanceBy(1)
      XCTAssertTrue(holds { login.loads.value == 1 && states.value == [fails ? "retry" : "sending"] })
      XCTAssertEqual(stub.requests.count, 0)
      login.login.set(.user("ann"))
      // Far below the limit of the attempt, and below the pause.
      clock.advanceBy(20)
      XCTAssertEqual(states.value, [])
      XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, ["ann 1"])
    }
  }

  func test_loadAccountThatNeverReturns_endsAtTheLimitOfTheAttempt() throws {
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let network = network(stub, [Silent(home)]).with { $0.timeouts.attempt = .seconds(7) }
    let seen = Box<NetworkError?>(nil)
    let request = try network.builder.request(for: CallContent(Call<Response>.post("/note")))
    let waiting = network.knownAccounts(of: request).subscribe(onError: { seen.value = NetworkError.wrapping($0) })
    clock.advanceBy(6999)
    XCTAssertNil(seen.value)
    clock.advanceBy(2)
    XCTAssertEqual(seen.value?.kind, .timeout)
    XCTAssertEqual(seen.value?.reason.contains("loadAccount() of Silent has not returned within 7"), true)
    waiting.dispose()
  }
}
