import Foundation
import HTTPTransport
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// The locks between processes: one that another process holds too long, and one whose file was removed.
final class OutboxLockTests: XCTestCase {
  /// A process that has locked the directory, and was stopped there.
  private func stoppedProcess(in folder: URL) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import fcntl, os, signal, sys\nfcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
        + "open(sys.argv[1] + '.locked', 'w').close()\nos.kill(os.getpid(), signal.SIGSTOP)\n",
      folder.path,
    ]
    do { try process.run() } catch { throw XCTSkip("python3 is not installed") }
    let mark = URL(filePath: folder.path + ".locked")
    addTeardownBlock {
      kill(process.processIdentifier, SIGKILL)
      try? FileManager.default.removeItem(at: mark)
    }
    guard holds(within: 20, { FileManager.default.fileExists(atPath: mark.path) || !process.isRunning }),
      process.isRunning
    else { throw XCTSkip("python3 can't lock the directory") }
    return process
  }

  /// Sends on a thread of its own, and notes the result.
  private func send(_ text: String, to outbox: Outbox, _ notes: Notes) {
    Thread {
      do throws(NetworkError) {
        try outbox.send(AddNote(text: text))
        notes.add("stored \(text)")
      } catch { notes.add("\(error.kind) \(text): \(error.reason)") }
    }.start()
  }

  // MARK: A process that was stopped

  func test_changeOfAnUnknownEntryAfterTheEnd_sendsNothing() throws {
    let fixture = try OutboxFixture(self)
    let directory = try OutboxDirectory(fixture.folder)
    let sender = OutboxSender(
      directory, fixture.network, OutboxState(concurrency: 4, retry: RetryPolicy(attempts: 20)), onProblem: { _ in })
    _ = try fixture.write(1, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.files.isEmpty }
    sender.stop()
    // Handled after the end.
    let isOver = Flag()
    _ = sender.pending.subscribe(onNext: { _ in isOver.raise() })
    fixture.waits { isOver.isRaised }
    let (_, file) = try fixture.write(2, to: directory)
    try directory.takeLock()
    sender.change(UUID()) { .drop($0) }
    XCTAssertFalse(directory.isLocked)
    XCTAssertEqual(fixture.files, [file.text])
    XCTAssertEqual(fixture.server.seen.count, 1)
  }

  func test_lockIsHeld_onlyWhileARequestIsInFlight() throws {
    let fixture = try OutboxFixture(self)
    let other = try OutboxDirectory(fixture.folder)
    func isFree() -> Bool {
      guard (try? other.takeLock()) != nil else { return false }
      other.unlock()
      return true
    }
    fixture.server.script(.silent, .status(503))
    let outbox = try fixture.open()
    let first = try outbox.send(AddNote(text: "tea"))
    fixture.waits { fixture.server.seen.count == 1 }
    XCTAssertFalse(isFree(), "a request is in flight")
    XCTAssertTrue(try outbox.drop(first))
    fixture.waits { isFree() }
    try outbox.send(AddNote(text: "milk"))
    fixture.waits { fixture.server.seen.count == 2 }
    fixture.waits(for: ["milk: waitingForRetry"])
    fixture.waits { isFree() }
    XCTAssertEqual(fixture.files.count, 1, "a delay has begun")
    fixture.pass(.seconds(400))
    fixture.waits { fixture.files.isEmpty && isFree() }
  }

  func test_outbox_row_41_processThatIsStopped_keepsSendAtMostASecond_andNoOtherDirectory() throws {
    let (fixture, free) = (try OutboxFixture(self), try OutboxFixture(self))
    let (outbox, other) = (try fixture.open(starts: false), try free.open(starts: false))
    let process = try stoppedProcess(in: fixture.folder)
    let (notes, begin) = (Notes(), ContinuousClock.now)
    for _ in 0..<4 { send("tea", to: outbox, notes) }
    // Those that wait hold up neither each other nor the outbox of another directory.
    send("rice", to: other, notes)
    XCTAssert(holds(within: 20) { notes.all.count == 5 }, "\(notes.all)")
    XCTAssertEqual(notes.all.first, "stored rice")
    XCTAssertGreaterThan(ContinuousClock.now - begin, .seconds(1))
    XCTAssertLessThan(ContinuousClock.now - begin, .seconds(4), "each waits a second, at the same time")
    for text in notes.all.dropFirst() {
      XCTAssert(text.hasPrefix("fileInUse tea: another process changes the outbox \(fixture.folder.path)"), text)
      XCTAssert(text.contains("1.0 s; send again"), text)
    }
    XCTAssertEqual(fixture.files, [])
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try outbox.send(AddNote(text: "tea"))
    XCTAssertEqual(fixture.files.count, 1)
  }

  #if canImport(CLibcurl)
    func test_outbox_row_41_sendOnTheTransportsThread_doesNotWait() async throws {
      try XCTSkipIf(CurlTransport.capabilities == nil, "requires libcurl")
      let fixture = try OutboxFixture(self)
      let transport = try CurlTransport()
      let outbox = try fixture.open(on: fixture.backend { $0.transport = transport }, starts: false)
      let other = try DurableDirectory(path: fixture.folder.path)
      XCTAssertEqual(flock(other.descriptor, LOCK_EX), 0)
      let begin = ContinuousClock.now
      let error = await withTaskExecutorPreference(transport.executor) { () -> NetworkError? in
        do throws(NetworkError) {
          try outbox.send(AddNote(text: "tea"))
          return nil
        } catch { return error }
      }
      XCTAssertLessThan(ContinuousClock.now - begin, .milliseconds(900))
      XCTAssertEqual(error?.kind, .fileInUse)
      XCTAssert(error?.reason.contains("from another thread") == true, error?.reason ?? "stored")
      XCTAssertEqual(flock(other.descriptor, LOCK_UN), 0)
      let isStored = await withTaskExecutorPreference(transport.executor) {
        (try? outbox.send(AddNote(text: "tea"))) != nil
      }
      XCTAssertTrue(isStored)
    }
  #endif

  func test_outbox_row_41_rejectedEntry_thatCantBeRenamed_isReported_andParkedLater() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422), .status(422))
    try fixture.open(starts: false).send(AddNote(text: "tea"))
    let other = try DurableDirectory(path: fixture.folder.path)
    XCTAssertEqual(flock(other.descriptor, LOCK_EX), 0)
    fixture.outbox?.start()
    fixture.waits { fixture.problems.all.count == 1 }
    XCTAssert(fixture.problems.all[0].contains("it may be sent again with its key"), fixture.problems.all[0])
    XCTAssertEqual(flock(other.descriptor, LOCK_UN), 0)
    XCTAssertFalse(fixture.files[0].hasSuffix("+422"))
    fixture.waits(for: ["tea: parked (status 422)"])
    // The next run of the app sends it once more.
    fixture.close()
    try fixture.open()
    fixture.waits { fixture.files.first?.hasSuffix("+422") == true }
    XCTAssertEqual(fixture.server.keys.count, 2)
    XCTAssertEqual(Set(fixture.server.keys).count, 1)
  }

  // MARK: A lock whose file was removed

  private func removeMarker(_ fixture: OutboxFixture) throws {
    try FileManager.default.removeItem(at: fixture.file(OutboxDirectory.marker))
  }

  func test_outbox_row_42_removedMarker_isLockedAgain_beforeTheNextRequest() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    let outbox = try fixture.open()
    try outbox.send(AddNote(text: "tea"))
    fixture.waits { fixture.server.seen.count == 1 }
    try removeMarker(fixture)
    try outbox.send(AddNote(text: "rice"))
    fixture.waits(forResults: ["200 \(body("rice"))"])
    fixture.waits(for: ["tea: sending"])
    // A second process finds the lock, and sends nothing.
    let other = try fixture.another()
    let states = Notes()
    _ = other.pending.subscribe(onNext: { states.add($0.map { "\($0.state)" }.joined(separator: " ")) })
    other.start()
    XCTAssert(holds { states.all.last == "otherProcess" }, "\(states.all)")
    XCTAssertEqual(fixture.server.seen.map(\.text), [body("tea"), body("rice")])
    withExtendedLifetime(other) {}
  }

  func test_outbox_row_42_removedMarker_isLockedAgain_alsoForARequestInFlight() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    try fixture.open().send(AddNote(text: "tea"))
    fixture.waits { fixture.server.seen.count == 1 }
    try removeMarker(fixture)
    // Nothing else is to be sent.
    fixture.reachability.set(true)
    XCTAssert(holds { FileManager.default.fileExists(atPath: fixture.file(OutboxDirectory.marker).path) })
    let (other, states) = (try fixture.another(), Notes())
    _ = other.pending.subscribe(onNext: { states.add($0.map { "\($0.state)" }.joined(separator: " ")) })
    other.start()
    XCTAssert(holds { states.all.last == "otherProcess" }, "\(states.all)")
    XCTAssertEqual(fixture.server.seen.count, 1)
    withExtendedLifetime(other) {}
  }

  func test_outbox_row_42_removedMarker_thatAnotherProcessHasLocked_endsTheSendingHere() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent, .silent)
    let outbox = try fixture.open()
    try outbox.send(AddNote(text: "tea"), lane: "k")
    fixture.waits { fixture.server.seen.count == 1 }
    try removeMarker(fixture)
    // The second process can't know what is in flight.
    let other = try fixture.another()
    other.start()
    fixture.waits { fixture.server.seen.count == 2 }
    XCTAssertThrowsError(try outbox.drop(UUID())) { XCTAssertEqual(($0 as? NetworkError)?.kind, .fileInUse) }
    try outbox.send(AddNote(text: "rice"))
    try outbox.send(AddNote(text: "milk"))
    fixture.waits(for: ["tea: sending", "rice: otherProcess", "milk: otherProcess"])
    XCTAssertThrowsError(try outbox.drop(UUID())) { XCTAssertEqual(($0 as? NetworkError)?.kind, .fileInUse) }
    XCTAssertEqual(fixture.server.seen.map(\.text), [body("tea"), body("tea")])
    // It sends what this process has added when it looks again.
    other.start()
    fixture.waits { fixture.server.seen.count == 4 }
    XCTAssertEqual(Set(fixture.server.keys).count, 3)
    withExtendedLifetime(other) {}
  }

  func test_outbox_row_42_removedMarker_countsToNoKnownNumber() throws {
    let fixture = try OutboxFixture(self)
    let app = try fixture.open(starts: false)
    func call(_ key: String, _ text: String = "tea") -> Call<Response> {
      .post("/report", json: ["text": text]).header("Idempotency-Key", key)
    }
    try app.send(call("1"))
    try removeMarker(fixture)
    // Both processes have counted one addition.
    try fixture.another().send(call("2"))
    XCTAssertThrowsError(try app.send(call("2", "rice")), "the write of the other process is replaced") { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
    }
    XCTAssertEqual(fixture.files.count, 2)
  }
}
