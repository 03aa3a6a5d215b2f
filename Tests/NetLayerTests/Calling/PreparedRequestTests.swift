import Foundation
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// `url(of:)` and `preparedRequest(for:)`, which build a request and don't send it.
final class PreparedRequestTests: XCTestCase {
  private let stub = StubTransport { _ in .json("{}") }
  private let notes = Notes()
  private let origin = URL(string: "http://h/api") ?? URL(filePath: "/")

  private func network(_ interceptors: any Interceptor..., signer: (any Signer)? = nil) -> Network {
    Network(
      Backend(
        baseURL: origin, headers: ["X-App": "1"], commonParameters: { ["lang": "en"] }, transport: stub, signer: signer,
        interceptors: interceptors, onError: { [notes] in notes.add("\($0.kind)") }))
  }

  private func authentication(
    _ token: Token?, _ refresh: @escaping AuthenticationInterceptor.Refresh = { _ in .just(Token(access: "new")) }
  ) -> AuthenticationInterceptor {
    AuthenticationInterceptor(for: [origin], store: MemoryTokenStore(token)) { [notes] old in
      notes.add("refresh")
      return try refresh(old)
    }
  }

  private var querySigner: ClosureSigner {
    ClosureSigner { content in
      RequestSignature(parameters: ["sign": content.text.count], headers: ["X-Signature": content.text])
    }
  }

  private func body(_ request: Request) -> String? {
    guard case .data(let data) = request.body else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  private func kind(_ call: () async throws -> Void) async -> NetworkError? {
    do {
      try await call()
      return nil
    } catch { return error as? NetworkError }
  }

  // MARK: The URL

  func test_url_isThatOfTheRequest() async throws {
    let network = network(signer: querySigner)
    let rows: [(Call<Response>, String)] = [
      (.get("/authorize", query: ["a": "b c"]), "http://h/api/authorize?a=b%20c&lang=en"),
      (.get(["users", "x/y"]), "http://h/api/users/x%2Fy?lang=en"),
      (.post("/a", json: ["b": 1]), "http://h/api/a"),
      (.get("https://other/b", query: ["a": 1]), "https://other/b?a=1"),
    ]
    for (call, expected) in rows {
      XCTAssertEqual(try network.url(of: call).absoluteString, expected)
      try await Network(network.backend).with { $0.signer = nil }.fetch(call)
      XCTAssertEqual(stub.requests.last?.url.absoluteString, expected)
    }
  }

  func test_url_failsLikeTheRequest() {
    let network = network()
    for url in ["htp://x", "http://", "http://h:99999/"] {
      XCTAssertThrowsError(try network.url(of: .get(url)), url) {
        let error = $0 as? NetworkError
        XCTAssertEqual(error?.kind, .invalidRequest)
        XCTAssertTrue(error?.reason.contains(url) == true, error?.reason ?? "")
      }
    }
    XCTAssertThrowsError(try Network(Backend(transport: stub)).url(of: .get("/a")))
    XCTAssertThrowsError(try network.url(of: .post("/a", json: ["a": Double.nan]))) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .encoding)
    }
    XCTAssertEqual(notes.all, [])
    XCTAssertEqual(stub.requests.count, 0)
  }

  // MARK: The request

  func test_preparedRequest_isTheOneThatIsSent() async throws {
    let network = network(
      authentication(Token(access: "old")), CompressionInterceptor(minSize: 100),
      signer: querySigner)
    let calls: [Call<Response>] = [
      .get("/a", query: ["x": 1]), .post("/b", json: ["long": String(repeating: "x", count: 200)]),
      .put("/c", form: ["d": "e"]), Call.get("/e").header("X-Own", "2"), .get("http://other/f"),
    ]
    for call in calls {
      let prepared = try await network.preparedRequest(for: call)
      try await network.fetch(call)
      let sent = try XCTUnwrap(stub.requests.last)
      XCTAssertEqual(prepared.method, sent.method)
      XCTAssertEqual(prepared.url, sent.url)
      XCTAssertEqual(prepared.headers, sent.headers)
      XCTAssertEqual(body(prepared), body(sent))
      XCTAssertEqual(prepared.timeouts, sent.timeouts)
    }
    XCTAssertEqual(stub.requests.count, calls.count)
    let model = try await network.preparedRequest(for: Call.get("/m").as([Int].self))
    XCTAssertEqual(model.headers["Accept"], "application/json")
  }

  func test_itHasTokenTraceAndSignature_butNotForAForeignURL() async throws {
    let network = network(
      TraceInterceptor { TraceContext() }, authentication(Token(access: "old")), signer: querySigner)
    let own = try await network.preparedRequest(for: .get("/a"))
    XCTAssertEqual(own.headers["Authorization"], "Bearer old")
    XCTAssertEqual(own.headers["X-App"], "1")
    XCTAssertEqual(own.headers["X-Signature"], "lang=en")
    XCTAssertEqual(own.url.absoluteString, "http://h/api/a?lang=en&sign=7")
    XCTAssertNotNil(own.headers["traceparent"])
    XCTAssertTrue(own.curlCommand().contains("http://h/api/a?lang=en"), own.curlCommand())
    XCTAssertFalse(own.curlCommand().contains("Bearer old"))
    let careless = AsyncInterceptor { request, next in
      var request = request
      request.headers["Authorization"] = "Basic own"
      return try await next(request)
    }
    var foreign = Call<Response>(.get, "http://other/b")
    foreign.content.isForeign = true
    let other = try await self.network(careless, authentication(Token(access: "old")), signer: querySigner)
      .preparedRequest(for: foreign)
    XCTAssertEqual(other.url.absoluteString, "http://other/b")
    for name in ["Authorization", "X-App", "X-Signature"] { XCTAssertNil(other.headers[name], name) }
  }

  func test_anExpiredToken_isRefreshedOnce() async throws {
    let network = network(authentication(Token(access: "old", expiresAt: .distantPast)))
    let first = try await network.preparedRequest(for: .get("/a"))
    let second = try await network.preparedRequest(for: .get("/a"))
    XCTAssertEqual([first, second].map { $0.headers["Authorization"] }, ["Bearer new", "Bearer new"])
    XCTAssertEqual(notes.all, ["refresh"])
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_aFailedRefresh_andCancellation_throw() async throws {
    let failing = network(
      authentication(Token(access: "old", expiresAt: .distantPast)) { _ in
        throw NetworkError(kind: .connection, reason: "down")
      })
    let error = await kind { _ = try await failing.preparedRequest(for: .get("/a")) }
    XCTAssertEqual(error?.kind, .connection)
    let waiting = network(authentication(Token(access: "old", expiresAt: .distantPast)) { _ in .never() })
    let task = Task { try await waiting.preparedRequest(for: .get("/a")) }
    try await eventually("the token is refreshed") { notes.all.filter { $0 == "refresh" }.count == 2 }
    task.cancel()
    let cancelled = await kind { _ = try await task.value }
    XCTAssertEqual(cancelled?.kind, .cancelled)
  }

  func test_aUserWhoSignsInMeanwhile_getsNoRequestOfTheFormerOne() async throws {
    let login = authentication(Token(access: "a", account: "ann"))
    let other = AsyncInterceptor { request, next in
      try await login.setToken(Token(access: "b", account: "bob"))
      return try await next(request)
    }
    let network = network(login, other)
    let error = await kind { _ = try await network.preparedRequest(for: .get("/a")) }
    XCTAssertEqual(error?.kind, .authentication)
  }

  // MARK: The interceptors that decide about sending

  func test_itHasNoCacheHit_andStoresNothing() async throws {
    let cached = StubTransport { _ in .response(headers: ["Cache-Control": "max-age=60"], body: Data("{}".utf8)) }
    let network = network(CoalescingInterceptor(window: .seconds(60)), CacheInterceptor(ResponseCache(storingIn: nil)))
      .with {
        $0.transport = cached
      }
    try await network.fetch(.get("/a"))
    let prepared = try await network.preparedRequest(for: .get("/a"))
    XCTAssertEqual(prepared.url.path, "/api/a")
    let again = try await network.fetch(.get("/a"))
    XCTAssertNotNil(again.cached)
    XCTAssertEqual(cached.requests.count, 1)
  }

  func test_itWaitsForNoLimit_andIsNeitherRetriedNorCounted() async throws {
    let pending = StubTransport { _ in .never }
    let counts = Notes()
    let log = NetworkLogger { [notes] in notes.add($0) }
    let network = network(RetryInterceptor(), log, LimitInterceptor(maxConcurrent: 1)).with { $0.transport = pending }
    let running = network.request(.get("/a")).subscribe()
    defer { running.dispose() }
    try await eventually("the first request is sent") { pending.requests.count == 1 }
    let watching = network.requestsInFlight.subscribe(onNext: { counts.add("\($0)") })
    defer { watching.dispose() }
    let logged = notes.all.count
    let prepared = try await network.preparedRequest(for: .get("/b"))
    XCTAssertEqual(prepared.url.path, "/api/b")
    XCTAssertEqual(counts.all, ["1"])
    XCTAssertEqual(notes.all.count, logged, "the logger sees nothing")
    XCTAssertEqual(pending.requests.count, 1)

    let attempts = Notes()
    let down = AsyncInterceptor { _, _ in
      attempts.add("attempt")
      throw NetworkError(kind: .connection, reason: "down")
    }
    let error = await kind { _ = try await self.network(RetryInterceptor(), down).preparedRequest(for: .get("/a")) }
    XCTAssertEqual(error?.kind, .connection)
    XCTAssertEqual(attempts.all.count, 1)
  }

  func test_errors() async throws {
    let answering = AsyncInterceptor { request, _ in Response(request: request, url: request.url, status: 200) }
    let error = await kind { _ = try await self.network(answering).preparedRequest(for: .get("/a")) }
    XCTAssertEqual(error?.kind, .invalidRequest)
    XCTAssertTrue(error?.reason.contains("an interceptor responds itself") == true)
    for call in [Call<Response>.get("htp://x"), Call.get("/a").header("X-A", "b\nc")] {
      let invalid = await kind { _ = try await self.network().preparedRequest(for: call) }
      XCTAssertEqual(invalid?.kind, .invalidRequest)
      XCTAssertFalse(invalid?.message.isEmpty ?? true)
    }
    XCTAssertEqual(stub.requests.count, 0)
  }
}
