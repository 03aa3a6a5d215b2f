import Foundation
import LoopbackServer
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// Failures of the disk, the lock, the refresh server, and the handlers of the app: nothing is lost, and nothing is sent
/// again and again.
final class OutboxFailureTests: XCTestCase {
  // MARK: The disk

  func test_outbox_row_15_olderListing_doesNotRestoreTheNameOfAParkedFile() throws {
    let fixture = try OutboxFixture(self)
    let directory = try OutboxDirectory(fixture.folder)
    let sender = OutboxSender(
      directory, fixture.network, OutboxState(concurrency: 4, retry: RetryPolicy(attempts: 20)), onProblem: { _ in })
    fixture.server.script(.silent, .status(422))
    _ = try fixture.write(1, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.server.seen.count == 1 }
    let (parked, _) = try fixture.write(2, to: directory)
    let listing = try directory.files()
    sender.start(fixture.reachability)
    fixture.waits { fixture.files.contains { $0.hasSuffix("+422") } }
    let (entry, file) = try fixture.write(3, to: directory)
    sender.add(entry, file, listing)
    try directory.takeLock()
    sender.change(parked.id) { .drop($0) }
    fixture.waits { fixture.files.count == 1 }
    sender.stop()
    XCTAssertEqual(fixture.server.seen.count, 3)
  }

  func test_outbox_row_04_fileThatCantBeRemoved_isReported_andNotSentAgain() throws {
    let fixture = try OutboxFixture(self)
    try fixture.open(starts: false).send(AddNote(text: "tea"))
    let (file, copy) = (fixture.file(try XCTUnwrap(fixture.files.first)), fixture.file("copy"))
    _ = fixture.outbox?.results.take(1).subscribe(onNext: { _ in
      // A directory can't be removed as a file.
      try? FileManager.default.moveItem(at: file, to: copy)
      try? FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    })
    fixture.outbox?.start()
    fixture.waits { fixture.problems.all.count == 1 }
    XCTAssert(fixture.problems.all[0].contains("can't be removed"), fixture.problems.all[0])
    fixture.waits(for: [])
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: copy, to: file)
    fixture.outbox?.start()
    try fixture.outbox?.send(AddNote(text: "milk"))
    fixture.waits { fixture.results.all.count == 2 }
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, ["tea", "milk"].map(body))
    XCTAssertEqual(fixture.server.seen.count, 2)
    XCTAssertEqual(fixture.problems.all.count, 1)
    // A later run sends it again, with the same key.
    fixture.close()
    try fixture.open()
    fixture.waits { fixture.files.isEmpty }
    XCTAssertEqual(fixture.server.applied, ["tea", "milk"].map(body))
  }

  func test_outbox_directoryThatCantBeListed_isReadAgainAfterAMinute() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let outbox = try fixture.open(starts: false)
    waitsForEmission(fixture) { outbox.start() }
    try fixture.another().send(AddNote(text: "tea"))
    let hidden = fixture.folder.appendingPathExtension("hidden")
    try FileManager.default.moveItem(at: fixture.folder, to: hidden)
    outbox.start()
    fixture.waits { fixture.problems.all.count == 1 }
    XCTAssert(fixture.problems.all[0].contains("the directory can't be read"), fixture.problems.all[0])
    // A new subscriber receives the entries after the timer is set.
    let isHandled = Counter()
    _ = outbox.pending.subscribe(onNext: { _ in isHandled.next() })
    fixture.waits { isHandled.value > 0 }
    try FileManager.default.moveItem(at: hidden, to: fixture.folder)
    fixture.pass(.seconds(59))
    XCTAssertEqual(fixture.entries, [])
    fixture.pass(.seconds(1))
    fixture.waits(for: ["tea: waitingForNetwork"])
    XCTAssertEqual(fixture.problems.all.count, 1)
  }

  func test_outbox_lockThatCantBeTaken_isTriedAgainAfterAMinute() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    try outbox.send(AddNote(text: "tea"))
    let lock = fixture.file(OutboxDirectory.marker)
    try FileManager.default.removeItem(at: lock)
    try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
    waitsForEmission(fixture) { outbox.start() }
    fixture.waits { !fixture.problems.all.isEmpty }
    XCTAssert(fixture.problems.all[0].contains("the lock of the outbox can't be taken"), fixture.problems.all[0])
    try FileManager.default.removeItem(at: lock)
    fixture.pass(.seconds(59))
    XCTAssertEqual(fixture.server.seen, [])
    fixture.pass(.seconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    fixture.waits(for: [])
  }

  /// Waits until the outbox has handled the network's state at its start, after which its timer is set.
  private func waitsForEmission(_ fixture: OutboxFixture, after change: () -> Void) {
    let before = fixture.emissions.value
    change()
    fixture.waits { fixture.emissions.value > before }
  }

  func test_outbox_row_33_delaysOfOtherEntries_neitherPostponeNorReplaceTheNextLook() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open().send(AddNote(text: "1"), lane: "k")
    let (file, hidden) = (fixture.file(try XCTUnwrap(fixture.files.first)), fixture.file("hidden"))
    fixture.close()
    try FileManager.default.moveItem(at: file, to: hidden)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: hidden)
    fixture.reachability.set(true)
    for _ in 0..<20 { fixture.server.script(.status(503)) }
    try fixture.open().send(AddNote(text: "free"))
    fixture.waits(for: ["free: waitingForRetry"])
    // The delays of the other entry end after 1, 3, 7, 15 and 31 seconds.
    for (made, delay) in [1, 2, 4, 8, 16].enumerated() {
      fixture.pass(.seconds(delay))
      fixture.waits { fixture.server.seen.count == made + 2 }
      fixture.waits(for: ["free: waitingForRetry"])
    }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: hidden, to: file)
    fixture.pass(.seconds(28))
    XCTAssertEqual(fixture.entries.count, 1)
    fixture.pass(.seconds(1))
    fixture.waits { fixture.entries.count == 2 }
  }

  // MARK: The refresh server

  func test_outbox_row_19_failuresOfARefresh_areSignOutsOnlyIfTheServerRejectsIt() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    let account = AuthenticationInterceptor(for: [url]) { _ -> Single<Token> in .never() }
    func status(_ status: Int) -> NetworkError {
      let response = Response(request: Request(url: url), status: status)
      return NetworkError(kind: .status, reason: "\(status)", response: response)
    }
    func outcome(_ error: NetworkError, of accounts: [AuthenticationInterceptor]) -> String {
      switch OutboxState.Outcome(.failure(error), rejectedBy: accounts, now: Date()) {
      case .unreachable: "unreachable"
      case .unauthenticated: "unauthenticated"
      case .rejected(let status): "rejected \(status.map { "\($0)" } ?? "-")"
      default: "other"
      }
    }
    func kind(_ kind: NetworkError.Kind) -> NetworkError { NetworkError(kind: kind, reason: "\(kind)") }
    let passing: [any Error] = [
      status(500), status(503), status(507), status(408), status(425), status(429), kind(.connection), kind(.timeout),
      kind(.tls), kind(.redirect), StreamError.timeout,
    ]
    for error in passing {
      XCTAssertEqual(outcome(NetworkError.ofRefresh(error), of: [account]), "unreachable", "\(error)")
      XCTAssertEqual(outcome(NetworkError.ofRefresh(error), of: []), "unreachable", "\(error)")
    }
    var ended = status(503)
    ended.endsSession = true
    for error in [status(400), status(401), status(501), kind(.status), ended] {
      let error = NetworkError.ofRefresh(error)
      XCTAssertEqual(outcome(error, of: [account]), "unauthenticated", "\(error)")
      let status = error.response.map { "\($0.status)" } ?? "-"
      XCTAssertEqual(outcome(error, of: []), "rejected \(status)", "no sign-in would be signalled")
    }
    // A server whose rejection is a temporary status, which its token server sends, too.
    let odd = AuthenticationInterceptor(for: [url], isRejected: { $0.status == 503 }) { _ -> Single<Token> in .never() }
    XCTAssertEqual(outcome(NetworkError.ofRefresh(status(503)), of: [odd]), "unreachable")
    // The token store, which a locked device can't read.
    XCTAssertEqual(outcome(NetworkError(kind: .file, reason: "locked"), of: [account]), "unreachable")
  }

  func test_outbox_row_19_refreshServerThatIsDown_isNotASignOut() throws {
    let fixture = try OutboxFixture(self)
    let isDown = Box(true)
    let login = AuthenticationInterceptor(
      for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a1", account: "a"))
    ) { _ in
      Single.deferred {
        guard isDown.value else { return .just(Token(access: "a2")) }
        let response = Response(request: Request(url: URL(filePath: "/")), status: 503)
        return .error(NetworkError(kind: .status, reason: "503", response: response))
      }
    }
    fixture.server.reject("a1")
    try fixture.open(on: fixture.backend([login])).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    isDown.value = false
    fixture.pass(.seconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  // MARK: The handlers of the app

  func test_outbox_row_09_mapErrorAndOnError_seeOnlyTheResult() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(503), .status(503))
    // An app that shows every failure as one of its own.
    let network = fixture.backend { $0.mapError = { _ in NetworkError(kind: .rejected, reason: "try later") } }
    try fixture.open(on: network, attempts: 2).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    XCTAssertEqual(fixture.errors.all, [], "an attempt that another one follows is not reported")
    fixture.pass(.seconds(1))
    fixture.waits(for: ["tea: parked (status 503)"])
    XCTAssertEqual(fixture.results.all, ["rejected - \(body("tea"))"])
    XCTAssertEqual(fixture.errors.all, ["rejected"], "once")
  }

  func test_outbox_row_09_retryAfterOfZero_isNotAnEndlessLoop() throws {
    let fixture = try OutboxFixture(self)
    for _ in 0..<100 { fixture.server.script(.status(503, ["Retry-After": "0"])) }
    try fixture.open(attempts: 3).send(AddNote(text: "tea"))
    for (made, delay) in [1, 2].enumerated() {
      fixture.waits { fixture.server.seen.count == made + 1 }
      fixture.waits(for: ["tea: waitingForRetry"])
      fixture.pass(.seconds(delay))
    }
    fixture.waits(for: ["tea: parked (status 503)"])
    XCTAssertEqual(fixture.server.seen.count, 3)
  }

  // MARK: Entries without their user

  func test_outbox_row_22_interceptorThatNoLongerCoversTheURL_sendsNothing() throws {
    let fixture = try OutboxFixture(self)
    func login(_ url: URL) -> AuthenticationInterceptor {
      AuthenticationInterceptor(for: [url], store: MemoryTokenStore(Token(access: "a1", account: "a"))) {
        _ -> Single<Token> in .never()
      }
    }
    fixture.reachability.set(false)
    try fixture.open(on: fixture.backend([login(fixture.server.url)])).send(AddNote(text: "tea"))
    fixture.close()
    fixture.reachability.set(true)
    // A newer version of the app signs in at another server.
    let other = login(try XCTUnwrap(URL(string: "http://127.0.0.1:9")))
    try fixture.open(on: fixture.backend([other]))
    fixture.waits(for: ["tea: otherUser"])
    XCTAssertEqual(fixture.server.seen, [])
    XCTAssertEqual(fixture.errors.all, [])
    fixture.close()
    try fixture.open(on: fixture.backend([login(fixture.server.url)]))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_13_401OfAnEntryWithoutAUser_parksOnlyThisEntry() throws {
    let fixture = try OutboxFixture(self)
    // The password would be readable, so the interceptor ends the call with an error of kind `authentication`.
    let login = ChallengeInterceptor(for: [fixture.server.url], user: "ada", password: "p")
    // Users of another server.
    let other = AuthenticationInterceptor(for: [try XCTUnwrap(URL(string: "http://127.0.0.1:9"))]) {
      _ -> Single<Token> in .never()
    }
    fixture.server.script(.status(401, ["WWW-Authenticate": "Basic realm=\"a\""]), .status(401))
    let outbox = try fixture.open(on: fixture.backend([login, other]))
    for text in ["1", "2"] {
      try outbox.send(AddNote(text: text))
      fixture.waits { fixture.entries.last?.state == .parked(status: 401) }
    }
    try outbox.send(AddNote(text: "3"))
    fixture.waits { fixture.results.all.last == "200 \(body("3"))" }
    XCTAssertEqual(fixture.results.all.dropLast(), ["authentication 401 \(body("1"))", "status 401 \(body("2"))"])
    XCTAssertEqual(fixture.server.seen.count, 3)
  }

  func test_outbox_row_22_entryWithoutAUser_thatMustNotCarryAToken_doesNotHoldOthers() throws {
    let fixture = try OutboxFixture(self)
    let other = try NoteServer()
    fixture.reachability.set(false)
    // A version of the app that had no users.
    try fixture.open().send(AddNote(text: "tea"))
    fixture.close()
    fixture.reachability.set(true)
    let login = AuthenticationInterceptor(
      for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a1", account: "a"))
    ) { _ -> Single<Token> in .never() }
    let outbox = try fixture.open(on: fixture.backend([login]))
    fixture.waits(for: ["tea: otherUser"])
    try outbox.send(.post(other.server.url("/count").absoluteString, json: ["text": "count"]))
    fixture.waits { other.applied == [body("count")] }
    fixture.waits(for: ["tea: otherUser"])
    login.set(nil)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.map(\.token), [nil])
  }
}
