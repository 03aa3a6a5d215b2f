import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

/// The difference between a user who was refused and a token server that was down, and what follows from it.
final class RefusedOrDownTests: XCTestCase {
  private let url = URL(string: "http://h/token")
  private let refreshes = Notes()

  /// The error of a token server with `status`.
  private func status(_ status: Int, _ fields: HTTPHeaders = [:], reason: String? = nil) throws -> NetworkError {
    let request = Request(url: try XCTUnwrap(url))
    let response = Response(request: request, status: status, headers: fields)
    return NetworkError(kind: .status, code: status, reason: reason ?? "\(status)", response: response)
  }

  private func ended(_ error: NetworkError) -> NetworkError {
    var error = error
    error.endsSession = true
    return error
  }

  /// A network whose server accepts only `Bearer new`, and the interceptor.
  private func network(
    _ virtual: VirtualNetwork, _ store: any TokenStore = MemoryTokenStore(Token(access: "old", refresh: "r")),
    max: Int = 5, requiresToken: Bool = false, behind retry: (any Interceptor)? = nil,
    refresh: @escaping @Sendable (Token?) throws -> Token
  ) throws -> (Network, AuthenticationInterceptor) {
    let refreshes = refreshes
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store, maxRefreshes: max, requiresToken: requiresToken
    ) { old in
      refreshes.add(old?.refresh ?? "none")
      return .just(try refresh(old))
    }
    let network = virtual.network(login)
    return (retry.map { retry in network.with { $0.interceptors.insert(retry, at: 0) } } ?? network, login)
  }

  private func server() -> VirtualNetwork {
    VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("who?", status: 401)
    }
  }

  private func retry(_ virtual: VirtualNetwork) -> RetryInterceptor {
    RetryInterceptor(
      policy: RetryPolicy(attempts: 4, jitter: { $0.upperBound }, scheduler: virtual.scheduler))
  }

  private func errors(_ count: Int, _ virtual: VirtualNetwork, _ network: Network) -> [NetworkError] {
    let errors = Locked<[NetworkError]>([])
    for _ in 0..<count {
      _ = network.responses(.get, "/x").subscribe(onError: { error in
        errors.withLock { $0.append(NetworkError.wrapping(error)) }
      })
      virtual.scheduler.start()
    }
    return errors.withLock { $0 }
  }

  // MARK: One rule

  func test_failedRefresh_isARefusalOrAnOutage_forEveryoneWhoAsks() throws {
    struct Banned: Error {}
    struct Row {
      let cause: any Error
      let kind: NetworkError.Kind
      var code = -1212
      var isDown = true
      /// The consequences: a retry, a reconnection, a cached response.
      var again = [true, true, true]
      let message: String
    }
    let words = NetworkError.Messages.localized
    func failure(_ kind: NetworkError.Kind) -> NetworkError { NetworkError(kind: kind, reason: "cause") }
    func passing(_ code: Int, again: [Bool] = [true, true, true], _ message: String) throws -> Row {
      Row(cause: try status(code), kind: .status, code: code, again: again, message: message)
    }
    func refusal(_ cause: any Error) -> Row {
      Row(
        cause: cause, kind: .authentication, isDown: false, again: [false, false, false], message: words.authentication)
    }
    let permanent = [false, false, true]
    let rows = [
      Row(cause: failure(.connection), kind: .connection, message: words.network),
      Row(cause: failure(.unknownHost), kind: .unknownHost, message: words.network),
      Row(cause: failure(.timeout), kind: .timeout, message: words.timeout),
      Row(cause: StreamError.timeout, kind: .timeout, message: words.timeout),
      Row(cause: failure(.tls), kind: .tls, again: permanent, message: words.tls),
      Row(cause: failure(.redirect), kind: .redirect, again: permanent, message: words.server),
      try passing(500, words.server), try passing(502, words.server), try passing(503, words.server),
      try passing(504, words.server),
      try passing(408, again: [true, true, false], words.timeout),
      try passing(425, again: [true, true, false], words.badRequest),
      try passing(429, again: [true, true, false], words.tooManyRequests),
      // Not one of the statuses that a RetryInterceptor retries.
      try passing(507, again: [false, true, false], words.server),
      refusal(try status(400)), refusal(try status(401)), refusal(try status(403)), refusal(try status(501)),
      refusal(failure(.parse)), refusal(failure(.rejected)), refusal(failure(.file)), refusal(failure(.cancelled)),
      refusal(failure(.authentication)), refusal(StreamError.noElements), refusal(Banned()),
      refusal(ended(try status(400))), refusal(ended(failure(.connection))), refusal(ended(try status(503))),
    ]
    for row in rows {
      let error = NetworkError.ofRefresh(row.cause)
      let name = "\(row.cause)"
      XCTAssertEqual(error.kind, row.kind, name)
      XCTAssertEqual(error.code, row.code, name)
      XCTAssertEqual(error.message, row.message, name)
      XCTAssertEqual(error.isOfUnfinishedRefresh, row.isDown, name)
      XCTAssertTrue(error.reason.hasPrefix("the token could not be refreshed: "), error.reason)
      XCTAssertNotNil(error.underlying, name)
      let virtual = VirtualNetwork(.json("ok"))
      let sent = Counter()
      let failing = AsyncInterceptor { request, next in
        if sent.next() == 1 { throw error }
        return try await next(request)
      }
      _ = virtual.network(retry(virtual), failing).responses(.get, "/x").subscribe(onError: { _ in })
      XCTAssertTrue(
        holds {
          virtual.scheduler.start()
          return sent.value == (row.again[0] ? 2 : 1)
        }, "retry: \(name)")
      let count = ReconnectCount(RetryPolicy(attempts: 4, scheduler: virtual.scheduler))
      XCTAssertEqual(count.pause(after: error) != nil, row.again[1], "reconnection: \(name)")
      XCTAssertEqual(CacheTransaction.isOutage(error), row.again[2], "cache: \(name)")
    }
    // A response of the API itself is another question.
    XCTAssertFalse(try status(503).isTransient)
  }

  func test_tokenServerThatIsDownForASecond_isRetried() throws {
    for (cause, count) in [(try status(503), 2), (NetworkError(kind: .connection, reason: "lost"), 2)] {
      let virtual = server()
      let isDown = Flag()
      let (network, _) = try network(virtual, behind: retry(virtual)) { _ in
        if !isDown.raise() { return Token(access: "new") }
        throw cause
      }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 ok @500"], "\(cause)")
      XCTAssertEqual(virtual.stub.requests.count, 3)
      XCTAssertEqual(refreshes.all.suffix(count).count, count)
    }
  }

  func test_postWhoseTokenServerIsDown_isNotRetried() throws {
    let virtual = server()
    let down = try status(503)
    let (network, _) = try network(virtual, behind: retry(virtual)) { _ in throw down }
    virtual.note("", network.responses(.post, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["status @0"])
    XCTAssertEqual(refreshes.all, ["r"])
  }

  func test_retryAfterOfTheTokenServer_isHonored_upToTheLimit() throws {
    for (seconds, expected) in [("7", "200 ok @7000"), ("600", "status @0")] {
      let virtual = server()
      let isDown = Flag()
      let busy = try status(429, ["Retry-After": seconds])
      let (network, _) = try network(virtual, behind: retry(virtual)) { _ in
        if !isDown.raise() { return Token(access: "new") }
        throw busy
      }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, [expected])
    }
  }

  func test_eventStream_survivesATokenServerThatIsDown() throws {
    let virtual = VirtualNetwork { request in
      switch request.headers["Authorization"] {
      case "Bearer new": .response(headers: ["Content-Type": "text/event-stream"], body: Data("data: 2\n\n".utf8))
      default: .json("who?", status: 401)
      }
    }
    let isDown = Flag()
    let down = try status(503)
    let (network, _) = try network(virtual) { _ in
      if !isDown.raise() { return Token(access: "new") }
      throw down
    }
    let policy = RetryPolicy(
      attempts: 3, initialDelay: .seconds(1), jitter: { $0.upperBound }, scheduler: virtual.scheduler)
    let notes = Notes()
    let stream = network.events(.get("/events"), reconnect: policy).subscribe(
      onNext: { notes.add($0.data) }, onError: { notes.add("\(NetworkError.wrapping($0).kind)") })
    virtual.scheduler.advanceTo(1500)
    XCTAssertEqual(notes.all, ["2"])
    stream.dispose()
  }

  func test_requestThatIsOfflineDuringARefresh_isSentAgainWhenOnline() throws {
    struct Switch: Reachability {
      let state: BehaviorRelay<Bool>
      var isReachable: Observable<Bool> { state.asObservable() }
    }
    let virtual = server()
    let state = BehaviorRelay(value: true)
    virtual.scheduler.scheduleAt(9000) { state.accept(true) }
    let isDown = Flag()
    let (network, _) = try network(virtual, behind: ReachabilityInterceptor(Switch(state: state))) { _ in
      if !isDown.raise() { return Token(access: "new") }
      state.accept(false)
      throw NetworkError(kind: .connection, reason: "lost")
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @9000"])
  }

  func test_tokenServerThatIsDown_causesAtMost5Requests_thenReportsItsLastError() throws {
    let virtual = server()
    let down = try status(503)
    let (network, login) = try network(virtual) { _ in throw down }
    let all = errors(7, virtual, network)
    XCTAssertEqual(refreshes.all.count, 5)
    XCTAssertEqual(all.map(\.kind), Array(repeating: .status, count: 7))
    XCTAssertEqual(all.map(\.code), Array(repeating: 503, count: 7))
    let last = try XCTUnwrap(all.last)
    XCTAssertTrue(last.reason.contains("not refreshed again after 5 refreshes within "), last.reason)
    XCTAssertTrue(last.isTransient)
    XCTAssertEqual(login.present?.refresh, "r", "nobody is signed out")
  }

  func test_limitAfterARefusal_asksForASignIn() throws {
    let virtual = server()
    let (down, refused) = (try status(503), try status(400))
    let number = Counter()
    let (network, _) = try network(virtual, max: 2) { _ in throw number.next() == 1 ? refused : down }
    let all = errors(3, virtual, network)
    XCTAssertEqual(all.map(\.kind), [.authentication, .status, .authentication])
    let last = try XCTUnwrap(all.last)
    XCTAssertTrue(last.reason.contains("sign in again"), last.reason)
    XCTAssertTrue(last.isOfUnfinishedRefresh, "it says nothing new about the user")
  }

  // MARK: The end of a session

  func test_endedSession_signsOut_withOneTokenRequest_andTheWordsOfTheServer() throws {
    let virtual = server()
    let store = MemoryTokenStore(Token(access: "old", refresh: "r", account: "ann"))
    var revoked = ended(try status(400, reason: "invalid_grant"))
    revoked.message = "Token has been revoked."
    let requests = Counter()
    let (network, login) = try network(virtual, store, max: 100) { [revoked] old in
      guard old != nil else { throw NetworkError(kind: .authentication, message: "Sign in first", reason: "no token") }
      requests.next()
      throw revoked
    }
    let owners = Notes()
    let subscription = login.accountStates.subscribe(onNext: { owners.add("\($0)") })
    let all = errors(9, virtual, network)
    XCTAssertEqual(requests.value, 1)
    XCTAssertEqual(all.map(\.kind), Array(repeating: .authentication, count: 9))
    XCTAssertEqual(all.map(\.message), ["Token has been revoked."] + Array(repeating: "Sign in first", count: 8))
    XCTAssertEqual(all.map(\.endsSession), [true] + Array(repeating: false, count: 8))
    XCTAssertEqual((all.first?.underlying as? NetworkError)?.reason, "invalid_grant")
    XCTAssertNil(store.load())
    XCTAssertNil(login.present)
    XCTAssertEqual(owners.all, ["ann", "nobody"])
    subscription.dispose()
  }

  func test_endedSession_failsAllCallsThatWait() throws {
    let virtual = server()
    let revoked = ended(try status(400))
    let scheduler = virtual.scheduler
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old"))
    ) { old -> Single<Token> in
      guard old != nil else { throw TestError("sign in first") }
      return Single.just(()).delaySubscription(.seconds(1), scheduler: scheduler).map { throw revoked }
    }
    for _ in 0..<3 { virtual.note("", virtual.network(login).responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, Array(repeating: "authentication @1000", count: 3))
    XCTAssertNil(login.present)
  }

  func test_endedSession_isNotASignOut_ifAnotherProcessHasRefreshed() throws {
    for expiry in [nil, -1.0] {
      let virtual = server()
      let store = MemoryTokenStore(Token(access: "old", refresh: "r", account: "ann"))
      let revoked = ended(try status(400))
      let expiresAt = expiry.map { virtual.scheduler.now.addingTimeInterval($0) }
      let (network, login) = try network(virtual, store) { old in
        if old?.refresh == "r2" { return Token(access: "new", refresh: "r3") }
        // The other process used the refresh token first.
        let access = expiresAt == nil ? "new" : "over"
        store.save(Token(access: access, refresh: "r2", expiresAt: expiresAt, account: "ann"))
        throw revoked
      }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 ok @0"])
      XCTAssertEqual(login.present?.refresh, expiresAt == nil ? "r2" : "r3")
      XCTAssertEqual(store.load()?.refresh, login.present?.refresh)
    }
    XCTAssertEqual(refreshes.all, ["r", "r", "r2"])
  }

  func test_endedSession_doesNotSignOutAUserWhoHasSignedInMeanwhile() throws {
    let virtual = server()
    let store = MemoryTokenStore(Token(access: "old", refresh: "r", account: "ann"))
    let revoked = ended(try status(400))
    let scheduler = virtual.scheduler
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store
    ) { _ -> Single<Token> in
      Single.just(()).delaySubscription(.seconds(1), scheduler: scheduler).map { throw revoked }
    }
    virtual.note("", virtual.network(login).responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    login.set(Token(access: "new", account: "bob"))
    virtual.scheduler.start()
    XCTAssertEqual(login.present?.account, "bob")
    XCTAssertEqual(store.load()?.account, "bob")
  }

  func test_refusalWithoutTheEndOfTheSession_keepsTheToken() throws {
    let virtual = server()
    let store = MemoryTokenStore(Token(access: "old", refresh: "r"))
    let refused = try status(400)
    let (network, _) = try network(virtual, store) { _ in throw refused }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["authentication @0"])
    XCTAssertEqual(store.load()?.refresh, "r")
  }

  // MARK: What a refresh returns

  func test_refreshWithoutARefreshToken_keepsTheOldOne_unlessItIsOfAnotherAccount() throws {
    for (account, refresh) in [(nil, "r"), ("ann", "r"), ("bob", nil)] {
      let virtual = server()
      let store = MemoryTokenStore(Token(access: "old", refresh: "r", account: "ann"))
      let (network, _) = try network(virtual, store) { _ in Token(access: "new", account: account) }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(store.load()?.refresh, refresh, account ?? "unnamed")
    }
  }

  // MARK: Clients that get their own tokens

  func test_requiredToken_isRequestedOnce_beforeTheFirstCalls() throws {
    let virtual = server()
    let scheduler = virtual.scheduler
    let requests = Counter()
    let service = AuthenticationInterceptor(for: [try XCTUnwrap(URL(string: "http://h"))], requiresToken: true) { _ in
      requests.next()
      return Single.just(Token(access: "new")).delaySubscription(.seconds(1), scheduler: scheduler)
    }
    let network = virtual.network(service)
    for _ in 0..<3 { virtual.note("", network.responses(.post, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, Array(repeating: "200 ok @1000", count: 3))
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["Authorization"] }, Array(repeating: "Bearer new", count: 3))
    XCTAssertEqual(requests.value, 1)
  }

  func test_requiredTokenThatCantBeGotten_sendsNothing() throws {
    let virtual = server()
    let (network, _) = try network(virtual, MemoryTokenStore(), requiresToken: true) { _ in
      throw NetworkError(kind: .connection, reason: "lost")
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["connection @0"])
    XCTAssertEqual(virtual.paths, [])
  }
}
