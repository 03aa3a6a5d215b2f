import Streams
import StreamsTesting
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Separation of users: no user receives a cached response of another, in virtual time.
final class CacheAccountTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_everyRedactedField_separatesAccounts() {
    for name in [
      "accessToken", "access_token", "apikey", "id-token", "X-AuthToken", "Private-Token", "X-Session-Id", "X-Token",
      "COOKIE", "X-User-Token", "X-Vault-Token", "X-Goog-Api-Key", "x-shop-user",
    ] {
      let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
      let network = fixture.network.with { $0.redaction = Redaction.standard.hiding("X-Shop-User") }
      func get(_ value: String) -> [String] { fixture.run(network.response(.get, "/a", headers: [name: value])).bodies }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]], name)
    }
  }

  func test_signatures_doNotSeparateAccounts() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    for name in ["sign", "Signature", "X-Signature", "X-Amz-Signature", "DPoP"] {
      for value in ["1", "2"] { XCTAssertEqual(fixture.get([name: value]).bodies, ["1"]) }
    }
  }

  func test_customKey_stillSeparatesAccountsBySecretsInURLAndBody() {
    let tasks: [(String) -> (HTTPMethod, HTTPTask)] = [
      { (.get, .parameters(["token": $0, "t": 1])) }, { (.post, .parameters(["token": $0])) },
      { (.post, .json(["access_token": $0])) },
    ]
    for task in tasks {
      let fixture = CacheFixture(CacheFixture.counting([:]))
      func get(_ user: String) -> [String] {
        let (method, task) = task(user)
        return fixture.get(
          Plain(method: method, task: task, caching: CacheOptions(policy: .cacheFirst(seconds: 60), key: "feed"))
        ).bodies
      }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]])
    }
  }

  func test_signingIn_doesNotReturnTheResponseOfTheSignedOutState() throws {
    let authentication = AuthenticationInterceptor(for: [try XCTUnwrap(URL(string: "http://h"))]) {
      _ in .error(NetworkError(kind: .authentication, reason: "none"))
    }
    for account in [nil, { _ in authentication.token?.access }] as [(@Sendable (Request) -> String?)?] {
      try authentication.setToken(nil)
      let fixture = CacheFixture(
        account: account, behind: [authentication], CacheFixture.counting(["Cache-Control": "max-age=60"]))
      XCTAssertEqual(fixture.get().bodies, ["1"])
      try authentication.setToken(Token(access: "ada"))
      XCTAssertEqual(fixture.get().bodies, ["2"])
      XCTAssertEqual(fixture.get(path: "http://elsewhere/a").bodies, ["3"])
      XCTAssertEqual(fixture.get(path: "http://elsewhere/a").bodies, ["3"], "where no token goes all is as ever")
    }
  }

  func test_entryStoredBeforeCredentialsWereAdded_isRemoved() {
    final class Signs: Interceptor {
      let isSignedIn = Locked(false)

      func intercept(_ request: Request, next: Chain) -> Observable<Response> {
        var request = request
        if isSignedIn.withLock({ $0 }) { request.headers["Authorization"] = "Bearer secret" }
        return next(request)
      }
    }
    let signs = Signs()
    let fixture = CacheFixture(behind: [signs], CacheFixture.counting([:]))
    fixture.get(.networkOnly)
    signs.isSignedIn.withLock { $0 = true }
    XCTAssertEqual(fixture.get(.networkOnly).bodies, ["2"])
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
  }

  func test_responseAfterAChangeOfUser_isNotStored() {
    let user = Locked("ada")
    let fixture = CacheFixture(account: { _ in user.withLock { $0 } }) { _ in .response(after: 2) }
    let call = Plain(caching: CacheOptions(policy: .cacheThenNetwork())).cache.request(on: fixture.network)
    let subscription = call.subscribe()
    fixture.scheduler.advanceBy(1)
    user.withLock { $0 = "bob" }
    fixture.scheduler.start()
    subscription.dispose()
    for name in ["ada", "bob"] {
      user.withLock { $0 = name }
      XCTAssertEqual(fixture.get(Plain(caching: CacheOptions(policy: .cacheOnly))).failure, .notCached, name)
    }
  }

  func test_responseOr304WithACookie_isNotStoredForUsersWithoutIt() {
    let jar = CookieJar()
    let fixture = CacheFixture { request in
      jar.store(["Set-Cookie": "session=\(jar.cookies.isEmpty ? "ada" : "bob")"], from: request.url)
      return .response(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    }
    let network = fixture.network.with { $0.options.cookies = jar }
    XCTAssertEqual(fixture.run(network.response(.get, "/a")).origins, [.network])
    jar.removeAll()
    XCTAssertEqual(fixture.run(network.response(.get, "/a")).origins, [.network])
  }

  func test_responseThatVariesByALaterInterceptorsField_isNotStored() {
    struct Adds: Interceptor {
      let name: String
      func intercept(_ request: Request, next: Chain) -> Observable<Response> {
        var request = request
        request.headers[name] = "x"
        return next(request)
      }
    }
    for (name, bodies) in [("X-Theme", ["2"]), ("Authorization", ["1"]), ("X-Other", ["1"])] {
      let fixture = CacheFixture(
        account: { _ in "ada" }, behind: [Adds(name: name)],
        CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": "X-Theme, Authorization"]))
      fixture.get()
      XCTAssertEqual(fixture.get().bodies, bodies, name)
    }
  }
}
