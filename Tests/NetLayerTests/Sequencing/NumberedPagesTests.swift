import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Numbered pages of servers that send the number of pages, or that respond with an error after the last one.
final class NumberedPagesTests: XCTestCase {
  /// A server with the items 1 to 5 on pages of two. It responds with `beyond` to other numbers.
  private struct Server {
    var first = 1
    var body: @Sendable (_ items: String, _ pages: Int) -> String = { items, _ in items }
    var field: String?
    var beyond = StubTransport.StubbedResponse.json("[]")
    var pages: [String] = ["[1,2]", "[3,4]", "[5]"]

    func network() -> (Network, StubTransport) {
      let stub = StubTransport { [self] request in
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        let number = query.first { $0.name == "page" }?.value.flatMap(Int.init) ?? -1
        guard pages.indices.contains(number - first) else { return beyond }
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let field { headers[field] = "\(pages.count)" }
        return .response(headers: headers, body: Data(body(pages[number - first], pages.count).utf8))
      }
      return (Network(Backend(baseURL: URL(string: "http://api.test"), transport: stub)), stub)
    }
  }

  private static func error(_ status: Int, _ text: String) -> StubTransport.StubbedResponse {
    .json(#"{"message":"\#(text)"}"#, status: status)
  }

  private let servers: [(name: String, server: Server, path: String?, paging: Paging, requests: Int)] = [
    (
      "WordPress", Server(field: "X-WP-TotalPages", beyond: error(400, "rest_post_invalid_page_number")), nil,
      .number(pages: "X-WP-TotalPages"), 3
    ),
    (
      "Django REST framework",
      Server(body: { items, _ in #"{"count":5,"results":\#(items)}"# }, beyond: error(404, "Invalid page.")),
      "results", .number(endsAt: [404]), 4
    ),
    (
      "RabbitMQ",
      Server(body: { #"{"items":\#($0),"page_count":\#($1)}"# }, beyond: error(400, "page_out_of_range")), "items",
      .number(pages: "page_count"), 3
    ),
    (
      "Laravel", Server(body: { #"{"data":\#($0),"meta":{"last_page":\#($1)}}"# }), "data",
      .number(pages: "meta.last_page"), 3
    ),
    (
      "Spring", Server(first: 0, body: { #"{"content":\#($0),"totalPages":\#($1)}"# }), "content",
      .number(from: 0, pages: "totalPages"), 3
    ),
    ("text", Server(body: { #"{"data":\#($0),"pages":"\#($1)"}"# }), "data", .number(pages: "pages"), 3),
    ("a field in another case", Server(field: "x-total-pages"), nil, .number(pages: "X-Total-Pages"), 3),
    ("no number", Server(), nil, .number(), 4),
  ]

  func test_lastPage_endsTheList() async throws {
    for (name, server, path, paging, requests) in servers {
      let (network, stub) = server.network()
      let items = try await network.fetchAll(.get("/list"), of: Int.self, at: path, by: paging)
      XCTAssertEqual(items, [1, 2, 3, 4, 5], name)
      XCTAssertEqual(stub.requests.count, requests, name)
    }
  }

  func test_listsOfOnePageAndOfNone_end() async throws {
    for (pages, total) in [(["[1]"], 1), (["[]"], 0), (["[]"], 1)] {
      let server = Server(
        body: { items, _ in #"{"items":\#(items),"page_count":\#(total)}"# }, beyond: Self.error(400, "out"),
        pages: pages)
      let (network, stub) = server.network()
      let items = try await network.fetchAll(.get("/list"), of: Int.self, at: "items", by: .number(pages: "page_count"))
      XCTAssertEqual(items.count, pages == ["[1]"] ? 1 : 0)
      XCTAssertEqual(stub.requests.count, 1)
    }
  }

  func test_statusOfTheFirstPage_andOtherStatuses_areErrors() async throws {
    let (missing, _) = Server(beyond: Self.error(404, "no such list"), pages: []).network()
    let (broken, _) = Server(beyond: Self.error(500, "broken")).network()
    for (network, code) in [(missing, 404), (broken, 500)] {
      do {
        _ = try await network.fetchAll(.get("/list"), of: Int.self, by: .number(endsAt: [400, 404]))
        XCTFail("no error")
      } catch { XCTAssertEqual(error.code, code) }
    }
  }

  func test_pagesBeforeAnError_areDelivered() throws {
    let (network, _) = Server(beyond: Self.error(400, "page_out_of_range")).network()
    let recorded = record(network.pages(.get("/list"), of: Int.self, by: .number()))
    XCTAssertEqual(recorded.elements.map(\.items), [[1, 2], [3, 4], [5]])
    XCTAssertEqual(recorded.error?.message, "page_out_of_range")
  }

  func test_missingNumber_isAnError_thatNamesThePath() async throws {
    for (value, found) in [("null", "missing"), (#""many""#, "\"many\""), ("-1", "\"-1\"")] {
      let server = Server(body: { items, _ in #"{"items":\#(items),"page_count":\#(value)}"# })
      let (network, _) = server.network()
      do {
        _ = try await network.fetchAll(.get("/list"), of: Int.self, at: "items", by: .number(pages: "page_count"))
        XCTFail("no error")
      } catch {
        XCTAssertEqual(error.kind, .parse)
        XCTAssertTrue(error.reason.contains("\"page_count\" of the body or in a header field"), error.reason)
        XCTAssertTrue(error.reason.contains("but is \(found);"), error.reason)
      }
    }
  }

  func test_emptyPage_endsTheList_beforeTheStatedNumber() async throws {
    let server = Server(
      body: { items, _ in #"{"items":\#(items),"page_count":99}"# }, beyond: .json(#"{"items":[],"page_count":99}"#))
    let (network, stub) = server.network()
    let items = try await network.fetchAll(.get("/list"), of: Int.self, at: "items", by: .number(pages: "page_count"))
    XCTAssertEqual(items.count, 5)
    XCTAssertEqual(stub.requests.count, 4)
  }
}
