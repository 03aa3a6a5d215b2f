import Dispatch
import Foundation
import NetLayerTesting
import Streams
import XCTest

final class NetLayerArticleTests: XCTestCase {

  func test_callingABackEnd() async throws {
    let (bag, done) = (DisposeBag(), Done())
    let libraryURL = URL(string: "https://library.example")
    let stub = StubTransport { request in
      guard request.url.path == "/books/new" else { return .json(#"{"code":200,"data":{"title":"西游记"}}"#) }
      return request.url.query()?.contains("cursor=2") == true
        ? .json(#"{"code":200,"data":[{"title":"三国演义"}]}"#)
        : .json(#"{"code":200,"data":[{"title":"红楼梦"},{"title":"水浒传"}],"cursor":"2"}"#)
    }
    let library = Network(
      Backend(
        baseURL: libraryURL,
        headers: ["X-App": "reader"],
        commonParameters: { ["lang": "zh"] },
        envelope: Envelope(code: "code", success: 200, message: "message", data: "data", cursor: "cursor"),
        transport: stub))

    let book = try await library.book(7).asSingle().value
    print("\(book.title)")
    try assertPrinted(asIn: "EnvelopeAPIs", 1)

    library.pages(.get("/books/new"), of: Book.self, by: .cursor())
      .map { $0.items.map(\.title).joined(separator: ", ") }
      .subscribe(onNext: { print($0) }, onError: { print($0.localizedDescription) }, onDisposed: { done.signal() })
      .disposed(by: bag)
    await done.wait()
    try assertPrinted(asIn: "EnvelopeAPIs", 2)

    let graph = Network(Backend(baseURL: libraryURL, envelope: .graphQL, transport: stub))
    let slack = Envelope(code: "ok", success: true, message: "error", data: nil)
    let weChat = Envelope(failure: "errcode", message: "errmsg", data: nil)
    let influx = Envelope(failure: "results[0].error", data: "results[0].series")
    let metrics = Network(Backend(baseURL: libraryURL, envelope: influx, transport: stub))
    _ = (graph, slack, weChat, metrics)
  }

  func test_endpointOfAllMethods() async throws {
    let libraryURL = URL(string: "https://library.example")
    let stub = StubTransport { request in
      guard case .data(let body) = request.body, let call = try? JSON(parsing: body) else { return nil }
      return .json(#"{"jsonrpc":"2.0","id":1,"result":\#(call["method"] == "mixer.get_volume" ? "30" : "null")}"#)
    }

    let player = Network(Backend(baseURL: libraryURL, envelope: .jsonRPC, transport: stub))
    let volume = try await player.fetch(Remote<Int>(name: "mixer.get_volume"))
    let title = try await player.fetch(Remote<String?>(name: "playback.title"))
    try await player.fetch(Remote<NoContent>(name: "mixer.set_volume", params: ["volume": 40]))
    print(volume, title ?? "none")
    try assertPrinted(asIn: "EnvelopeAPIs", 0)
  }

  func test_errors() async throws {
    let shopURL = URL(string: "https://shop.example")
    let stub = StubTransport([
      .init(.get, "/pay", .json(#"{"code":40301,"message":"余额不足"}"#)),
      .init(.get, "/user", .json(#"{"code":200,"data":{"name":7}}"#)),
      .init(.get, "/down", .json("{}", status: 503)),
    ])
    let shop = Network(Backend(baseURL: shopURL, envelope: .standard, transport: stub))
    for path in ["/pay", "/user", "/down"] {
      do {
        _ = try await shop.fetch(.get(path), as: Customer.self)
      } catch {
        print("\(error.kind) \(error.code) \(error.codingPath)")
      }
    }
    try assertPrinted(asIn: "WhenCallsFail", 0)
  }

  func test_caching() async throws {
    let (bag, done) = (DisposeBag(), Done())
    let newsURL = URL(string: "https://news.example")
    let fresh = StubTransport.StubbedResponse.response(headers: ["Cache-Control": "max-age=60"], body: Data("1".utf8))
    let stub = StubTransport([
      .init(.get, "/today", fresh),
      .init(.get, "/headlines", .sequence([.json(#"{"data":["rain"]}"#), .json(#"{"data":["rain","snow"]}"#)])),
    ])
    let cache = ResponseCache(storingIn: nil)
    let news = Network(
      Backend(baseURL: newsURL, transport: stub, interceptors: [CacheInterceptor(cache)]))

    for _ in 1...2 {
      let response = try await news.fetch(.get("/today"))
      print(response.source.isCache ? "from the cache" : "from the server")
    }
    try assertPrinted(asIn: "Caching", 0)

    _ = try await Headlines().cache.request(on: news).toArray().value
    Headlines().cache.request(on: news)
      .map([String].self, at: "data")
      .subscribe(onNext: { print($0.joined(separator: ", ")) }, onDisposed: { done.signal() })
      .disposed(by: bag)
    await done.wait()
    try assertPrinted(asIn: "Caching", 1)
  }

  func test_authentication() async throws {
    let shopURL = try XCTUnwrap(URL(string: "https://shop.example"))
    let stub = StubTransport { request in
      guard request.headers["Authorization"] == "Bearer new" else { return .json("", status: 401) }
      return .response(body: Data("order \(request.url.lastPathComponent)".utf8))
    }
    let accountsURL = URL(string: "https://accounts.example")
    let tokenStub = StubTransport { _ in .json(#"{"access_token":"new","expires_in":3600}"#) }
    let accounts = Network(
      Backend(baseURL: accountsURL, coding: .snakeCase, transport: tokenStub, options: .init(redirects: .none)))
    let authentication = AuthenticationInterceptor(for: [shopURL]) { old in
      guard let old else {
        throw NetworkError(kind: .authentication, message: "Sign in first", reason: "nobody is signed in")
      }
      print("refreshing the token")
      let call = Call.post("/token", form: ["grant_type": "refresh_token", "refresh_token": old.refresh])
      let grant = try await accounts.fetch(call, as: Grant.self)
      let expiry = grant.expiresIn.map { Date.now + $0 }
      return Token(access: grant.accessToken, refresh: grant.refreshToken, expiresAt: expiry)
    }
    try await authentication.setToken(Token(access: "old", refresh: "r1"))

    let shop = Network(
      Backend(baseURL: shopURL, transport: stub, interceptors: [RetryInterceptor(), authentication]))
    let bodies = try await shop.zip([Order(id: 1), Order(id: 2), Order(id: 3)], as: String.self).value
    print(bodies.joined(separator: ", "))
    try assertPrinted(asIn: "AuthenticatingRequests")
    let present = try await authentication.token
    XCTAssertEqual(present?.refresh, "r1", "the server has sent no other one")
  }

  func test_refusedOrDown() async throws {
    let shopURL = try XCTUnwrap(URL(string: "https://shop.example"))
    let accounts = Network(
      Backend(baseURL: URL(string: "https://accounts.example"), coding: .snakeCase)
    ).with { $0.transport = StubTransport { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) } }
    let authentication = AuthenticationInterceptor(for: [shopURL]) { old in
      do {
        return try await accounts.fetch(.post("/token", form: ["refresh_token": old?.refresh]), as: Grant.self).token
      } catch let error as NetworkError {
        var error = error
        error.endsSession = (try? error.response?.decode(String.self, at: "error")) == "invalid_grant"
        throw error
      }
    }
    try await authentication.setToken(Token(access: "old", refresh: "r1"))
    let stub = StubTransport { _ in .json("", status: 401) }
    let shop = Network(Backend(baseURL: shopURL, transport: stub, interceptors: [authentication]))
    do {
      _ = try await shop.fetch(.get("/orders"))
      XCTFail("the session has ended")
    } catch {
      XCTAssertTrue(error.endsSession)
      let present = try await authentication.token
      XCTAssertNil(present)
    }
  }

  func test_serviceWithoutUsers() async throws {
    let shopURL = try XCTUnwrap(URL(string: "https://shop.example"))
    let secret = HTTPHeaders.basic(user: "service", password: "secret")
    let tokenStub = StubTransport { _ in .json(#"{"access_token":"new"}"#) }
    let accounts = Network(
      Backend(baseURL: URL(string: "https://accounts.example"), coding: .snakeCase, transport: tokenStub))
    let authentication = AuthenticationInterceptor(for: [shopURL], requiresToken: true) { _ in
      let call = Call.post("/token", form: ["grant_type": "client_credentials"], headers: secret)
      return try await accounts.fetch(call, as: Grant.self).token
    }
    let stub = StubTransport { .json($0.headers["Authorization"] ?? "") }
    let shop = Network(Backend(baseURL: shopURL, transport: stub, interceptors: [authentication]))
    let response = try await shop.fetch(.get("/orders"))
    XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "Bearer new")
    XCTAssertEqual(tokenStub.requests.count, 1)
  }

  func test_retriesAndLimits() async throws {
    let shopURL = URL(string: "https://shop.example")
    let busy = StubTransport.StubbedResponse.json("", status: 503)
    let stub = StubTransport([.init(.get, "/stock", .sequence([busy, .json(#"{"count":3}"#)]))])
    let shop = Network(
      Backend(
        baseURL: shopURL, transport: stub,
        interceptors: [
          RetryInterceptor(policy: RetryPolicy(attempts: 4, initialDelay: .milliseconds(20))),
          LimitInterceptor(maxPerHost: 4, rate: .init(10, per: .seconds(1))),
        ]))
    let response = try await shop.fetch(.get("/stock"))
    print("\(response.status) after \(response.request.attempt) attempts")
    try assertPrinted(asIn: "RetriesAndLimits")

    let orders = Network(
      Backend(
        baseURL: shopURL, transport: stub,
        interceptors: [
          RetryInterceptor(), CircuitBreakerInterceptor(),
          LimitInterceptor(maxPerHost: 40, maxWait: .milliseconds(500)),
        ]))
    try await orders.fetch(.get("/stock"))
  }

  func test_uploads() async throws {
    let (bag, done) = (DisposeBag(), Done())
    let file = FileManager.default.temporaryDirectory.appending(path: "photo-\(UUID().uuidString).jpg")
    try Data("x".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let stub = StubTransport { request in
      guard request.url.path == "/prices" else {
        return .response(status: 201).reporting([.init(sent: 5, sendTotal: 10), .init(sent: 10, sendTotal: 10)])
      }
      return .chunks([Data(#"{"name":"tea","cents":320}"#.utf8), Data("\n{\"name\":\"rice\",\"cents\":145}\n".utf8)])
    }
    let url = URL(string: "https://album.example")
    let (album, ticker) = (
      Network(Backend(baseURL: url, transport: stub)), Network(Backend(baseURL: url, transport: stub))
    )
    let added = try await album.fetch(AddPhoto(photo: file)) { print($0.fractionSent ?? 0) }
    print(added.status)
    try assertPrinted(asIn: "UploadsAndDownloads", 0)

    for try await price in ticker.lines(Prices(), as: Price.self).values {
      print("\(price.name) \(price.cents)")
    }
    try assertPrinted(asIn: "UploadsAndDownloads", 1)

    ticker.lines(Prices(), as: Price.self)
      .subscribe(onNext: { print("\($0.name) \($0.cents)") }, onDisposed: { done.signal() })
      .disposed(by: bag)
    await done.wait()
    try assertPrinted(asIn: "UploadsAndDownloads", 2)
  }

  func test_interceptors() async throws {
    let url = URL(string: "https://news.example")
    let stub = StubTransport { _ in .json("{}") }
    let network = Network(
      Backend(baseURL: url, transport: stub, interceptors: [RequestID(), Maintenance(isOn: { false })]))
    try await network.with { $0.interceptors.append(Slow(limit: .seconds(5))) }.fetch(.get("/news"))
    print(stub.requests[0].headers["X-Request-ID"] ?? "none")
    try assertPrinted(asIn: "WritingAnInterceptor")
  }
}

/// A signal that async tests wait for.
struct Done: Sendable {
  private let subject = AsyncStream<Void>.makeStream()

  func signal() { subject.continuation.yield() }

  func wait() async {
    for await _ in subject.stream { return }
  }
}
