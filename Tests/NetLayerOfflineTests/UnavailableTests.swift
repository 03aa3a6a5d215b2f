import Foundation
import NetLayerQueries
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// Rejects the first calls as unavailable for `wait`, and records when each call arrived, in milliseconds.
private final class Rejecting: Interceptor {
  private let state: Box<(left: Int, times: [Int])>
  private let wait: Duration

  init(_ count: Int, for wait: Duration = .seconds(20)) { (state, self.wait) = (Box((count, [])), wait) }

  var times: [Int] { state.value.times }
  var gaps: [Int] { zip(times.dropFirst(), times).map { $0 - $1 } }
  func reject(_ count: Int) { state.update { $0.left = count } }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable.deferred { [self] in
      let isRejected = state.update { state in
        state.times.append(Int(next.clock.uptime / .milliseconds(1)))
        state.left -= 1
        return state.left >= 0
      }
      guard isRejected else { return next(request) }
      var error = NetworkError(kind: .unavailable, reason: "not sent", request: request)
      error.retryAfter = wait
      throw error
    }
  }
}

/// The rows of the table in "Retries and limits": what each part does with a call that was not sent.
final class UnavailableTests: XCTestCase {
  /// The tests below, by the first cell of their row.
  private static let rows: Set = [
    "`RetryInterceptor`", "`CacheInterceptor`", "`ReachabilityInterceptor`", "`CoalescingInterceptor`", "`events`",
    "WebSocket sessions", "`Outbox`", "`upload`", "live queries",
  ]

  func test_everyRowOfTheGuide_hasATest() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Sources/NetLayer/NetLayer.docc/RetriesAndLimits.md"), encoding: .utf8)
    let table = try XCTUnwrap(page.components(separatedBy: "| who | after `unavailable` |\n|---|---|\n").last)
    let rows = table.components(separatedBy: "\n\n")[0].split(separator: "\n")
      .map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) }
    XCTAssertEqual(Set(rows), Self.rows)
  }

  func test_retries() {
    let virtual = VirtualNetwork(.json("", status: 503))
    let rejecting = Rejecting(1)
    let retry = RetryInterceptor(
      policy: RetryPolicy(jitter: { $0.upperBound }), budget: RetryBudget(capacity: 1, ratio: 0))
    virtual.note("", virtual.network(retry, rejecting).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["unavailable @0"])
    XCTAssertEqual(rejecting.times.count, 1)
    // The second attempt is rejected, so that the first one is the result. It has used the only retry.
    let second = Box(0)
    virtual.note(
      "",
      virtual.network(retry, CallAtAttempt(2, rejecting)).responses(.get, "/x").do(onNext: { _ in second.value += 1 }))
    rejecting.reject(1)
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "503  @500")
    XCTAssertEqual([second.value, virtual.stub.requests.count], [1, 1])
  }

  func test_caches() {
    let fields: HTTPHeaders = ["Cache-Control": "max-age=1, stale-if-error=600"]
    let virtual = VirtualNetwork(.response(headers: fields, body: Data("1".utf8)))
    let rejecting = Rejecting(0)
    let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil)), rejecting)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(10_000)
    rejecting.reject(1)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 1 @0", "200 1 @10000"])
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_reachability() {
    let virtual = VirtualNetwork(.json("ok"))
    let reachability = TestReachability()
    let rejecting = Rejecting(1)
    let losing = InterceptorBefore { reachability.set(false) }
    virtual.note("", virtual.network(ReachabilityInterceptor(reachability), losing, rejecting).responses(.get, "/x"))
    virtual.scheduler.advanceTo(5_000)
    XCTAssertEqual(virtual.notes.all, [])
    reachability.set(true)
    virtual.scheduler.advanceTo(6_000)
    XCTAssertEqual(virtual.notes.all, ["200 ok @5000"])
  }

  func test_sharedRequests() {
    let virtual = VirtualNetwork(.json("ok"))
    let rejecting = Rejecting(1)
    let delayed = AsyncDelay(.seconds(1))
    let network = virtual.network(CoalescingInterceptor(), delayed, rejecting)
    for _ in 0..<3 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, Array(repeating: "unavailable @1000", count: 3))
  }

  func test_eventStreams() {
    let virtual = VirtualNetwork { _ in
      .response(headers: ["Content-Type": "text/event-stream"], body: Data("data: a\n\n".utf8))
    }
    let rejecting = Rejecting(2)
    let elements = Notes()
    _ = virtual.network(rejecting).events(.get("/x")).take(1).subscribe(onNext: { elements.add($0.data) })
    virtual.scheduler.advanceTo(200_000)
    XCTAssertEqual(elements.all, ["a"])
    XCTAssertEqual(rejecting.times.count, 3)
    XCTAssertGreaterThanOrEqual(rejecting.gaps.min() ?? 0, 20_000)
  }

  func test_webSocketSessions() {
    let virtual = VirtualNetwork { _ in .socket(.init([.message(.text("a"))])) }
    let rejecting = Rejecting(2)
    let messages = Notes()
    let policy = RetryPolicy(attempts: 10, scheduler: virtual.scheduler)
    _ = virtual.network(rejecting).webSocket(.get("/x"), reconnect: policy).messages.take(1)
      .subscribe(onNext: { messages.add($0.text ?? "") })
    virtual.scheduler.advanceTo(200_000)
    XCTAssertEqual(messages.all, ["a"])
    XCTAssertGreaterThanOrEqual(rejecting.gaps.min() ?? 0, 20_000)
  }

  func test_outbox() throws {
    let rejecting = Rejecting(3, for: .seconds(2_000))
    let fixture = try OutboxFixture(self, interceptors: [rejecting])
    // One attempt that counts would end the entry.
    let outbox = try fixture.open(attempts: 1)
    try outbox.send(AddNote(text: "tea"))
    for count in 1...3 {
      fixture.waits { rejecting.times.count == count }
      fixture.waits { fixture.entries.first?.state != .sending }
      fixture.clock.advanceBy(2_100_000)
    }
    fixture.waits { fixture.results.all.count == 1 }
    XCTAssertTrue(fixture.results.all[0].hasPrefix("200"), fixture.results.all[0])
    XCTAssertGreaterThanOrEqual(rejecting.gaps.min() ?? 0, 2_000_000)
  }

  func test_uploads() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "unavailable-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "film.mp4")
    try Data(repeating: 7, count: 1_000).write(to: file)
    let server = try UploadServer(.tus)
    let rejecting = Rejecting(3, for: .milliseconds(200))
    let network = Network(Backend(baseURL: server.url, interceptors: [rejecting]))
    let policy = RetryPolicy(attempts: 8, initialDelay: .zero)
    let response = try await network.upload(file, to: .post("/files"), by: .tus, retry: policy)
    XCTAssertTrue((200...299).contains(response.status))
    XCTAssertGreaterThanOrEqual(rejecting.gaps.prefix(3).min() ?? 0, 199)
  }

  /// Rejects the first chunks.
  private struct RejectingChunks: Interceptor {
    let count = Counter()
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      .deferred {
        guard request.method == .patch, count.next() <= 2 else { return next(request) }
        throw NetworkError(kind: .unavailable, reason: "not sent", request: request)
      }
    }
  }

  func test_uploads_keepTheSizeOfTheirRequests() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "unavailable-\(UUID().uuidString)")
    try Data(repeating: 7, count: 16 << 20).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try UploadServer(.tus)
    let network = Network(Backend(baseURL: server.url, interceptors: [RejectingChunks()]))
    let policy = RetryPolicy(attempts: 8, initialDelay: .zero)
    let response = try await network.upload(file, to: .post("/files"), by: .tus, retry: policy)
    XCTAssertTrue((200...299).contains(response.status))
    XCTAssertEqual(server.requests.filter { $0.method == "PATCH" }.map(\.body.count), [16 << 20])
  }

  func test_liveQueries() {
    let virtual = VirtualNetwork(.json("[1]"))
    let rejecting = Rejecting(0)
    let network = virtual.network(rejecting)
    let snapshots = Box<Snapshot<[Int]>?>(nil)
    let watch = network.watch(Call<Response>.get("/x").as([Int].self)).subscribe(onNext: { snapshots.value = $0 })
    virtual.scheduler.advanceBy(1_000)
    XCTAssertEqual(snapshots.value?.value, [1])
    rejecting.reject(100)
    network.invalidateAll()
    virtual.scheduler.advanceBy(1_000)
    XCTAssertEqual(snapshots.value?.value, [1])
    XCTAssertEqual(snapshots.value?.error?.kind, .unavailable)
    XCTAssertEqual(rejecting.times.count, 2, "one call for each reason to load")
    watch.dispose()
  }
}

/// Runs an action before each request.
private struct InterceptorBefore: Interceptor {
  let action: @Sendable () -> Void

  init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable.deferred {
      action()
      return next(request)
    }
  }
}

/// Passes requests through another interceptor from an attempt on.
private struct CallAtAttempt: Interceptor {
  let attempt: Int
  let inner: any Interceptor

  init(_ attempt: Int, _ inner: any Interceptor) { (self.attempt, self.inner) = (attempt, inner) }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    request.attempt >= attempt ? inner.intercept(request, next: next) : next(request)
  }
}

private struct AsyncDelay: Interceptor {
  let delay: Duration

  init(_ delay: Duration) { self.delay = delay }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable.deferred { next(request) }.delaySubscription(delay, scheduler: next.clock)
  }
}
