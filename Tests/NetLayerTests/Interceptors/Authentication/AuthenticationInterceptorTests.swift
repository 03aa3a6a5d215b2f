import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

extension VirtualNetwork {
  fileprivate func after(_ delay: Duration, _ token: Token) -> Single<Token> {
    Single.just(token).delaySubscription(delay, scheduler: scheduler)
  }
}

/// A virtual clock whose date can be set.
private final class SettableClock: SchedulerType {
  let time = TestScheduler()
  let offset = Locked<Double>(0)

  var now: Date { time.now.addingTimeInterval(offset.withLock { $0 }) }
  var uptime: Duration { time.uptime }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { time.schedule(action) }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    time.scheduleRelative(dueTime, action)
  }
}

/// A token store that reports each token before it saves it.
private final class HookedStore: TokenStore {
  private let memory: MemoryTokenStore
  let hook = Locked<(@Sendable (Token?) -> Void)?>(nil)

  init(_ token: Token?) { memory = MemoryTokenStore(token) }

  func load() -> Token? { memory.load() }

  func save(_ token: Token?) {
    hook.withLock { $0 }?(token)
    memory.save(token)
  }
}

final class AuthenticationInterceptorTests: XCTestCase {
  private let refreshes = Notes()

  /// A server that accepts only the token returned by `good`.
  private func server(_ good: @escaping @Sendable () -> String, after delay: Duration = .zero) -> VirtualNetwork {
    VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer \(good())"
        ? .json("ok", after: delay) : .json("who?", status: 401, after: delay)
    }
  }

  private func interceptor(
    _ virtual: VirtualNetwork, _ token: Token? = Token(access: "old"), store: (any TokenStore)? = nil, max: Int = 5,
    refresh: @escaping AuthenticationInterceptor.Refresh
  ) throws -> AuthenticationInterceptor {
    let refreshes = refreshes
    return AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store ?? MemoryTokenStore(token), maxRefreshes: max
    ) { old in
      refreshes.add(old?.access ?? "none")
      return try refresh(old)
    }
  }

  func test_concurrent401s_causeOneRefresh_andOneRetryEach() throws {
    let virtual = server({ "new" }, after: .milliseconds(100))
    let network = virtual.network(
      try interceptor(virtual) { _ in virtual.after(.seconds(1), Token(access: "new")) })
    for index in 0..<100 { virtual.note("", network.responses(.get, "/\(index)")) }
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all, ["old"])
    XCTAssertEqual(virtual.notes.all, Array(repeating: "200 ok @1200", count: 100))
    XCTAssertEqual(virtual.stub.requests.count, 200)
  }

  func test_requestWithAReplacedToken_isRetriedWithoutRefresh() throws {
    let virtual = VirtualNetwork { request in
      let isNew = request.headers["Authorization"] == "Bearer new"
      let delay = Duration.seconds(request.url.path == "/slow" ? 5 : 1)
      return isNew ? .json("ok") : .json("who?", status: 401, after: delay)
    }
    let network = virtual.network(try interceptor(virtual) { _ in .just(Token(access: "new")) })
    virtual.note("slow ", network.responses(.get, "/slow"))
    virtual.note("fast ", network.responses(.get, "/fast"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["fast 200 ok @1000", "slow 200 ok @5000"])
    XCTAssertEqual(refreshes.all, ["old"])
  }

  func test_second401_isReturned() throws {
    let virtual = server { "another" }
    let network = virtual.network(try interceptor(virtual) { _ in .just(Token(access: "new")) })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["401 who? @0"])
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_failedRefresh_failsAllWaitingRequests_butNotLaterOnes() throws {
    let virtual = server { "new" }
    let isDown = Locked(true)
    let network = virtual.network(
      try interceptor(virtual) { _ in
        guard isDown.withLock({ $0 }) else { return .just(Token(access: "new")) }
        return virtual.after(.seconds(1), Token(access: "")).map { _ in throw TestError("down") }
      })
    let errors = Locked<[NetworkError]>([])
    for _ in 0..<3 {
      _ = network.responses(.get, "/x").subscribe(onError: { error in
        errors.withLock { $0.append(NetworkError.wrapping(error)) }
      })
    }
    virtual.scheduler.start()
    let seen = errors.withLock { $0 }
    XCTAssertEqual(seen.map(\.kind), [.authentication, .authentication, .authentication])
    XCTAssertEqual(seen.map { $0.underlying as? TestError }, Array(repeating: TestError("down"), count: 3))
    XCTAssertEqual(seen.map { $0.request?.url.path }, ["/x", "/x", "/x"])
    XCTAssertEqual(seen.map { $0.response?.status }, [401, 401, 401])
    XCTAssertEqual(refreshes.all, ["old"])
    isDown.withLock { $0 = false }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @1000"])
  }

  func test_requestsOfTheRefresh_areNotIntercepted_evenWhenRetried() throws {
    let tokenCalls = Counter()
    let virtual = VirtualNetwork { request in
      if request.url.path == "/token" {
        return tokenCalls.next() == 1 ? .failure(.connection) : .json(#"{"access":"new"}"#)
      }
      return request.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("who?", status: 401)
    }
    let network = Locked<Network?>(nil)
    let authentication = try interceptor(virtual) { _ in
      guard let network = network.withLock({ $0 }) else { throw TestError() }
      return network.request(.get("/token"), as: Token.self)
    }
    let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }, scheduler: virtual.scheduler))
    network.withLock { $0 = virtual.network(retry, authentication) }
    virtual.note("", try XCTUnwrap(network.withLock { $0 }).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @500"])
    XCTAssertEqual(virtual.paths, ["/x", "/token", "/token", "/x"])
    XCTAssertEqual(
      virtual.stub.requests.map { $0.headers["Authorization"] }, ["Bearer old", nil, nil, "Bearer new"])
  }

  func test_refreshes_areLimitedInAWindow() throws {
    let virtual = server { "never" }
    let number = Counter()
    let network = virtual.network(
      try interceptor(virtual, max: 2) { _ in .just(Token(access: "\(number.next())")) })
    for _ in 0..<3 {
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
    }
    XCTAssertEqual(virtual.notes.all, ["401 who? @0", "401 who? @0", "authentication @0"])
    virtual.scheduler.advanceTo(60_000)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all.count, 3, "the window is over")
  }

  func test_signingIn_resetsTheWindowOfRefreshes() throws {
    let virtual = server { "never" }
    let authentication = try interceptor(virtual, max: 1) { _ in .just(Token(access: "useless")) }
    let network = virtual.network(authentication)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    authentication.set(Token(access: "of another user"))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all, ["old", "of another user"])
    XCTAssertEqual(virtual.notes.all, ["401 who? @0", "401 who? @0"])
  }

  func test_oneTimeBody_isNotSentAgainAfterA401() throws {
    struct Recording: Endpoint {
      let body: Request.BodyStream
      var path: String { "/x" }
      var method: HTTPMethod { .post }
      var task: HTTPTask { .stream(body) }
    }
    for (body, result) in [
      (Request.BodyStream(once: { nil }), "401 who? @0"), (Request.BodyStream(open: { { nil } }), "200 ok @0"),
    ] {
      let virtual = server { "new" }
      let network = virtual.network(try interceptor(virtual) { _ in .just(Token(access: "new")) })
      virtual.note("", network.responses(Recording(body: body)))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, [result])
    }
  }

  func test_expiringToken_isRefreshedBeforeSending() throws {
    let virtual = server { "new" }
    let expiry = virtual.scheduler.now.addingTimeInterval(100)
    let network = virtual.network(
      try interceptor(virtual, Token(access: "new", expiresAt: expiry)) { _ in
        virtual.after(.seconds(1), Token(access: "new"))
      })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(69_999)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(70_000)
    XCTAssertEqual(refreshes.all, [], "more than 30 s are left")
    virtual.scheduler.advanceTo(70_001)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all, ["new"])
    XCTAssertEqual(virtual.notes.all, ["200 ok @0", "200 ok @69999", "200 ok @71001"])
    XCTAssertEqual(virtual.stub.requests.count, 3)
  }

  func test_failedProactiveRefresh_isIgnored_whileTheTokenIsValid() throws {
    let virtual = server { "old" }
    let expiry = virtual.scheduler.now.addingTimeInterval(10)
    let network = virtual.network(
      try interceptor(virtual, Token(access: "old", expiresAt: expiry)) { _ in throw TestError() })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    virtual.scheduler.advanceTo(10_000)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @0", "authentication @10000"])
  }

  func test_credentials_areSentOnlyToTheirOrigins() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(try interceptor(virtual) { _ in throw TestError() })
    for url in ["http://h/a", "http://H:80/a", "https://h/a", "http://h:81/a", "http://h.evil/a", "http://evil/h"] {
      virtual.note("", network.responses(.get, url))
    }
    virtual.note("", network.responses(.get, "/own", headers: ["Authorization": "Basic mine"]))
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.stub.requests.map { "\($0.url.absoluteString) \($0.headers["Authorization"] ?? "-")" },
      [
        "http://h/a Bearer old", "http://H:80/a Bearer old", "https://h/a -", "http://h:81/a -", "http://h.evil/a -",
        "http://evil/h -", "http://h/own Basic mine",
      ])
  }

  func test_redirectToAnotherOrigin_removesTheToken_whateverItsField() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let interceptor = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "s")),
      apply: { $1.headers["X-Ticket"] = $0.access }, refresh: { _ in throw TestError() })
    virtual.note("", virtual.network(interceptor).responses(.get, "/x"))
    virtual.scheduler.start()
    let sent = try XCTUnwrap(virtual.stub.requests.first)
    XCTAssertEqual(sent.headers["X-Ticket"], "s")
    let decision = RedirectPolicy.decide(
      original: sent, currentRequest: sent, status: 307, headers: ["Location": "http://evil/"], trail: RedirectTrail())
    guard case .follow(let next, _) = decision else { return XCTFail("\(decision)") }
    XCTAssertNil(next.headers["X-Ticket"])
  }

  func test_withoutToken_requestIsSentUnauthenticated_andA401RequestsAToken() throws {
    let virtual = server { "new" }
    let network = virtual.network(try interceptor(virtual, nil) { _ in .just(Token(access: "new")) })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all, ["none"])
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["Authorization"] }, [nil, "Bearer new"])
  }

  func test_refresh_continues_whenWaitingCallsAreCancelled() throws {
    let virtual = server { "new" }
    let store = MemoryTokenStore(Token(access: "old"))
    let network = virtual.network(
      try interceptor(virtual, store: store) { _ in virtual.after(.seconds(1), Token(access: "new")) })
    let subscription = virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    subscription.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(store.load(), Token(access: "new"))
    XCTAssertEqual(virtual.stub.requests.count, 1, "what was cancelled is not sent again")
  }

  func test_signingOutDuringARefresh_isKept() throws {
    let virtual = server { "new" }
    let store = MemoryTokenStore(Token(access: "old"))
    let authentication = try interceptor(virtual, store: store) { _ in
      virtual.after(.seconds(1), Token(access: "new"))
    }
    virtual.note("", virtual.network(authentication).responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    authentication.set(nil)
    virtual.scheduler.start()
    XCTAssertNil(authentication.present)
    XCTAssertNil(store.load())
    XCTAssertEqual(virtual.notes.all, ["authentication @500"])
  }

  func test_callThatWaitsWhileItsUserSignsOut_requestsNoFirstToken() throws {
    struct Pausing: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        Observable<Int>.timer(.seconds(1), scheduler: next.clock).flatMap { _ in next(request) }
      }
    }
    let virtual = server { "new" }
    let refreshes = refreshes
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old")), requiresToken: true
    ) { old -> Single<Token> in
      refreshes.add(old?.access ?? "none")
      return .just(Token(access: "new"))
    }
    virtual.note("", virtual.network(Pausing(), authentication).responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    authentication.set(nil)
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.all, [])
    XCTAssertEqual(virtual.notes.all, ["authentication @1000"])
    XCTAssertEqual(virtual.paths, [])
  }

  func test_signingOutWhileATokenIsSaved_leavesNoTokenSaved() throws {
    let virtual = server { "new" }
    let store = HookedStore(Token(access: "old"))
    let authentication = try interceptor(virtual, store: store) { _ in .just(Token(access: "new")) }
    store.hook.withLock { $0 = { token in if token != nil { authentication.set(nil) } } }
    virtual.note("", virtual.network(authentication).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertNil(authentication.present)
    XCTAssertNil(store.load())
  }

  func test_requestOfOneUser_isNotRetriedAsAnother() throws {
    let virtual = VirtualNetwork(.json("who?", status: 401, after: .seconds(1)))
    let authentication = try interceptor(virtual, Token(access: "anna")) { _ in throw TestError() }
    virtual.note("", virtual.network(authentication).responses(.post, "/x"))
    virtual.scheduler.advanceTo(500)
    authentication.set(Token(access: "bert"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["401 who? @1000"])
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_signingInDuringARefresh_discardsTheRefresh() throws {
    let virtual = server { "bert" }
    let authentication = try interceptor(virtual, Token(access: "anna")) { _ in
      virtual.after(.seconds(1), Token(access: "")).map { _ in throw TestError() }
    }
    let network = virtual.network(authentication)
    virtual.note("anna ", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    authentication.set(Token(access: "bert"))
    virtual.note("bert ", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["anna 401 who? @500", "bert 200 ok @500"])
  }

  func test_redirected401OfAnotherOrigin_causesNoRefresh() throws {
    struct Redirected: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).map { response in
          var response = response
          response.url = try XCTUnwrap(URL(string: "http://cdn/x"))
          return response
        }
      }
    }
    let virtual = server { "new" }
    let network = virtual.network(try interceptor(virtual) { _ in throw TestError() }, Redirected())
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["401 who? @0"])
    XCTAssertEqual(refreshes.all, [])
  }

  func test_redirected401AfterARefresh_doesNotCountAsARefusal() throws {
    /// Moves the second response, to the new token, to another origin.
    struct Redirected: Interceptor {
      let moves: @Sendable (Request) -> Bool

      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).map { response in
          var response = response
          if moves(request) { response.url = try XCTUnwrap(URL(string: "http://cdn/x")) }
          return response
        }
      }
    }
    let virtual = server { "never" }
    let number = Counter()
    let authentication = try interceptor(virtual, max: 1) { _ in .just(Token(access: "new \(number.next())")) }
    let network = virtual.network(
      authentication,
      Redirected { $0.headers["Authorization"] == "Bearer new 1" && $0.url.path == "/moved" })
    for path in ["/moved", "/x"] {
      virtual.note("", network.responses(.get, path))
      virtual.scheduler.start()
    }
    XCTAssertEqual(virtual.notes.all, ["401 who? @0", "401 who? @0"])
    XCTAssertEqual(refreshes.all, ["old", "new 1"])
  }

  func test_failedRefresh_reportsItsOwnResponse() throws {
    let virtual = server { "new" }
    let failure = NetworkError(
      kind: .status, reason: "the server is down",
      response: Response(request: Request(url: try XCTUnwrap(URL(string: "http://h/token"))), status: 503))
    let network = virtual.network(try interceptor(virtual) { _ in .error(failure) })
    let statuses = Locked<[Int?]>([])
    _ = network.responses(.get, "/x").subscribe(onError: { error in
      statuses.withLock { $0.append(NetworkError.wrapping(error).response?.status) }
    })
    virtual.scheduler.start()
    XCTAssertEqual(statuses.withLock { $0 }, [503])
  }

  func test_refusalsInTheFuture_doNotCount_whenTheClockWasSetBack() throws {
    let clock = SettableClock()
    let stub = StubTransport(on: clock) { _ in .json("who?", status: 401) }
    let number = Counter()
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old")), maxRefreshes: 1
    ) { _ in .just(Token(access: "\(number.next())")) }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h/"), transport: stub, clock: clock, mapping: clock, interceptors: [authentication]
      ))
    let kinds = Notes()
    func get() {
      _ = network.responses(.get, "/x").subscribe(
        onNext: { kinds.add("\($0.status)") }, onError: { kinds.add("\(NetworkError.wrapping($0).kind)") })
      clock.time.start()
    }
    get()
    get()
    clock.offset.withLock { $0 = -3600 }
    get()
    XCTAssertEqual(kinds.all, ["401", "authentication", "401"])
  }

  func test_refreshThatNeverEnds_timesOut() throws {
    let virtual = server { "new" }
    virtual.note("", virtual.network(try interceptor(virtual) { _ in .never() }).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @60000"])
  }

  func test_upload_isResentUnchangedAfterARefresh() throws {
    let bodies = Locked<[[UInt8]]>([])
    let server = try TestServer(handler: { request in
      bodies.withLock { $0.append(request.body) }
      let isNew = request.headers.contains { $0.value == "Bearer new" }
      return .init(status: isNew ? 200 : 401)
    })
    defer { server.stop() }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
    try Data(repeating: 9, count: 200_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let authentication = AuthenticationInterceptor(
      for: [server.url], store: MemoryTokenStore(Token(access: "old")), refresh: { _ in .just(Token(access: "new")) })
    struct Upload: Endpoint {
      let form: MultipartForm
      var path: String { "/up" }
      var method: HTTPMethod { .post }
      var task: HTTPTask { .multipart(form) }
    }
    let form = MultipartForm([.file(file, name: "f"), .field("a", "b")])
    let network = Network(Backend(baseURL: server.url, interceptors: [authentication]))
    let reply: Single<Response> = network.request(Upload(form: form))
    XCTAssertEqual(record(reply.asObservable()).elements.map(\.status), [200])
    let sent = bodies.withLock { $0 }
    XCTAssertEqual(sent.count, 2)
    XCTAssertEqual(sent.first, sent.last)
    XCTAssertGreaterThan(sent.last?.count ?? 0, 200_000)
  }

  func test_hundredConcurrent401sOnThreads_causeOneRefresh() throws {
    let transport = StubTransport { request in
      request.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("who?", status: 401)
    }
    let count = Counter()
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old"))
    ) { _ in
      _ = count.next()
      return Single.just(Token(access: "new")).delaySubscription(
        .milliseconds(1), scheduler: ConcurrentDispatchQueueScheduler(qos: .utility))
    }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, interceptors: [authentication]))
    let all = Observable.range(start: 0, count: 100)
      .flatMap { _ in network.responses(.get, "/x").subscribeOn(ConcurrentDispatchQueueScheduler(qos: .utility)) }
    XCTAssertEqual(record(all).elements.map(\.status), Array(repeating: 200, count: 100))
    XCTAssertEqual(count.value, 1)
  }
}
