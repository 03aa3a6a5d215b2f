import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
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
      let network = fixture.network.with { $0.redaction = Redaction.standard.hiding(["X-Shop-User"]) }
      func get(_ value: String) -> [String] {
        fixture.run(network.responses(.get, "/a", headers: [name: value])).bodies
      }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]], name)
    }
  }

  /// A transport that acts for a user.
  private struct Personal: Transport {
    let account: String?
    let base: StubTransport

    func send(
      _ request: HTTPTransport.Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable { base.send(request, progress: progress, completion: completion) }
  }

  private static func counting(_ name: String) -> StubTransport {
    let count = Counter()
    return StubTransport { _ in
      .response(headers: ["Cache-Control": "max-age=60"], body: Data("\(name)\(count.next())".utf8))
    }
  }

  func test_aReplacedTransport_isAnotherUser() {
    let cache = ResponseCache(storingIn: nil)
    let url = URL(string: "http://h")
    let ann = Network(Backend(baseURL: url, transport: Self.counting("ann"), interceptors: [CacheInterceptor(cache)]))
    let (bob, eve) = (Self.counting("bob"), Self.counting("eve"))
    func get(_ network: Network) -> String? {
      record(network.responses(.get, "/a")).elements.last.map { String(decoding: $0.body, as: UTF8.self) }
    }
    for _ in 0..<2 {
      XCTAssertEqual(get(ann), "ann1")
      XCTAssertEqual(get(ann.with { $0.timeouts.attempt = .seconds(7) }), "ann1")
      XCTAssertEqual(get(ann.with { $0.transport = bob }), "bob1")
      XCTAssertEqual(get(Network(ann.backend).with { $0.transport = eve }), "eve1")
    }
    let value = ann.with { $0.transport = Personal(account: nil, base: Self.counting("val")) }
    XCTAssertEqual([get(value), get(value.with { $0.timeouts.attempt = .seconds(7) })], ["val1", "val1"])
  }

  func test_aReplacedTransport_usesTheDiskOnlyWithAnAccount() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = URL(string: "http://h")
    func get(_ change: @escaping (inout Backend) -> Void) -> String? {
      // A new cache, as after a launch.
      let cache = ResponseCache(storingIn: directory)
      defer { _ = cache.settle() }
      let own = Network(Backend(baseURL: url, transport: Self.counting("own"), interceptors: [CacheInterceptor(cache)]))
      return record(own.with(change).responses(.get, "/a")).elements.last.map {
        String(decoding: $0.body, as: UTF8.self)
      }
    }
    let personal = { @Sendable (name: String) in Personal(account: name, base: Self.counting(name)) }
    let other = Self.counting("other")
    for _ in 0..<2 {
      XCTAssertEqual(get { _ in }, "own1")
      XCTAssertEqual(get { $0.transport = personal("bob") }, "bob1")
      XCTAssertEqual(get { $0.transport = personal("eve") }, "eve1")
    }
    XCTAssertEqual(get { $0.transport = other }, "other1")
    XCTAssertEqual(get { $0.transport = other }, "other2")
    XCTAssertEqual(
      try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.count == 64 }.count, 3)
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
          Plain(
            method: method, task: task, caching: CacheOptions(policy: .cacheFirst(maxAge: .seconds(60)), key: "feed"))
        ).bodies
      }
      XCTAssertEqual([get("ada"), get("bob"), get("ada")], [["1"], ["2"], ["1"]])
    }
  }

  func test_signingIn_doesNotReturnTheResponseOfTheSignedOutState() throws {
    let authentication = AuthenticationInterceptor(for: [try XCTUnwrap(URL(string: "http://h"))]) {
      _ in .error(NetworkError(kind: .authentication, reason: "none"))
    }
    for account in [
      nil, { authentication.covers($0) ? authentication.accountState.account : nil },
    ] as [(@Sendable (Request) -> String?)?] {
      authentication.set(nil)
      let fixture = CacheFixture(
        account: account, behind: [authentication], CacheFixture.counting(["Cache-Control": "max-age=60"]))
      XCTAssertEqual(fixture.get().bodies, ["1"])
      authentication.set(Token(access: "ada"))
      XCTAssertEqual(fixture.get().bodies, ["2"])
      XCTAssertEqual(fixture.get(path: "http://elsewhere/a").bodies, ["3"])
      XCTAssertEqual(fixture.get(path: "http://elsewhere/a").bodies, ["3"], "where no token goes all is as ever")
    }
  }

  func test_entryStoredBeforeCredentialsWereAdded_isRemoved() {
    final class Signs: Interceptor {
      let isSignedIn = Locked(false)

      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
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
    let fixture = CacheFixture(account: { _ in user.withLock { $0 } }) { _ in .response(after: .seconds(2)) }
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

  func test_storedResponse_standsInForNoError_afterAChangeOfUser() {
    for policy in [CachePolicy.http, .networkElseCache] {
      for isError in [false, true] {
        let user = Box("ada")
        let isDown = Flag()
        let fixture = CacheFixture(policy: policy, account: { _ in user.value }) { _ in
          guard isDown.isRaised else {
            return .response(
              headers: ["Cache-Control": "max-age=0, stale-if-error=600"], body: Data(user.value.utf8))
          }
          return isError ? .failure(.connection, after: .seconds(2)) : .response(status: 503, after: .seconds(2))
        }
        fixture.get()
        isDown.raise()
        XCTAssertEqual(fixture.get().bodies, ["ada"])
        let seen = Notes()
        let call = fixture.network.responses(.get, "/a").subscribe(
          onNext: { seen.add("\($0.status) \(String(decoding: $0.body, as: UTF8.self))") },
          onError: { seen.add("\(NetworkError.wrapping($0).kind)") })
        fixture.scheduler.advanceBy(1)
        user.value = "bob"
        fixture.scheduler.start()
        call.dispose()
        XCTAssertEqual(seen.all, ["authentication"], "\(policy), error \(isError)")
      }
    }
  }

  func test_responseOr304WithACookie_isNotStoredForUsersWithoutIt() {
    let jar = CookieJar()
    let fixture = CacheFixture { request in
      jar.store(["Set-Cookie": "session=\(jar.cookies.isEmpty ? "ada" : "bob")"], from: request.url)
      return .response(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    }
    let network = fixture.network.with { $0.options.cookies = jar }
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.network])
    jar.removeAll()
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.network])
  }

  func test_responseThatVariesByALaterInterceptorsField_isNotStored() {
    struct Adds: Interceptor {
      let name: String
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
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
