import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// `network.pages` with links, cursors, numbers and offsets.
final class PagedCallTests: XCTestCase {
  private func network(_ reply: @escaping @Sendable (URLComponents) -> StubTransport.StubbedResponse?) -> (
    Network, StubTransport
  ) {
    let stub = StubTransport { request in
      URLComponents(url: request.url, resolvingAgainstBaseURL: true).flatMap(reply)
    }
    let url = URL(string: "http://api.test")
    return (Network(Backend(baseURL: url, headers: ["K": "key"], envelope: .none, transport: stub)), stub)
  }

  private static func linked(_ body: String, _ link: String?) -> StubTransport.StubbedResponse {
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    headers["Link"] = link
    return .response(headers: headers, body: Data(body.utf8))
  }

  private func sent(_ stub: StubTransport) -> [String] {
    stub.requests.map { "\($0.url.path)?\($0.url.query ?? "")" }
  }

  func test_pages_byLink() throws {
    let (api, stub) = network { url in
      switch url.query ?? "" {
      case "per=2": Self.linked("[1,2]", #"<?per=2&after=2>; rel="next""#)
      case "per=2&after=2": Self.linked("[]", #"</items?per=2&after=3>; rel=next"#)
      case "per=2&after=3": Self.linked("[3]", #"<?per=2>; rel="prev""#)
      default: nil
      }
    }
    let call = Call.get("/items", query: ["per": 2]).header("Mine", "1").timeout(.seconds(3))
    let pages = record(api.pages(call, of: Int.self)).elements
    XCTAssertEqual(pages.map(\.items), [[1, 2], [], [3]])
    XCTAssertEqual(sent(stub), ["/items?per=2", "/items?per=2&after=2", "/items?per=2&after=3"])
    XCTAssertTrue(stub.requests.allSatisfy { $0.headers["K"] == "key" && $0.headers["Mine"] == "1" })
    XCTAssertTrue(stub.requests.allSatisfy { $0.timeouts.call == .seconds(3) })
  }

  func test_firstPageThatLinksToItself_isRequestedOnce() throws {
    let (api, stub) = network { _ in Self.linked("[1]", "</items?per=2>; rel=next") }
    let recorded = record(api.pages(.get("/items", query: ["per": 2]), of: Int.self))
    XCTAssertEqual(recorded.elements.map(\.items), [[1]])
    XCTAssertEqual(sent(stub), ["/items?per=2"])
    let error = try XCTUnwrap(recorded.error)
    XCTAssertEqual(error.kind, .repeatedPage)
    XCTAssertEqual(error.index, 0)
    XCTAssertTrue(error.reason.contains("was repeated after 1 page,"), error.reason)
  }

  func test_linkToAnotherOrigin_receivesNoCredentials() throws {
    let (api, stub) = network { url in
      switch url.path {
      case "/items": Self.linked("[1]", "<http://evil.test/x>; rel=next")
      case "/x": Self.linked("[2]", "<http://evil.test/y>; rel=next")
      case "/y": Self.linked("[3]", "<http://api.test/z>; rel=next")
      default: Self.linked("[4]", nil)
      }
    }
    let withoutBase = api.with {
      $0.baseURL = nil
      $0.commonParameters = { ["token": "t"] }
    }
    for (network, first) in [(api, "/items"), (withoutBase, "http://api.test/items")] {
      let before = stub.requests.count
      let pages = record(network.pages(Call.get(first).header("Authorization", "secret"), of: Int.self)).elements
      XCTAssertEqual(pages.map(\.items), [[1], [2], [3], [4]], "\(first)")
      let sent = stub.requests.dropFirst(before)
      XCTAssertEqual(sent.map { $0.headers["Authorization"] }, ["secret", nil, nil, nil], "\(first)")
      XCTAssertEqual(sent.map { $0.headers["K"] }, ["key", nil, nil, nil], "\(first)")
      XCTAssertTrue(sent.dropFirst().allSatisfy { $0.url.query == nil }, "\(first)")
    }
  }

  func test_linkFromHTTPSToHTTPS_isFollowed() throws {
    let (api, stub) = network { request in
      request.path == "/a" ? Self.linked("[1]", "<https://api.test/b>; rel=next") : .json("[2]")
    }
    let pages = record(api.pages(.get("https://api.test/a"), of: Int.self))
    XCTAssertEqual(pages.elements.map(\.items), [[1], [2]])
    XCTAssertEqual(stub.requests.count, 2)
  }

  func test_linkFromHTTPSToHTTP_isNotFollowed() throws {
    let (api, stub) = network { _ in Self.linked("[1]", "<http://api.test/b>; rel=next") }
    let pages = record(api.pages(.get("https://api.test/a"), of: Int.self))
    XCTAssertEqual(pages.elements.map(\.items), [[1]])
    let error = try XCTUnwrap(pages.error)
    XCTAssertEqual(error.kind, .redirect)
    XCTAssertTrue(error.reason.contains("https://api.test/a links to http://api.test/b"), error.reason)
    XCTAssertEqual(stub.requests.count, 1)
    let allowing = api.with { $0.options.redirects = .follow(allowsDowngrade: true) }
    let all = record(allowing.pages(.get("https://api.test/a"), of: Int.self))
    XCTAssertEqual(all.elements.count, 2)
    XCTAssertEqual(all.error?.kind, .repeatedPage, "the second page links to itself")
  }

  #if canImport(CLibcurl)
    func test_linkFromAnotherOrigin_doesNotReachAUnixSocket() throws {
      let transport = try CurlTransport(.init(addresses: ["docker": .unixSocket(path: "/none")]))
      for link in ["http://docker/x", "//DOCKER./x", "http://u:p@docker:80/x"] {
        let server = try TestServer { _ in .json("[1]").header("Link", "<\(link)>; rel=next") }
        let network = Network(Backend(baseURL: server.url("/"), envelope: .none, transport: transport))
        let pages = record(network.pages(.get("/"), of: Int.self))
        XCTAssertEqual(pages.elements.map(\.items), [[1]])
        XCTAssertEqual(pages.error?.kind, .redirect, link)
      }
    }
  #endif

  func test_redirect_doesNotChangeTheTrustedOrigin() throws {
    let stub = StubTransport { _ in nil }
    let moved = AsyncInterceptor { request, _ in
      let elsewhere = URL(string: "http://evil.test/moved")
      var headers: HTTPHeaders = [:]
      headers["Link"] = request.url.host() == "evil.test" ? nil : "<http://evil.test/x>; rel=next"
      XCTAssertEqual(request.headers["Authorization"], request.url.host() == "evil.test" ? nil : "secret")
      return Response(request: request, url: elsewhere, headers: headers, body: Data("[1]".utf8))
    }
    let url = URL(string: "http://api.test")
    let api = Network(Backend(baseURL: url, envelope: .none, transport: stub, interceptors: [moved]))
    XCTAssertEqual(record(api.pages(Call.get("/a").header("Authorization", "secret"), of: Int.self)).elements.count, 2)
  }

  func test_customCacheKey_isDifferentForEachPage() throws {
    let (api, stub) = network { url in .json(url.query == "page=3" ? "[]" : "[\(url.query?.last ?? "0")]") }
    let cached = api.with {
      $0.interceptors = [CacheInterceptor(ResponseCache(storingIn: nil), policy: .cacheFirst(maxAge: .seconds(60)))]
    }
    var call = Call.get("/x")
    call.caching.key = "feed"
    for _ in 0..<2 {
      XCTAssertEqual(record(cached.pages(call, of: Int.self, by: .number())).elements.map(\.items), [[1], [2]])
    }
    XCTAssertEqual(stub.requests.count, 3, "all of the second walk is stored")
  }

  func test_pages_byCursorAtAPath() throws {
    let (api, stub) = network { url in
      switch url.query ?? "" {
      case "q=x": .json(#"{"data":[1],"meta":{"next":"c/2"}}"#)
      case "after=c/2&q=x", "q=x&after=c/2": .json(#"{"data":[2],"meta":{"next":3}}"#)
      default: .json(#"{"data":[3],"meta":{"next":null}}"#)
      }
    }
    let pages = api.pages(.get("/x?q=x"), of: Int.self, at: "data", by: .cursor(at: "meta.next", parameter: "after"))
    XCTAssertEqual(record(pages).elements.map(\.items), [[1], [2], [3]])
    XCTAssertEqual(sent(stub).count, 3)
    XCTAssertEqual(sent(stub).last, "/x?q=x&after=3")
  }

  func test_parameterOfTheURL_isReplaced() throws {
    let (api, stub) = network { url in
      .json(url.query?.contains("after=3") == true ? #"{"data":[3]}"# : #"{"data":[1],"meta":{"next":3}}"#)
    }
    for call in [Call.get("/x?q=a%20b&after=1"), .get("http://api.test/x?after=1&q=a%20b"), .get("/x?after=1")] {
      let pages = api.pages(call, of: Int.self, at: "data", by: .cursor(at: "meta.next", parameter: "after"))
      XCTAssertEqual(record(pages).elements.map(\.items), [[1], [3]])
    }
    XCTAssertEqual(
      sent(stub),
      [
        "/x?q=a%20b&after=1", "/x?q=a%20b&after=3", "/x?after=1&q=a%20b", "/x?q=a%20b&after=3", "/x?after=1",
        "/x?after=3",
      ])
  }

  func test_pages_byNumberAndByOffset() throws {
    let (api, stub) = network { url in
      let query = Dictionary(uniqueKeysWithValues: (url.queryItems ?? []).map { ($0.name, $0.value ?? "") })
      if let page = query["p"].flatMap(Int.init) { return .json(page < 2 ? "[\(page),\(page)]" : "[]") }
      let offset = query["skip"].flatMap(Int.init) ?? -1
      return .json(offset < 4 ? "[\(offset),\(offset + 1)]" : "[]")
    }
    let numbered = api.pages(.get("/n"), of: Int.self, by: .number(parameter: "p", from: 0))
    XCTAssertEqual(record(numbered).elements.map(\.items), [[0, 0], [1, 1]])
    let counted = api.pages(.get("/o"), of: Int.self, by: .offset(parameter: "skip"))
    XCTAssertEqual(record(counted).elements.map(\.items), [[0, 1], [2, 3]])
    XCTAssertEqual(sent(stub), ["/n?p=0", "/n?p=1", "/n?p=2", "/o?skip=0", "/o?skip=2", "/o?skip=4"])
  }

  func test_repeatedPage_isAnError() throws {
    for paging in [Paging.number(), .offset(), .link, .cursor(at: "next")] {
      let (api, stub) = network { _ in Self.linked(#"{"items":[1,2],"next":"n"}"#, "<http://api.test/x>; rel=next") }
      let seen = record(api.pages(.get("/x"), of: Int.self, at: "items", by: paging))
      XCTAssertEqual(seen.error?.kind, .repeatedPage, "\(paging)")
      XCTAssertNotNil(seen.error?.index)
      XCTAssertLessThanOrEqual(seen.elements.count, 2)
      XCTAssertLessThanOrEqual(stub.requests.count, 2)
    }
  }

  func test_eachSubscription_startsAtTheFirstPage() throws {
    let (api, stub) = network { url in .json(url.query == "page=1" ? "[1]" : "[]") }
    let pages = api.pages(.get("/x"), of: Int.self, by: .number())
    for _ in 0..<2 { XCTAssertEqual(record(pages).elements.map(\.items), [[1]]) }
    XCTAssertEqual(stub.requests.count, 4)
    XCTAssertEqual(record(pages.take(1)).elements.count, 1)
    XCTAssertEqual(stub.requests.count, 5, "who takes one page asks for one")
  }

  func test_pages_areAsyncSequences_andFail() async throws {
    let (api, _) = network { url in
      url.path == "/x" ? .json(url.query == "page=1" ? "[1]" : "[]") : .json("{}", status: 500)
    }
    var items: [Int] = []
    let pages = Observable.pages(startingAt: 1) { number in
      Page(items: try await api.fetch(.get("/x", query: ["page": number]), as: [Int].self))
    }
    for try await page in pages.values { items += page.items }
    XCTAssertEqual(items, [1])
    let cursors = Observable.pages(startingAt: nil) { (cursor: String?) async throws -> Page<Int> in
      Page(items: [cursor.flatMap(Int.init) ?? 0], cursor: cursor == nil ? "7" : nil)
    }
    items = []
    for try await page in cursors.values { items += page.items }
    XCTAssertEqual(items, [0, 7])
    do {
      for try await _ in api.pages(.get("/bad"), of: Int.self).values { XCTFail("no page") }
      XCTFail("no error")
    } catch {
      XCTAssertEqual((error as? NetworkError)?.status, 500)
    }
  }
}
