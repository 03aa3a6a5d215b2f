import Foundation
import HTTPTransport
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Requests whose URL another origin has chosen: by a link, by a redirect, or by the `Location` of an upload. They have no user,
/// and their responses say nothing about one.
final class ForeignAccountTests: UploadTestCase {
  private let home = URL(string: "http://h") ?? URL(filePath: "/")
  private let clock = TestScheduler(resolution: .milliseconds(1))

  /// A login of an app that knows nothing of foreign requests.
  private final class Session: Interceptor, AccountSource {
    private let passes: Bool
    private let home: URL
    init(_ home: URL, passes: Bool) { (self.home, self.passes) = (home, passes) }
    var accountState: AccountState { .user("ann") }
    var accountChanges: Observable<Void>? { nil }
    func covers(_ request: Request) -> Bool { request.url.host == home.host }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      guard covers(request) else { return next(request) }
      let credentials = Request.Credentials(account: "ann", headers: ["X-Session": "ann"])
      guard !passes else { return next(request, with: credentials) }
      var request = request
      request.headers["X-Session"] = "ann"
      return next(request)
    }
  }

  /// An interceptor that is not a source, and adds a secret to each request.
  private struct Unnamed: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      request.headers["X-Session"] = "ann"
      return next(request)
    }
  }

  /// Page 1 of A links to B, whose page links to `A/me`, the private resource of Ann.
  private func server() -> StubTransport {
    StubTransport(on: clock) { request in
      var fields: HTTPHeaders = ["Content-Type": "application/json", "Cache-Control": "max-age=600"]
      switch (request.url.host, request.url.path) {
      case ("h", "/1"): fields["Link"] = "<http://b/2>; rel=next"
      case ("b", "/2"): fields["Link"] = "<http://h/me>; rel=next"
      default: break
      }
      let who = request.headers["X-Session"] ?? request.headers["Authorization"] ?? "nobody"
      return .response(headers: fields, body: Data(#"["\#(who)"]"#.utf8))
    }
  }

  private func result(_ network: Network, _ call: Call<Response> = .get("/me")) -> String {
    let result = Box("nothing")
    let running = network.response(to: CallContent(call)).subscribe(
      onSuccess: { result.value = "\($0.status) \(String(decoding: $0.body, as: UTF8.self)) \($0.source.kind)" },
      onError: { result.value = "\(NetworkError.wrapping($0).kind)" })
    clock.advanceBy(10_000)
    running.dispose()
    return result.value
  }

  func test_linkOfAnotherOrigin_receivesNoPrivateEntry_andStoresNoneForTheUser() {
    let token = AuthenticationInterceptor(for: [home], store: MemoryTokenStore(Token(access: "ann", account: "ann"))) {
      _ -> Single<Token> in .never()
    }
    for form in 0..<5 {
      for isBehind in [false, true] {
        for isCached in [false, true] {
          let logins: [any Interceptor] = [
            Session(home, passes: true), Session(home, passes: false), token, token, Unnamed(),
          ]
          let login = logins[form]
          let store = ResponseCache(storingIn: nil, clock: clock)
          let cache = form == 3 ? CacheInterceptor(store, account: { _ in "ann" }) : CacheInterceptor(store)
          let interceptors: [any Interceptor] = isBehind ? [cache, login] : [login, cache]
          let stub = server()
          let network = Network(
            Backend(baseURL: home, transport: stub, clock: clock, mapping: clock, interceptors: interceptors))
          let name = "form \(form), login \(isBehind ? "behind" : "before") the cache, \(isCached)"
          let own = form < 2 || form == 4 ? #"200 ["ann"] "# : #"200 ["Bearer ann"] "#
          if isCached { XCTAssertEqual(result(network), own + "network", name) }
          let pages = Notes()
          let walk = network.pages(.get("/1"), of: String.self).subscribe(
            onNext: { for item in $0.items { pages.add(item) } }, onError: { pages.add("\($0)") })
          clock.advanceBy(10_000)
          walk.dispose()
          XCTAssertEqual(pages.all.dropFirst(), ["nobody", "nobody"], name)
          XCTAssertTrue(result(network).hasPrefix(own), name)
          let foreign = stub.requests.filter { $0.url.path != "/1" && $0.isForeign }
          XCTAssertTrue(foreign.allSatisfy { $0.credentials.isEmpty && $0.headers["X-Session"] == nil }, name)
        }
      }
    }
  }

  func test_foreignRequest_carriesNoCredentials_thatAnInterceptorPasses() {
    let stub = server()
    let network = Network(
      Backend(
        baseURL: home, transport: stub, clock: clock, mapping: clock,
        interceptors: [CoalescingInterceptor(window: .seconds(600)), Session(home, passes: true)]))
    XCTAssertEqual(result(network), #"200 ["ann"] network"#)
    var call = CallContent(Call<Response>.get("http://h/me"))
    call.isForeign = true
    let seen = Notes()
    let running = network.response(to: call).subscribe(
      onSuccess: { seen.add(String(decoding: $0.body, as: UTF8.self)) }, onError: { seen.add("\($0)") })
    clock.advanceBy(10)
    running.dispose()
    XCTAssertEqual(seen.all, [#"["nobody"]"#], "not shared with the user")
    XCTAssertEqual(stub.requests.last?.credentials.count, 0)
  }

  func test_foreignRequest_receivesNoPrivateResponse_ofACacheThatForgetsUsers() {
    let stub = server()
    let network = Network(
      Backend(
        baseURL: home, transport: stub, clock: clock, mapping: clock,
        interceptors: [ForgetfulCache(), Session(home, passes: true)]))
    XCTAssertEqual(result(network), #"200 ["ann"] network"#)
    var call = CallContent(Call<Response>.get("http://h/me"))
    call.isForeign = true
    let seen = Notes()
    let running = network.response(to: call).subscribe(
      onSuccess: { seen.add(String(decoding: $0.body, as: UTF8.self)) },
      onError: { seen.add("\(NetworkError.wrapping($0).kind)") })
    clock.advanceBy(10)
    running.dispose()
    XCTAssertEqual(seen.all, ["authentication"])
  }

  func test_linkOfAnotherOrigin_receivesNoResponseOfItsOwnCall_fromACacheWithOneKey() {
    final class OneKey: Interceptor {
      private let stored = Box<Response?>(nil)
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .deferred { [stored] in
          if let response = stored.value { return .just(response) }
          return next(request).do(onNext: { stored.value = $0 })
        }
      }
    }
    let stub = server()
    let network = Network(
      Backend(
        baseURL: home, transport: stub, clock: clock, mapping: clock,
        interceptors: [OneKey(), Session(home, passes: true)]))
    let seen = Notes()
    let walk = network.pages(.get("/1"), of: String.self).subscribe(
      onNext: { for item in $0.items { seen.add(item) } },
      onError: { seen.add("\(NetworkError.wrapping($0).kind)") })
    clock.advanceBy(10_000)
    walk.dispose()
    XCTAssertEqual(seen.all, ["ann", "authentication"])
    XCTAssertEqual(stub.requests.map(\.url.path), ["/1"])
  }

  func test_foreignRequest_hasNoKeyOfAUser_inACacheOfAnApp() {
    final class Keys: Interceptor {
      let seen = Notes()
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        .deferred { [seen] in
          seen.add(try next.account(of: request) == nil ? "nobody" : "ann")
          return next(request)
        }
      }
    }
    let keys = Keys()
    let network = Network(
      Backend(
        baseURL: home, transport: server(), clock: clock, mapping: clock,
        interceptors: [keys, Session(home, passes: true)]))
    let walk = network.pages(.get("/1"), of: String.self).subscribe(onNext: { _ in })
    clock.advanceBy(10_000)
    walk.dispose()
    XCTAssertEqual(keys.seen.all, ["ann", "nobody", "nobody"])
  }

  // MARK: Redirects that leave and return

  /// `/me` redirects to B and back the first time, so that the request of that time has no credentials when it returns.
  private func bouncing(_ status: Int, policy: CachePolicy, for login: any Interceptor) -> (StubTransport, Network) {
    let visits = Counter()
    let stub = StubTransport(on: clock) { request in
      let isFirst = visits.next() == 1
      let who = isFirst ? "nobody" : request.headers["Authorization"] ?? request.headers["X-Session"] ?? "nobody"
      let redirects = ["http://h/me", "http://b/check"].compactMap { URL(string: $0) }
        .map { Response.Redirect(url: $0, status: 302, headers: [:]) }
      return .response(
        status: isFirst ? status : 200,
        headers: [
          "Cache-Control": "max-age=600",
          "WWW-Authenticate": #"Digest realm="a", nonce="n", algorithm=MD5, qop="auth""#,
        ],
        body: Data(who.utf8), redirects: isFirst ? redirects : [])
    }
    return (
      stub,
      Network(
        Backend(
          baseURL: home, transport: stub, clock: clock, mapping: clock,
          interceptors: [CacheInterceptor(ResponseCache(storingIn: nil, clock: clock), policy: policy), login]))
    )
  }

  func test_responseBehindAnotherOrigin_isNotStored() {
    for policy in [CachePolicy.http, .networkElseCache, .cacheFirst(maxAge: .seconds(600))] {
      for login in [Session(home, passes: true), Session(home, passes: false)] {
        let (_, network) = bouncing(200, policy: policy, for: login)
        XCTAssertEqual(result(network), "200 nobody network")
        XCTAssertEqual(result(network), "200 ann network", "\(policy)")
      }
    }
  }

  func test_responseBehindAnotherOrigin_isNotSharedLater() {
    let (_, network) = bouncing(200, policy: .networkOnly, for: Session(home, passes: true))
    let sharing = network.with { $0.interceptors[0] = CoalescingInterceptor(window: .seconds(60)) }
    XCTAssertEqual(result(sharing), "200 nobody network")
    XCTAssertEqual(result(sharing), "200 ann network")
  }

  func test_responseThatEndsAtAnotherOrigin_isStored_ifThePolicyAsksForIt() {
    let isDown = Flag()
    let stub = StubTransport(on: clock) { request in
      guard !isDown.isRaised else { return .failure(.connection) }
      return .response(
        body: Data("page".utf8),
        redirects: [Response.Redirect(url: request.url, status: 301, headers: [:])])
    }
    // As after a redirect from http to https.
    struct Moved: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).map { response in
          var response = response
          if let url = URL(string: "https://h/me") { response.url = url }
          return response
        }
      }
    }
    let network = Network(
      Backend(
        baseURL: home, transport: stub, clock: clock, mapping: clock,
        interceptors: [
          CacheInterceptor(ResponseCache(storingIn: nil, clock: clock), policy: .networkElseCache), Moved(),
        ]))
    XCTAssertEqual(result(network), "200 page network")
    isDown.raise()
    XCTAssertEqual(result(network), "200 page cache")
  }

  func test_rejectionBehindAnotherOrigin_refreshesNothing_andRespondsToNoChallenge() {
    let refreshes = Counter()
    let token = AuthenticationInterceptor(for: [home], store: MemoryTokenStore(Token(access: "ann", account: "ann"))) {
      _ -> Single<Token> in
      refreshes.next()
      return .just(Token(access: "new", account: "ann"))
    }
    let (tokens, network) = bouncing(401, policy: .http, for: token)
    XCTAssertEqual(result(network), "401 nobody network")
    XCTAssertEqual([refreshes.value, tokens.requests.count], [0, 1])
    let challenge = ChallengeInterceptor(for: [home], user: "ann", password: "p")
    let (challenges, other) = bouncing(401, policy: .http, for: challenge)
    XCTAssertEqual(result(other), "401 nobody network")
    XCTAssertEqual(challenges.requests.count, 1)
  }

  // MARK: Cookies

  func test_writeThatAnotherOriginHasChosen_carriesNoCookies() throws {
    let jar = CookieJar()
    let b = try TestServer { request in
      request.path == "/session"
        ? .status(204).header("Set-Cookie", "session=ann; HttpOnly; SameSite=Strict") : .status(204)
    }
    let a = try TestServer { request in
      .status(201).header("Location", "\(b.url)/accounts/me").header("Tus-Resumable", "1.0.0")
    }
    let network = Network(Backend(baseURL: a.url, options: .init(cookies: jar)))
    let signedIn = expectation(description: "signed in")
    let signIn = network.response(to: CallContent(Call<Response>.get("\(b.url)/session"))).subscribe(onSuccess: { _ in
      signedIn.fulfill()
    })
    wait(for: [signedIn], timeout: 30)
    signIn.dispose()
    XCTAssertNotNil(jar.header(for: b.url))
    try write(3000)
    let isBegun = Flag()
    let upload = network.transfer(film, to: Call<Response>.post("/files"), by: .tus, retry: policy).subscribe(
      onNext: { _ in isBegun.raise() }, onError: { _ in isBegun.raise() })
    XCTAssertTrue(holds { b.requests.contains { $0.method == "PATCH" } })
    upload.dispose()
    let cancelled = expectation(description: "cancelled")
    let cancel = network.cancelUpload(of: film, to: Call<Response>.post("/files"), by: .tus).subscribe(
      onCompleted: { cancelled.fulfill() }, onError: { _ in cancelled.fulfill() })
    wait(for: [cancelled], timeout: 30)
    cancel.dispose()
    let writes = b.requests.filter { $0.path == "/accounts/me" && $0.method != "HEAD" }
    XCTAssertFalse(writes.isEmpty)
    XCTAssertEqual(writes.compactMap { $0.header("Cookie") }, [])
  }
}
