import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import XCTest

private struct Message: Codable, Sendable {
  var text: String
}

private struct Headline: Decodable, Sendable {
  var title: String
}

private struct Trade: Decodable, Sendable {
  var price: Double
}

private struct Part: Decodable, Sendable {
  var text: String
  var done: Bool
}

struct Project: Decodable, Sendable {
  var name: String
}

struct HashSigner: Signer {
  let secret: Data

  func sign(_ content: ContentToSign) async throws -> RequestSignature {
    let time = "1700000000"
    let text = content.text + "&time=" + time
    let digest = Hash.hmacSHA256(Data(text.utf8), key: secret)
    return RequestSignature(parameters: ["time": time, "sign": Hash.hex(digest)])
  }
}

struct Stock: Sendable {
  let network: Network

  init(url: URL) {
    network = Network(
      Backend(
        baseURL: url, timeouts: .init(attempt: .seconds(5), call: .seconds(10)),
        interceptors: [
          CoalescingInterceptor(), RetryInterceptor(), TraceInterceptor(), LimitInterceptor(maxPerHost: 32),
        ]))
  }

  func count(of item: String) async throws(NetworkError) -> Int {
    try await network.fetch(.get(["stock", item]), as: Int.self)
  }
}

#if canImport(CLibcurl)
  func sum(of items: [String], _ stock: Stock, _ transport: CurlTransport) async throws -> Int {
    try await withTaskExecutorPreference(transport.executor) {
      var sum = 0
      for item in items { sum += try await stock.count(of: item) }
      return sum
    }
  }
#endif

struct Receipt: Decodable, Sendable {
  var id: Int
}

struct GetReceipt: Endpoint {
  typealias Output = Receipt
  let id: Int
  var path: String { "/receipts/\(id)" }
}

enum ShopError: Error {
  case soldOut
  case network(NetworkError)

  init(_ error: any Error) {
    let known = error as? NetworkError ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
    self = known.status == 409 ? .soldOut : .network(known)
  }
}

extension Network {
  func call<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Network) async throws -> sending Result
  ) async throws(ShopError) -> sending Result {
    do { return try await body(self) } catch { throw ShopError(error) }
  }
}

func receipt(_ id: Int, on shop: Network) async throws(ShopError) -> Receipt {
  try await shop.call { try await $0.fetch(.get("/receipts/\(id)")) }
}

func receipts(_ id: Int, on shop: Network) -> Single<Receipt> {
  shop.request(.get("/receipts/\(id)"), as: Receipt.self).mapError { ShopError($0) }
}

func load(_ router: Router<GetReceipt>, _ done: @escaping @Sendable (Result<Receipt, ShopError>) -> Void) {
  router.request(GetReceipt(id: 7)) { done($0.mapError { ShopError($0) }) }
}

#if os(Linux)
  func proxied(shopURL: URL, proxyURL: URL) throws -> Network {
    let proxy = try CurlTransport(.init(proxy: .url(proxyURL, except: ["localhost", "internal.example"])))
    let shop = Network(Backend(baseURL: shopURL, transport: proxy))
    return shop
  }
#endif

func configured(shopURL: URL) -> [Network] {
  var backend = Backend(baseURL: shopURL, coding: .snakeCase)
  backend.timeouts.idle = .seconds(30)
  backend.options.maxBodySize = 1 << 20
  let shop = Network(backend)
  let patient = shop.with { $0.timeouts.attempt = .seconds(300) }
  return [shop, patient]
}

func cookies(shopURL: URL, file: URL) throws -> Network {
  let jar = try CookieJar(storingIn: file)
  let site = Network(Backend(baseURL: shopURL, options: .init(cookies: jar)))
  return site
}

func redirects(shopURL: URL) async throws {
  let here = Network(Backend(baseURL: shopURL, options: .init(redirects: .sameOrigin)))
  let raw = here.with { $0.options.redirects = .none }
  let moved = try await raw.response(.get("/old"))
  print(moved.status, moved.location?.absoluteString ?? "none")
}

/// Runs the samples of the guides on what apps meet in their first week.
final class SessionLogin: Interceptor, AccountSource {
  struct Session: Sendable {
    var user: String
    var key: String
  }

  let session = BehaviorRelay<Session?>(value: nil)
  let origin: URL

  init(for origin: URL) { self.origin = origin }

  var accountState: AccountState { session.value.map { .user($0.user) } ?? .nobody }
  var accountChanges: Observable<Void>? { session.asObservable().map { _ in } }
  func covers(_ request: Request) -> Bool { request.url.host == origin.host && request.url.port == origin.port }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard covers(request), let session = session.value else { return next(request) }
    return next(request, with: Request.Credentials(account: session.user, headers: ["X-Session": session.key]))
  }
}

final class EverydaySamples: XCTestCase {
  private let stub = StubTransport { _ in .json("{}") }

  func test_queries() async throws {
    let (todosURL, stub) = (URL(string: "https://todos.example"), stub)
    let search = Network(
      Backend(
        baseURL: todosURL, queryEncoding: URLParameterEncoder(arrays: .repeated, bools: .literal, dates: .iso8601),
        transport: stub))
    try await search.fetch(.get("/todos", query: ["tag": ["tea", "home"], "done": false]))
    print(stub.requests.last?.url.query() ?? "")
    try assertPrinted(asIn: "PlainAPIs", 1)

    let pairs = [URLQueryItem(name: "sort", value: "due"), URLQueryItem(name: "tag", value: "tea")]
    try await search.fetch(.get("/todos").query(pairs))
    XCTAssertEqual(stub.requests.last?.url.query(), "sort=due&tag=tea")
  }

  func test_pathsAndMethods() async throws {
    let (room, text, xml) = ("a/b", Message(text: "hi"), Data("<x/>".utf8))
    let chat = Network(Backend(baseURL: URL(string: "https://chat.example"), transport: stub))

    try await chat.fetch(.post(["rooms", room, "messages"], json: text))
    try await chat.fetch(.delete("/messages", json: ["ids": [1, 2]]))
    let found = try await chat.fetch(Call("PROPFIND", "/notes", task: .data(xml, contentType: "application/xml")))

    XCTAssertEqual(found.status, 200)
    XCTAssertEqual(stub.requests.map(\.url.absoluteString).first, "https://chat.example/rooms/a%2Fb/messages")
  }

  func test_otherBodies() async throws {
    let stub = StubTransport { _ in
      .response(status: 201, headers: ["Location": "/blobs/7"], body: Data([0x63, 0x61, 0x66, 0xE9]))
    }
    let files = Network(Backend(baseURL: URL(string: "https://files.example"), transport: stub))

    let created = try await files.fetch(.post("/blobs"))
    print(created.location?.absoluteString ?? "none")
    print(try created.text(as: .isoLatin1))
    try assertPrinted(asIn: "PlainAPIs", 3)
  }

  func test_allItems() async throws {
    let stub = StubTransport { request in
      request.url.query() == nil
        ? .json(#"{"results":[{"name":"one"}],"next":"https://git.example/repos?page=2"}"#)
        : .json(#"{"results":[{"name":"two"}],"next":null}"#)
    }
    let git = Network(Backend(baseURL: URL(string: "https://git.example"), transport: stub))

    let repos = try await git.fetchAll(.get("/repos"), of: Project.self, at: "results", by: .link(at: "next"))
    print(repos.map(\.name))
    try assertPrinted(asIn: "ReadingAllPages", 2)
  }

  func test_eventsOfSeveralTypes() async throws {
    let stub = StubTransport { _ in
      .response(
        headers: ["Content-Type": "text/event-stream"],
        body: Data("event: trade\ndata: {\"price\":7.5}\n\nevent: news\ndata: {\"title\":\"Rain\"}\n\n".utf8))
    }
    let market = Network(Backend(baseURL: URL(string: "https://market.example"), transport: stub))

    for try await event in market.events(.get("/changes")).take(2).values {
      switch event.event {
      case "trade": print(try event.decode(Trade.self).price)
      case "news": print(try event.decode(Headline.self).title)
      default: break
      }
    }
    try assertPrinted(asIn: "StreamingResponses", 3)
  }

  func test_lastLine() async throws {
    let stub = StubTransport { _ in
      .chunks([Data("{\"text\":\"Green \",\"done\":false}\n{\"text\":\"tea\",\"done\":true}\n".utf8)])
    }
    let llm = Network(Backend(baseURL: URL(string: "https://llm.example"), transport: stub))
    let prompt = Message(text: "Tea or coffee?")

    for try await part in llm.lines(.post("/generate", json: prompt), as: Part.self, until: { $0.done }).values {
      print(part.text, terminator: "")
    }
    print()
    try assertPrinted(asIn: "StreamingResponses", 4)
  }

  func test_closeCodes() async throws {
    let server = try TestServer { _ in
      .socket(TestServer.WebSocketScript(onOpen: [.text("welcome"), .close(4001, "signed out")]))
    }
    let chat = Network(Backend(baseURL: server.url))

    let options = WebSocketOptions(expectedCloseCodes: [.normal, .noCode, 4001])
    let close = try await chat.withWebSocket(.get("/room"), options: options) { socket in
      for try await message in socket.messages { print(message.text ?? "") }
      return socket.serverClose
    }
    print(close?.code.rawValue ?? 0, close?.reason ?? "")
    try assertPrinted(asIn: "LiveConnections", 1)
  }

  func test_expiredCodeAndPasswords() throws {
    let (shopURL, cameraURL) = (URL(filePath: "/"), URL(filePath: "/"))
    let (password, file) = ("p", FileManager.default.temporaryDirectory.appending(path: UUID().uuidString))
    let refresh: @Sendable (Token?) async throws -> Token = { _ in Token(access: "new") }

    let authentication = AuthenticationInterceptor(
      for: [shopURL], isRejected: { $0.status == 401 || $0.envelopeCode == 10401 }, refresh: refresh)

    let camera = Network(
      Backend(
        baseURL: cameraURL, interceptors: [ChallengeInterceptor(for: [cameraURL], user: "admin", password: password)]))

    let jar = try CookieJar(storingIn: file, keepsSessionCookies: true)
    let site = Network(
      Backend(
        baseURL: shopURL, options: .init(cookies: jar),
        interceptors: [XSRFInterceptor(cookie: "csrftoken", header: "X-CSRFToken")]))
    _ = (authentication, camera, site)
  }

  func test_sessionThatEnds() async throws {
    let (password, sessions) = ("p", BehaviorRelay(value: 0))
    let server = try TestServer { request in
      if request.method == "POST" {
        sessions.accept(sessions.value + 1)
        return .text("welcome").header("Set-Cookie", "SID=\(sessions.value); Path=/")
      }
      let isSignedIn = sessions.value > 0 && request.header("Cookie") == "SID=\(sessions.value)"
      return isSignedIn ? .text("tea") : .status(403)
    }
    let siteURL = server.url

    let jar = CookieJar()
    let login = Network(Backend(baseURL: siteURL, options: .init(cookies: jar)))
    let session = AuthenticationInterceptor(for: [siteURL], apply: { _, _ in }, isRejected: { $0.status == 403 }) { _ in
      try await login.fetch(.post("/login", form: ["user": "ada", "password": password]))
      return Token(access: UUID().uuidString, account: "ada")
    }
    let site = login.with { $0.interceptors = [session] }
    print(try await site.fetch(.get("/orders"), as: String.self))
    try assertPrinted(asIn: "AuthenticatingRequests", 1)

    // Another client has signed in, which ended this session.
    sessions.accept(sessions.value + 1)
    let all = try await site.zip((0..<5).map { _ in Call.get("/orders") }, as: String.self).value
    XCTAssertEqual(all, Array(repeating: "tea", count: 5))
    XCTAssertEqual(sessions.value, 3, "one sign-in for all")
  }

  func test_longPollsAndDelays() async throws {
    let stub = StubTransport { _ in .json("[]") }
    let chat = Network(Backend(baseURL: URL(string: "https://chat.example"), transport: stub))

    let news = try await chat.fetch(.get("/sync", query: ["timeout": 40]).longPoll(.seconds(45)), as: [Message].self)
    let report = try await chat.fetch(.get("/report").timeouts(idle: .seconds(60), attempt: .seconds(300)))

    let retry = RetryInterceptor(requestedDelay: { response in
      (try? response.decode(Int.self, at: "retry_after_ms")).map { .milliseconds($0) }
    })
    _ = retry
    XCTAssertEqual(news.count, 0)
    XCTAssertEqual(report.request.timeouts.idle, .seconds(60))
  }

  func test_ownErrors() async throws {
    let stub = StubTransport([
      .init(.get, "/receipts/1", .json(#"{"id":1}"#)), .init(.get, "/receipts/7", .json("{}", status: 409)),
    ])
    let shop = Network(Backend(baseURL: URL(string: "https://shop.example"), transport: stub))
    let found = try await receipt(1, on: shop)
    XCTAssertEqual(found.id, 1)
    var errors: [any Error] = []
    do { _ = try await receipt(7, on: shop) } catch { errors.append(error) }
    do { _ = try await receipt(8, on: shop) } catch { errors.append(error) }
    do { _ = try await receipts(7, on: shop).value } catch { errors.append(error) }
    await withCheckedContinuation { continuation in
      load(Router(shop)) { result in
        if case .failure(.soldOut) = result { continuation.resume() }
      }
    }
    guard case ShopError.soldOut = errors[0], case ShopError.network(let known) = errors[1],
      case ShopError.soldOut = errors[2]
    else { return XCTFail("\(errors)") }
    XCTAssertTrue(known.reason.contains("/receipts/8"), known.reason)
  }

  func test_signing() async throws {
    let (shopURL, stub) = (URL(string: "https://shop.example"), stub)
    let signed = Network(Backend(baseURL: shopURL, transport: stub, signer: HashSigner(secret: Data("s".utf8))))
    try await signed.fetch(.get("/orders", query: ["page": 2, "q": "tea"]))
    print(stub.requests.last?.url.query()?.prefix(24) ?? "none")
    try assertPrinted(asIn: "SigningRequests")
  }

  func test_compression() async throws {
    let metricsURL = URL(string: "https://metrics.example")
    let metrics = Network(Backend(baseURL: metricsURL, interceptors: [RetryInterceptor(), CompressionInterceptor()]))
    _ = metrics
  }

  @MainActor
  func test_errorsInClosures() async throws {
    let stub = StubTransport { _ in .json("{}", status: 404) }
    let shop = Network(Backend(baseURL: URL(string: "https://shop.example"), transport: stub))

    let task = Task {
      do throws(NetworkError) {
        try await shop.fetch(.get("/orders/7"))
      } catch {
        print(error.status ?? 0)
      }
    }
    await task.value
    try assertPrinted(asIn: "WhenCallsFail", 1)
  }
}
