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

/// Networks that share interceptors, logins that wrap others, and contexts of other calls.
final class CopiedNetworkTests: CarriedAccountTestCase {
  private func token(_ name: String?) -> AuthenticationInterceptor {
    AuthenticationInterceptor(for: [home], store: MemoryTokenStore(name.map { Token(access: $0, account: $0) })) {
      _ -> Single<Token> in .never()
    }
  }

  private func echo() -> StubTransport {
    StubTransport(on: clock) { request in
      .response(
        headers: ["Cache-Control": "max-age=600"],
        body: Data((request.headers["Authorization"] ?? request.headers["X-User"] ?? "-").utf8),
        after: .milliseconds(100))
    }
  }

  /// A cache of an app that makes its own responses of what it has stored.
  private final class OwnCache: Interceptor {
    let stored = Box<[String: Data]>([:])
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      .deferred { [stored] in
        let key = "\(try next.account(of: request) ?? "") \(request.url)"
        if let body = stored.value[key] { return .just(Response(request: request, status: 200, body: body)) }
        return next(request).do(onNext: { response in stored.update { $0[key] = response.body } })
      }
    }
  }

  func test_cacheOfAnApp_separatesUsers_beforeAndBehindALogin() {
    for isBehind in [false, true] {
      let (login, cache) = (token("ann"), OwnCache())
      login.set(Token(access: "ann", account: "ann"))
      let network = network(echo(), isBehind ? [login, cache] : [cache, login])
      let ann = result(network)
      clock.advanceBy(200)
      login.set(Token(access: "bob", account: "bob"))
      let bob = result(network)
      clock.advanceBy(200)
      login.set(nil)
      let nobody = result(network)
      clock.advanceBy(200)
      XCTAssertEqual([ann.value, bob.value, nobody.value], ["Bearer ann", "Bearer bob", "-"])
      XCTAssertEqual(cache.stored.value.count, 3)
    }
  }

  func test_callThatWaits_failsIfEitherOfItsUsersChanges() {
    for changed in 0..<2 {
      let logins = [OwnLogin(.user("ann"), for: home), OwnLogin(.user("org"), for: home)]
      let stub = echo()
      let result = result(network(stub, logins + [Pause { _ in .seconds(1) }]))
      clock.advanceBy(500)
      logins[changed].set(.user("bob"))
      clock.advanceBy(1000)
      XCTAssertEqual(result.value, "authentication", "login \(changed)")
      XCTAssertEqual(stub.requests.count, 0, "login \(changed)")
    }
  }

  func test_copyWithAnotherLogin_sharesNoQuery() {
    let logins = [OwnLogin(.user("ann"), for: home), OwnLogin(.user("bob"), for: home)]
    let stub = echo()
    let first = network(stub, [logins[0]])
    let shown = Notes()
    for network in [first, first.with { $0.interceptors = [logins[1]] }] {
      let screen = network.watch(Call<Response>.get("/me").as(String.self)).subscribe(onNext: { snapshot in
        if let value = snapshot.value { shown.add(value) }
      })
      addTeardownBlock { screen.dispose() }
    }
    clock.advanceBy(500)
    XCTAssertEqual(shown.all.sorted(), ["ann 1", "bob 1"])
    XCTAssertEqual(stub.requests.count, 2)
  }

  func test_cacheOfAnApp_separatesUsersWhoWaitForTheirChallenge() {
    let cache = OwnCache()
    let stub = echo()
    let names = ["ann", "bob"].map { name in
      network(stub, [cache, ChallengeInterceptor(for: [home], user: name, password: "p")])
    }
    for network in names { _ = result(network) }
    clock.advanceBy(200)
    XCTAssertEqual(cache.stored.value.count, 2)
  }

  func test_usersWhoWaitForTheirChallenge_shareNoRequest() {
    let shared = CoalescingInterceptor()
    let stub = StubTransport(on: clock) { request in
      guard let field = request.headers["Authorization"] else {
        return .response(
          status: 401, headers: ["WWW-Authenticate": #"Digest realm="a", nonce="n", algorithm=MD5, qop="auth""#],
          after: .milliseconds(100))
      }
      return .response(body: Data((field.contains(#"username="ann""#) ? "ann" : "bob").utf8))
    }
    let ann = network(stub, [shared, ChallengeInterceptor(for: [home], user: "ann", password: "p")])
    let bob = ann.with {
      $0.interceptors = [shared, ChallengeInterceptor(for: [home], user: "bob", password: "p")]
    }
    let results = [result(ann), result(bob)]
    clock.advanceBy(1000)
    XCTAssertEqual(results.map(\.value), ["ann", "bob"])
  }

  func test_sharedRequestThatHasBecomeThatOfAUser_reachesNobodyElse() {
    for form in 0..<3 {
      let (shared, login) = (CoalescingInterceptor(), OwnLogin(.nobody, for: home))
      let pause = Pause { _ in .milliseconds(100) }
      let stub = echo()
      let first = network(stub, [shared, pause, login])
      let other = first.with {
        $0.interceptors = form == 1 ? [shared] : [shared, OwnLogin(.nobody, for: home)]
      }
      let ann = result(first)
      clock.advanceBy(10)
      let joined = form == 0 ? nil : result(other)
      login.set(.user("ann"))
      clock.advanceBy(110)
      login.set(.nobody)
      // A call of nobody, while the request of a call of nobody is in flight as that of ann.
      let late = form == 0 ? result(first) : nil
      clock.advanceBy(1000)
      XCTAssertEqual(ann.value, "ann 1")
      if let joined { XCTAssertEqual(joined.value, "authentication", "form \(form)") }
      if let late { XCTAssertEqual(late.value, "-") }
    }
  }

  func test_contextOfAnotherRequest_bringsNotItsUsers() async throws {
    let login = OwnLogin(.user("ann"), for: home)
    let stub = StubTransport { request in .response(body: Data((request.headers["X-User"] ?? "-").utf8)) }
    let network = Network(Backend(baseURL: home, transport: stub, interceptors: [login]))
    let first = try await network.response(Call<Response>.get("/a"))
    login.set(.user("bob"))
    var call = Call<Response>.get("/b")
    call.context = first.request.context
    let second = try await network.response(call)
    XCTAssertEqual(String(decoding: second.body, as: UTF8.self), "bob 1")
  }

  func test_storedResponse_isNotFoundForAnotherUser_behindALogin() async throws {
    let login = token(nil)
    let cache = CacheInterceptor(ResponseCache(storingIn: nil))
    let stub = StubTransport { request in
      .response(headers: ["Cache-Control": "max-age=600"], body: Data((request.headers["Authorization"] ?? "-").utf8))
    }
    let network = Network(Backend(baseURL: home, transport: stub, interceptors: [login, cache]))
    let call = Call<Response>.get("/me")
    _ = try await network.response(call)
    var stored = try await call.cachedResponse(on: network).value
    XCTAssertEqual(stored?.body, Data("-".utf8), "of nobody")
    for name in ["ann", "bob"] {
      login.set(Token(access: name, account: name))
      stored = try await call.cachedResponse(on: network).value
      XCTAssertNil(stored)
      XCTAssertThrowsError(
        try call.storeCachedResponse(Response(request: Request(url: home), status: 200), on: network))
      let mine = try await network.response(call)
      XCTAssertEqual(mine.body, Data("Bearer \(name)".utf8))
      let shown = Notes()
      let watch = network.watch(call.as(String.self)).subscribe(onNext: { snapshot in
        if let value = snapshot.value { shown.add(value) }
      })
      XCTAssertTrue(holds { !shown.all.isEmpty })
      XCTAssertEqual(Set(shown.all), ["Bearer \(name)"])
      watch.dispose()
    }
  }

  /// A source that wraps a login.
  private final class Wrapped: Interceptor, AccountSource {
    let inner: AuthenticationInterceptor
    init(_ inner: AuthenticationInterceptor) { self.inner = inner }
    var accountState: AccountState { inner.accountState }
    var accountChanges: Observable<Void>? { inner.accountChanges }
    func covers(_ request: Request) -> Bool { inner.covers(request) }
    func loadAccount() async throws { try await inner.loadAccount() }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      inner.intercept(request, next: next)
    }
  }

  func test_loginInsideAnotherSource_sendsEntries() throws {
    let login = token("ann")
    login.set(Token(access: "ann", account: "ann"))
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let (outbox, states) = try outbox(network(stub, [Wrapped(login)]))
    outbox.start()
    try outbox.send(Call<Response>.post("/note"))
    clock.advanceBy(1000)
    XCTAssertEqual(stub.requests.map { $0.headers["Authorization"] }, ["Bearer ann"])
    XCTAssertEqual(states.value, [])
  }

  func test_uploadWhosePartsAreOfAnotherSource_isSent() throws {
    /// A source of the URLs of uploads only.
    final class Parts: Interceptor, AccountSource {
      var accountState: AccountState { .user("ann") }
      var accountChanges: Observable<Void>? { .never() }
      func covers(_ request: Request) -> Bool { request.url.path.hasPrefix("/up/") }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        guard covers(request) else { return next(request) }
        return next(request, with: Request.Credentials(account: "ann", headers: ["X-User": "ann"]))
      }
    }
    let stub = StubTransport(on: clock) { request in
      request.method == .post
        ? .response(status: 201, headers: ["Location": "/up/1", "Tus-Resumable": "1.0.0"])
        : .response(status: 204, headers: ["Upload-Offset": "10", "Tus-Resumable": "1.0.0"])
    }
    try write(10)
    let ends = Notes()
    let upload = network(stub, [Parts()]).transfer(film, to: Call<Response>.post("/files"), by: .tus).subscribe(
      onError: { ends.add("\(NetworkError.wrapping($0).kind)") }, onCompleted: { ends.add("completed") })
    clock.advanceBy(10_000)
    upload.dispose()
    XCTAssertEqual(ends.all, ["completed"])
    XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, [nil, "ann"])
    try removeNotes()
  }

  func test_responseSignedByAnotherUserThanTheKeySays_isNotReused() async throws {
    /// A signer that is not a source, whose user changes while it signs.
    final class Keys: Signer {
      let user = Box("ann")
      var account: String? { user.value }
      func sign(_ content: ContentToSign) -> RequestSignature {
        if content.request.headers["X-Switch"] == nil { user.value = "bob" }
        return RequestSignature(headers: ["X-User": user.value])
      }
    }
    let keys = Keys()
    let stub = StubTransport { request in .response(body: Data((request.headers["X-User"] ?? "-").utf8)) }
    let network = Network(
      Backend(
        baseURL: home, transport: stub, signer: keys, interceptors: [CoalescingInterceptor(window: .seconds(60))]))
    let first = try await network.response(Call<Response>.get("/me"))
    XCTAssertEqual(String(decoding: first.body, as: UTF8.self), "bob")
    keys.user.value = "ann"
    _ = try await network.response(Call<Response>.get("/me"))
    XCTAssertEqual(stub.requests.count, 2)
  }

  func test_entryOnDisk_isNotUsed_ifTheAccountThatTheAppStatesChangesDuringTheSearch() async throws {
    let place = folder.appending(path: "cache")
    let stub = StubTransport { _ in .response(headers: ["Cache-Control": "max-age=600"], body: Data("new".utf8)) }
    func network(_ account: @escaping @Sendable (Request) -> String?) -> Network {
      let cache = CacheInterceptor(ResponseCache(storingIn: place), account: account)
      return Network(Backend(baseURL: home, transport: stub, interceptors: [cache]))
    }
    // A directory is used by one cache at a time, and the second network looks only until its response has arrived.
    weak var former: ResponseCache?
    func settle(_ network: Network) {
      guard let cache = (network.backend.interceptors[0] as? CacheInterceptor)?.cache else { return }
      former = cache
      // The write, the file, its name, the directory.
      for _ in 0..<4 {
        cache.queue.sync {}
        cache.writing.sync {}
      }
    }
    do {
      let bob = network { _ in "bob" }
      try Call<Response>.get("/me").storeCachedResponse(
        Response(
          request: Request(url: home), status: 200, headers: ["Cache-Control": "max-age=600"], body: Data("bob's".utf8)),
        on: bob)
      settle(bob)
    }
    XCTAssertTrue(holds { former == nil })
    let looks = Counter()
    do {
      let switching = network { _ in looks.next() == 1 ? "bob" : "ann" }
      let response = try await switching.response(Call<Response>.get("/me"))
      XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "new")
      settle(switching)
    }
    XCTAssertTrue(holds { former == nil })
    let own = try await network { _ in "bob" }.response(Call<Response>.get("/me"))
    XCTAssertEqual(String(decoding: own.body, as: UTF8.self), "bob's", "it is on disk")
  }

  func test_stateOfAUser_showsNoToken() {
    let login = token(nil)
    login.set(Token(access: "s3cret"))
    var text = "\(login.accountState)"
    dump(login.accountState, to: &text)
    XCTAssertFalse(text.contains("s3cret"), text)
    XCTAssertEqual("\(AccountState.user("ann"))", "ann")
  }
}
