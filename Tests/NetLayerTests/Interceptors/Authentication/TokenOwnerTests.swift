import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

/// A store whose first `load` waits until the test releases it.
private final class SlowStore: TokenStore {
  let loads = Counter()
  private let asked = AsyncStream<Void>.makeStream()
  private let released = AsyncStream<Void>.makeStream()

  func load() async throws -> Token? {
    _ = loads.next()
    asked.continuation.yield()
    for await _ in released.stream { break }
    return Token(access: "slow", account: "ann")
  }

  func save(_ token: Token?) {}

  func waitForLoad() async { for await _ in asked.stream { break } }

  func release() { released.continuation.yield() }
}

/// The user whom a token belongs to, over refreshes, in stored tokens and as a signal.
final class TokenOwnerTests: XCTestCase {
  private let unnamed = "a user without a name"
  private func url() throws -> URL { try XCTUnwrap(URL(string: "http://h")) }

  func test_tokenFileWithoutAnAccount_isRead() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    // As written before tokens had accounts.
    try Data(#"{"access":"a","refresh":"r","expiresAt":5}"#.utf8).write(to: file)
    let token = Token(access: "a", refresh: "r", expiresAt: Date(timeIntervalSinceReferenceDate: 5))
    XCTAssertEqual(try FileTokenStore(storingIn: file).load(), token)
    let named = Token(access: "b", account: "ann")
    try FileTokenStore(storingIn: file).save(named)
    XCTAssertEqual(try FileTokenStore(storingIn: file).load(), named)
  }

  func test_refreshedToken_keepsTheAccount_soThatTheCacheHits() throws {
    for (account, requests) in [("ann", 1), (nil, 2)] {
      let virtual = VirtualNetwork {
        $0.url.path == "/cached"
          ? .response(headers: ["Cache-Control": "max-age=60"], body: Data("ok".utf8))
          : .json("ok", status: $0.headers["Authorization"] == "Bearer new" ? 200 : 401)
      }
      let authentication = AuthenticationInterceptor(
        for: [try url()], store: MemoryTokenStore(Token(access: "old", account: account)),
        refresh: { _ in .just(Token(access: "new")) })
      let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil)), authentication)
      let owners = Notes()
      let subscription = authentication.accountStates.subscribe(onNext: { owners.add("\($0)") })
      for path in ["/cached", "/refreshing", "/cached"] {
        virtual.note("", network.responses(.get, path))
        virtual.scheduler.start()
      }
      XCTAssertEqual(virtual.paths.filter { $0 == "/cached" }.count, requests)
      XCTAssertEqual(authentication.present?.account, account)
      XCTAssertEqual(owners.all, account == nil ? [unnamed, unnamed] : ["ann"])
      subscription.dispose()
    }
  }

  func test_accountStates_changeWithTheUser_butNotWithTheToken() throws {
    let authentication = AuthenticationInterceptor(
      for: [try url()], refresh: { _ -> Single<Token> in throw TestError("not needed") })
    let owners = Notes()
    let subscription = authentication.accountStates.subscribe(onNext: { owners.add("\($0)") })
    let tokens = [
      Token(access: "1", account: "ann"), Token(access: "2", account: "ann"), Token(access: "3", account: "bob"),
      Token(access: "4"), nil,
    ]
    for token in tokens { authentication.set(token) }
    XCTAssertEqual(owners.all, ["nobody", "ann", "bob", unnamed, "nobody"])
    subscription.dispose()
  }

  func test_slowStore_isReadOnce_andEveryCallWaitsForIt() async throws {
    let store = SlowStore()
    let stub = StubTransport { .json("\"\($0.headers["Authorization"] ?? "none")\"") }
    let authentication = AuthenticationInterceptor(
      for: [try url()], store: store, refresh: { _ -> Single<Token> in throw TestError("not needed") })
    let interceptors: [any Interceptor] = [
      CoalescingInterceptor(), CacheInterceptor(ResponseCache(storingIn: nil)), authentication,
    ]
    let network = Network(Backend(baseURL: try url(), transport: stub, interceptors: interceptors))
    let calls = (0..<3).map { _ in Task { try await network.fetch(.get("/x"), as: String.self) } }
    await store.waitForLoad()
    XCTAssertEqual(stub.requests.count, 0)
    store.release()
    for call in calls {
      let text = try await call.value
      XCTAssertEqual(text, #""Bearer slow""#)
    }
    XCTAssertEqual(store.loads.next(), 2, "loaded once")
  }

  func test_tokenSetWhileTheStoreIsRead_isKept() async throws {
    let store = SlowStore()
    let authentication = AuthenticationInterceptor(
      for: [try url()], store: store, refresh: { _ -> Single<Token> in throw TestError("not needed") })
    let reading = Task { try await authentication.token }
    await store.waitForLoad()
    try await authentication.setToken(Token(access: "new"))
    store.release()
    let read = try await reading.value
    let present = try await authentication.token
    XCTAssertEqual([read?.access, present?.access], ["new", "new"])
  }

  func test_callsOfAnUnknownUser_shareNothing() throws {
    let store = SlowStore()
    let authentication = AuthenticationInterceptor(
      for: [try url()], store: store, refresh: { _ -> Single<Token> in throw TestError("not needed") })
    let network = Network(Backend(interceptors: [authentication]))
    let request = Request(url: try url())
    let accounts = [network.logins.account(of: request, from: 0), network.logins.account(of: request, from: 0)]
    XCTAssertNotNil(accounts[0])
    XCTAssertNotEqual(accounts[0], accounts[1])
    authentication.set(Token(access: "t", account: "ann"))
    XCTAssertEqual(network.logins.account(of: request, from: 0), "ann")
  }

  func test_storeThatCannotBeRead_failsTheCall_andIsReadAgain() throws {
    final class Broken: TokenStore {
      let isBroken = Locked(true)
      func load() throws -> Token? {
        if isBroken.withLock({ $0 }) { throw TestError("locked") }
        return Token(access: "t")
      }
      func save(_ token: Token?) {}
    }
    let virtual = VirtualNetwork(.json("ok"))
    let store = Broken()
    let authentication = AuthenticationInterceptor(
      for: [try url()], store: store,
      refresh: { _ -> Single<Token> in throw TestError("not needed") })
    let network = virtual.network(authentication)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    store.isBroken.withLock { $0 = false }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["other @0", "200 ok @0"])
  }
}
