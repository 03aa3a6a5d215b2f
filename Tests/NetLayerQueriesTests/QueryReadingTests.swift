import Foundation
import NetLayerQueries
import TestSupport
import XCTest

/// Rows 1 to 14 of docs/queries.md: first values, errors, and invalidations.
final class QueryReadingTests: XCTestCase {
  func test_query_row_01_firstWatcher_withoutCache_fetchesOnce() {
    let app = WatchFixture()
    let screen = app.watch()
    XCTAssertEqual(screen.all, ["nil fetching"])
    app.advance(10)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
    XCTAssertEqual(app.reads, 1)
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_02_firstWatcher_showsFreshStoredResponse_withoutARequest() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    app.run(app.network.request(Posts()))
    app.advance(20)
    let screen = app.watch()
    app.advance(100)
    XCTAssertEqual(screen.all, ["[1]"])
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_03_firstWatcher_showsStaleStoredResponse_thenTheServers() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""] }
    app.run(app.network.request(Posts()))
    app.advance(20)
    app.advance(100_000)
    app.server.update { ($0.headers["ETag"], $0.lists["/feed"]) = ("\"b\"", [1, 2]) }
    let screen = app.watch()
    app.advance(100)
    XCTAssertEqual(screen.all, ["[1] fetching stale", "[1, 2]"])
    XCTAssertEqual(app.stub.requests.last?.headers["If-None-Match"], "\"a\"")
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_03_staleResponse_thatTheServerForbids_isNotShown() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "no-cache", "ETag": "\"a\""] }
    app.run(app.network.request(Posts()))
    app.advance(20)
    let screen = app.watch()
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]"])
    XCTAssertEqual(app.stub.requests.last?.headers["If-None-Match"], "\"a\"")
  }

  func test_query_row_04_secondWatcher_receivesTheCurrentSnapshot() {
    let app = WatchFixture()
    let first = app.watch()
    app.advance(10)
    let second = app.watch()
    XCTAssertEqual(second.all, ["[1]"])
    app.advance(100)
    XCTAssertEqual(app.reads, 1)
    XCTAssertEqual(first.all.count, 2)
  }

  func test_query_row_05_twoDecoders_shareTheRequest() {
    let app = WatchFixture()
    app.script("GET /feed", .json(#"["1"]"#))
    let texts = app.watch(PostTexts())
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    app.advance(10)
    XCTAssertEqual(texts.last, #"["1"]"#)
    XCTAssertEqual(json.last, #"["1"]"#)
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_05_secondDecoder_readsThePresentResponse_offTheCallersThread() {
    let app = WatchFixture()
    let first = app.watch()
    app.advance(10)
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    XCTAssertEqual(json.all, [], "it is read on the mapping scheduler")
    app.advance(10)
    XCTAssertEqual(json.all, ["[1]"])
    XCTAssertEqual(first.last, "[1]")
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_06_oneDecoderFails_theOtherShowsItsValue() {
    let app = WatchFixture()
    let numbers = app.watch()
    let texts = app.watch(PostTexts())
    app.advance(10)
    XCTAssertEqual(numbers.last, "[1]")
    XCTAssertEqual(texts.last, "nil parse")
    app.script("GET /feed", .json(#"["a"]"#))
    app.network.invalidate(["posts"])
    app.advance(10)
    XCTAssertEqual(numbers.last, "[1] parse", "next to its last value")
    XCTAssertEqual(texts.last, #"["a"]"#)
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_06_onlyDecoderFails_keepsTheValue_asForAnyFailure() {
    let app = WatchFixture()
    let screen = app.watch()
    app.advance(10)
    app.script("GET /feed", .json("{}"))
    app.network.invalidate(["posts"])
    app.advance(10)
    XCTAssertEqual(screen.last, "[1] stale parse")
    XCTAssertEqual(app.errors.all, ["parse"])
  }

  func test_query_row_07_networkError_keepsTheValue_withoutARetry() {
    let app = WatchFixture()
    let screens = [app.watch(), app.watch()]
    app.advance(10)
    app.script("GET /feed", .failure(.connection))
    app.network.invalidate(["posts"])
    app.advance(1000)
    XCTAssertEqual(screens.map(\.last), ["[1] stale connection", "[1] stale connection"])
    XCTAssertEqual(app.reads, 2)
    XCTAssertEqual(app.errors.all, ["connection"], "once for each request, not for each watcher")
  }

  func test_query_row_07_status_isAnErrorOnce() {
    let app = WatchFixture()
    let screens = [app.watch(), app.watch(), app.watch(Call(.get, "/feed").as(JSON.self))]
    app.advance(10)
    app.script("GET /feed", .json("{}", status: 500))
    app.network.invalidate(["posts"])
    app.advance(1000)
    XCTAssertEqual(Set(screens.map(\.last)), ["[1] stale status"])
    XCTAssertEqual(app.errors.all, ["status"])
  }

  func test_query_row_08_error_remainsWhileFetching_thenDisappears() {
    let app = WatchFixture()
    app.script("GET /feed", .failure(.connection))
    let screen = app.watch()
    app.advance(10)
    app.network.refetchStale()
    app.advance(10)
    XCTAssertEqual(screen.all, ["nil fetching", "nil connection", "nil fetching connection", "[1]"])
  }

  func test_query_row_09_unchangedResponse_changesOnlyIsFetching() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=1", "ETag": "\"a\""] }
    let reads = Counter()
    let endpoint = Counted(reads: reads)
    let screen = app.watch(endpoint, every: .milliseconds(5000))
    app.advance(10)
    app.advance(5010)
    XCTAssertEqual(app.stub.requests.last?.headers["If-None-Match"], "\"a\"")
    app.server.update { $0.headers = [:] }
    app.advance(5000)
    XCTAssertEqual(app.reads, 3)
    XCTAssertEqual(
      screen.all, ["nil fetching", "[1]", "[1] fetching stale", "[1]", "[1] fetching stale", "[1]"])
    XCTAssertEqual(reads.value, 1, "decoded once")
  }

  func test_query_row_10_invalidate_showsStaleThenTheValue() {
    let app = WatchFixture()
    let screen = app.watch()
    app.advance(10)
    app.set([1, 2])
    app.network.invalidate(["other"])
    XCTAssertEqual(screen.last, "[1]")
    app.network.invalidate(["posts"])
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1] fetching stale", "[1, 2]"])
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_11_invalidateDuringARequest_isOneMoreRequest() {
    let app = WatchFixture()
    let screen = app.watch()
    app.advance(5)
    for _ in 0..<3 { app.network.invalidate(Posts()) }
    app.advance(5)
    XCTAssertEqual(screen.last, "[1] fetching stale")
    app.advance(100)
    XCTAssertEqual(screen.last, "[1]")
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_12_invalidateInsideOnNext_doesNotRecur() {
    let app = WatchFixture()
    let notes = Notes()
    let subscription = app.network.watch(Posts()).subscribe(onNext: { snapshot in
      notes.add("begin \(snapshotText(snapshot))")
      if snapshot.value == [1], !snapshot.isFetching {
        app.set([1, 2])
        app.network.invalidate(["posts"])
      }
      notes.add("end")
    })
    app.advance(100)
    XCTAssertEqual(
      notes.all,
      ["nil fetching", "[1]", "[1] fetching stale", "[1, 2]"].flatMap { ["begin \($0)", "end"] })
    subscription.dispose()
    app.checkEnd()
  }

  func test_query_row_13_invalidateOfWhatNobodyWatches_removesTheStoredResponse() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    for path in ["/feed", "/other"] { app.run(app.network.request(Posts(path: path))) }
    app.run(app.network.request(PostTexts()))
    app.advance(20)
    let before = app.reads
    app.network.invalidate(["posts"])
    app.advance(100)
    XCTAssertEqual(app.reads, before)
    app.run(app.network.request(Posts(path: "/other")))
    app.advance(100)
    XCTAssertEqual(app.reads, before + 1, "the stored response is removed")
  }

  func test_query_row_13_invalidateOfAnEndpoint_removesOnlyItsStoredResponse() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    for path in ["/feed", "/other"] { app.run(app.network.request(Posts(path: path))) }
    app.advance(20)
    app.network.invalidate(.get("/other"))
    for path in ["/feed", "/other"] { app.run(app.network.request(Posts(path: path))) }
    app.advance(100)
    XCTAssertEqual(app.stub.requests.map(\.url.path), ["/feed", "/other", "/other"])
  }

  func test_query_row_14_fastPushes_areNeverMoreThanOneRequestAtATime() {
    let app = WatchFixture()
    let screen = app.watch()
    app.advance(10)
    for number in 2...12 {
      app.server.update { $0.lists["/feed"]?.append(number) }
      app.network.invalidate(["posts"])
      app.advance(3)
    }
    app.advance(100)
    XCTAssertEqual(app.stub.cancelled.count, 0)
    XCTAssertEqual(screen.last, "\(Array(1...12))")
    XCTAssertLessThanOrEqual(app.reads, 7, "back to back, 10 ms each")
    XCTAssertTrue(screen.all.contains { $0.hasPrefix("[1, 2] fetching") }, "each response is shown: \(screen.all)")
  }

  /// An endpoint that counts how often it is decoded.
  private struct Counted: Endpoint {
    typealias Output = [Int]
    let reads: Counter
    var path: String { "/feed" }
    func read(_ response: Response) throws -> [Int] {
      reads.next()
      return try response.decode([Int].self)
    }
  }
}
