import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class PagesTests: XCTestCase {
  private static func page(_ cursor: String?) -> Page<Int> {
    let number = cursor.flatMap { Int($0) } ?? 0
    return Page(items: [number], cursor: number < 3 ? String(number + 1) : nil)
  }

  func test_row_0_22_cursors_areFollowedToTheEnd() {
    let stream = Observable.pages(startingAt: nil) { .just(Self.page($0)) }
    XCTAssertEqual(record(stream).elements.map(\.items), [[0], [1], [2], [3]])
    XCTAssertEqual(record(Observable.pages(startingAt: "2") { .just(Self.page($0)) }).elements.count, 2)
  }

  func test_row_0_22_pages_areRequestedOnlyWhenTaken() {
    let asked = Counter()
    let stream = Observable.pages(startingAt: nil) { cursor -> Observable<Page<Int>> in
      asked.next()
      return .just(Self.page(cursor))
    }
    XCTAssertEqual(asked.value, 0)
    XCTAssertEqual(record(stream.take(2)).elements.count, 2)
    XCTAssertEqual(asked.value, 2)
  }

  func test_pageHasTheResponseWithTheRestOfItsDocument() throws {
    struct Document: Decodable {
      struct Meta: Decodable {
        var total: Int
      }
      var meta: Meta
      var included: [String]
    }
    let stub = StubTransport { request in
      let isFirst = request.url.query == nil
      let next = isFirst ? #""/a?page=2""# : "null"
      let text = #"{"data":[\#(isFirst ? 1 : 2)],"included":["a\#(isFirst)"],"meta":{"total":2},"next":\#(next)}"#
      return .response(headers: ["X-Page": isFirst ? "1" : "2"], body: Data(text.utf8))
    }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: stub, mapping: ImmediateScheduler.instance))
    let pages = record(network.pages(.get("/a"), of: Int.self, at: "data", by: .link(at: "next"))).elements
    XCTAssertEqual(pages.map(\.items), [[1], [2]])
    XCTAssertEqual(try pages.map { try $0.response?.decode(Document.self).included }, [["atrue"], ["afalse"]])
    XCTAssertEqual(try pages.last?.response?.json()["meta"]["total"].int, 2)
    XCTAssertEqual(pages.map { $0.response?.headers["X-Page"] }, ["1", "2"])
    let list = record(network.json(.get("/a")).list(Int.self, at: "data")).elements
    XCTAssertEqual(list.map { $0.response?.status }, [200])
    XCTAssertNil(Page(items: [1]).response)
  }

  func test_repeatedCursor_isAnError() throws {
    let recorded = record(
      Observable.pages(startingAt: nil) { cursor in
        .just(Page(items: [1], cursor: cursor == "b" ? "a" : cursor == "a" ? "b" : "a"))
      })
    XCTAssertEqual(recorded.elements.count, 3)
    XCTAssertEqual(recorded.error?.kind, .repeatedPage)
    XCTAssertEqual(recorded.error?.index, 2)
    XCTAssertTrue(recorded.error?.reason.contains("\"a\"") == true)
  }

  func test_row_0_28_pagesByNumber_endWithAnEmptyPage() {
    let stream = Observable.pages(startingAt: 1) { .just(Page(items: $0 < 4 ? [$0] : [])) }
    XCTAssertEqual(record(stream).elements.map(\.items), [[1], [2], [3]])
  }

  func test_row_0_28_pagesByNumber_endWhenTheServerRepeatsTheLastPage() {
    struct Item: Decodable, Sendable { let id: Int }
    let stub = StubTransport { request in
      let page = request.url.query.flatMap { Int($0.dropFirst("page=".count)) } ?? 0
      return .json(#"{"code":200,"message":"page \#(page)","data":[{"id":\#(min(page, 3))}]}"#)
    }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), envelope: .standard, transport: stub, mapping: ImmediateScheduler.instance))
    let stream = Observable.pages(startingAt: 1) { number in
      network.json(.get, "/movies", parameters: ["page": number]).list(Item.self)
    }
    XCTAssertEqual(record(stream).elements.flatMap(\.items).map(\.id), [1, 2, 3])
    let lossy = Observable.pages(startingAt: 1) { number in
      network.json(.get, "/movies", parameters: ["page": number]).list(Item.self) { _, _ in }
    }
    XCTAssertEqual(record(lossy).elements.flatMap(\.items).map(\.id), [1, 2, 3])
    XCTAssertEqual(stub.requests.count, 8)
  }

  func test_row_0_28_pagesOfTheApp_areComparedByTheirItems_ifEquatable() {
    final class Item: Sendable {}
    let equal = Observable.pages(startingAt: 1) { .just(Page(items: [min($0, 2)], cursor: String($0))) }
    XCTAssertEqual(record(equal).elements.map(\.items), [[1], [2]])
    let other = Observable.pages(startingAt: 1) { _ in .just(Page(items: [Item()])) }
    XCTAssertEqual(record(other.take(5)).elements.count, 5)
    let again = Observable.pages(startingAt: 1) { .just(Page(items: $0 < 6 ? [$0 % 2] : [])) }
    XCTAssertEqual(record(again).elements.map(\.items), [[1], [0], [1], [0], [1]], "only the one before counts")
    var page = Page(items: [1])
    page.fingerprint = 1
    XCTAssertEqual(page, Page(items: [1]))
    XCTAssertFalse(page.repeats(Page(items: [1])))
  }

  func test_cachedPageBeforeTheServersPage_isNotARepetition() {
    let stream = Observable.pages(startingAt: 1) { number -> Observable<Page<Int>> in
      number < 3 ? .of(Page(items: [number - 1]), Page(items: [number])) : .just(Page(items: []))
    }
    XCTAssertEqual(record(stream).elements.map(\.items), [[0], [1], [2]])
  }

  func test_error_endsThePages_andANewSubscriptionStartsOver() throws {
    let stream = Observable.pages(startingAt: nil) { cursor -> Observable<Page<Int>> in
      if cursor == "2" { throw NetworkError(kind: .timeout, reason: "slow") }
      return .just(Self.page(cursor))
    }
    for _ in 1...2 {
      let recorded = record(stream)
      XCTAssertEqual(recorded.elements.count, 2)
      XCTAssertEqual(recorded.error?.kind, .timeout)
    }
  }

  func test_twentyThousandImmediatePages_doNotOverflowTheStack() {
    let count = Counter()
    let stream = Observable.pages(startingAt: 1) { number -> Observable<Page<Int>> in
      .just(Page(items: number <= 20_000 ? [number] : []))
    }
    let subscription = stream.subscribe(onNext: { _ in count.next() })
    subscription.dispose()
    XCTAssertEqual(count.value, 20_000)
  }

  func test_disposing_cancelsThePageInFlight() throws {
    let transport = StubTransport { _ in .never }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    let subscription = Observable.pages(startingAt: nil) { cursor in
      network.json(.get, "/feed", parameters: ["cursor": cursor]).list(Int.self)
    }.subscribe()
    XCTAssertEqual(transport.requests.count, 1)
    subscription.dispose()
    XCTAssertEqual(transport.cancelled.count, 1)
  }
}
