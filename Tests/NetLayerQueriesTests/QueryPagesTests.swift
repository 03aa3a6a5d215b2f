import Foundation
import NetLayer
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// Rows 40 to 43 of docs/queries.md: pages.
final class QueryPagesTests: XCTestCase {
  /// A server with pages of two numbers, linked by a cursor, and a screen that loads more of them.
  private final class Book: Sendable {
    let scheduler = TestScheduler(resolution: .milliseconds(1))
    let numbers = Box(Array(1...5))
    /// The numbers of the requests that fail.
    let failing = Box<Set<Int>>([])
    let places = Notes()
    let more = PublishSubject<Void>()
    let network: Network
    let screen: Screen

    init() {
      let stub = StubTransport(on: scheduler) { [numbers, failing, places] request in
        if request.method == .post {
          numbers.update { $0.insert(0, at: 0) }
          return .json("{}", after: .milliseconds(10))
        }
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        let start = query.first { $0.name == "cursor" }?.value.flatMap { Int($0) } ?? 0
        places.add("\(start)")
        if failing.value.contains(places.all.count) { return .failure(.connection) }
        let items = Array(numbers.value.dropFirst(start).prefix(2))
        let next = start + 2 < numbers.value.count ? "\(start + 2)" : "null"
        return .json("{\"items\": \(items), \"next\": \(next)}", after: .milliseconds(10))
      }
      network = Network(
        Backend(baseURL: URL(string: "http://h"), transport: stub, clock: scheduler, mapping: scheduler))
      let pages = network.watchPages(
        Book.first, of: Int.self, at: "items", by: Book.paging, loadingMoreOn: more)
      screen = Screen(
        pages.map { pages in
          var lists = Snapshot<[[Int]]>(
            error: pages.error, isFetching: pages.isFetching, isStale: pages.isStale, isEdited: pages.isEdited)
          lists.value = pages.value?.map(\.items)
          return snapshotText(lists)
        })
    }

    static let first = Call(.get, "/pages").tags(["pages"])
    static let paging = Paging.cursor(at: "next")

    func loadMore() { more.onNext(()) }
    func advance(_ milliseconds: Int) { scheduler.advanceBy(milliseconds) }
  }

  private func book(pages: Int) -> Book {
    let book = Book()
    book.advance(100)
    for _ in 1..<pages {
      book.loadMore()
      book.advance(100)
    }
    return book
  }

  func test_query_row_40_refetch_replacesAllLoadedPagesInOneSnapshot() {
    let book = book(pages: 3)
    XCTAssertEqual(
      book.screen.all,
      [
        "nil fetching", "[[1, 2]]", "[[1, 2]] fetching", "[[1, 2], [3, 4]]", "[[1, 2], [3, 4]] fetching",
        "[[1, 2], [3, 4], [5]]",
      ])
    XCTAssertEqual(book.places.all, ["0", "2", "4"])
    book.numbers.value = [0, 1, 2, 3, 4, 5]
    book.network.invalidate(["pages"])
    book.advance(100)
    XCTAssertEqual(
      book.screen.all.suffix(2), ["[[1, 2], [3, 4], [5]] fetching stale", "[[0, 1], [2, 3], [4, 5]]"])
    XCTAssertEqual(book.places.all.suffix(3), ["0", "2", "4"])
  }

  func test_query_row_40_refetch_isShorterIfTheListEndsEarlier() {
    let book = book(pages: 3)
    book.numbers.value = [1, 2, 3]
    book.network.invalidate(["pages"])
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2], [3]]")
    XCTAssertEqual(book.places.all.count, 5)
    book.screen.leave()
    XCTAssertEqual(book.network.watching.counts, [0, 0])
  }

  func test_query_row_41_moreDuringARefetch_followsIt_andAtTheEndIsIgnored() {
    let book = book(pages: 1)
    book.network.invalidate(["pages"])
    book.loadMore()
    book.advance(100)
    XCTAssertEqual(book.screen.all.suffix(2), ["[[1, 2]] fetching", "[[1, 2], [3, 4]]"])
    XCTAssertEqual(book.places.all, ["0", "0", "2"])
    book.loadMore()
    book.advance(100)
    let (shown, sent) = (book.screen.all, book.places.all)
    book.loadMore()
    book.advance(100)
    XCTAssertEqual(book.screen.all, shown)
    XCTAssertEqual(book.places.all, sent)
  }

  func test_query_row_41_severalMoreInARow_loadOnePage() {
    for count in [2, 3, 5, 50] {
      for pause in [0, 1, 5] {
        let book = book(pages: 1)
        for _ in 0..<count {
          book.loadMore()
          if pause * count < 10 { book.advance(pause) }
        }
        book.advance(100)
        XCTAssertEqual(book.screen.last, "[[1, 2], [3, 4]]", "\(count) \(pause)")
        XCTAssertEqual(book.places.all, ["0", "2"], "\(count) \(pause)")
        book.loadMore()
        book.advance(100)
        XCTAssertEqual(book.places.all, ["0", "2", "4"], "the next one loads the next page")
      }
    }
    // During a load of all pages, too.
    let book = book(pages: 1)
    book.network.invalidate(["pages"])
    for _ in 0..<5 { book.loadMore() }
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2], [3, 4]]")
  }

  func test_query_row_41_moreThatAWriteCancels_followsIt() {
    let book = book(pages: 1)
    book.loadMore()
    book.advance(5)
    let work = book.network.request(Call(.post, "/x").as(NoContent.self), edits: [Self.inserting]).subscribe()
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[0, 1], [2, 3]]")
    work.dispose()
  }

  func test_query_row_42_editOfPages_isShownUntilAllAreLoadedAgain() {
    let book = book(pages: 2)
    let work = book.network.request(Call(.post, "/x").as(NoContent.self), edits: [Self.inserting]).subscribe()
    XCTAssertEqual(book.screen.last, "[[0, 1, 2], [3, 4]] edited")
    book.advance(100)
    XCTAssertEqual(
      book.screen.all.suffix(2), ["[[0, 1, 2], [3, 4]] fetching stale edited", "[[0, 1], [2, 3]]"])
    XCTAssertEqual(book.places.all, ["0", "2", "0", "2"])
    work.dispose()
  }

  private static let inserting = Edit(pagesOf: Book.first, of: Int.self, at: "items", by: Book.paging) { pages in
    if !pages.isEmpty { pages[0].items.insert(0, at: 0) }
  }

  func test_query_row_43_failedPage_keepsAllFormerPages() {
    let book = book(pages: 2)
    book.failing.value = [4]
    book.network.invalidate(["pages"])
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2], [3, 4]] stale connection")
    XCTAssertEqual(book.places.all, ["0", "2", "0", "2"])
    book.network.refetchStale()
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2], [3, 4]]")
  }

  func test_query_row_43_failedNextPage_isRequestedAgainAlone() {
    let book = book(pages: 1)
    book.failing.value = [2]
    book.loadMore()
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2]] connection")
    book.loadMore()
    book.advance(100)
    XCTAssertEqual(book.screen.last, "[[1, 2], [3, 4]]")
    XCTAssertEqual(book.places.all, ["0", "2", "2"])
  }

  /// Watches `list` in pages of two, or those of `pages` by cursor.
  private func watch(
    _ paging: Paging, _ list: Box<[Int]>, pages: [(items: [Int], next: String)] = [], _ more: PublishSubject<Void>
  ) -> (TestScheduler, StubTransport, Network, Screen) {
    let scheduler = TestScheduler(resolution: .milliseconds(1))
    let stub = StubTransport(on: scheduler) { request in
      let query = request.url.queryPairs.last
      let place = query.flatMap { Int($0.value) } ?? 0
      if !pages.isEmpty { return .json("{\"items\": \(pages[place].items), \"next\": \(pages[place].next)}") }
      let start = query?.name == "page" ? 2 * (place - 1) : place
      return .json("{\"items\": \(Array(list.value.dropFirst(start).prefix(2)))}")
    }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: stub, clock: scheduler, mapping: scheduler))
    let pages = network.watchPages(
      Book.first, of: Int.self, at: "items", by: paging, loadingMoreOn: more.asObservable())
    let screen = Screen(
      pages.map { pages in
        "\(pages.value?.map(\.items) ?? []) \(pages.error.map { "\($0.kind)" } ?? (pages.isFetching ? "…" : "."))"
      })
    return (scheduler, stub, network, screen)
  }

  func test_query_row_41_emptyPage_isTheEndOfPagesThatAreCounted() {
    for (paging, places) in [(Paging.number(), ["1", "2", "3"]), (.offset(), ["0", "2", "4"])] {
      let (list, more) = (Box([1, 2, 3, 4]), PublishSubject<Void>())
      let (scheduler, stub, network, screen) = watch(paging, list, more)
      func loadMore() {
        more.onNext(())
        scheduler.advanceBy(10)
      }
      scheduler.advanceBy(10)
      for _ in 1...4 { loadMore() }
      XCTAssertEqual(screen.last, "[[1, 2], [3, 4]] .")
      XCTAssertEqual(stub.requests.map { $0.url.queryPairs.last?.value }, places)
      // A list that has become empty has no page, and can have one again.
      for (numbers, shown) in [([], "[] ."), ([7, 8, 9], "[[7, 8]] ."), ([7], "[[7]] .")] {
        list.value = numbers
        network.invalidate(["pages"])
        scheduler.advanceBy(10)
        XCTAssertEqual(screen.last, shown)
      }
    }
  }

  func test_query_row_41_emptyPage_isAPageIfACursorFollows_butARepeatedCursorIsAnError() {
    for (next, shown) in [("null", "[[1, 2], [], [3]] ."), ("2", "[[1, 2], []] repeatedPage")] {
      let more = PublishSubject<Void>()
      let pages = [([1, 2], "1"), ([], "2"), ([3], next)]
      let (scheduler, _, _, screen) = watch(Book.paging, Box([]), pages: pages, more)
      scheduler.advanceBy(10)
      for _ in 1...3 {
        more.onNext(())
        scheduler.advanceBy(10)
      }
      XCTAssertEqual(screen.last, shown)
    }
  }
}
