import Foundation
import LoopbackServer
import NetLayerTesting
import Races
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The requests to URLs that servers have chosen: by a redirect, a link, or the `Location` of an upload.
final class ForeignURLTests: UploadTestCase {
  private typealias Requests = [TestServer.Request]

  /// An interceptor of an app that adds every kind of credential to every request, whatever its URL.
  private struct Careless: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var copy = request
      copy.headers["Authorization"] = "Basic own"
      copy.headers["Cookie"] = "hand=made"
      copy.headers["X-Api-Token"] = "t"
      copy.headers["X-Own"] = "named"
      copy.originBoundHeaders.append("X-Own", "named")
      copy.url.append(queryItems: [URLQueryItem(name: "api_key", value: "k")])
      return next(copy)
    }
  }

  private struct Signing: Signer {
    let name: String
    func sign(_ content: ContentToSign) -> RequestSignature {
      RequestSignature(parameters: [name: "s"], headers: [name: "s"])
    }
  }

  private func signIn(
    to servers: [TestServer], apply: @escaping @Sendable (Token, inout Request) -> Void, refreshes: Box<Int> = Box(0)
  ) -> AuthenticationInterceptor {
    AuthenticationInterceptor(
      for: servers.map(\.url), store: MemoryTokenStore(Token(access: "t", account: "ann")), apply: apply
    ) { _ -> Single<Token> in
      refreshes.update { $0 += 1 }
      return .just(Token(access: "t2", account: "ann"))
    }
  }

  /// Reads the pages A, A, B, A, whose links the servers choose, and uploads a file to B, which A chooses. Returns the
  /// requests of A for the first two pages, and all others.
  private func visit(
    _ respond: @escaping @Sendable (TestServer.Request) -> TestServer.Response? = { _ in nil },
    _ change: (inout Backend, [TestServer]) -> Void
  ) throws -> (own: Requests, foreign: Requests) {
    let urls = Box(["", ""])
    let b = try TestServer { request in
      if let response = respond(request) { return response }
      switch request.method {
      case "GET": return .json("[3]").header("Link", "<\(urls.value[0])/4>; rel=next")
      case "HEAD": return .status(200).header("Upload-Offset", "0").header("Tus-Resumable", "1.0.0")
      default: return .status(204).header("Upload-Offset", "10").header("Tus-Resumable", "1.0.0")
      }
    }
    let a = try TestServer { request in
      switch request.path {
      case "/1": .json("[1]").header("Link", "</2>; rel=next")
      case "/2": .json("[2]").header("Link", "<\(urls.value[1])/3>; rel=next")
      case "/files": .status(201).header("Location", "\(urls.value[1])/files/1").header("Tus-Resumable", "1.0.0")
      default: .json("[4]")
      }
    }
    urls.value = [a.url.absoluteString, b.url.absoluteString]
    var backend = Backend(baseURL: a.url)
    change(&backend, [a, b])
    let network = Network(backend)
    _ = record(network.pages(.get("/1"), of: Int.self))
    try write(10)
    _ = record(network.transfer(film, to: Call<Response>.post("/files"), by: .tus))
    try removeNotes()
    let own = a.requests.filter { ["/1", "/2", "/files"].contains($0.path) }
    XCTAssertEqual(own.map(\.path), ["/1", "/2", "/files"])
    let foreign = a.requests.filter { $0.path == "/4" } + b.requests
    XCTAssertTrue(foreign.contains { $0.path == "/3" } && foreign.contains { $0.method == "PATCH" })
    return (own, foreign)
  }

  func test_token_isNotSent() throws {
    let requests = try visit { backend, servers in
      backend.interceptors = [signIn(to: servers) { $1.headers["Authorization"] = "Bearer \($0.access)" }]
    }
    XCTAssertEqual(requests.own.map { $0.header("Authorization") }, ["Bearer t", "Bearer t", "Bearer t"])
    XCTAssertEqual(requests.foreign.compactMap { $0.header("Authorization") }, [])
  }

  func test_tokenOfAnotherName_andInTheQuery_isNotSent() throws {
    let requests = try visit { backend, servers in
      backend.interceptors = [
        signIn(to: servers) { token, request in
          request.headers["X-Shop"] = token.access
          request.url.append(queryItems: [URLQueryItem(name: "key", value: token.access)])
        }
      ]
    }
    XCTAssertTrue(requests.own.allSatisfy { $0.header("X-Shop") == "t" && $0.query("key") == "t" })
    XCTAssertTrue(requests.foreign.allSatisfy { $0.header("X-Shop") == nil && $0.query("key") == nil })
  }

  func test_customInterceptor_canNotLeak() throws {
    let requests = try visit { backend, _ in backend.interceptors = [Careless()] }
    let names = ["Authorization", "Cookie", "X-Api-Token", "X-Own"]
    for request in requests.own {
      XCTAssertEqual(names.filter { request.header($0) == nil }, [])
      XCTAssertEqual(request.query("api_key"), "k")
    }
    for request in requests.foreign {
      XCTAssertEqual(names.filter { request.header($0) != nil }, [], request.target)
      XCTAssertFalse(request.target.contains("?"), request.target)
    }
  }

  func test_challenge_isIgnored() throws {
    let digest = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
    let requests = try visit({ _ in .status(401).header("WWW-Authenticate", digest) }) { backend, servers in
      backend.interceptors = [ChallengeInterceptor(for: servers.map(\.url), user: "ann", password: "p")]
    }
    XCTAssertEqual(requests.foreign.map(\.method), ["GET", "PATCH"])
    XCTAssertEqual(requests.foreign.compactMap { $0.header("Authorization") }, [])
  }

  func test_rejection_startsNoRefresh() throws {
    let refreshes = Box(0)
    let requests = try visit({ _ in .status(401) }) { backend, servers in
      backend.interceptors = [
        signIn(to: servers, apply: { $1.headers["Authorization"] = "Bearer \($0.access)" }, refreshes: refreshes)
      ]
    }
    XCTAssertEqual(requests.foreign.map(\.method), ["GET", "PATCH"])
    XCTAssertEqual(refreshes.value, 0)
  }

  func test_fieldAgainstForgery_isNotSent() throws {
    let requests = try visit { backend, servers in
      let jar = CookieJar()
      jar.store(["Set-Cookie": "XSRF-TOKEN=x"], from: servers[0].url)
      backend.options.cookies = jar
      backend.interceptors = [XSRFInterceptor()]
    }
    XCTAssertEqual(requests.own.map { $0.header("X-XSRF-TOKEN") }, [nil, nil, "x"])
    XCTAssertEqual(requests.foreign.compactMap { $0.header("X-XSRF-TOKEN") }, [])
  }

  func test_signature_isNotSent() throws {
    let requests = try visit { backend, _ in backend.signer = Signing(name: "sign") }
    XCTAssertTrue(requests.own.allSatisfy { $0.header("sign") == "s" })
    XCTAssertTrue(requests.foreign.allSatisfy { $0.header("sign") == nil && !$0.target.contains("sign") })
  }

  func test_locationAtTheOrigin_receivesCredentials_butNotAfterAnotherOriginHasChosenIt() async throws {
    for isRedirected in [false, true] {
      let urls = Box(["", ""])
      let b = try TestServer { _ in
        .status(201).header("Location", "\(urls.value[0])/mine").header("Tus-Resumable", "1.0.0")
      }
      let a = try TestServer { request in
        guard request.method == "POST" else { return .status(204).header("Upload-Offset", "10") }
        return isRedirected
          ? .redirect(to: "\(urls.value[1])/files", status: 307) : .status(201).header("Location", "/mine")
      }
      urls.value = [a.url.absoluteString, b.url.absoluteString]
      try write(10)
      let login = signIn(to: [a]) { $1.headers["Authorization"] = "Bearer \($0.access)" }
      let network = Network(Backend(baseURL: a.url, interceptors: [login]))
      do throws(NetworkError) {
        _ = try await network.upload(film, to: Call<Response>.post("/files"), by: .tus)
        XCTAssertFalse(isRedirected)
      } catch {
        XCTAssertTrue(isRedirected, "\(error)")
      }
      let mine = a.requests.filter { $0.path == "/mine" }
      XCTAssertEqual(mine.map { $0.header("Authorization") }, isRedirected ? [] : ["Bearer t"])
      XCTAssertEqual(b.requests.compactMap { $0.header("Authorization") }, [])
      try removeNotes()
    }
  }

  func test_contextOfAForeignRequest_doesNotChangeAnotherCall() throws {
    let stub = StubTransport { _ in .json("{}") }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub, interceptors: [Careless()]))
    var call = Call<Response>.get("/own")
    call.content.context[ForeignURL.self] = URL(string: "http://evil.test/")
    _ = record(network.responses(call))
    XCTAssertEqual(stub.requests.first?.url.absoluteString, "http://h/own?api_key=k")
    XCTAssertEqual(stub.requests.first?.headers["X-Api-Token"], "t")
  }

  func test_cacheWithItsOwnAccount_doesNotShowTheResponseToAForeignRequest() throws {
    let stub = StubTransport { request in
      let text = request.headers["Authorization"] == nil ? #"["public"]"# : #"["private"]"#
      let link = request.url.path == "/1" ? "<http://b/me>; rel=next" : ""
      return .response(headers: ["Link": link, "Cache-Control": "max-age=60"], body: Data(text.utf8))
    }
    let urls = [URL(string: "http://a"), URL(string: "http://b")].compactMap { $0 }
    let login = AuthenticationInterceptor(for: urls, store: MemoryTokenStore(Token(access: "t"))) {
      _ -> Single<Token> in .never()
    }
    let cache = CacheInterceptor(ResponseCache(storingIn: nil), account: { _ in "ann" })
    let network = Network(
      Backend(
        baseURL: urls.first, transport: stub,
        interceptors: [CoalescingInterceptor(window: .seconds(60), account: { _ in "ann" }), cache, login]))
    let pages = record(network.pages(Call<Response>.get("/1"), of: String.self)).elements
    XCTAssertEqual(pages.map(\.items), [["private"], ["public"]])
    let own = record(network.request(.get("http://b/me"), as: [String].self))
    XCTAssertEqual(own.elements, [["private"]])
  }

  // MARK: Random chains

  /// One request of a chain, and how its response leads to the next one.
  private struct Hop {
    var origin: Int
    var leads: Lead
    enum Lead { case redirect, link, end }
  }

  func test_randomChainsOfOrigins_carryCredentialsUntilAnotherOriginHasResponded() throws {
    let chain = Box<[Hop]>([])
    let urls = Box<[String]>([])
    let seen = Box<[[String]]>([])
    let servers = try (0..<3).map { _ in
      try TestServer(maxLoggedRequests: 0) { request in
        let place = Int(request.path.dropFirst()) ?? 0
        let names = ["Authorization", "Cookie", "X-Api-Token", "X-Own", "X-Shop"].filter { request.header($0) != nil }
        seen.update { $0.append(names + (request.target.contains("?") ? ["query"] : [])) }
        let hop = chain.value[place]
        guard hop.leads != .end else { return .json("[0]") }
        let next = "\(urls.value[chain.value[place + 1].origin])/\(place + 1)"
        guard hop.leads == .link else { return .redirect(to: next, status: 307) }
        return .json("[0]").header("Link", "<\(next)>; rel=next")
      }
    }
    urls.value = servers.map(\.url.absoluteString)
    let login = signIn(to: servers) { $1.headers["X-Shop"] = $0.access }
    let network = Network(Backend(baseURL: servers[0].url, interceptors: [Careless(), login]))
    let bare = Network(Backend(baseURL: servers[0].url, interceptors: [login]))
    var generator = SplitMix64(seed: 62)
    for round in 0..<300 {
      var hops = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
        Hop(
          origin: [0, 0, 1, 2].randomElement(using: &generator) ?? 0,
          leads: Bool.random(using: &generator) ? .link : .redirect)
      }
      hops[0].origin = 0
      hops[hops.count - 1].leads = .end
      chain.value = hops
      seen.value = []
      let isBare = round % 3 == 0
      let pages = record((isBare ? bare : network).pages(Call<Response>.get("/0"), of: Int.self))
      let text = hops.map { "\($0.origin) \($0.leads)" }.joined(separator: ", ")
      XCTAssertNil(pages.error, text)
      XCTAssertEqual(seen.value, Self.expected(hops, isBare), text)
      guard seen.value == Self.expected(hops, isBare) else { return }
    }
  }

  /// The model: the names of the credentials of each request.
  private static func expected(_ hops: [Hop], _ isBare: Bool) -> [[String]] {
    hops.indices.map { place in
      guard hops[...place].allSatisfy({ $0.origin == 0 }) else { return [] }
      // The interceptors see the first request of a page, and a redirect within the origin keeps its fields.
      let fields = isBare ? [] : ["Authorization", "Cookie", "X-Api-Token", "X-Own"]
      let isRequested = place == 0 || hops[place - 1].leads == .link
      return fields + (isBare ? ["X-Shop"] : []) + (isRequested && !isBare ? ["query"] : [])
    }
  }
}
