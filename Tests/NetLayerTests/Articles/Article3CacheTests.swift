import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

private enum GitHub: Endpoint {
  case userProfile(String)
  case search(words: [String: String])

  var path: String {
    switch self {
    case .userProfile(let name): "/users/\(name.urlEscaped)"
    case .search: "/search"
    }
  }

  var task: HTTPTask {
    switch self {
    case .userProfile: .none
    case .search(let words): .parameters(Parameters(words))
    }
  }
}

private struct User: Codable, Equatable, Sendable {
  var login: String
}

/// The cache that article 3 describes.
final class Article3CacheTests: XCTestCase {
  private let user = GitHub.userProfile("InsectQY")

  /// A server that returns a new name of the user for each request, and is unreachable after `limit` requests.
  private func fixture(failingAfter limit: Int = .max) -> CacheFixture {
    let count = Locked(0)
    return CacheFixture { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number > limit ? .failure(.connection) : .json(#"{"login":"\#(number)"}"#)
    }
  }

  private func run<Element: Sendable>(
    _ source: some ObservableConvertibleType<Element>, _ fixture: CacheFixture
  ) -> (elements: [Element], error: NetworkError?) {
    let observer = fixture.scheduler.createObserver(Element.self)
    let subscription = source.asObservable().subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    let events = observer.events.map(\.value)
    return (events.compactMap(\.element), events.compactMap { $0.error as? NetworkError }.first)
  }

  func test_row_3_7_responsesAndModels_areStoredReadAndExpired() throws {
    struct Short: Endpoint {
      var path: String { "/users/a" }
      var caching: CacheOptions { CacheOptions(policy: .networkOnly, lifetime: .seconds(60)) }
    }
    let fixture = fixture()
    XCTAssertEqual(run(Short().cachedObject(User.self, on: fixture.network), fixture).elements, [nil])
    _ = run(fixture.network.request(Short(), as: User.self), fixture)
    fixture.scheduler.advanceBy(59)
    XCTAssertEqual(
      run(Short().cachedObject(User.self, on: fixture.network), fixture).elements, [User(login: "1")])
    XCTAssertEqual(run(Short().cachedObject(Int.self, on: fixture.network), fixture).elements, [nil])
    XCTAssertEqual(
      run(Short().cachedResponse(on: fixture.network), fixture).elements.map { $0?.source },
      [.cache(age: .seconds(59), isStale: true)])
    fixture.scheduler.advanceBy(1)
    XCTAssertEqual(run(Short().cachedObject(User.self, on: fixture.network), fixture).elements, [nil])
    XCTAssertEqual(fixture.requests, 1, "none of these asks the server")
  }

  func test_row_3_7_memoryAndDisk_areOneStorePerNetwork_thatOutlivesTheProcess() throws {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "article-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let stub = StubTransport { _ in .json(#"{"login":"a"}"#) }
    func network(_ cache: ResponseCache) -> Network {
      Network(
        Backend(baseURL: URL(string: "http://h"), transport: stub, interceptors: [CacheInterceptor(cache)]))
    }
    func start() throws {
      let cache = ResponseCache(storingIn: directory)
      XCTAssertNil(record(user.cachedObject(User.self, on: network(cache))).elements.first.flatMap { $0 })
      _ = record(user.cache.request(on: network(cache)))
      _ = cache.settle()
    }
    try start()
    let again = ResponseCache(storingIn: directory)
    XCTAssertEqual(record(user.cachedObject(User.self, on: network(again))).elements, [User(login: "a")])
    XCTAssertEqual(stub.requests.count, 1)
  }

  func test_row_3_8_key_isTheURLWithParametersInStableOrder() {
    let fixture = fixture()
    let words = ["b": "2", "a": "1", "c": "3"]
    _ = run(GitHub.search(words: words).cache.request(on: fixture.network), fixture)
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
      var same: [String: String] = [:]
      for key in order { same[key] = words[key] }
      let found = run(GitHub.search(words: same).cachedObject(User.self, on: fixture.network), fixture)
      XCTAssertEqual(found.elements, [User(login: "1")])
    }
    let other = run(GitHub.search(words: ["a": "1"]).cachedObject(User.self, on: fixture.network), fixture)
    XCTAssertEqual(other.elements, [nil])
  }

  func test_row_3_9_storedResponse_precedesTheServersResponse_whichIsStored() {
    let fixture = fixture()
    let users = user.cache.request(on: fixture.network).map(User.self)
    XCTAssertEqual(run(users, fixture).elements, [User(login: "1")])
    XCTAssertEqual(run(users, fixture).elements, [User(login: "1"), User(login: "2")])
    XCTAssertEqual(run(users, fixture).elements, [User(login: "2"), User(login: "3")])
    let replies = run(user.cache.request(on: fixture.network), fixture).elements
    XCTAssertEqual(
      replies.map(\.source), [.cache(age: .seconds(0), isStale: true), .network], "they can be told apart")
  }

  func test_row_3_9_missingCache_isAnErrorWithTheRemedy() throws {
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: StubTransport([])))
    let error = try failure(of: user.cache.request(on: network))
    XCTAssertEqual(error.kind, .invalidRequest)
    XCTAssertTrue(error.reason.contains("CacheInterceptor"), error.reason)
    XCTAssertThrowsError(try user.removeCachedResponse(on: network))
    XCTAssertEqual(try failure(of: user.cachedResponse(on: network)).kind, .invalidRequest)
  }

  func test_row_3_10_storedModel_isDeliveredSeparately() {
    let fixture = fixture()
    let local = Locked<[User]>([])
    let call = user.onCache(User.self) { user in local.withLock { $0.append(user) } }.request(on: fixture.network)
    XCTAssertEqual(run(call, fixture).elements, [User(login: "1")])
    XCTAssertEqual(local.withLock { $0 }, [], "nothing was stored yet")
    XCTAssertEqual(run(call, fixture).elements, [User(login: "2")])
    XCTAssertEqual(local.withLock { $0 }, [User(login: "1")])
  }

  func test_row_3_10_storedModel_isReadAtAKeyPath_andSkippedIfInvalid() {
    let fixture = fixture(failingAfter: 2)
    let logins = Locked<[String]>([])
    func call() -> Single<String> {
      user.onCache(String.self, at: "login") { login in logins.withLock { $0.append(login) } }
        .request(on: fixture.network)
    }
    XCTAssertEqual(run(call(), fixture).elements, ["1"])
    let unreadable = user.onCache(Int.self, at: "none") { _ in XCTFail("there is none") }.request(on: fixture.network)
    XCTAssertEqual(run(unreadable, fixture).error?.kind, .parse, "the server's has none, either")
    XCTAssertEqual(run(call(), fixture).error?.kind, .connection, "a failure is told, whatever is stored")
    XCTAssertEqual(logins.withLock { $0 }, ["2"])
  }

  func test_row_3_11_storedContent_isShownWhileLoadingAndOffline() {
    let fixture = fixture(failingAfter: 1)
    _ = run(user.cache.request(on: fixture.network), fixture)
    let offline = run(user.cache.request(on: fixture.network).map(User.self), fixture)
    XCTAssertEqual(offline.elements, [User(login: "1")])
    XCTAssertEqual(offline.error?.kind, .connection, "and the user can be told why it is old")
  }

  func test_row_3_11_localData_isUsedWhenTheNetworkFails() {
    let fixture = fixture(failingAfter: 1)
    let users = user.caching(.networkElseCache).request(on: fixture.network).map(User.self)
    XCTAssertEqual(run(users, fixture).elements, [User(login: "1")])
    let offline = run(users, fixture)
    XCTAssertEqual(offline.elements, [User(login: "1")])
    XCTAssertNil(offline.error)
    XCTAssertEqual(
      run(fixture.network.request(user.caching(.networkElseCache), as: User.self), fixture).elements,
      [User(login: "1")], "any call that takes an endpoint takes it with a policy")
  }

  func test_row_3_16_predicate_decidesWhatIsStored() {
    struct Choosy: Endpoint {
      var path: String { "/users/a" }
      var caching: CacheOptions {
        CacheOptions(policy: .networkOnly) { (try? $0.json()["login"].string) != "1" }
      }
    }
    let fixture = fixture()
    for stored in [nil, User(login: "2")] {
      _ = run(fixture.network.request(Choosy(), as: User.self), fixture)
      XCTAssertEqual(run(Choosy().cachedObject(User.self, on: fixture.network), fixture).elements, [stored])
    }
  }

  func test_row_3_16_entries_canBeStoredAndRemoved() throws {
    let fixture = fixture()
    _ = run(user.cache.request(on: fixture.network), fixture)
    try user.removeCachedResponse(on: fixture.network)
    XCTAssertEqual(run(user.cachedObject(User.self, on: fixture.network), fixture).elements, [nil])
    let brought = Response(request: Request(url: URL(string: "http://h")!), body: Data(#"{"login":"seed"}"#.utf8))
    try user.storeCachedResponse(brought, on: fixture.network)
    XCTAssertEqual(
      run(user.cachedObject(User.self, on: fixture.network), fixture).elements, [User(login: "seed")])
    fixture.cache.removeAll()
    XCTAssertEqual(run(user.cachedObject(User.self, on: fixture.network), fixture).elements, [nil])
    struct Post: Endpoint {
      var path: String { "/" }
      var method: HTTPMethod { .post }
    }
    XCTAssertThrowsError(try Post().storeCachedResponse(brought, on: fixture.network))
  }
}
