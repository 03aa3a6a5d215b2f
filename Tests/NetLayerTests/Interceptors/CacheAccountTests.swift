import Streams
import StreamsTesting
import XCTest

@testable import NetLayer

/// A user never sees another's answer, in virtual time.
final class CacheAccountTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_everyFieldThatLogsHideTellsAccountsApart() {
    for name in [
      "accessToken", "access_token", "apikey", "id-token", "X-AuthToken", "Private-Token", "X-Session-Id", "X-Token",
      "COOKIE", "x-shop-user",
    ] {
      let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
      let network = fixture.network.with { $0.redaction = Redaction.standard.hiding("X-Shop-User") }
      func get(_ value: String) -> [String] { fixture.run(network.response(.get, "/a", headers: [name: value])).bodies }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]], name)
    }
  }

  func test_signaturesTellNothingApart() {
    let fixture = CacheFixture(CacheFixture.counting(["Cache-Control": "max-age=60"]))
    for name in ["sign", "Signature", "X-Signature"] {
      for value in ["1", "2"] { XCTAssertEqual(fixture.get([name: value]).bodies, ["1"]) }
    }
  }

  func test_underAKeyOfTheEndpointsOwnSecretsInURLAndBodyStillTellAccountsApart() {
    let tasks: [(String) -> (HTTPMethod, HTTPTask)] = [
      { (.get, .parameters(["token": $0, "t": 1])) }, { (.post, .parameters(["token": $0])) },
      { (.post, .json(["access_token": $0])) },
    ]
    for task in tasks {
      let fixture = CacheFixture(CacheFixture.counting([:]))
      func get(_ user: String) -> [String] {
        let (method, task) = task(user)
        return fixture.get(
          Plain(method: method, task: task, cachePolicy: .cacheFirst(seconds: 60), cachedKey: "feed")
        ).bodies
      }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]])
    }
  }

  func test_whoSignsInDoesNotGetTheAnswerOfWhoWasSignedOut() throws {
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

  func test_whatWasKeptBeforeAnInterceptorAddedCredentialsIsForgotten() {
    final class Signs: Interceptor {
      let isSignedIn = Locked(false)

      func intercept(_ request: Request, next: Chain) -> Observable<Exchange> {
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
}
