import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Calls that are sent again after another user has signed in.
final class ContinuedCallTests: XCTestCase {
  private let ann = Token(access: "ann-1", account: "ann")
  private let bob = Token(access: "bob-1", account: "bob")

  private func interceptor(
    _ store: any TokenStore = MemoryTokenStore(),
    refresh: @escaping AuthenticationInterceptor.Refresh = { _ in throw TestError() }
  ) throws -> AuthenticationInterceptor {
    AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h")), try XCTUnwrap(URL(string: "http://files"))], store: store,
      refresh: refresh)
  }

  private func sent(_ virtual: VirtualNetwork) -> [String] {
    virtual.stub.requests.map { $0.headers["Authorization"] ?? "none" }
  }

  private let retry = RetryInterceptor(policy: RetryPolicy(attempts: 2, jitter: { $0.upperBound }))

  func test_aRetryAfterTheSignInOfAnotherUser_isNotSent() throws {
    for states in [[bob], [nil, bob], [nil]] {
      let virtual = VirtualNetwork(.json("busy", status: 503))
      let authentication = try interceptor()
      authentication.set(ann)
      virtual.note("", virtual.network(retry, authentication).responses(.put, "/me"))
      virtual.scheduler.advanceTo(100)
      for token in states { authentication.set(token) }
      virtual.scheduler.start()
      XCTAssertEqual(sent(virtual), ["Bearer ann-1"])
      XCTAssertEqual(virtual.notes.all.map { $0.prefix(14) }, ["authentication"], "\(virtual.notes.all)")
    }
  }

  func test_aCallThatWaitsForAnEarlyRefresh_isNotSentAfterASignOut() throws {
    for token in [nil, bob] {
      let virtual = VirtualNetwork(.json("ok"))
      // So close to its expiry that it is refreshed before the call, and valid if that fails.
      let old = Token(access: "ann-1", expiresAt: virtual.scheduler.now + 20, account: "ann")
      let authentication = try interceptor(MemoryTokenStore(old)) { _ -> Single<Token> in .never() }
      virtual.note("", virtual.network(authentication).responses(.post, "/me"))
      virtual.scheduler.advanceTo(100)
      authentication.set(token)
      virtual.scheduler.advanceTo(200)
      XCTAssertEqual(sent(virtual), [])
      XCTAssertEqual(virtual.notes.all.map { $0.prefix(14) }, ["authentication"], "\(virtual.notes.all)")
    }
  }

  func test_aRetryWithANewTokenOfTheSameUser_isSent() throws {
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let authentication = try interceptor()
    authentication.set(ann)
    virtual.note("", virtual.network(retry, authentication).responses(.put, "/me"))
    virtual.scheduler.advanceTo(100)
    authentication.set(Token(access: "ann-2", account: "ann"))
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual), ["Bearer ann-1", "Bearer ann-2"])
  }

  func test_aCallThatBeganWithoutAUser_isSentAfterASignIn() throws {
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let authentication = try interceptor()
    authentication.set(nil)
    virtual.note("", virtual.network(retry, authentication).responses(.put, "/me"))
    virtual.scheduler.advanceTo(100)
    authentication.set(ann)
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual), ["none", "Bearer ann-1"])
  }

  func test_aCallThatWaitsForANetwork_isNotSentAsAnotherUser() throws {
    let virtual = VirtualNetwork(.json("ok"))
    struct Switch: Reachability {
      let state: BehaviorRelay<Bool>
      var isReachable: Observable<Bool> { state.asObservable() }
    }
    let state = BehaviorRelay(value: false)
    let authentication = try interceptor()
    authentication.set(ann)
    virtual.note(
      "", virtual.network(ReachabilityInterceptor(Switch(state: state)), authentication).responses(.put, "/me"))
    virtual.scheduler.advanceTo(100)
    authentication.set(nil)
    authentication.set(bob)
    state.accept(true)
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual), [])
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(14) }, ["authentication"])
  }

  // MARK: Another process

  func test_theTokenOfAnotherUserInTheStore_doesNotContinueACall() throws {
    let virtual = VirtualNetwork {
      $0.headers["Authorization"] == "Bearer bob-1" ? .json("bob") : .json("", status: 401)
    }
    let store = MemoryTokenStore(ann)
    let network = virtual.network(try interceptor(store))
    virtual.note("", network.responses(.get, "/a"))
    store.save(bob)
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(3) }, ["401"])
    XCTAssertEqual(sent(virtual), ["Bearer ann-1"])
    virtual.note("", network.responses(.get, "/b"))
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual).last, "Bearer bob-1", "the next call belongs to the present user")
  }

  func test_aRefreshThatReturnsAnotherUser_doesNotContinueACall() throws {
    let virtual = VirtualNetwork(.json("", status: 401))
    let bob = bob
    let authentication = try interceptor { _ in .just(bob) }
    authentication.set(ann)
    virtual.note("", virtual.network(authentication).responses(.post, "/transfer"))
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual), ["Bearer ann-1"])
  }

  func test_aSignOutInAnotherProcess_isNotUndoneByARefresh() throws {
    let virtual = VirtualNetwork(.json("", status: 401))
    let store = MemoryTokenStore(ann)
    let refreshes = Counter()
    let authentication = try interceptor(store) { _ in
      _ = refreshes.next()
      return .just(Token(access: "ann-2", account: "ann"))
    }
    virtual.note("", virtual.network(authentication).responses(.get, "/a"))
    store.save(nil)
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.value, 0)
    XCTAssertNil(store.load())
    XCTAssertEqual(authentication.accountState.name, nil)
    XCTAssertEqual(virtual.notes.all.count, 1)
  }

  /// A store without a memory does not sign users out.
  func test_aStoreThatReturnsNothing_doesNotPreventRefreshes() throws {
    struct Nothing: TokenStore {
      func load() -> Token? { nil }
      func save(_ token: Token?) {}
    }
    let virtual = VirtualNetwork {
      $0.headers["Authorization"] == "Bearer ann-2" ? .json("ok") : .json("", status: 401)
    }
    let authentication = try interceptor(Nothing()) { _ in .just(Token(access: "ann-2", account: "ann")) }
    authentication.set(ann)
    virtual.note("", virtual.network(authentication).responses(.get, "/a"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(6) }, ["200 ok"])
  }

  func test_aSignInDuringARefresh_releasesTheCallsThatWait() throws {
    for next in [bob, nil] {
      let virtual = VirtualNetwork(.json("", status: 401))
      let authentication = try interceptor { _ in .never() }
      authentication.set(ann)
      virtual.note("", virtual.network(authentication).responses(.get, "/a"))
      virtual.scheduler.advanceTo(100)
      XCTAssertEqual(virtual.notes.all, [])
      authentication.set(next)
      virtual.scheduler.advanceTo(200)
      XCTAssertEqual(virtual.notes.all.count, 1, "without waiting for the end of the refresh")
    }
  }

  // MARK: Redirects

  private struct Redirected: Interceptor {
    let url: String

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request).map { response in
        var response = response
        response.url = try XCTUnwrap(URL(string: url))
        return response
      }
    }
  }

  func test_aRedirectToAnotherListedOrigin_causesNoRefresh() throws {
    let virtual = VirtualNetwork(.json("", status: 401))
    let refreshes = Counter()
    let authentication = try interceptor { _ in
      _ = refreshes.next()
      return .just(Token(access: "ann-2", account: "ann"))
    }
    authentication.set(ann)
    let network = virtual.network(authentication, Redirected(url: "http://files/x"))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(refreshes.value, 0, "the redirect has dropped the token")
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(3) }, ["401"])
  }

  func test_aRedirectToTLS_doesNotSendThePasswordWithoutTLS() throws {
    let virtual = VirtualNetwork(
      .response(status: 401, headers: ["WWW-Authenticate": "Basic realm=a"], body: Data()))
    let urls = try ["http://h", "https://h"].map { try XCTUnwrap(URL(string: $0)) }
    let network = virtual.network(
      ChallengeInterceptor(for: urls, user: "ann", password: "s3cr3t"), Redirected(url: "https://h/x"))
    for _ in 1...2 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(sent(virtual), ["none", "none"])
  }

  func test_theNextNonceOfAnotherOrigin_isIgnored_andSoIsOneThatCannotBeSent() throws {
    let challenge = #"Digest realm="a", nonce="n", qop="auth""#
    for (field, url, nonce) in [
      (#"nextnonce="evil""#, "http://evil/x", "n"), (#"nextnonce="a\#u{1}b""#, "http://h/x", "n"),
      (#"nextnonce="\#(String(repeating: "x", count: 2_000))""#, "http://h/x", "n"),
      (#"nextnonce="good""#, "http://h/x", "good"),
    ] {
      let isElsewhere = Counter()
      let virtual = VirtualNetwork { request in
        guard request.headers["Authorization"] != nil else {
          return .response(status: 401, headers: ["WWW-Authenticate": challenge], body: Data())
        }
        _ = isElsewhere.next()
        return .response(headers: ["Authentication-Info": field], body: Data())
      }
      struct Elsewhere: Interceptor {
        let url: String
        let count: Counter
        func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
          next(request).map { [url, count] response in
            var response = response
            if count.value > 0 { response.url = try XCTUnwrap(URL(string: url)) }
            return response
          }
        }
      }
      let network = virtual.network(
        ChallengeInterceptor(for: [try XCTUnwrap(URL(string: "http://h"))], user: "ann", password: "p"),
        Elsewhere(url: url, count: isElsewhere))
      for _ in 1...2 {
        virtual.note("", network.responses(.get, "/x"))
        virtual.scheduler.start()
      }
      XCTAssertEqual(sent(virtual).last?.contains("nonce=\"\(nonce)\""), true, "\(field.prefix(30)) of \(url)")
    }
  }

  func test_aServerThatChangesItsScheme_isFollowedByTheNextCall() throws {
    let scheme = Locked(#"Digest realm="a", nonce="n", qop="auth""#)
    let virtual = VirtualNetwork { request in
      let expected = scheme.withLock { $0.prefix(5) }
      return request.headers["Authorization"]?.hasPrefix(expected) == true
        ? .json("ok")
        : .response(status: 401, headers: ["WWW-Authenticate": scheme.withLock { $0 }], body: Data())
    }
    let network = virtual.network(
      ChallengeInterceptor(
        for: [try XCTUnwrap(URL(string: "http://h"))], user: "ann", password: "p", allowsBasicWithoutTLS: true))
    for next in ["Basic realm=a", nil] {
      for _ in 1...2 {
        virtual.note("", network.responses(.get, "/x"))
        virtual.scheduler.start()
      }
      if let next { scheme.withLock { $0 = next } }
    }
    XCTAssertEqual(virtual.notes.all.map { String($0.prefix(3)) }, ["200", "200", "401", "200"])
  }
}
