import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The `await` API: `.get(…)`, `.post(…)` and `fetch`.
final class FetchTests: XCTestCase {
  private struct User: Codable, Sendable, Equatable {
    var id: Int
    var firstName: String
  }

  private struct Problem: Decodable, Equatable { var errors: [String] }

  private struct UserDetail: Endpoint {
    typealias Output = User
    struct Failure: Decodable, Sendable, Equatable { var retryIn: Int }
    let id: Int
    var path: String { "/users/\(id)" }
  }

  private static let ada = #"{"id":1,"first_name":"Ada"}"#

  private func network(_ stub: StubTransport, _ change: (inout Backend) -> Void = { _ in }) -> Network {
    var backend = Backend(
      baseURL: URL(string: "http://api.test/v1"), coding: .snakeCase, messages: .english,
      transport: stub)
    change(&backend)
    return Network(backend)
  }

  private func text(_ request: Request?) -> String {
    guard let request else { return "nothing" }
    let body = if case .data(let data) = request.body { String(decoding: data, as: UTF8.self) } else { "" }
    let place = request.url.absoluteString.dropFirst("http://api.test/v1".count)
    return "\(request.method) \(place) \(request.headers["Content-Type"] ?? "-") \(body)"
  }

  func test_fetch_returnsEveryKindOfResult() async throws {
    let stub = StubTransport([
      .init(.delete, "/v1/users/1", .response(status: 204)), .init(nil, "/v1/users/1", .json(Self.ada)),
    ])
    let api = network(stub)
    let ada = User(id: 1, firstName: "Ada")
    let inferred: User = try await api.fetch(.get("/users/1"))
    let named = try await api.fetch(.get("/users/1"), as: User.self)
    let typed = try await api.fetch(UserDetail(id: 1))
    XCTAssertEqual([inferred, named, typed], [ada, ada, ada])
    let string: String = try await api.fetch(.get("/users/1"))
    let data = try await api.fetch(.get("/users/1"), as: Data.self)
    let json = try await api.fetch(.get("/users/1"), as: JSON.self)
    let response: Response = try await api.fetch(.get("/users/1"))
    XCTAssertEqual([string, String(decoding: data, as: UTF8.self), json.description], [Self.ada, Self.ada, Self.ada])
    XCTAssertEqual(response.status, 200)
    XCTAssertEqual(try response.decode(User.self), ada)
    try await api.fetch(.delete("/users/1"))
    try await api.fetch(.delete("/users/1"))
    XCTAssertEqual(
      stub.requests.map { $0.headers["Accept"] ?? "-" }.prefix(3), Array(repeating: "application/json", count: 3)[...])
  }

  func test_verbs_setMethodQueryAndBody() async throws {
    let stub = StubTransport { _ in .json("{}") }
    let api = network(stub)
    let ada = User(id: 1, firstName: "Ada")
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
    try Data("{}".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let calls: [(Call<Response>, String)] = [
      (.get("/a", query: ["q": 1]), "GET /a?q=1 - "),
      (.get("a?x=1&y", query: ["q": "z z"]), "GET /a?x=1&y&q=z%20z - "),
      (.head("/a"), "HEAD /a - "),
      (.delete("/a", query: ["q": 1]), "DELETE /a?q=1 - "),
      (.post("/a"), "POST /a - "),
      (.post("/a", query: ["q": 1]), "POST /a?q=1 - "),
      (.post("/a", json: ada), #"POST /a application/json {"first_name":"Ada","id":1}"#),
      (.post("/a?v=2", json: ada, query: ["q": 1]), #"POST /a?v=2&q=1 application/json {"first_name":"Ada","id":1}"#),
      (
        .put("/a", parameters: ["isNew": true, "count": 1, "none": nil]),
        #"PUT /a application/json {"count":1,"is_new":true}"#
      ),
      (.patch("/a", json: [1, 2]), "PATCH /a application/json [1,2]"),
      (.post("/a", form: ["x": "a b"]), "POST /a application/x-www-form-urlencoded; charset=utf-8 x=a%20b"),
      (.put("/a", .data(Data("x".utf8), contentType: "text/plain")), "PUT /a text/plain x"),
      (.post("/a", .upload(file)), "POST /a application/json "),
      (
        .post("/a", json: ada).query(["q": 1]).query(["q": 2, "r": 3]),
        #"POST /a?q=2&r=3 application/json {"first_name":"Ada","id":1}"#
      ),
    ]
    for (call, expected) in calls {
      try await api.fetch(call)
      XCTAssertEqual(text(stub.requests.last), expected)
    }
    try await api.fetch(Call(.put, "/a", task: .multipart(MultipartForm([.field("n", "v")]))))
    XCTAssertTrue(text(stub.requests.last).hasPrefix("PUT /a multipart/form-data; boundary="))
  }

  private enum Trace: ContextKey { static let defaultValue = "" }

  func test_modifiers_changeOneCall() async throws {
    let stub = StubTransport { _ in .json("{}") }
    let api = network(stub) { $0.headers = ["A": "backend", "B": "backend"] }
    try await api.fetch(
      .get("/a").header("A", "call").timeout(.milliseconds(1500)).priority(.high).context(Trace.self, "t")
        .caching(.networkOnly).httpVersion(.http2))
    let request = try XCTUnwrap(stub.requests.last)
    XCTAssertEqual([request.headers["A"], request.headers["B"]], ["call", "backend"])
    XCTAssertEqual(request.timeouts.call, .seconds(1.5))
    XCTAssertEqual(request.timeouts.connect, .seconds(15))
    XCTAssertEqual(request.options.priority, .high)
    XCTAssertEqual(request.options.httpVersion, .http2)
    XCTAssertEqual(request.context[Trace.self], "t")
    XCTAssertEqual(request.caching.policy, .networkOnly)
    _ = try? await api.fetch(UserDetail(id: 1).header("A", "typed"))
    XCTAssertEqual(stub.requests.last?.headers["A"], "typed")
    XCTAssertEqual(stub.requests.last?.timeouts.idle, .seconds(60))
  }

  func test_queryInThePath_isSafe() async throws {
    let stub = StubTransport { _ in .json("{}") }
    let api = network(stub)
    try await api.fetch(.get("/a?q=é&r=%20 x"))
    XCTAssertEqual(stub.requests.last?.url.absoluteString, "http://api.test/v1/a?q=%C3%A9&r=%20%20x")
    try await api.fetch(.get("?q=1"))
    XCTAssertEqual(stub.requests.last?.url.absoluteString, "http://api.test/v1?q=1")
    for path in ["/a?b#c", "/a?b\r\nX: y", "/../a?b"] {
      do {
        try await api.fetch(.get(path))
        XCTFail("\(path.debugDescription) was sent")
      } catch {
        XCTAssertEqual(error.kind, .invalidRequest)
      }
    }
  }

  func test_failures_areTyped_andDecodeTheirBody() async throws {
    let stub = StubTransport([
      .init(nil, "/v1/users/1", .json(#"{"message":"bad","errors":["name"],"retry_in":7}"#, status: 422)),
      .init(nil, "/v1/users/2", .failure(.timeout)),
    ])
    let api = network(stub)
    do {
      try await api.fetch(.get("/users/1"))
      XCTFail("422 is no success")
    } catch {
      XCTAssertEqual(error.status, 422)
      XCTAssertEqual(error.message, "bad")
      XCTAssertEqual(try error.body(as: Problem.self), Problem(errors: ["name"]))
      XCTAssertEqual(try error.body(of: UserDetail.self), .init(retryIn: 7))
      XCTAssertThrowsError(try error.body(as: User.self)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .parse) }
    }
    do {
      _ = try await api.fetch(UserDetail(id: 2))
      XCTFail("no response arrived")
    } catch {
      XCTAssertNil(error.status)
      XCTAssertThrowsError(try error.body(as: Problem.self)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .timeout) }
    }
  }

  func test_errors_areReportedOnce_andMapped() async throws {
    let observed = Locked<[String]>([])
    let stub = StubTransport([.init(nil, "/v1/bad", .json("[]")), .init(nil, "/v1/gone", .json("{}", status: 410))])
    let api = network(stub) { backend in
      backend.onError = { error in observed.withLock { $0.append("\(error.kind)") } }
      backend.mapError = { error in
        var error = error
        error.message = "mapped"
        return error
      }
    }
    for path in ["/bad", "/gone", "/.."] {
      do {
        _ = try await api.fetch(.get(path), as: User.self)
        XCTFail(path)
      } catch {
        XCTAssertEqual(error.message, "mapped", path)
      }
    }
    XCTAssertEqual(observed.withLock { $0 }, ["parse", "status", "invalidRequest"])
  }

  func test_cancellingTheTask_cancelsTheRequest() async throws {
    let transport = StubTransport { _ in .never }
    let api = network(StubTransport([])) { $0.transport = transport }
    let task = Task { try await api.fetch(.get("/slow")) }
    try await eventually("the condition holds") { !transport.requests.isEmpty }
    task.cancel()
    let result = await task.result
    XCTAssertThrowsError(try result.get()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .cancelled) }
    XCTAssertEqual(transport.cancelled.count, 1)
    let before = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await api.fetch(.get("/never"))
    }
    let outcome = await before.result
    XCTAssertThrowsError(try outcome.get()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .cancelled) }
    XCTAssertEqual(transport.requests.count, 1, "nothing is sent for a task that is over")
  }

  @MainActor
  func test_fetch_returnsToTheMainActor_alsoWithMainDelivery() async throws {
    let stub = StubTransport { _ in .json(Self.ada) }
    let api = network(stub) { $0.delivery = MainScheduler.instance }
    let user: User = try await api.fetch(.get("/users/1"))
    MainActor.assertIsolated()
    XCTAssertEqual(user.id, 1)
  }

  @MainActor
  func test_withStream_runsOnTheCallersActor() async throws {
    let api = network(StubTransport([.init(nil, "/v1/log", .chunks([Data("a".utf8), Data("b".utf8)]))]))
    var text = ""
    try await api.withStream(.get("/log")) { streamed in
      for try await chunk in streamed.chunks {
        MainActor.assertIsolated()
        text += String(decoding: chunk, as: UTF8.self)
      }
    }
    XCTAssertEqual(text, "ab")
  }

  func test_withStream_cancelsTheRequest_whenTheScopeEnds() async throws {
    let stub = StubTransport([
      .init(nil, "/v1/log", .chunks([Data("a".utf8), Data("b".utf8)])),
      .init(nil, "/v1/gone", .json(#"{"detail":"no log"}"#, status: 404)),
    ])
    let api = network(stub)
    let all = try await api.withStream(.get("/log")) { streamed in
      XCTAssertEqual(streamed.response.status, 200)
      var text = ""
      for try await chunk in streamed.chunks { text += String(decoding: chunk, as: UTF8.self) }
      return text
    }
    XCTAssertEqual(all, "ab")
    let kept = try await api.withStream(.get("/log")) { $0.chunks }
    var iterator = kept.makeAsyncIterator()
    do {
      _ = try await iterator.next()
      XCTFail("the scope has ended")
    } catch {
      XCTAssertEqual((error as? NetworkError)?.kind, .cancelled)
    }
    do {
      try await api.withStream(.get("/gone")) { _ in XCTFail("404 is no stream") }
    } catch {
      XCTAssertEqual((error as? NetworkError)?.message, "no log")
    }
  }

  func test_everyVerb_takesACall() throws {
    let stub = StubTransport([
      .init(nil, "/v1/lines", .response(body: Data("1\n2\n".utf8))),
      .init(
        nil, "/v1/events",
        .sequence([
          .response(headers: ["Content-Type": "text/event-stream"], body: Data("data: hi\n\n".utf8)),
          .response(status: 204),
        ])), .init(nil, "/v1/envelope", .json(#"{"code":200,"data":[7]}"#)), .init({ _ in true }, .json(Self.ada)),
    ])
    let api = network(stub)
    let ada = User(id: 1, firstName: "Ada")
    XCTAssertEqual(record(api.request(.get("/a"), as: User.self)).elements, [ada])
    XCTAssertEqual(
      record(api.with { $0.envelope = .standard }.json(.get("/envelope")).list(Int.self)).elements.map(\.items), [[7]])
    XCTAssertEqual(record(api.lines(.get("/lines"), as: Int.self)).elements, [1, 2])
    XCTAssertEqual(record(api.events(.post("/events", json: ["q": 1]))).elements.map(\.data), ["hi"])
    XCTAssertEqual(record(api.stream(.get("/a"))).elements.count, 1)
    XCTAssertEqual(record(api.response(streaming: .get("/a"))).elements.map(\.response.status), [200])
    XCTAssertEqual(record(api.zip([.get("/a"), .get("/b")], as: User.self)).elements, [[ada, ada]])
    XCTAssertEqual(record(api.merge([Call.get("/a"), .get("/b")], as: User.self)).elements, [ada, ada])
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    XCTAssertEqual(record(api.transfer(downloading: .get("/a"), to: file)).elements.compactMap(\.result), [file])
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), Self.ada)
    let done = expectation(description: "the completion was called")
    Router<Call>(api).request(.get("/a")) { result in
      XCTAssertEqual(try? result.get().status, 200)
      done.fulfill()
    }
    wait(for: [done], timeout: 60)
  }

  func test_query_replacesParametersOfTheSameNames() async throws {
    let stub = StubTransport { _ in .json("{}") }
    let api = network(stub) { $0.commonParameters = { ["lang": "en", "v": 1] } }
    let file = URL(filePath: "/nowhere")
    let calls: [(Call, String)] = [
      (.get("/a?p=1&q=2").query(["p": 3]), "q=2&lang=en&p=3&v=1"),
      (Call(.get, "/a", task: .parameters(["p": 1, "q": 2])).query(["p": 3]), "lang=en&p=3&q=2&v=1"),
      (Call(.post, "/a", task: .composite(query: ["p": 1], body: [:])).query(["p": 3]), "lang=en&p=3&v=1"),
      (.get("/a?lang=de"), "lang=de&v=1"), (.get("http://api.test/v1/a?p=1#f").query(["p": 2]), "lang=en&p=2&v=1"),
    ]
    for (call, query) in calls {
      try await api.fetch(call)
      XCTAssertEqual(stub.requests.last?.url.query, query)
    }
    guard
      case .download(_, let own, nil) = Call(.get, "/a", task: .download(to: file, parameters: ["p": 1])).query(["p": 2]
      ).task.kind
    else { return XCTFail("a download stays one") }
    XCTAssertEqual(try URLParameterEncoder().text(of: own), "p=2")
  }

  func test_modifiers_keepTheTypeOfAnEndpoint() async throws {
    struct Inner: Endpoint {
      let accept: String? = "application/special"
      let path = "/users/1"
      func read(_ response: HTTPTransport.Response) throws -> Int { try response.json()["id"].int ?? 0 }
    }
    let stub = StubTransport { _ in .json(Self.ada) }
    let api = network(stub)
    let one: Int = try await api.fetch(
      Inner().timeout(.seconds(3)).header("A", "b").query(["q": 1]).caching(.networkOnly).priority(.low)
        .context(Trace.self, "t").httpVersion(.http1))
    XCTAssertEqual(one, 1)
    let request = try XCTUnwrap(stub.requests.last)
    XCTAssertEqual(request.options.httpVersion, .http1)
    XCTAssertEqual([request.headers["Accept"], request.headers["A"]], ["application/special", "b"])
    XCTAssertEqual(request.timeouts.call, .seconds(3))
    XCTAssertEqual(request.url.query, "q=1")
    XCTAssertEqual([request.context[Trace.self]], ["t"])
  }

  func test_timeoutOfZeroOrLess_isAMillisecond_andMayBeEnormous() async throws {
    let stub = StubTransport { _ in .json("{}") }
    for limit in [Duration.zero, .seconds(-1), .seconds(Int64.max)] {
      // A response within a real millisecond is not certain, so that the time of a short limit stands still.
      let api = network(stub) { if limit <= .zero { $0.clock = TestScheduler() } }
      try await api.fetch(.get("/a").timeout(limit))
      XCTAssertEqual(stub.requests.last?.timeouts.call, limit > .zero ? limit : .milliseconds(1))
    }
  }

  func test_contextOfACall_keepsTheBackendsBoundFields_andPreventsCoalescing() async throws {
    let stub = StubTransport { _ in .json("{}", after: .seconds(0.01)) }
    let api = network(stub) {
      $0.headers = ["X-Shop": "k"]
      $0.interceptors = [CoalescingInterceptor()]
    }
    try await api.fetch(.get("/a").context(OriginBoundHeadersKey.self, ["X-Mine": "s"]))
    let bound = try XCTUnwrap(stub.requests.last).originBoundHeaders
    XCTAssertEqual([bound["X-Shop"], bound["X-Mine"]], ["k", "s"])
    async let a = api.fetch(.get("/b").context(Trace.self, "a"))
    async let b = api.fetch(.get("/b").context(Trace.self, "b"))
    _ = try await [a, b]
    XCTAssertEqual(Set(stub.requests.dropFirst().map { $0.context[Trace.self] }), ["a", "b"])
  }

  func test_pathCache_distinguishesEquivalentCharacters() async throws {
    let stub = StubTransport { _ in .json("{}") }
    let api = network(stub)
    for path in ["/K", "/\u{212A}", "/K"] { try await api.fetch(.get(path)) }
    XCTAssertEqual(
      stub.requests.map(\.url.absoluteString.localizedLowercase),
      [
        "http://api.test/v1/k", "http://api.test/v1/%e2%84%aa", "http://api.test/v1/k",
      ])
    for number in 0..<200 { try await api.fetch(.get("/\(number)")) }
    XCTAssertEqual(stub.requests.last?.url.lastPathComponent, "199")
  }

  func test_truncatedBody_isReported() async throws {
    let observed = Locked<[NetworkError.Kind]>([])
    let stub = StubTransport { _ in .chunks([Data("a".utf8)], failing: .connection) }
    let api = network(stub) { $0.onError = { error in observed.withLock { $0.append(error.kind) } } }
    do {
      try await api.withStream(.get("/a")) { streamed in for try await _ in streamed.chunks {} }
      XCTFail("no error")
    } catch {
      XCTAssertEqual((error as? NetworkError)?.kind, .connection)
    }
    XCTAssertEqual(observed.withLock { $0 }, [.connection])
  }

  func test_wait_usesTheTimeoutOfTheCall() throws {
    let stub = StubTransport { _ in .json("{}", after: .seconds(1.5)) }
    let api = network(stub) { $0.timeouts.attempt = .seconds(0.1) }
    XCTAssertEqual(try api.wait(for: .get("/a").timeout(.seconds(20))).status, 200)
  }
}
