import Foundation
import NetLayer
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerQueries

/// Rows 15 to 29 of docs/queries.md, and row 44: writes and their edits.
final class QueryEditTests: XCTestCase {
  private typealias Reply = WatchFixture.Reply

  /// A fixture, and a screen that shows the list `[1]`.
  private func showing(caches: Bool = false) -> (WatchFixture, Screen) {
    let app = WatchFixture(caches: caches)
    let screen = app.watch()
    app.advance(10)
    XCTAssertEqual(screen.last, "[1]")
    return (app, screen)
  }

  func test_query_row_15_edit_isShownUntilTheNextResponse() {
    let (app, screen) = showing()
    let (result, _) = app.run(app.add(2))
    XCTAssertEqual(screen.last, "[1, 2] edited", "immediately")
    app.advance(10)
    XCTAssertEqual(result.all, ["success"])
    app.advance(100)
    XCTAssertEqual(
      screen.all, ["nil fetching", "[1]", "[1, 2] edited", "[1, 2] fetching stale edited", "[1, 2]"])
    XCTAssertEqual([app.reads, app.writes], [2, 1])
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_16_rejectedWrite_removesTheEdit_beforeTheCallFails() {
    let (app, screen) = showing()
    app.script("POST /feed/add", .json("{}", status: 422, after: .milliseconds(10)))
    let seen = Notes()
    let work = app.network.request(AddPost(number: 2), editing: Posts()) { $0.append(2) }
      .subscribe(onSuccess: { _ in }, onError: { _ in seen.add(screen.last) })
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1, 2] edited", "[1]"])
    XCTAssertEqual(seen.all, ["[1]"], "the screen at the time of the error")
    XCTAssertEqual([app.reads, app.writes], [1, 1])
    work.dispose()
  }

  func test_query_row_16_writeThatCannotBeBuilt_isRejected() {
    let (app, screen) = showing()
    let (result, _) = app.run(
      app.network.request(Call(.post, "/a/../b"), editing: Posts()) { $0.append(2) })
    app.advance(100)
    XCTAssertEqual(result.all, ["invalidRequest"])
    XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1, 2] edited", "[1]"])
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_17_unknownOutcome_removesTheEdit_thenShowsTheServers() {
    let replies: [(Reply, applies: Bool)] = [
      (.failure(.timeout, after: .milliseconds(10)), true),
      (.json("{}", status: 500, after: .milliseconds(10)), false),
      (.failure(.connection, after: .milliseconds(10)), true),
      (.json("{}", status: 409, after: .milliseconds(10)), true),
    ]
    for (reply, applies) in replies {
      let (app, screen) = showing()
      app.run(app.add(2, reply, applies: applies))
      app.advance(100)
      XCTAssertEqual(
        screen.all,
        ["nil fetching", "[1]", "[1, 2] edited", "[1] fetching stale", applies ? "[1, 2]" : "[1]"])
      XCTAssertEqual([app.reads, app.writes], [2, 1])
    }
  }

  /// The server has applied the first attempt, and has nothing left to delete.
  func test_query_row_17_rejectionOfASecondAttempt_isUnknown() throws {
    let url = try XCTUnwrap(URL(string: "http://h/x"))
    for (attempt, status, outcome) in [
      (1, 404, WriteOutcome.rejected), (2, 404, .unknown), (2, 422, .unknown), (2, 200, .acknowledged),
      (1, 409, .unknown), (1, 412, .unknown), (1, 408, .unknown), (1, 425, .unknown), (1, 429, .unknown),
      (1, 501, .unknown),
    ] {
      var request = Request(method: .delete, url: url)
      request.attempt = attempt
      XCTAssertEqual(WriteOutcome(Response(request: request, status: status)), outcome, "\(attempt) \(status)")
      let error = NetworkError(
        kind: .status, reason: "", request: request, response: Response(request: request, status: status))
      if status != 200 { XCTAssertEqual(WriteOutcome(after: error), outcome) }
    }
  }

  func test_query_row_18_disposedWrite_isUnknown() {
    let (app, screen) = showing()
    let (_, work) = app.run(app.add(2))
    app.advance(5)
    work.dispose()
    XCTAssertEqual(screen.last, "[1] fetching stale")
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2]", "the server had applied it")
    XCTAssertEqual([app.reads, app.writes], [2, 1])
    screen.leave()
    app.checkEnd()
  }

  func test_query_row_17_statusOfAServerThatMayApplyTheWrite_isUnknown() {
    for (status, reads) in [
      (400, 1), (404, 1), (410, 1), (422, 1), (408, 2), (409, 2), (412, 2), (425, 2), (429, 2), (500, 2),
    ] {
      let (app, screen) = showing()
      let (result, _) = app.run(app.add(2, .json("{}", status: status, after: .milliseconds(10))))
      app.advance(100)
      XCTAssertEqual(result.all, ["status"], "\(status)")
      XCTAssertEqual(app.reads, reads, "\(status)")
      XCTAssertEqual(screen.last, reads == 1 ? "[1]" : "[1, 2]", "\(status)")
    }
  }

  func test_query_row_15_editOfOneType_emitsNothingToWatchersOfAnother() {
    let (app, screen) = showing()
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    app.advance(10)
    XCTAssertEqual(json.all, ["[1]"])
    app.run(app.add(2))
    XCTAssertEqual(screen.last, "[1, 2] edited")
    XCTAssertEqual(json.all, ["[1]"])
    app.advance(100)
    XCTAssertEqual(json.all, ["[1]", "[1] fetching stale", "[1, 2]"])
    XCTAssertEqual(screen.last, "[1, 2]")
  }

  func test_query_row_18_cancelledTask_isUnknown() async throws {
    let (app, screen) = showing()
    let task = Task { try await app.network.fetch(AddPost(number: 2), editing: Posts()) { $0.append(2) } }
    try await eventually("the write is sent") { app.writes == 1 }
    task.cancel()
    do {
      _ = try await task.value
      XCTFail("the write was cancelled")
    } catch let error as NetworkError {
      XCTAssertEqual(error.kind, .cancelled)
    }
    try await eventually("the edit is removed") { screen.last == "[1] fetching stale" }
    app.advance(100)
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_19_writeAppliedLater_appearsWithTheNextTrigger() {
    let (app, screen) = showing()
    app.run(app.add(2, .failure(.timeout, after: .milliseconds(10)), applies: false))
    app.advance(100)
    app.set([1, 2])
    app.advance(100)
    XCTAssertEqual(screen.last, "[1]")
    app.network.invalidate(["posts"])
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2]")
  }

  func test_query_row_20_twoEdits_acknowledgedInReverse_needOneResponse() {
    let (app, screen) = showing()
    app.run(app.add(2, .json("{}", after: .milliseconds(30))))
    app.advance(1)
    app.run(app.add(3, .json("{}", after: .milliseconds(10))))
    XCTAssertEqual(screen.last, "[1, 2, 3] edited")
    app.advance(20)
    XCTAssertEqual(screen.last, "[1, 2, 3] fetching stale edited")
    XCTAssertEqual(app.reads, 1, "the first write is in flight")
    app.advance(100)
    XCTAssertEqual(
      screen.all,
      [
        "nil fetching", "[1]", "[1, 2] edited", "[1, 2, 3] edited", "[1, 2, 3] fetching stale edited", "[1, 2, 3]",
      ])
    XCTAssertEqual([app.reads, app.writes], [2, 2])
  }

  func test_query_row_21_firstOfTwoRejected_secondAppliesToTheResponse() {
    let (app, screen) = showing()
    app.run(app.add(2, .json("{}", status: 422, after: .milliseconds(10)), applies: false))
    app.run(app.add(3, .json("{}", after: .milliseconds(20))))
    app.advance(100)
    XCTAssertEqual(
      screen.all,
      [
        "nil fetching", "[1]", "[1, 2] edited", "[1, 2, 3] edited", "[1, 3] edited", "[1, 3] fetching stale edited",
        "[1, 3]",
      ])
    XCTAssertEqual([app.reads, app.writes], [2, 2])
  }

  func test_query_row_22_requestInFlight_isCancelledByAWrite() {
    let (app, screen) = showing()
    app.network.invalidate(["posts"])
    app.advance(5)
    app.run(app.add(2))
    XCTAssertEqual(app.stub.cancelled.count, 1)
    XCTAssertEqual(screen.last, "[1, 2] fetching stale edited")
    app.advance(100)
    XCTAssertEqual(screen.all.suffix(2), ["[1, 2] fetching stale edited", "[1, 2]"])
    XCTAssertEqual([app.reads, app.writes], [3, 1])
  }

  func test_query_row_22_requestThatAWriteCancelled_isSentAfterARejection() {
    let (app, screen) = showing()
    app.network.invalidate(["posts"])
    app.advance(5)
    app.run(app.add(2, .json("{}", status: 422, after: .milliseconds(10)), applies: false))
    app.set([1, 5])
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 5]")
    XCTAssertEqual(app.reads, 3)
  }

  func test_query_row_23_triggersDuringAWrite_areOneRequestAfterIt() {
    let app = WatchFixture()
    let screen = app.watch(Posts(), every: .milliseconds(20))
    app.advance(10)
    app.run(app.add(2, .json("{}", after: .milliseconds(15))))
    app.network.invalidate(["posts"])
    app.network.refetchStale()
    app.advance(14)
    XCTAssertEqual(app.reads, 1)
    app.advance(5)
    XCTAssertEqual(app.reads, 2, "one for the write, the interval and both calls")
    app.advance(7)
    XCTAssertEqual(screen.last, "[1, 2]")
    XCTAssertEqual(app.reads, 2)
    screen.leave()
  }

  func test_query_row_24_editBeforeTheFirstValue_delaysTheFirstRequest() {
    let app = WatchFixture()
    let screen = app.watch()
    app.advance(5)
    app.run(app.add(2))
    XCTAssertEqual(app.stub.cancelled.count, 1)
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1, 2]"])
    XCTAssertEqual([app.reads, app.writes], [2, 1])
  }

  func test_query_row_25_watcherDuringAWrite_receivesTheEditedValue() {
    let (app, _) = showing()
    app.run(app.add(2))
    XCTAssertEqual(app.watch().all, ["[1, 2] edited"])
    XCTAssertEqual(app.reads, 1)
  }

  func test_query_row_26_firstWatcherDuringAWrite_waitsForIt() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    app.run(app.network.request(Posts()))
    app.advance(20)
    let (result, _) = app.run(app.add(2))
    app.advance(1)
    let screen = app.watch()
    XCTAssertEqual(screen.all, ["nil fetching"])
    XCTAssertEqual(app.reads, 1)
    app.advance(100)
    XCTAssertEqual(result.all, ["success"])
    XCTAssertEqual(screen.all, ["nil fetching", "[1, 2]"])
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_27_lastWatcher_cancelsTheRequest_butNotTheWrite() {
    let (app, screen) = showing()
    app.network.invalidate(["posts"])
    app.advance(5)
    screen.leave()
    XCTAssertEqual(app.stub.cancelled.count, 1)
    app.checkEnd()

    let again = app.watch(Posts(), every: .milliseconds(50))
    app.advance(10)
    let (result, _) = app.run(app.add(2))
    again.leave()
    app.advance(100)
    XCTAssertEqual(result.all, ["success"])
    XCTAssertEqual([app.reads, app.writes], [3, 1], "no timer, and no request after the write")
    app.checkEnd()
  }

  func test_query_row_28_failedRequestAfterAWrite_keepsTheEditedValue() {
    let (app, screen) = showing()
    app.script("GET /feed", .failure(.connection))
    app.run(app.add(2))
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2] stale edited connection")
    XCTAssertEqual(app.reads, 2)
    app.network.refetchStale()
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2]")
  }

  func test_query_row_28_unreadableResponseAfterAWrite_keepsTheEditedValue() {
    let (app, screen) = showing()
    app.script("GET /feed", .json("{}"))
    app.run(app.add(2))
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2] stale edited parse")
  }

  func test_query_row_29_storedResponseInPlaceOfAnError_clearsNoEdit() {
    for policy in [CachePolicy.http, .networkElseCache, .cacheFirst(maxAge: .seconds(60)), .cacheThenNetwork()] {
      let app = WatchFixture(caches: true, policy: policy)
      app.server.update { $0.headers = ["Cache-Control": "max-age=1, stale-if-error=1000"] }
      let screen = app.watch()
      app.advance(100)
      app.script("GET /feed", .failure(.connection), .failure(.connection))
      // Stored by another request after the write.
      app.run(app.add(2))
      app.advance(100)
      XCTAssertEqual(screen.last, "[1, 2] stale edited connection", "\(policy)")
      app.network.refetchStale()
      app.advance(100)
      XCTAssertEqual(screen.last, "[1, 2] stale edited connection", "\(policy)")
      app.network.refetchStale()
      app.advance(100)
      XCTAssertEqual(screen.last, "[1, 2]", "\(policy)")
    }
  }

  func test_query_row_29_storedResponseOfAnInterceptor_isAFailedRequest() {
    struct Fallback: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).catchError { error in
          guard request.method == .get else { return .error(error) }
          var response = Response(request: request, status: 200, body: Data("[1]".utf8))
          response.source = .cache(age: .zero, isStale: true)
          return .just(response)
        }
      }
    }
    let app = WatchFixture(interceptors: [Fallback()])
    let screen = app.watch()
    app.advance(10)
    app.script("GET /feed", .failure(.timeout))
    app.run(app.add(2))
    app.advance(100)
    XCTAssertEqual(screen.last, "[1, 2] stale edited connection")
    XCTAssertEqual(app.errors.all, ["connection"])
  }

  func test_query_row_44_writeWithoutAnEdit_showsTheOldValueUntilTheRefetch() {
    let (app, screen) = showing()
    app.run(app.network.request(AddPost(number: 2, invalidates: ["posts"])))
    XCTAssertEqual(screen.last, "[1]")
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1] fetching stale", "[1, 2]"])
    XCTAssertEqual([app.reads, app.writes], [2, 1])
  }

  func test_query_row_44_modifiers_addTags() {
    let app = WatchFixture()
    let call = Call(.get, "/feed").as([Int].self).tags(["a", "b"])
    let screen = app.watch(call)
    app.advance(10)
    for (count, tags) in [(2, Set<CacheTag>(["b"])), (2, ["posts"]), (3, ["a", "x"])] {
      var write = Call(.post, "/x/add", task: .parameters(["number": 1])).invalidates(["unused"])
      write.invalidates = tags
      app.run(app.network.request(write))
      app.advance(100)
      XCTAssertEqual(app.reads, count)
    }
    XCTAssertEqual(screen.last, "[1]")
  }

  func test_query_row_44_outcome_decidesWhetherTagsAreInvalidated() {
    for (reply, reads) in [
      (Reply.json("{}", status: 422), 1), (.json("{}", status: 408), 2), (.json("{}", status: 503), 2),
      (.failure(.timeout), 2), (.failure(.invalidRequest), 1), (.json("{}"), 2),
    ] {
      let (app, _) = showing()
      app.script("POST /feed/add", reply)
      app.run(app.network.request(AddPost(number: 2, invalidates: ["posts"])))
      app.advance(100)
      XCTAssertEqual(app.reads, reads)
    }
  }

  func test_query_row_44_disposedWrite_invalidates() {
    let (app, _) = showing()
    let (_, work) = app.run(app.network.request(AddPost(number: 2, invalidates: ["posts"])))
    app.advance(5)
    work.dispose()
    app.advance(100)
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_row_27_closedScreen_doesNotShowAValueFromBeforeAWrite() {
    let app = WatchFixture(caches: true)
    app.server.update { $0.headers = ["Cache-Control": "max-age=60"] }
    let screen = app.watch()
    app.advance(10)
    screen.leave()
    app.run(app.add(2))
    app.advance(20)
    let again = app.watch()
    app.advance(20)
    XCTAssertEqual(again.all, ["nil fetching", "[1, 2]"])
  }

  func test_query_row_44_writeWithEditAndTags_isOneRequest_howeverItEnds() {
    let endings: [(Reply?, disposes: Bool, reads: Int)] = [
      (nil, false, 2), (.failure(.timeout, after: .milliseconds(10)), false, 2),
      (.json("{}", status: 422, after: .milliseconds(10)), false, 1), (nil, true, 2),
    ]
    for (reply, disposes, reads) in endings {
      let (app, _) = showing()
      let (_, work) = app.run(app.request(AddPost(number: 2, invalidates: ["posts"]), 2, reply))
      app.advance(5)
      if disposes { work.dispose() }
      app.advance(100)
      XCTAssertEqual(app.reads, reads)
    }
  }

  func test_query_updating_usesTheResponseOfTheWrite_withoutARequest() {
    struct Replace: Endpoint {
      typealias Output = [Int]
      var path: String { "/replace" }
      var method: HTTPMethod { .post }
    }
    let (app, screen) = showing(caches: true)
    app.script("POST /replace", WatchFixture.list([7, 8]))
    app.run(app.network.request(Replace(), updating: Posts()) { $0.append(8) })
    app.advance(100)
    XCTAssertEqual(screen.all, ["nil fetching", "[1]", "[1, 8] edited", "[7, 8]"])
    XCTAssertEqual([app.reads, app.writes], [1, 1])

    // A write that overlaps another one may lack the other's change.
    app.script("POST /replace", WatchFixture.list([9], after: 20))
    app.run(app.network.request(Replace(), updating: Posts()))
    app.run(app.add(2))
    app.set([9])
    app.advance(100)
    XCTAssertEqual(screen.last, "[9, 2]")
    XCTAssertEqual(app.reads, 2)
  }

  func test_query_severalEdits_areShownOnAllTheirScreens() {
    let app = WatchFixture()
    app.set([5], at: "/other")
    let (first, second) = (app.watch(), app.watch(Posts(path: "/other")))
    app.advance(10)
    app.run(
      app.network.request(
        AddPost(number: 2),
        edits: [Edit(Posts()) { $0.append(2) }, Edit(Posts(path: "/other")) { $0.append(2) }]))
    XCTAssertEqual([first.last, second.last], ["[1, 2] edited", "[5, 2] edited"])
    app.set([5, 2], at: "/other")
    app.advance(100)
    XCTAssertEqual([first.last, second.last], ["[1, 2]", "[5, 2]"])
  }

  func test_query_editOfAnInvalidEndpoint_sendsNothing() {
    let app = WatchFixture()
    let (result, _) = app.run(app.network.request(AddPost(number: 2), editing: Posts(path: "/a/../b")) { _ in })
    app.advance(100)
    XCTAssertEqual(result.all, ["invalidRequest"])
    XCTAssertEqual(app.stub.requests.count, 0)
    app.checkEnd()
  }

  func test_query_updating_isFollowedByARequest_ifAnotherTypeCannotReadTheResult() {
    struct Replace: Endpoint {
      typealias Output = [Int]
      var path: String { "/replace" }
      var method: HTTPMethod { .post }
    }
    let (app, screen) = showing()
    let json = app.watch(Call(.get, "/feed").as(JSON.self))
    app.advance(10)
    app.set([7, 8])
    app.script("POST /replace", WatchFixture.list([7, 8]))
    app.run(app.network.request(Replace(), updating: Posts()))
    app.advance(100)
    XCTAssertEqual([screen.last, json.last], ["[7, 8]", "[7, 8]"])
    XCTAssertEqual([app.reads, app.writes], [2, 1])
  }
}
