import Foundation
import LoopbackServer
import NetLayerOffline
import NetLayerQueries
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The words of a server in the `message` of errors, also of errors that cross from one network to another.
final class ErrorWordsTests: UploadTestCase {
  private struct Posts: Endpoint {
    typealias Output = [Int]
    var path: String { "/posts" }
  }

  private struct Banned: LocalizedError {
    var errorDescription: String? { "Your account is closed." }
  }

  private func server() throws -> TestServer {
    try TestServer { _ in .json(#"{"message":"no bad words"}"#, status: 422) }
  }

  func test_sameBody_hasTheSameMessageThroughEachDoor() async throws {
    let server = try server()
    let network = Network(Backend(baseURL: server.url))
    let passing = AsyncInterceptor { try await $1($0) }
    let behind = network.with { $0.interceptors = [passing] }
    try write(10)
    let file = folder.appending(path: "download")
    let isFailed: @Sendable (Snapshot<[Int]>) -> Bool = { $0.error != nil }
    let snapshots = record(network.watch(Posts()).filter(isFailed).take(1)).elements
    let outbox = try Outbox(storingIn: folder.appending(path: "outbox"), on: network, reachability: TestReachability())
    let stored = XCTestExpectation(description: "the outbox has parked the entry")
    let parked = Box<NetworkError?>(nil)
    let subscription = outbox.results.subscribe(onNext: { result in
      if case .failure(let error) = result.result { parked.value = error }
      stored.fulfill()
    })
    outbox.start()
    try outbox.send(.post("/notes", json: ["text": "tea"]))
    await fulfillment(of: [stored], timeout: 60)
    subscription.dispose()
    let doors: [(String, NetworkError?)] = [
      ("fetch", await thrown { _ = try await network.fetch(.get("/"), as: [Int].self) }),
      ("request", record(network.request(.get("/"), as: [Int].self)).error),
      ("stream", record(network.stream(.get("/"))).error),
      ("withStream", await thrown { try await network.withStream(.get("/")) { _ in } }),
      ("download", record(network.transfer(downloading: .get("/"), to: file)).error),
      ("events", record(network.events(.get("/"))).error),
      ("lines", record(network.lines(.get("/"), as: Int.self)).error),
      ("upload", record(network.transfer(film, to: .post("/files"), by: .tus)).error),
      ("pages", record(network.pages(.get("/"), of: Int.self)).error),
      ("watch", snapshots.first?.error),
      ("edit", await thrown { _ = try await network.fetch(.post("/"), editing: Posts()) { $0.append(1) } }),
      ("socket", record(network.webSocket(Call<Response>.get("/")).messages).error),
      ("interceptor", await thrown { _ = try await behind.fetch(.get("/"), as: [Int].self) }),
      ("socket behind an interceptor", record(behind.webSocket(Call<Response>.get("/")).messages).error),
      ("outbox", parked.value),
    ]
    for (door, error) in doors { XCTAssertEqual(error?.message, "no bad words", door) }
  }

  func test_interceptorThatAwaitsAnotherNetwork_keepsTheWordsOfItsServer() async throws {
    let server = try server()
    let keys = Network(Backend(baseURL: server.url))
    let key = AsyncInterceptor { request, next in
      _ = try await keys.fetch(.get("/key"), as: String.self)
      return try await next(request)
    }
    let app = Network(Backend(baseURL: server.url, messages: .chinese, interceptors: [key]))
    let error = await thrown { _ = try await app.fetch(.get("/"), as: [Int].self) }
    XCTAssertEqual(error?.message, "no bad words")
  }

  func test_textThatAnotherNetworkHasMadeUp_isThatOfThisNetwork() async throws {
    let stub = StubTransport { _ in .failure(.timeout) }
    let url = URL(string: "http://h")
    let english = Network(Backend(baseURL: url, messages: .english, transport: stub))
    let asking = AsyncInterceptor { request, next in
      _ = try await english.response(.get("/key"))
      return try await next(request)
    }
    let chinese = Network(Backend(baseURL: url, messages: .chinese, transport: stub, interceptors: [asking]))
    let error = await thrown { _ = try await chinese.fetch(.get("/"), as: [Int].self) }
    XCTAssertEqual(error?.message, NetworkError.Messages.chinese.timeout)
    let asked = AsyncInterceptor { request, next in
      _ = try await chinese.response(.get("/key"))
      return try await next(request)
    }
    let back = await thrown {
      _ = try await english.with { $0.interceptors = [asked] }.fetch(.get("/"), as: [Int].self)
    }
    XCTAssertEqual(back?.message, NetworkError.Messages.english.timeout)
    // An interceptor that states no message.
    let offline = AsyncInterceptor { _, _ in throw NetworkError(kind: .connection, reason: "no route") }
    let other = chinese.with { $0.interceptors = [offline] }
    let plain = await thrown { _ = try await other.fetch(.get("/"), as: [Int].self) }
    XCTAssertEqual(plain?.message, NetworkError.Messages.chinese.network)
  }

  func test_errorOfAnInterceptorOrSigner_keepsItsDescription() async throws {
    let stub = StubTransport { _ in .json("[]") }
    let closed = AsyncInterceptor { _, _ in throw Banned() }
    let app = Network(
      Backend(baseURL: URL(string: "http://h"), messages: .chinese, transport: stub, interceptors: [closed]))
    let signing = app.with {
      $0.interceptors = []
      $0.signer = ClosureSigner { _ in throw Banned() }
    }
    for network in [app, signing] {
      let error = await thrown { _ = try await network.fetch(.get("/"), as: [Int].self) }
      XCTAssertEqual(error?.message, "Your account is closed.")
      XCTAssertEqual(record(network.request(.get("/"), as: [Int].self)).error?.message, "Your account is closed.")
    }
  }

  func test_authenticationError_hasTheWordsOfTheRefreshServer() async throws {
    let server = try TestServer { request in
      guard request.path == "/token" else { return .status(401) }
      return .json(#"{"error_description":"The refresh token has expired, sign in again"}"#, status: 400)
    }
    let tokens = Network(Backend(baseURL: server.url))
    func login(_ refresh: @escaping @Sendable (Token?) async throws -> Token) -> Network {
      let login = AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(Token(access: "t")), refresh: refresh)
      return Network(Backend(baseURL: server.url, messages: .chinese, interceptors: [login]))
    }
    let refused = login { _ in try await tokens.fetch(.post("/token"), as: Token.self) }
    let closed = login { _ in throw Banned() }
    let plain = login { _ in throw NetworkError(kind: .connection, reason: "no route") }
    for (network, kind, words) in [
      (refused, NetworkError.Kind.authentication, "The refresh token has expired, sign in again"),
      (closed, .authentication, "Your account is closed."),
      (plain, .connection, NetworkError.Messages.chinese.network),
    ] {
      let error = await thrown { _ = try await network.fetch(.get("/"), as: [Int].self) }
      XCTAssertEqual(error?.kind, kind)
      XCTAssertEqual(error?.message, words)
    }
  }

  private func thrown(_ work: () async throws -> Void) async -> NetworkError? {
    do {
      try await work()
      return nil
    } catch {
      return error as? NetworkError
    }
  }
}
