import Foundation
import LoopbackServer
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The rows of the semantics about several processes, stored requests, versions and damaged files.
final class OutboxStorageTests: XCTestCase {
  // Two objects have two open files, so that their locks exclude one another as those of two processes do.

  func test_outbox_row_25_27_secondProcess_canSend_butNotChange() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    let app = try fixture.open()
    let first = try app.send(AddNote(text: "1"), lane: "k")
    fixture.waits { fixture.server.seen.count == 1 }

    let other = try fixture.another()
    let states = Box<[String]>([])
    _ = other.pending.subscribe(onNext: { states.value = $0.map { "\($0.state)" } })
    other.start()
    let second = try other.send(AddNote(text: "2"), lane: "k")
    XCTAssert(holds { states.value == ["otherProcess", "otherProcess"] }, "\(states.value)")
    for change in [other.retry, other.drop] {
      XCTAssertThrowsError(try change(second)) { error in XCTAssertEqual((error as? NetworkError)?.kind, .fileInUse) }
    }
    XCTAssertEqual(fixture.server.seen.count, 1)
    // The sender finds the entry of the other process before it releases the lock.
    try app.drop(first)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("1"), body("2")])
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_row_25_dropInTheSendingProcess_keepsTheLock() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent, .status(422))
    let app = try fixture.open()
    try app.send(AddNote(text: "1"))
    fixture.waits { fixture.server.seen.count == 1 }
    let second = try app.send(AddNote(text: "2"))
    fixture.waits(for: ["1: sending", "2: parked (status 422)"])
    try app.drop(second)
    fixture.waits(for: ["1: sending"])
    let other = try fixture.another()
    let states = Box<[String]>([])
    _ = other.pending.subscribe(onNext: { states.value = $0.map { "\($0.state)" } })
    other.start()
    XCTAssert(holds { states.value == ["otherProcess"] }, "\(states.value)")
    XCTAssertEqual(fixture.server.seen.count, 2)
  }

  func test_outbox_row_17_order_isExactAcrossProcesses() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let app = try fixture.open()
    let other = try fixture.another()
    for number in 0..<20 { try (number % 2 == 0 ? app : other).send(AddNote(text: "\(number)"), lane: "k") }
    fixture.reachability.set(true)
    fixture.waits { fixture.server.applied.count == 20 }
    XCTAssertEqual(fixture.server.applied, (0..<20).map { body("\($0)") })
  }

  func test_outbox_row_26_senderEnds_theOtherTakesOverAtItsNextTrigger() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.silent)
    try fixture.open().send(AddNote(text: "1"), lane: "k")
    fixture.waits { fixture.server.seen.count == 1 }
    let other = try fixture.another()
    let results = Notes()
    _ = other.results.subscribe(onNext: { results.add(OutboxFixture.text($0)) })
    other.start()
    try other.send(AddNote(text: "2"), lane: "k")
    fixture.close()
    // The stopped one has released the lock; the next trigger is a send.
    try other.send(AddNote(text: "3"), lane: "k")
    XCTAssert(holds { results.all.count == 3 }, "\(results.all)")
    XCTAssertEqual(fixture.server.applied, ["1", "2", "3"].map(body))
    XCTAssertEqual(fixture.server.seen.count, 4)
  }

  func test_outbox_row_26_takenOverEntries_areNotSentAgainFromMemory() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.lost)
    let app = try fixture.open()
    try app.send(AddNote(text: "1"))
    fixture.waits(for: ["1: waitingForRetry"])
    let other = try fixture.another()
    other.start()
    fixture.waits { fixture.files.isEmpty }
    fixture.pass(.seconds(1))
    // If the other process still had the lock then, this one looks again after a minute.
    fixture.waits { !fixture.pending.contains("1: waitingForRetry") }
    fixture.pass(.seconds(60))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.count, 2)
  }

  func test_outbox_row_15_dropOfAnEntryThatAnotherProcessHasParked_removesItsFile() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422))
    let app = try fixture.another()
    let id = try app.send(AddNote(text: "tea"))
    try fixture.open()
    fixture.waits(for: ["tea: parked (status 422)"])
    // The other process may still have the lock.
    fixture.waits { (try? app.drop(id)) != nil }
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_row_29_fileStreamOrDownload_isAnErrorOfSend() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("film".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let form = MultipartForm([.file(file, name: "film")])
    let stream = Request.BodyStream { AsyncStream<Data> { $0.finish() } }
    let tasks: [HTTPTask] = [.upload(file), .multipart(form), .stream(stream), .download(to: file)]
    for task in tasks {
      XCTAssertThrowsError(try outbox.send(Call(.post, "/notes", task: task))) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
        XCTAssert("\(error)".contains("an outbox can't store POST"), "\(error)")
      }
    }
    XCTAssertEqual(fixture.files, [])
    XCTAssertEqual(fixture.errors.all.count, 4)
  }

  func test_outbox_row_30_typeIsRenamed_sentWithTheSameBytes_resultsOfSkipsIt() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open().send(AddNote(text: "tea"))
    let bytes = try Data(contentsOf: fixture.file(try XCTUnwrap(fixture.files.first)))
    fixture.close()
    // The older app had another name for the type.
    var record = try XCTUnwrap(DurableRecord(bytes))
    record.set("type", "App.OldNote")
    try record.bytes.write(to: fixture.file(try XCTUnwrap(fixture.files.first)))
    fixture.reachability.set(true)
    let outbox = try fixture.open(starts: false)
    let notes = Notes()
    _ = outbox.results(of: AddNote.self).subscribe(onNext: { notes.add($0.endpoint.text) })
    outbox.start()
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(notes.all, [])
  }

  func test_outbox_row_31_entryOfANewerVersion_waits_andItsKey() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let id = try fixture.open().send(AddNote(text: "new"), lane: "k")
    let name = try XCTUnwrap(fixture.files.first)
    fixture.close()
    var record = try XCTUnwrap(DurableRecord(try Data(contentsOf: fixture.file(name))))
    record.set("version", 2)
    record.set("method", nil)
    record.set("steps", ["a", "b"])
    try record.bytes.write(to: fixture.file(name))
    fixture.reachability.set(true)
    let again = try fixture.open()
    try again.send(AddNote(text: "behind"), lane: "k")
    try again.send(AddNote(text: "other"), lane: "l")
    fixture.waits(for: ["new: newerVersion", "behind: earlierEntry"])
    try again.retry(id)
    XCTAssertEqual(fixture.server.applied, [body("other")])
    XCTAssertEqual(try Data(contentsOf: fixture.file(name)), record.bytes, "unchanged")
    XCTAssertEqual(fixture.problems.all, [])
  }

  func test_outbox_row_32_damagedFile_isSetAsideAndReported_itsKeyGoesOn() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open().send(AddNote(text: "1"), lane: "k")
    try fixture.outbox?.send(AddNote(text: "2"), lane: "k")
    let name = try XCTUnwrap(fixture.files.first)
    var bytes = try Data(contentsOf: fixture.file(name))
    fixture.close()
    bytes[bytes.count - 3] ^= 1
    try bytes.write(to: fixture.file(name))
    fixture.reachability.set(true)
    try fixture.open()
    fixture.waits(forResults: ["200 \(body("2"))"])
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, [body("2")])
    XCTAssertEqual(fixture.files, ["damaged-\(name)"])
    XCTAssertEqual(fixture.problems.all.count, 1)
    XCTAssert(fixture.problems.all.first?.contains("damaged-\(name)") ?? false)
    fixture.outbox?.start()
    fixture.outbox?.start()
    try fixture.outbox?.send(AddNote(text: "3"), lane: "k")
    fixture.waits { fixture.server.applied.count == 2 }
    XCTAssertEqual(fixture.problems.all.count, 1, "reported once")
  }

  func test_outbox_row_32_fileThatAnotherUserMayHaveWritten_orIsHuge_isSetAside() throws {
    let changes: [(URL) throws -> Void] = [
      { try FileManager.default.setAttributes([.posixPermissions: 0o622], ofItemAtPath: $0.path) },
      { try FileHandle(forWritingTo: $0).truncate(atOffset: 2 << 30) },
    ]
    for change in changes {
      let fixture = try OutboxFixture(self)
      try fixture.open(starts: false).send(AddNote(text: "tea"))
      let name = try XCTUnwrap(fixture.files.first)
      fixture.close()
      try change(fixture.file(name))
      try fixture.open()
      fixture.waits { fixture.problems.all.count == 1 }
      XCTAssertEqual(fixture.files, ["damaged-\(name)"])
      fixture.waits(for: [])
      XCTAssertEqual(fixture.server.seen, [])
    }
  }

  func test_outbox_row_33_fileThatCantBeOpenedNow_holdsLaterKeys_andIsNeverSetAside() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open().send(AddNote(text: "1"), lane: "k")
    let name = try XCTUnwrap(fixture.files.first)
    fixture.close()
    // A link can't be opened, as a file of a locked device can't.
    let hidden = fixture.file("hidden")
    try FileManager.default.moveItem(at: fixture.file(name), to: hidden)
    try FileManager.default.createSymbolicLink(at: fixture.file(name), withDestinationURL: hidden)
    fixture.reachability.set(true)
    let again = try fixture.open()
    try again.send(AddNote(text: "2"), lane: "k")
    try again.send(AddNote(text: "free"))
    fixture.waits(forResults: ["200 \(body("free"))"])
    fixture.waits(for: ["2: earlierEntry"])
    XCTAssertEqual(fixture.problems.all.count, 1, "\(fixture.problems.all)")
    // The device is unlocked: the next look finds it, at the latest after a minute.
    try FileManager.default.removeItem(at: fixture.file(name))
    try FileManager.default.moveItem(at: hidden, to: fixture.file(name))
    fixture.pass(.seconds(60))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, ["free", "1", "2"].map(body))
    XCTAssertEqual(fixture.problems.all.count, 1, "\(fixture.problems.all)")
  }

  func test_outbox_row_34_baseURLFieldsAndSignature_areThoseOfTheAttempt() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let old = fixture.backend {
      $0.baseURL = URL(string: "http://127.0.0.1:9/v1?k=1")
      $0.headers = ["X-Version": "1"]
      $0.commonParameters = { ["app": "old"] }
    }
    try fixture.open(on: old).send(AddNote(text: "tea").query(["q": "ä b"]).header("X-Own", "own"))
    fixture.close()
    fixture.reachability.set(true)
    let new = fixture.backend {
      $0.baseURL = fixture.server.server.url("/v2")
      $0.headers = ["X-Version": "2"]
      $0.commonParameters = { ["app": "new"] }
      $0.signer = ClosureSigner { content in RequestSignature(headers: ["X-Signature": "\(content.request.url.path)"]) }
    }
    try fixture.open(on: new)
    fixture.waits { fixture.server.seen.count == 1 }
    let seen = try XCTUnwrap(fixture.server.seen.first)
    XCTAssertEqual(seen.target, "/v2/notes?app=old&q=%C3%A4%20b")
    XCTAssertEqual(seen.text, body("tea"))
    let fields = try XCTUnwrap(fixture.server.fields.first)
    XCTAssertEqual(fields["x-version"], "2")
    XCTAssertEqual(fields["x-own"], "own")
    XCTAssertEqual(fields["x-signature"], "/v2/notes")
    XCTAssertEqual(fields["content-type"], "application/json")
    XCTAssertEqual(fields["accept"], "application/json")
  }

  func test_outbox_row_34_interceptorsSeeTheAttempt_withTheLimitsOfTheBackend() throws {
    struct Key: Interceptor {
      let key: Box<String>
      let limits: Box<[Duration?]>
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        limits.update { $0.append(request.timeouts.call) }
        var request = request
        request.headers["X-Key"] = key.value
        return next(request)
      }
    }
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let (key, limits) = (Box("old"), Box<[Duration?]>([]))
    let network = fixture.backend { $0.interceptors = [Key(key: key, limits: limits)] }
    try fixture.open(on: network).send(AddNote(text: "tea").timeout(.milliseconds(1)).priority(.low))
    key.value = "new"
    fixture.reachability.set(true)
    fixture.waits { fixture.server.seen.count == 1 }
    XCTAssertEqual(fixture.server.fields.first?["x-key"], "new")
    XCTAssertEqual(limits.value, [network.backend.timeouts.call])
  }

  func test_outbox_row_34_storedCall_isTheRequestThatFetchSends() async throws {
    let fixture = try OutboxFixture(self)
    let network = fixture.backend {
      $0.headers = ["X-Backend": "1"]
      $0.commonParameters = { ["app": "x"] }
    }
    let outbox = try fixture.open(on: network)
    let form = MultipartForm([.field("a", "1")], boundary: "b")
    let calls: [Call<Response>] = [
      .post("/notes", json: ["text": "tea"]), .post("/notes", form: ["a": [1, 2], "b": "ü&"]),
      .delete("/notes/a%20b", query: ["q": "x y"]), .put(["notes", "a/b"], json: [1]), .post("/empty"),
      .post("/notes", parameters: ["a": 1], query: ["b": 2]), Call(.post, "/data?x=1", task: .data(Data([1, 2, 3]))),
      Call(.post, fixture.server.server.url("/absolute")), Call(.patch, "/form", task: .multipart(form)),
      Call("PROPFIND", "/x", task: .composite(query: ["q": 1], body: ["b": 2])),
    ]
    for (index, call) in calls.enumerated() {
      let call = call.idempotent()
      _ = try await network.response(call)
      let id = try outbox.send(call)
      fixture.waits { fixture.server.seen.count == 2 * index + 2 }
      XCTAssertEqual(fixture.server.seen[2 * index], fixture.server.seen[2 * index + 1])
      XCTAssertEqual(fixture.server.fields[2 * index], fixture.server.fields[2 * index + 1])
      XCTAssertEqual(call.headers["Idempotency-Key"], "\"\(id.uuidString.lowercased())\"")
    }
    fixture.waits(for: [])
  }

  func test_outbox_row_35_clockSetBackOrForward_hasNoEffect() throws {
    let fixture = try OutboxFixture(self)
    let clock = JumpingClock(fixture.clock)
    fixture.server.script(.status(503, ["Retry-After": "60"]))
    try fixture.open(on: fixture.backend { $0.clock = clock }).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    clock.offset.value = -1_000_000
    fixture.pass(.seconds(30))
    clock.offset.value = 1_000_000
    try fixture.outbox?.send(AddNote(text: "milk"))
    fixture.waits(for: ["tea: waitingForRetry"])
    fixture.pass(.seconds(29))
    XCTAssertEqual(fixture.server.applied, [body("milk")])
    fixture.pass(.seconds(1))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied, ["milk", "tea"].map(body))
  }

  /// A clock whose date jumps, and whose uptime does not.
  private struct JumpingClock: SchedulerType {
    let base: TestScheduler
    let offset = Box(0.0)
    init(_ base: TestScheduler) { self.base = base }
    var now: Date { base.now.addingTimeInterval(offset.value) }
    var uptime: Duration { base.uptime }
    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }
    func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
      base.scheduleRelative(dueTime, action)
    }
  }

  func test_outbox_row_36_powerCut_removedFilesAreBack_replaysOnly() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fixture.open()
    for number in 0..<5 { try fixture.outbox?.send(AddNote(text: "\(number)"), lane: "k") }
    let copy = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: copy) }
    try FileManager.default.copyItem(at: fixture.folder, to: copy)
    fixture.reachability.set(true)
    fixture.waits(for: [])
    fixture.close()
    // The removals of the last two were not yet on disk.
    let names = try FileManager.default.contentsOfDirectory(atPath: copy.path).filter { OutboxName.read($0) != nil }
    for name in names.sorted().suffix(2) {
      try FileManager.default.copyItem(at: copy.appending(path: name), to: fixture.file(name))
    }
    XCTAssertGreaterThan(fixture.files.count, 1)
    try fixture.open()
    fixture.waits(for: [])
    fixture.waits { fixture.files.isEmpty }
    XCTAssertEqual(fixture.server.applied, (0..<5).map { body("\($0)") })
    XCTAssertGreaterThan(fixture.server.seen.count, 5)
  }

  func test_outbox_sameKeyTwice_isOneEntry() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let outbox = try fixture.open()
    let call = AddNote(text: "tea").idempotent()
    let id = try outbox.send(call)
    XCTAssertEqual(try outbox.send(call), id)
    XCTAssertEqual(fixture.files.count, 1)
    fixture.reachability.set(true)
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.count, 1)
  }

  func test_outbox_ownKeyOfAnyForm_isOneEntry_sentAsWritten() throws {
    let id = UUID()
    for key in ["order-42", "\"order-42\"", "\"", "", id.uuidString, "\"\(id.uuidString.lowercased())\""] {
      let fixture = try OutboxFixture(self)
      fixture.reachability.set(false)
      let outbox = try fixture.open()
      let call = AddNote(text: "tea").header("Idempotency-Key", key)
      let first = try outbox.send(call)
      XCTAssertEqual(try outbox.send(call), first, key)
      XCTAssertEqual(fixture.files.count, 1, key)
      if key.contains(id.uuidString.suffix(4)) || key.contains(id.uuidString.lowercased()) {
        XCTAssertEqual(first, id, key)
      }
      XCTAssertNotEqual(try outbox.send(AddNote(text: "milk").header("Idempotency-Key", "order-43")), first)
      fixture.reachability.set(true)
      fixture.waits(for: [])
      XCTAssertEqual(Set(fixture.server.keys.map { $0 ?? "" }), [key, "order-43"])
    }
  }

  func test_outbox_lastNumber_isAnErrorOfSend_thatNamesTheFile() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let name = OutboxName(.max, UUID()).text
    try Data().write(to: fixture.file(name))
    XCTAssertThrowsError(try outbox.send(AddNote(text: "tea"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssert("\(error)".contains(name), "\(error)")
    }
    XCTAssertEqual(fixture.files, [name])
    // The sender sets the damaged file aside.
    outbox.start()
    fixture.waits { fixture.files == ["damaged-\(name)"] }
    try outbox.send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_15_dropOfAnEntryThatWasParkedBeforeSendReturned_removesItsFile() throws {
    let fixture = try OutboxFixture(self)
    let directory = try OutboxDirectory(fixture.folder)
    let sender = OutboxSender(
      directory, fixture.network, OutboxState(concurrency: 4, retry: RetryPolicy(attempts: 20)),
      onProblem: { [problems = fixture.problems] in problems.add($0.reason) })
    fixture.server.script(.silent, .status(422))
    let (_, first) = try fixture.write(1, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.server.seen.count == 1 }
    // The file is visible before `send` has told the sender, which lists the directory meanwhile.
    let (entry, file) = try fixture.write(2, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.files == [first.text, "\(file.text)+422"] }
    sender.add(entry, file, [])
    try directory.takeLock()
    sender.change(entry.id) { .drop($0) }
    fixture.waits { fixture.files == [first.text] }
    sender.stop()
    XCTAssertEqual(fixture.server.seen.count, 2)
    XCTAssertEqual(fixture.problems.all, [])
  }

  func test_outbox_entryThatAnotherProcessHasSentBeforeSendReturned_isNotSentAgain() throws {
    let fixture = try OutboxFixture(self)
    let directory = try OutboxDirectory(fixture.folder)
    let sender = OutboxSender(
      directory, fixture.network, OutboxState(concurrency: 4, retry: RetryPolicy(attempts: 20)), onProblem: { _ in })
    // The lock is held as long as a request is in flight, so that an entry is sent without a listing.
    fixture.server.script(.silent)
    let (held, first) = try fixture.write(1, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.server.seen.count == 1 }
    let (entry, file) = try fixture.write(2, to: directory)
    try OutboxDirectory(fixture.folder).remove(file)
    sender.usage.withLock { $0 += entry.size }
    sender.add(entry, file, [])
    _ = try fixture.write(3, to: directory)
    sender.start(fixture.reachability)
    fixture.waits { fixture.files == [first.text] && sender.usage.withLock { $0 } == held.size }
    sender.stop()
    XCTAssertEqual(fixture.server.seen.map(\.text), [body("1"), body("3")])
  }

  func test_outbox_everyDamagedByte_isRecognized() throws {
    let call = FrozenCall(
      method: .post, path: "/notes?q=1", headers: ["Idempotency-Key": "\"x\"", "X": "ü"], accept: "a/b",
      body: Data(body("tea").utf8), invalidates: ["notes"])
    let id = UUID()
    let entry = OutboxEntry(
      id, call, account: "a", lane: "k", createdAt: Date(timeIntervalSince1970: 1.5), type: "T",
      value: Data(#"{"a":1}"#.utf8))
    let bytes = try entry.bytes
    let read = try XCTUnwrap(OutboxEntry(bytes, id: id))
    XCTAssertEqual(try read.bytes, bytes)
    XCTAssertEqual(read.value, entry.value)
    XCTAssertEqual([read.account, read.lane, read.type, read.call.accept], ["a", "k", "T", "a/b"])
    XCTAssertEqual(read.call.headers, call.headers)
    XCTAssertEqual(read.call.invalidates, ["notes"])
    XCTAssertEqual(read.createdAt, entry.createdAt)
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        XCTAssertNil(OutboxEntry(damaged, id: id), "byte \(index), bit \(bit)")
      }
      XCTAssertNil(OutboxEntry(bytes.prefix(index), id: id), "truncated to \(index)")
      XCTAssertNil(OutboxEntry(bytes.prefix(index) + Data(count: bytes.count - index), id: id), "zeros from \(index)")
    }
    XCTAssertNil(OutboxEntry(bytes + Data([0]), id: id))
  }

  func test_outbox_names_areRead() throws {
    let id = try XCTUnwrap(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
    let name = OutboxName(255, id)
    XCTAssertEqual(name.text, "00000000000000ff-01234567-89AB-CDEF-0123-456789ABCDEF")
    XCTAssertEqual(OutboxName.read(name.text)?.name, name)
    XCTAssertEqual(OutboxName.read(name.parked(422))?.hold, .parked(status: 422))
    XCTAssertEqual(OutboxName.read(name.parked(nil))?.hold, .parked(status: nil))
    for text in [
      "", "netlayer-outbox", "damaged-\(name.text)", "new-\(id)", name.text.lowercased(), name.text + "+",
      name.text + "+x",
      name.text + "+0422", "+" + name.text, "000000000000000g-\(id)", String(name.text.dropFirst()), name.text + "-",
    ] {
      XCTAssertNil(OutboxName.read(text), text)
    }
    XCTAssertEqual(OutboxName(.max, id).number, .max)
  }

  func test_outbox_directoryOfAnotherProgram_isLeftAlone() throws {
    let fixture = try OutboxFixture(self)
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    try Data("x".utf8).write(to: fixture.file("README"))
    let outbox = try fixture.open()
    try outbox.send(AddNote(text: "tea"))
    fixture.waits { fixture.results.all.count == 1 }
    fixture.waits(for: [])
    XCTAssertEqual(fixture.files, ["README"])
    let missing = URL(filePath: "/proc/none/outbox")
    XCTAssertThrowsError(try Outbox(storingIn: missing, on: fixture.network)) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssert("\(error)".contains("/proc/none/outbox"), "\(error)")
    }
  }
}
