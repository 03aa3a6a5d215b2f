import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

private struct Item: Codable, Equatable, Sendable {
  var id: Int
}

/// Loops that read more slowly than a server sends: the server waits, and a loop that ends leaves nothing behind.
final class PullingTests: XCTestCase {
  private static let chunk = 64 << 10
  /// The upper limit of the bytes that the system buffers between two sockets of this machine.
  private static let inSockets = 16 << 20
  private static let filler = String(repeating: " ", count: 500)
  private static let lines = [UInt8](String(repeating: "{\"id\":1}\(filler)\n", count: 128).utf8)
  private static let events = [UInt8](String(repeating: "data: {\"id\":1}\(filler)\n\n", count: 128).utf8)

  private var before = 0

  override func setUp() {
    super.setUp()
    before = Hooks.liveSubscriptionCount
  }

  /// Returns a server with an endless body that repeats `bytes`.
  private func endless(_ bytes: [UInt8], _ headers: [(name: String, value: String)] = []) throws -> TestServer {
    try TestServer { _ in .init(headers: headers, body: .endless(first: [], .init(bytes))) }
  }

  /// Reads three elements, waits until the server can send no more, and checks the sent bytes and the memory. Then reads on
  /// until the server continues, for a limited number of elements.
  private func expectWaiting<Element: Sendable>(
    _ server: TestServer, _ stream: Observable<Element>, goesOn: Bool = true, line: UInt = #line
  ) async throws {
    let memory = residentBytes()
    try await withTimeLimit {
      var iterator = stream.values.makeAsyncIterator()
      for _ in 0..<3 { guard try await iterator.next() != nil else { return XCTFail("ended", line: line) } }
      try await server.standsStill()
      let sent = server.sentByteCount
      XCTAssertLessThan(sent, Self.inSockets, line: line)
      if let memory, let now = residentBytes() { XCTAssertLessThan(now - memory, 40 << 20, line: line) }
      guard goesOn else { return }
      for _ in 0..<100_000 where server.sentByteCount == sent {
        guard try await iterator.next() != nil else { return XCTFail("ended", line: line) }
      }
      XCTAssertGreaterThan(server.sentByteCount, sent, "it goes on when the loop does", line: line)
    }
    try await expectNothingLeft(server, line: line)
  }

  /// Checks that all connections are closed and all subscriptions are disposed.
  private func expectNothingLeft(_ server: TestServer, line: UInt = #line) async throws {
    try await eventually("the connection is closed", line: line) { server.openConnectionCount == 0 }
    try await eventually("all is disposed", line: line) { Hooks.liveSubscriptionCount <= before }
  }

  func test_loopOverTheBody_pausesTheServer() async throws {
    let server = try endless([UInt8](repeating: 7, count: Self.chunk))
    let network = Network(Backend(baseURL: server.url))
    try await expectWaiting(server, network.stream(.get("/")))
  }

  func test_loopOverLines_pausesTheServer() async throws {
    let server = try endless(Self.lines)
    let network = Network(Backend(baseURL: server.url))
    try await expectWaiting(server, network.lines(.get("/"), as: Item.self))
  }

  func test_chunkOfShortLines_usesLittleMemory() async throws {
    let server = try endless([UInt8](String(repeating: "1\n", count: Self.chunk).utf8))
    let network = Network(Backend(baseURL: server.url))
    try await expectWaiting(server, network.lines(.get("/"), as: Int.self), goesOn: false)
  }

  func test_loopOverEvents_pausesTheServer() async throws {
    let server = try endless(Self.events, [("Content-Type", "text/event-stream")])
    let network = Network(Backend(baseURL: server.url))
    try await expectWaiting(server, network.events(.get("/")))
    try await expectWaiting(server, network.events(.post("/"), as: Item.self))
  }

  func test_loopThroughOperators_pausesTheServer() async throws {
    let server = try endless(Self.lines)
    let network = Network(Backend(baseURL: server.url))
    let lines = network.lines(.get("/"), as: Item.self)
    try await expectWaiting(
      server,
      lines.map(\.id).filter { $0 > 0 }.flatMap { Observable.just($0) })
    try await expectWaiting(
      server, lines.concatMap { item in Single.from { item.id }.asObservable() })
  }

  func test_compressionBombs_useLittleMemory_whenReadSlowly() async throws {
    guard let memory = residentBytes() else { throw XCTSkip("the memory in use is unknown here") }
    for (coding, decoded, chunks) in Bomb.bodies where Bomb.isKnown(coding) {
      let server = try TestServer { _ in
        .init(headers: [("Content-Encoding", coding)], body: .chunked(chunks.map { .init($0) }), ending: .close)
      }
      let network = Network(Backend(baseURL: server.url))
      let (size, largest) = try await withTimeLimit {
        var (size, largest) = (0, 0)
        var next = 0
        for try await chunk in network.stream(.get("/")).values {
          size += chunk.count
          guard size >= next else { continue }
          next = size + decoded / 4
          // Reads slowly: waits until the server can send no more and received bytes are decoded up to the limit.
          try await server.standsStill()
          largest = max(largest, (residentBytes() ?? 0) - memory)
        }
        return (size, largest)
      }
      XCTAssertEqual(size, decoded, coding)
      XCTAssertLessThan(largest, 40 << 20, coding)
      print("\(size) bytes in \(coding): at most \(largest >> 10) KB more in use")
      try await expectNothingLeft(server)
    }
  }

  func test_nextPage_isRequestedByTheLoop() async throws {
    let server = try TestServer(handler: { request in
      let page = Int(request.query("page") ?? "1") ?? 0
      return .json("[\(page)]").header("Link", "</?page=\(page + 1)>; rel=\"next\"")
    })
    let network = Network(Backend(baseURL: server.url, envelope: .none))
    try await withTimeLimit {
      var iterator = network.pages(.get("/"), of: Int.self).values.makeAsyncIterator()
      XCTAssertEqual(server.requestCount, 0, "before the loop has asked")
      for page in 1...5 {
        let next = try await iterator.next()
        XCTAssertEqual(next?.items, [page])
        XCTAssertEqual(server.requestCount, page)
      }
    }
    XCTAssertEqual(server.requestCount, 5)
    try await eventually("all is disposed") { Hooks.liveSubscriptionCount <= before }
  }

  func test_immediatePages_areRequestedByTheLoop() async throws {
    let asked = Counter()
    let pages = Observable<Page<Int>>.pages(startingAt: 0) { number -> Observable<Page<Int>> in
      asked.next()
      return .just(Page(items: [number]))
    }
    try await withTimeLimit {
      var iterator = pages.values.makeAsyncIterator()
      for round in 1...1000 {
        let page = try await iterator.next()
        XCTAssertEqual(page?.items, [round - 1])
        XCTAssertEqual(asked.value, round)
      }
    }
  }

  private static var isMainThread: Bool { Thread.isMainThread }

  /// Ten pages. `onMain` counts the pages that are requested on the main thread.
  private func pages(_ onMain: Counter) -> Observable<Page<Int>> {
    Observable<Page<Int>>.pages(startingAt: 0) { number -> Observable<Page<Int>> in
      if Thread.isMainThread { onMain.next() }
      return .just(Page(items: number < 10 ? [number] : []))
    }
  }

  @MainActor
  func test_loopOnTheMainActor_requestsPagesOffTheMainThread() async throws {
    let onMain = Counter()
    var seen: [Int] = []
    for try await page in pages(onMain).values {
      XCTAssertTrue(Self.isMainThread, "the loop runs there")
      seen += page.items
    }
    XCTAssertEqual(seen, Array(0..<10))
    XCTAssertEqual(onMain.value, 0)
  }

  func test_streamThatEndsOnTheMainThread_requestsTheNextPageOffIt() async throws {
    let onMain = Counter()
    let isOver = expectation(description: "all pages are there")
    let subscription = pages(onMain).subscribeOn(ConcurrentDispatchQueueScheduler(qos: .utility))
      .concatMap { page in Observable.just(page.items).observeOn(MainScheduler.instance) }
      .toArray()
      .subscribe(onSuccess: { items in
        XCTAssertEqual(items.flatMap { $0 }, Array(0..<10))
        isOver.fulfill()
      })
    await fulfillment(of: [isOver], timeout: 20)
    XCTAssertEqual(onMain.value, 0)
    subscription.dispose()
  }

  // MARK: Cancelling

  /// Runs `loop` in a task, cancels the task when `isThere` is true, and checks that nothing is left behind.
  private func expectCancelling(
    _ server: TestServer, _ what: String, line: UInt = #line, until isThere: () -> Bool,
    _ loop: @escaping @Sendable () async throws -> Void
  ) async throws {
    let task = Task { try await loop() }
    try await eventually(what, line: line, isThere)
    task.cancel()
    _ = try await withTimeLimit { await task.result }
    try await expectNothingLeft(server, line: line)
  }

  func test_cancellingBeforeTheHead_leavesNothingBehind() async throws {
    let server = try TestServer { _ in .neverResponding }
    let network = Network(Backend(baseURL: server.url))
    for (round, stream) in [
      network.stream(.get("/")).map { _ in 0 }, network.lines(.get("/"), as: Item.self).map(\.id),
      network.events(.get("/")).map { _ in 0 }, network.pages(.get("/"), of: Int.self).map { _ in 0 },
    ].enumerated() {
      try await expectCancelling(server, "the request is there", until: { server.requestCount == round + 1 }) {
        for try await _ in stream.values {}
      }
    }
  }

  func test_cancellingAWaitingLoop_leavesNothingBehind() async throws {
    let server = try TestServer { _ in
      .init(
        headers: [("Content-Type", "text/event-stream")],
        body: .chunked([.init("{\"id\":1}\n"), .init("data: {\"id\":1}\n\n"), .init("x", after: 1000)]))
    }
    let network = Network(Backend(baseURL: server.url))
    for stream in [
      network.stream(.get("/")).map { _ in 0 }, network.lines(.get("/"), as: Item.self).map(\.id),
      network.events(.get("/")).map { _ in 0 },
    ] {
      let seen = Counter()
      try await expectCancelling(server, "an element is there", until: { seen.value > 0 }) {
        for try await _ in stream.values { seen.next() }
      }
    }
  }

  func test_cancellingARunningLoop_leavesNothingBehind() async throws {
    let server = try endless(Self.lines)
    let network = Network(Backend(baseURL: server.url))
    for stream in [
      network.stream(.get("/")).map { _ in 0 }, network.lines(.get("/"), as: Item.self).map(\.id),
      network.lines(.get("/"), as: Item.self).concatMap { item in Observable.just(item.id) },
    ] {
      let seen = Counter()
      try await expectCancelling(server, "the loop is at work", until: { seen.value > 0 }) {
        for try await _ in stream.values {
          seen.next()
          try await Task.sleep(for: .seconds(1000))
        }
      }
      XCTAssertEqual(seen.value, 1)
    }
  }

  func test_leavingTheLoop_leavesNothingBehind() async throws {
    let server = try endless(Self.lines)
    let network = Network(Backend(baseURL: server.url))
    try await withTimeLimit {
      for try await _ in network.lines(.get("/"), as: Item.self).values { break }
    }
    try await expectNothingLeft(server)
    // An iterator subscribes when it is created, before its first element.
    do { _ = network.lines(.get("/"), as: Item.self).values.makeAsyncIterator() }
    try await expectNothingLeft(server)
  }

  func test_cancellingTheDelayBetweenConnections_leavesNothingBehind() async throws {
    let server = try TestServer { _ in
      .init(headers: [("Content-Type", "text/event-stream")], body: .bytes(Array("data: 1\n\n".utf8)), ending: .close)
    }
    let network = Network(Backend(baseURL: server.url))
    let pauses = Counter()
    try await expectCancelling(server, "it pauses", until: { pauses.value > 0 }) {
      let policy = RetryPolicy(initialDelay: .seconds(1000), maxDelay: .seconds(1000))
      for try await _ in network.events(.get("/"), reconnect: policy, onReconnect: { _, _ in pauses.next() }).values {
      }
    }
  }
}
