import Foundation
import HTTPTransport
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

private func call(_ text: String) -> Call<Response> {
  .post("/report", json: ["text": text]).header("Idempotency-Key", "report-1")
}

/// Equal writes at the same time, and sources that signal, fail or cover another host.
final class OutboxReviewTests: XCTestCase {
  // MARK: Equal writes

  func test_outbox_row_38_equalKeysAtTheSameTime_areOneEntry_alsoOfTwoOutboxes() throws {
    for round in 0..<16 {
      let fixture = try OutboxFixture(self)
      let first = try fixture.open(starts: false)
      let outboxes = [first, round % 2 == 0 ? first : try fixture.another()]
      let (isEqual, errors) = (round % 4 < 2, Notes())
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        do throws(NetworkError) {
          try outboxes[index].send(call(isEqual ? "tea" : "\(index)"))
        } catch { errors.add("\(error.kind)") }
      }
      XCTAssertEqual(fixture.files.count, 1, "round \(round)")
      XCTAssertEqual(errors.all, isEqual ? [] : ["invalidRequest"], "round \(round)")
    }
  }

  func test_outbox_row_38_sendWaitsForTheSendOfAnotherProcess() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    // Another process has the lock while it adds an entry with the same key.
    let other = try DurableDirectory(path: fixture.folder.path)
    XCTAssertEqual(flock(other.descriptor, LOCK_EX), 0)
    let directory = try OutboxDirectory(fixture.folder)
    XCTAssertThrowsError(try directory.alone(patience: .milliseconds(3)) {}) { error in
      XCTAssertEqual((error as? POSIXError)?.code, .EWOULDBLOCK)
    }
    let results = Notes()
    let thread = Thread {
      do throws(NetworkError) {
        try outbox.send(call("milk"))
        results.add("stored")
      } catch { results.add("\(error.kind)") }
    }
    thread.start()
    XCTAssertFalse(holds(within: 0.1) { !results.all.isEmpty })
    let frozen = try FrozenCall(call("tea"), on: fixture.network)
    let entry = OutboxEntry(
      frozen.id(of: nil), frozen, account: nil, lane: nil, createdAt: Date(), type: nil, value: nil)
    try directory.write(entry, as: OutboxName(7, entry.id))
    XCTAssertEqual(flock(other.descriptor, LOCK_UN), 0)
    XCTAssert(holds { results.all == ["invalidRequest"] }, "\(results.all)")
    XCTAssertEqual(fixture.files.count, 1)
  }

  func test_outbox_row_38_entryIsNotRenamedWhileSendLooksForIt() throws {
    let fixture = try OutboxFixture(self)
    let (sending, parking) = (try OutboxDirectory(fixture.folder), try OutboxDirectory(fixture.folder))
    let (_, file) = try fixture.write(1, to: sending)
    let isParked = Flag()
    try sending.alone {
      Thread {
        _ = try? parking.rename(file, .parked(status: 422))
        isParked.raise()
      }.start()
      XCTAssertFalse(holds(within: 0.1) { isParked.isRaised || fixture.files != [file.text] })
    }
    XCTAssert(holds { isParked.isRaised })
    XCTAssertEqual(fixture.files, [file.text + "+422"])
  }

  func test_outbox_row_38_onlyDelimitersOfMultipart_areNotCompared() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    func form(_ text: String, boundary: String) -> Call<Response> {
      let body = "--\(boundary)\r\nContent-Disposition: form-data; name=amount\r\n\r\n\(text)\r\n--\(boundary)--"
      return Call<Response>.post(
        "/form", .data(Data(body.utf8), contentType: "multipart/form-data; boundary=\"\(boundary)\"")
      ).header("Idempotency-Key", "form")
    }
    let id = try outbox.send(form("100", boundary: "x=1"))
    XCTAssertEqual(try outbox.send(form("100", boundary: "y=2")), id)
    for text in ["1100", "x=1100", "--x=1100"] {
      XCTAssertThrowsError(try outbox.send(form(text, boundary: "x=1")), text)
    }
    XCTAssertEqual(fixture.files.count, 1)
    // The text of the boundary without a line before it is not a delimiter.
    let other = form("\r\n--100", boundary: "x=1").header("Idempotency-Key", "other")
    try outbox.send(other)
    XCTAssertThrowsError(try outbox.send(form("x=1100", boundary: "x=1").header("Idempotency-Key", "other")))
  }

  // MARK: Sources

  /// A login that renews its session after each 401. The user stays the same.
  private final class Renewing: Interceptor, AccountSource {
    private let session = BehaviorRelay(value: 1)
    var accountState: AccountState { .user("a") }
    var accountChanges: Observable<Void>? { session.asObservable().map { _ in } }
    func covers(_ request: Request) -> Bool { true }
    func renew() { session.accept(session.value + 1) }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request).do(onNext: { [self] response in if response.status == 401 { renew() } })
    }
  }

  func test_outbox_row_19_sourceThatSignalsAfterEach401_isAskedWithGrowingDelays() throws {
    let fixture = try OutboxFixture(self)
    for _ in 0..<4 { fixture.server.script(.status(401)) }
    try fixture.open(on: fixture.backend([Renewing()])).send(AddNote(text: "tea"))
    for (requests, delay) in [(2, 1), (3, 2), (4, 4)] {
      fixture.waits { fixture.server.seen.count == requests && fixture.pending == ["tea: waitingForRetry"] }
      XCTAssertFalse(holds(within: 0.05) { fixture.server.seen.count != requests })
      fixture.pass(.milliseconds(1000 * delay - 1))
      XCTAssertEqual(fixture.server.seen.count, requests)
      fixture.pass(.milliseconds(1))
    }
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_19_signalAfterTheWaitForASignIn_doesNotEndTheDelay() {
    let name = OutboxName(1, UUID())
    let retry = RetryPolicy(attempts: 2, initialDelay: .seconds(1), jitter: { $0.upperBound })
    var state = OutboxState(concurrency: 4, retry: retry)
    _ = state.handle(.online(true), at: .zero)
    _ = state.handle(.list([.init(name, account: "a")], isOwner: true), at: .zero)
    XCTAssertEqual(state.handle(.end(name, .unauthenticated), at: .zero), [])
    XCTAssertEqual(state.states(isElsewhere: false).map(\.state), [.waitingForSignIn])
    // The first sign-in sends it immediately.
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [.start(name)])
    XCTAssertEqual(state.handle(.end(name, .unauthenticated), at: .zero), [])
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [])
    XCTAssertEqual(state.handle(.wake, at: .seconds(1)), [.start(name)])
    XCTAssertEqual(state.handle(.end(name, .unauthenticated), at: .seconds(1)), [])
    XCTAssertEqual(state.handle(.retry(name), at: .seconds(1)), [])
    XCTAssertEqual(state.handle(.account("a"), at: .seconds(1)), [.start(name)])
  }

  func test_outbox_row_13_rejectionOfASourceOfAnotherHost_doesNotCount() throws {
    final class Other: Interceptor, AccountSource {
      var accountState: AccountState { .user("x") }
      var accountChanges: Observable<Void>? { .never() }
      func covers(_ request: Request) -> Bool { request.url.host == "other.example" }
      func rejects(_ response: Response) -> Bool { response.status == 403 }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
    }
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(403))
    let login = OwnLogin(.user("a"), for: fixture.server.url)
    try fixture.open(on: fixture.backend([login, Other()])).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: parked (status 403)"])
  }

  /// A login whose store can't be read at first.
  private final class Locked: Interceptor, AccountSource {
    struct KeychainError: Error {}
    private let state = BehaviorRelay(value: AccountState.unknown)
    let (loads, failures) = (Counter(), 30)
    private let stored: AccountState
    init(_ stored: AccountState) { self.stored = stored }
    var accountState: AccountState { state.value }
    var accountChanges: Observable<Void>? { state.asObservable().skip(1).map { _ in } }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
    func loadAccount() async throws {
      loads.next()
      if loads.value <= failures { throw KeychainError() }
      state.accept(stored)
    }
  }

  /// A clock that moves between any two readings, as a real one may.
  private final class MovingClock: SchedulerType {
    private let base: TestScheduler
    private let readings = Box(0)
    init(_ base: TestScheduler) { self.base = base }
    var now: Date { base.now }
    var uptime: Duration {
      readings.update { $0 += 1 }
      return base.uptime + .seconds(10 * readings.value)
    }
    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }
    func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
      base.scheduleRelative(dueTime, action)
    }
  }

  func test_outbox_pauseThatEndsWhileTheLockIsReleased_isFollowedByAnAttempt() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.lost)
    try fixture.open(on: fixture.backend { $0.clock = MovingClock(fixture.clock) }).send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.count, 2)
  }

  func test_outbox_row_40_accountThatCantBeLoaded_isLoadedAgain_andNothingIsParked() throws {
    for state in [AccountState.user("a"), .nobody] {
      let fixture = try OutboxFixture(self)
      let login = OwnLogin(state, for: fixture.server.url)
      let interceptors: [any Interceptor] = state == .nobody ? [] : [login]
      fixture.reachability.set(false)
      try fixture.open(on: fixture.backend(interceptors)).send(AddNote(text: "tea"))
      fixture.close()
      fixture.reachability.set(true)
      let locked = Locked(state)
      try fixture.open(on: fixture.backend([locked]))
      let isSent = holds(within: 20) {
        fixture.pass(.seconds(300))
        return !fixture.results.all.isEmpty
      }
      XCTAssert(isSent, "\(fixture.pending)")
      XCTAssertEqual(fixture.results.all, ["200 \(body("tea"))"])
      XCTAssertGreaterThan(locked.loads.value, locked.failures)
    }
  }
}
