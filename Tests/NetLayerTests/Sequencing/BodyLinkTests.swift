import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Pages whose bodies contain the URL of the next page, and the items of all pages in one array.
final class BodyLinkTests: XCTestCase {
  private func network(_ bodies: [String: String], base: String = "https://api.test") -> (Network, StubTransport) {
    let stub = StubTransport { request in bodies[request.url.absoluteString].map { .json($0) } }
    return (Network(Backend(baseURL: URL(string: base), headers: ["K": "key"], transport: stub)), stub)
  }

  func test_absoluteAndRelativeLinks_areFollowed() async throws {
    for (path, member) in [("next", "next"), ("@odata.nextLink", "@odata.nextLink"), ("links.next", "links")] {
      func link(_ url: String) -> String { member == "links" ? "{\"next\":\(url)}" : url }
      let (api, stub) = network([
        "https://api.test/a?per=2": "{\"results\":[1,2],\"\(member)\":\(link("\"https://api.test/a?page=2\""))}",
        "https://api.test/a?page=2": "{\"results\":[],\"\(member)\":\(link("\"?page=3\""))}",
        "https://api.test/a?page=3": "{\"results\":[3],\"\(member)\":\(link("null"))}",
      ])
      let items = try await api.fetchAll(
        .get("/a", query: ["per": 2]), of: Int.self, at: "results", by: .link(at: path))
      XCTAssertEqual(items, [1, 2, 3], path)
      XCTAssertTrue(stub.requests.allSatisfy { $0.headers["K"] == "key" }, path)
    }
  }

  func test_missingOrEmptyLink_isTheEnd() async throws {
    for end in ["", ",\"next\":null", ",\"next\":\"\""] {
      let (api, stub) = network(["https://api.test/a": "{\"results\":[1]\(end)}"])
      let items = try await api.fetchAll(.get("/a"), of: Int.self, at: "results", by: .link(at: "next"))
      XCTAssertEqual(items, [1])
      XCTAssertEqual(stub.requests.count, 1, end)
    }
  }

  private func failure(_ next: String) async -> (NetworkError?, StubTransport) {
    let (api, stub) = network([
      "https://api.test/a": "{\"results\":[1],\"next\":\(next)}", "https://cdn.test/b": "{\"results\":[2]}",
    ])
    do {
      let items = try await api.fetchAll(
        .get("/a").header("Mine", "1"), of: Int.self, at: "results", by: .link(at: "next"))
      XCTAssertEqual(items, [1, 2])
      return (nil, stub)
    } catch {
      return (error, stub)
    }
  }

  func test_linkOfAnAttacker_neverReceivesSecrets_andNeverLoops() async {
    let (other, stub) = await failure("\"https://cdn.test/b\"")
    XCTAssertNil(other)
    XCTAssertEqual(stub.requests.map { $0.headers["K"] }, ["key", nil])
    XCTAssertEqual(stub.requests.map { $0.headers["Mine"] }, ["1", nil])
    for (next, kind) in [
      ("\"http://api.test/b\"", NetworkError.Kind.redirect), ("\"/a\"", .repeatedPage),
      ("\"ftp://x/\"", .invalidRequest), ("\"http://[\"", .repeatedPage), ("{}", .parse), ("true", .parse),
    ] {
      let (error, _) = await failure(next)
      XCTAssertEqual(error?.kind, kind, next)
    }
  }

  func test_pagesWithoutItems_areNotEndless() async throws {
    let stub = StubTransport { request in
      let page = request.url.query.flatMap { Int($0.dropFirst(5)) } ?? 0
      return .json("{\"results\":[],\"next\":\"?page=\(page + 1)\"}")
    }
    let api = Network(Backend(baseURL: URL(string: "https://api.test"), transport: stub))
    do {
      _ = try await api.fetchAll(.get("/a"), of: Int.self, at: "results", by: .link(at: "next"), maxItems: 50)
      XCTFail("a server that continues forever must fail")
    } catch {
      XCTAssertEqual(error.kind, .tooLarge)
    }
    XCTAssertEqual(stub.requests.count, 51)
  }

  func test_listBeyondMaxItems_isAnError() async throws {
    let stub = StubTransport { request in
      let page = request.url.query.flatMap { Int($0.dropFirst(5)) } ?? 0
      return .json("{\"results\":[\(page),\(page)],\"next\":\"?page=\(page + 1)\"}")
    }
    let api = Network(Backend(baseURL: URL(string: "https://api.test"), transport: stub))
    do {
      let items = try await api.fetchAll(
        .get("/a"), of: Int.self, at: "results", by: .link(at: "next"), maxItems: 5)
      XCTFail("\(items)")
    } catch {
      XCTAssertEqual(error.kind, .tooLarge)
      XCTAssertTrue(error.reason.contains("maxItems"), error.reason)
    }
    XCTAssertEqual(stub.requests.count, 3)
  }

  func test_errorsOfAllStyles_areTyped_andReportedOnce() async throws {
    let reported = Locked(0)
    let stub = StubTransport { $0.url.query == nil ? .json("[1]") : .json("{}", status: 500) }
    let api = Network(
      Backend(
        baseURL: URL(string: "https://api.test"), transport: stub, onError: { _ in reported.withLock { $0 += 1 } }))
    do {
      _ = try await api.fetchAll(.get("/a?page=1"), of: Int.self)
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error.status, 500)
    }
    XCTAssertEqual(reported.withLock { $0 }, 1)
    let none = try await api.fetchAll(.get("/a"), of: Int.self)
    XCTAssertEqual(none, [1])
  }

  func test_linkInAHeaderField_isFollowed_untilItIsMissing() async throws {
    let stub = StubTransport { request in
      switch request.url.query() {
      case nil: .response(headers: ["Next-Page": "https://api.test/a?token=2"], body: Data("[1,2]".utf8))
      case "token=2": .response(headers: ["Next-Page": "?token=3"], body: Data("[]".utf8))
      case "token=3": .response(headers: ["Next-Page": "https://other.test/a?token=4"], body: Data("[3]".utf8))
      default: .response(headers: ["Link": "<https://api.test/a>; rel=\"next\""], body: Data("[4]".utf8))
      }
    }
    let api = Network(Backend(baseURL: URL(string: "https://api.test"), headers: ["K": "key"], transport: stub))
    let items = try await api.fetchAll(.get("/a"), of: Int.self, by: .link(header: "next-page"))
    XCTAssertEqual(items, [1, 2, 3, 4])
    XCTAssertEqual(stub.requests.map { $0.headers["K"] }, ["key", "key", "key", nil], "not to another origin")
  }

  func test_cursorInAHeaderField_isSent_untilItIsMissingOrEmpty() async throws {
    for end in [nil, ""] {
      let stub = StubTransport { request in
        switch request.url.query() {
        case "q=tea": .response(headers: ["X-Next-Page": "2"], body: Data("[1]".utf8))
        default: .response(headers: end.map { ["X-Next-Page": $0] } ?? [:], body: Data("[2]".utf8))
        }
      }
      let api = Network(Backend(baseURL: URL(string: "https://api.test"), transport: stub))
      let call = Call.get("/a", query: ["q": "tea"])
      let items = try await api.fetchAll(call, of: Int.self, by: .cursor(header: "X-Next-Page", parameter: "page"))
      XCTAssertEqual(items, [1, 2])
      XCTAssertEqual(stub.requests.map { $0.url.query() }, ["q=tea", "page=2&q=tea"])
    }
  }
}
