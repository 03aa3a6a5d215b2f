import Foundation
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// The rows of the semantics about results, delays and order, over a real server, with delays in virtual time.
final class OutboxSendingTests: XCTestCase {
  func test_outbox_row_01_sendReturns_entryIsPendingAndSentOnceWithItsKeyInALaterRun() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let id = try fixture.open().send(AddNote(text: "tea"), lane: "notes")
    fixture.waits { fixture.entries.map(\.id) == [id] }
    XCTAssertEqual(fixture.entries.first?.lane, "notes")
    XCTAssertEqual(fixture.entries.first?.endpoint(as: AddNote.self), AddNote(text: "tea"))
    fixture.close()
    fixture.reachability.set(true)
    try fixture.open()
    fixture.waits(forResults: ["200 \(body("tea"))"])
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.keys, ["\"\(id.uuidString.lowercased())\""])
    XCTAssertEqual(fixture.server.applied, [body("tea")])
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_row_02_killedInsideSend_unfinishedFileIsNeverSentAndSwept() throws {
    // By the start, also without an entry, and by the next `send`.
    for text in ["tea", nil] {
      let fixture = try OutboxFixture(self)
      try fixture.open(starts: text != nil)
      try Data("half".utf8).write(to: fixture.file(".netlayer-new-\(UUID().uuidString)"))
      if let text { try fixture.outbox?.send(AddNote(text: text)) } else { fixture.outbox?.start() }
      fixture.waits { fixture.files.isEmpty }
      XCTAssertEqual(fixture.server.applied, text.map { [body($0)] } ?? [])
      XCTAssertEqual(fixture.problems.all, [])
    }
  }

  func test_outbox_row_03_limits_throwAndStoreNothing() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(limits: Outbox.Limits(maxEntries: 2, maxSize: 2000), starts: false)
    try outbox.send(AddNote(text: "1"))
    XCTAssertThrowsError(try outbox.send(AddNote(text: String(repeating: "x", count: 2000)))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .tooLarge)
      XCTAssert("\(error)".contains("Limits.maxSize is 2000"), "\(error)")
    }
    try outbox.send(AddNote(text: "2"))
    XCTAssertThrowsError(try outbox.send(AddNote(text: "3"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .tooLarge)
      XCTAssert("\(error)".contains("Limits.maxEntries is 2"), "\(error)")
    }
    XCTAssertEqual(fixture.files.count, 2)
    XCTAssertEqual(fixture.entries.count, 2)
    outbox.start()
    fixture.waits(for: [])
    // An entry that has left makes room.
    try outbox.send(AddNote(text: String(repeating: "x", count: 700)))
    fixture.waits { fixture.results.all.count == 3 }
  }

  func test_outbox_row_03_fullDisk_throwsAndStoresNothing() throws {
    let fixture = try OutboxFixture(self)
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    try SmallDisk.mount(at: fixture.folder, for: self)
    let outbox = try fixture.open(starts: false)
    var stored = 0
    var failure: NetworkError?
    while failure == nil, stored < 100 {
      do {
        try outbox.send(AddNote(text: String(repeating: "x", count: 5000)))
        stored += 1
      } catch {
        failure = error
      }
    }
    XCTAssertEqual(failure?.kind, .file)
    XCTAssert(failure?.reason.contains("No space left") ?? false, failure?.reason ?? "")
    XCTAssertGreaterThan(stored, 2)
    XCTAssertEqual(fixture.files.count, stored, "nothing half-written is left")
    // Parking needs no space.
    fixture.server.script(.status(422))
    outbox.start()
    fixture.waits { fixture.results.all.count == stored }
    XCTAssertEqual(fixture.files.filter { $0.hasSuffix("+422") }.count, 1)
    XCTAssertEqual(fixture.problems.all, [])
  }

  func test_outbox_row_03_readOnlyDisk_throwsAndStoresNothing() throws {
    let fixture = try OutboxFixture(self)
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    try SmallDisk.mount(at: fixture.folder, for: self)
    let outbox = try fixture.open(starts: false)
    try SmallDisk.setReadOnly(true, fixture.folder)
    XCTAssertThrowsError(try outbox.send(AddNote(text: "tea"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssert("\(error)".contains("Read-only file system"), "\(error)")
    }
    XCTAssertEqual(fixture.files, [])
    XCTAssertEqual(fixture.entries, [])
    XCTAssertEqual(fixture.errors.all, ["file"], "the global error handler receives it once")
  }

  func test_outbox_row_04_status2xx_isAResult_andTheEntryLeaves() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let notes = Notes()
    _ = outbox.results(of: AddNote.self).subscribe(onNext: {
      notes.add("\($0.endpoint.text) \((try? $0.result.get().text) ?? "failed")")
    })
    fixture.server.script(.status(201, body: body("stored")))
    try outbox.send(AddNote(text: "tea"))
    outbox.start()
    fixture.waits(for: [])
    XCTAssertEqual(fixture.results.all, ["201 \(body("tea"))"])
    XCTAssertEqual(notes.all, ["tea stored"])
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_row_05_lostResponse_sameKeyAndBytesAgain() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.lost)
    try fixture.open().send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    fixture.pass(.seconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.applied, [body("tea")])
    XCTAssertEqual(fixture.server.seen.count, 2)
    XCTAssertEqual(fixture.server.seen.first, fixture.server.seen.last)
  }

  func test_outbox_row_06_killedBetweenResponseAndRemoval_resultAgainAndAReplay() throws {
    let fixture = try OutboxFixture(self)
    try fixture.open(starts: false)
    let (folder, copy) = (fixture.folder, FileManager.default.temporaryDirectory.appending(path: UUID().uuidString))
    defer { try? FileManager.default.removeItem(at: copy) }
    try fixture.outbox?.send(AddNote(text: "tea"))
    let name = try XCTUnwrap(fixture.files.first)
    let remained = Notes()
    _ = fixture.outbox?.results.subscribe(onNext: { _ in
      // The file is there when the subscriber runs.
      if (try? FileManager.default.copyItem(at: folder.appending(path: name), to: copy)) != nil { remained.add("yes") }
    })
    fixture.outbox?.start()
    fixture.waits(for: [])
    XCTAssertEqual(remained.all, ["yes"])
    fixture.close()
    try FileManager.default.copyItem(at: copy, to: fixture.file(name))
    try fixture.open()
    fixture.waits(forResults: ["200 \(body("tea"))", "200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.applied, [body("tea")])
    XCTAssertEqual(Set(fixture.server.keys).count, 1)
  }

  func test_outbox_row_07_08_noNetwork_sendsNothing_thenImmediately() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open().send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForNetwork"])
    fixture.pass(.seconds(10_000))
    XCTAssertEqual(fixture.server.seen, [])
    fixture.reachability.set(true)
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_08_networkBack_endsTheDelayAfterALostConnection() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.lost)
    try fixture.open().send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    fixture.reachability.set(false)
    fixture.waits(for: ["tea: waitingForNetwork"])
    fixture.reachability.set(true)
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.clock.clock, 0)
  }

  func test_outbox_row_09_retryAfter_isWaitedFor() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(503, ["Retry-After": "90"]))
    try fixture.open().send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    fixture.pass(.milliseconds(89_999))
    XCTAssertEqual(fixture.pending, ["tea: waitingForRetry"])
    XCTAssertEqual(fixture.server.seen.count, 1)
    fixture.pass(.milliseconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_10_failures_parkAfterTheAttempts() throws {
    let fixture = try OutboxFixture(self)
    for _ in 0..<4 { fixture.server.script(.status(500)) }
    try fixture.open(attempts: 4).send(AddNote(text: "tea"))
    for (made, delay) in [1, 2, 4].enumerated() {
      // The state may still be that of the attempt before.
      fixture.waits { fixture.server.seen.count == made + 1 }
      fixture.waits(for: ["tea: waitingForRetry"])
      XCTAssertEqual(fixture.results.all, [])
      fixture.pass(.seconds(delay))
    }
    fixture.waits(for: ["tea: parked (status 500)"])
    XCTAssertEqual(fixture.results.all, ["status 500 \(body("tea"))"])
    fixture.pass(.seconds(10_000))
    XCTAssertEqual(fixture.server.seen.count, 4)
  }

  func test_outbox_row_11_restart_countsFromZero_andParkedStaysParked() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422), .status(500))
    try fixture.open(attempts: 2).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: parked (status 422)"])
    try fixture.outbox?.send(AddNote(text: "milk"))
    fixture.waits(for: ["tea: parked (status 422)", "milk: waitingForRetry"])
    fixture.close()
    fixture.server.script(.status(500), .status(500))
    try fixture.open(attempts: 2)
    fixture.waits(for: ["tea: parked (status 422)", "milk: waitingForRetry"])
    fixture.pass(.seconds(1))
    fixture.waits(for: ["tea: parked (status 422)", "milk: parked (status 500)"])
    XCTAssertEqual(fixture.server.seen.count, 4)
  }

  func test_outbox_row_12_409_isSentAgain() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(409), .status(408), .status(425), .status(429))
    try fixture.open().send(AddNote(text: "tea"))
    for delay in [1, 2, 4, 8] {
      fixture.waits(for: ["tea: waitingForRetry"])
      fixture.pass(.seconds(delay))
    }
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.count, 5)
  }

  func test_outbox_row_13_rejections_parkAfterOneRequest() throws {
    for status in [422, 400, 403, 404, 410, 412, 401, 501, 505] {
      let fixture = try OutboxFixture(self)
      fixture.server.script(.status(status))
      try fixture.open().send(AddNote(text: "tea"))
      fixture.waits(for: ["tea: parked (status \(status))"])
      XCTAssertEqual(fixture.results.all, ["status \(status) \(body("tea"))"])
      XCTAssertEqual(fixture.server.seen.count, 1)
      XCTAssertEqual(fixture.files.first?.hasSuffix("+\(status)"), true)
    }
  }

  func test_outbox_row_13_envelopeThatReportsAFailure_parks() throws {
    let fixture = try OutboxFixture(self)
    let network = fixture.backend { $0.envelope = .standard }
    fixture.server.script(.status(200, body: #"{"code":7,"message":"no","data":null}"#))
    try fixture.open(on: network).send(.post("/notes", json: ["text": "tea"]))
    fixture.waits(for: ["tea: parked (status 200)"])
    XCTAssertEqual(fixture.results.all, ["rejected 200 \(body("tea"))"])
  }

  func test_outbox_row_14_15_parkedEntry_stopsItsKeyOnly_untilRetryOrDrop() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422))
    let outbox = try fixture.open()
    let first = try outbox.send(AddNote(text: "1"), lane: "k")
    fixture.waits(for: ["1: parked (status 422)"])
    try outbox.send(AddNote(text: "2"), lane: "k")
    try outbox.send(AddNote(text: "other"), lane: "l")
    fixture.waits(for: ["1: parked (status 422)", "2: earlierEntry"])
    XCTAssertEqual(fixture.server.applied, [body("other")])
    fixture.server.script(.status(422))
    try outbox.retry(first)
    fixture.waits { fixture.server.seen.count == 3 && fixture.results.all.count == 3 }
    fixture.waits(for: ["1: parked (status 422)", "2: earlierEntry"])
    try outbox.drop(first)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("other"), body("2")])
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_row_15_retry_sendsTheParkedEntryBeforeTheNext() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422))
    let outbox = try fixture.open()
    let first = try outbox.send(AddNote(text: "1"), lane: "k")
    fixture.waits(for: ["1: parked (status 422)"])
    try outbox.send(AddNote(text: "2"), lane: "k")
    try outbox.retry(first)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("1"), body("2")])
  }

  func test_outbox_row_15_retry_endsADelay() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(503, ["Retry-After": "9000"]))
    let outbox = try fixture.open()
    let id = try outbox.send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    try outbox.retry(id)
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_16_entriesWithoutAKey_areConcurrent() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent, .silent, .silent)
    let outbox = try fixture.open(limits: Outbox.Limits(maxConcurrent: 3))
    for text in ["1", "2", "3", "4"] { try outbox.send(AddNote(text: text)) }
    fixture.waits { fixture.server.seen.count == 3 }
    fixture.waits(for: ["1: sending", "2: sending", "3: sending", "4: queued"])
  }

  func test_outbox_row_17_entriesOfOneKey_areSentInOrder_neverTwoInFlight() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    let outbox = try fixture.open()
    let first = try outbox.send(AddNote(text: "0"), lane: "k")
    for number in 1...20 { try outbox.send(AddNote(text: "\(number)"), lane: "k") }
    fixture.waits { fixture.server.seen.count == 1 }
    XCTAssertEqual(fixture.pending.first, "0: sending")
    XCTAssertEqual(Set(fixture.pending.dropFirst().map { $0.split(separator: " ").last }), ["earlierEntry"])
    try outbox.drop(first)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, (0...20).map { body("\($0)") })
  }

  func test_outbox_row_28_dropInFlight_removesTheEntry_theServerMayHaveAppliedIt() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    let outbox = try fixture.open()
    let id = try outbox.send(AddNote(text: "1"), lane: "k")
    try outbox.send(AddNote(text: "2"), lane: "k")
    fixture.waits { fixture.server.seen.count == 1 }
    try outbox.drop(id)
    fixture.waits(forResults: ["200 \(body("2"))"])
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("1"), body("2")])
    XCTAssertEqual(fixture.errors.all, [])
  }

  func test_outbox_row_37_serverIgnoresKeys_aLostResponseMeansTwice() throws {
    let fixture = try OutboxFixture(self)
    // This server forgets the key of the first request.
    fixture.server.script(.lost)
    let outbox = try fixture.open()
    try outbox.send(.put("/notes/7", json: ["text": "tea"]).header("Idempotency-Key", "not a key"))
    fixture.waits(for: ["tea: waitingForRetry"])
    fixture.pass(.seconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.map(\.method), ["PUT", "PUT"], "a PUT has the same effect twice")
  }

  func test_outbox_retryAndDrop_tellWhetherThereIsAnEntry() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let id = try outbox.send(AddNote(text: "tea"))
    XCTAssertFalse(try outbox.retry(UUID()))
    XCTAssertFalse(try outbox.drop(UUID()))
    XCTAssertTrue(try outbox.retry(id))
    XCTAssertTrue(try outbox.drop(id))
    fixture.waits(for: [])
    fixture.waits { (try? outbox.drop(id)) == false }
  }

  /// Sends two notes in one lane. The server rejects the first one, which is changed inside `results`. Then checks the
  /// notes that the server has applied, and the number of requests.
  private func assertChangeInsideResults(
    _ change: @escaping @Sendable (Outbox, UUID) throws -> Bool, applies texts: [String], requests: Int
  ) throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422))
    let outbox = try fixture.open(starts: false)
    _ = outbox.results.subscribe(onNext: { [unowned outbox] outcome in
      guard case .failure = outcome.result else { return }
      XCTAssertEqual(try? change(outbox, outcome.entry.id), true)
    })
    for text in ["1", "2"] { try outbox.send(AddNote(text: text), lane: "k") }
    outbox.start()
    fixture.waits { fixture.server.applied == texts.map { body($0) } }
    fixture.waits(for: [])
    XCTAssertEqual(fixture.files, [])
    XCTAssertEqual(fixture.server.seen.count, requests)
  }

  func test_outbox_row_15_dropInsideResults_removesTheRejectedEntry() throws {
    try assertChangeInsideResults({ try $0.drop($1) }, applies: ["2"], requests: 2)
  }

  func test_outbox_row_15_retryInsideResults_sendsTheRejectedEntryAgain() throws {
    try assertChangeInsideResults({ try $0.retry($1) }, applies: ["1", "2"], requests: 3)
  }

  func test_outbox_row_04_tagsOfTheEntry_areInvalidated() throws {
    let fixture = try OutboxFixture(self)
    // Those of the stored call, also after a restart.
    try fixture.open(starts: false).send(Call(AddNote(text: "tea")).invalidates(["notes"]))
    fixture.close()
    let watching = fixture.network.watch(Call(.get, "/list").tags(["notes"])).subscribe()
    fixture.waits { fixture.server.seen.map(\.method) == ["GET"] }
    try fixture.open()
    fixture.waits { fixture.server.seen.map(\.method) == ["GET", "POST", "GET"] }
    watching.dispose()
  }
}
