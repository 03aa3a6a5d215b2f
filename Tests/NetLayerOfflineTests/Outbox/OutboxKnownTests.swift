import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// A `send` lists the directory only after another process has added an entry, and still knows what others have changed.
final class OutboxKnownTests: XCTestCase {
  private let id = UUID()

  private func keyed(_ text: String) -> Call<Response> {
    Call<Response>.post("/notes", json: ["text": text]).header("Idempotency-Key", id.uuidString)
  }

  func test_send_doesNotListTheDirectoryAgain() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.another()
    try outbox.send(AddNote(text: "1"))
    // No process has added this file, so that only a listing can find it.
    try Data().write(to: fixture.file(OutboxName(100, UUID()).text))
    try outbox.send(AddNote(text: "2"))
    XCTAssertEqual(fixture.files.compactMap { OutboxName.read($0)?.name.number }, [1, 2, 100])
  }

  func test_outbox_row_17_additionOfAnotherProcess_isBeforeTheNextOne() throws {
    let fixture = try OutboxFixture(self)
    let (app, other) = (try fixture.another(), try fixture.another())
    for number in 0..<50 { try (number.isMultiple(of: 3) ? other : app).send(AddNote(text: "\(number)")) }
    XCTAssertEqual(fixture.files.compactMap { OutboxName.read($0)?.name.number }, Array(1...50))
  }

  func test_processThatIsKilledAfterItHasCounted_makesOthersList() throws {
    let fixture = try OutboxFixture(self)
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    let (mine, other) = (try OutboxDirectory(fixture.folder), try OutboxDirectory(fixture.folder))
    XCTAssertNotNil(try mine.refresh())
    XCTAssertNil(try mine.refresh())
    try other.countAddition()
    XCTAssertNotNil(try mine.refresh())
    try mine.countAddition()
    XCTAssertNil(try mine.refresh(), "its own addition")
    // One that arrives between a listing and the next addition of its own.
    try other.countAddition()
    try mine.countAddition()
    XCTAssertNotNil(try mine.refresh(), "the addition of another process")
  }

  func test_outbox_row_38_entryThatAnotherProcessHasParked_isFound() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.another()
    XCTAssertEqual(try outbox.send(keyed("tea")), id)
    let directory = try OutboxDirectory(fixture.folder)
    let file = try XCTUnwrap(directory.files().first)
    _ = try directory.rename(file, .parked(status: 422))
    XCTAssertEqual(try outbox.send(keyed("tea")), id)
    XCTAssertThrowsError(try outbox.send(keyed("milk")))
    XCTAssertEqual(fixture.files, [file.name.parked(422)])
    XCTAssertTrue(try outbox.retry(id))
  }

  func test_entryThatAnotherProcessHasSent_leavesItsRoomAndItsKey() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.another(limits: .init(maxEntries: 2))
    try outbox.send(keyed("tea"))
    try outbox.send(AddNote(text: "milk"))
    let directory = try OutboxDirectory(fixture.folder)
    try directory.remove(try XCTUnwrap(directory.files().first { $0.name.id == id }))
    XCTAssertFalse(try outbox.drop(id))
    try outbox.send(keyed("other tea"))
    XCTAssertEqual(fixture.files.count, 2)
    XCTAssertThrowsError(try outbox.send(AddNote(text: "too many"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .tooLarge)
    }
  }
}
