import XCTest

final class TourTests: XCTestCase {
  func test_tour_showsEveryStopInOrder_andSucceeds() throws {
    let result = try DemoProcess.run()
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(result.errors, "")
    // The language of the message depends on the system.
    let refused = "network error: connection -1212: "
    // On a busy machine, the merged responses may arrive in another order.
    let isMerged: (String) -> Bool = { $0.hasPrefix("merge: ") }
    XCTAssertEqual(Set(result.lines.filter(isMerged)), Set((1...4).map { "merge: user \($0) arrived" }))
    XCTAssertEqual(
      result.lines.filter { !isMerged($0) }.map { $0.hasPrefix(refused) ? refused : $0 },
      [
        "await: Ada has 3 public repositories",
        "post: created ada/engine, private",
        "typed error: 422: this name is taken; notes-2 and notebook are available",
        "links: ada/notes, ada/looms | next by link",
        "links: ada/cards | last page",
        "model: user 1 is Ada with 100 followers",
        "pages: 外滩的早晨, Harbour at night, 雨后的胡同 | next cursor 3",
        "pages: Fog over the valley, 地铁里的人, Last light | next cursor 6",
        "pages: 雪山 | last page",
        "bool: liked: true",
        "rejected call: rejected 40301: 请先登录",
        refused,
        "zip: Ada and 3 posts, combined",
        "chain: 王芳 posted 雪山",
        "endpoint: now playing: Modern Times, 小城之春",
        "second backend: 2 items in the cart, 59.9 in total",
        "second backend: rejected 17: the card was declined",
        "live: two screens show Harbour 3, Fog 5 | total 8",
        "live: an edit shows Harbour 4, Fog 5 | total 9 before the server has responded",
        "live: an edit that the server rejects with 422 disappears: Harbour 4, Fog 5 | total 9",
        "live: a push of the server updates both: Harbour 14, Fog 5 | total 19",
        "upload: 204 after a lost connection; the server received the bytes 0-99999 and 100000-299999",
        "outbox: without a network, tea (waitingForNetwork) and milk (earlierEntry) are on disk",
        "outbox: tea is saved once, with 2 requests",
        "outbox: milk is saved once, with 1 request",
        "cancel: cancelled after 200 ms",
        "cancel: the server saw its connection close",
        "done",
      ])
  }

  func test_lines_arePrintedWhenResultsArrive() throws {
    let tour = try DemoProcess([])
    XCTAssertEqual(tour.line()?.hasPrefix("await:"), true)
    XCTAssertTrue(tour.isRunning, "the first line arrives long before the tour ends")
    XCTAssertEqual(tour.finish().code, 0)
  }

  func test_server_survivesExtremeNumbers() throws {
    let server = try PlayServer()
    for number in [Int.min, -1, 7, Int.max] {
      for path in ["feed?cursor=", "user/detail.do?userid="] {
        let result = try DemoProcess.run("get", "--raw", "\(server.url)/\(path)\(number)")
        XCTAssertFalse(result.output.isEmpty, "\(path)\(number): \(result.errors)")
      }
    }
  }

  func test_server_runsUntilInterrupt() throws {
    let server = try DemoProcess(["serve"])
    let url = try XCTUnwrap(server.line())
    let feed = try DemoProcess.run("get", "--at", "data[0].title", "\(url)/feed")
    XCTAssertEqual(try object(feed.lines.first)["body"] as? String, "外滩的早晨")
    server.interrupt()
    XCTAssertEqual(server.finish().code, 0)
  }

  func test_unknownCommand_isNamedInTheError() throws {
    let result = try DemoProcess.run("fetch")
    XCTAssertEqual(result.code, 2)
    XCTAssertTrue(result.errors.contains("\"fetch\""), result.errors)
  }
}
