import Foundation
import LoopbackServer
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// The rows of the semantics about equal writes, and about successes of other requests.
final class OutboxIdentityTests: XCTestCase {
  private func call(_ text: String, key: String = "report-1", to path: String = "/report") -> Call<Response> {
    .post(path, json: ["text": text]).header("Idempotency-Key", key)
  }

  private func assertRefused(
    _ outbox: Outbox, _ call: some Endpoint, file: StaticString = #filePath, line: UInt = #line
  ) {
    XCTAssertThrowsError(try outbox.send(call), file: file, line: line) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest, file: file, line: line)
      let reason = (error as? NetworkError)?.reason ?? ""
      XCTAssert(reason.contains("Idempotency-Key"), reason, file: file, line: line)
      XCTAssert(reason.contains("which has other content; use another key, or drop"), reason, file: file, line: line)
    }
  }

  func test_outbox_row_38_equalKeyOfAnotherUser_isAnotherEntry() throws {
    let fixture = try OutboxFixture(self)
    let login = AuthenticationInterceptor(
      for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
    ) { _ in .never() }
    fixture.reachability.set(false)
    let outbox = try fixture.open(on: fixture.backend([login]))
    let ann = try outbox.send(call("of ann"))
    login.set(Token(access: "b", account: "bob"))
    let bob = try outbox.send(call("of bob"))
    XCTAssertNotEqual(ann, bob)
    XCTAssertEqual(try outbox.send(call("of bob")), bob)
    fixture.waits { fixture.entries.map(\.account) == ["ann", "bob"] }
    fixture.reachability.set(true)
    fixture.waits(forResults: ["200 \(body("of bob"))"])
    login.set(Token(access: "a", account: "ann"))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.map(\.text), [body("of bob"), body("of ann")])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer b", "Bearer a"])
  }

  func test_outbox_row_38_equalUUIDOfAnotherUser_isAnError_andNothingIsLost() throws {
    let fixture = try OutboxFixture(self)
    let login = AuthenticationInterceptor(
      for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
    ) { _ in .never() }
    let outbox = try fixture.open(on: fixture.backend([login]), starts: false)
    let key = UUID().uuidString
    try outbox.send(call("1", key: key))
    login.set(Token(access: "b", account: "bob"))
    assertRefused(outbox, call("1", key: key))
    XCTAssertEqual(fixture.files.count, 1)
  }

  func test_outbox_row_38_equalKeyWithOtherContent_isAnErrorOfSend() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let first: UUID
    do {
      let outbox = try fixture.open()
      first = try outbox.send(call("tea"))
      assertRefused(outbox, call("milk"))
      assertRefused(outbox, call("tea", to: "/other"))
      assertRefused(outbox, call("tea", to: "/report?copy=1"))
      assertRefused(
        outbox, Call<Response>.put("/report", json: ["text": "tea"]).header("Idempotency-Key", "report-1"))
      assertRefused(outbox, Call<Response>.post("/report").header("Idempotency-Key", "report-1"))
      XCTAssertEqual(try outbox.send(call("tea")), first)
      XCTAssertEqual(fixture.files.count, 1)
    }
    // A later run, and another process, know the content from the file.
    fixture.close()
    let other = try fixture.another()
    assertRefused(other, call("milk"))
    XCTAssertEqual(try other.send(call("tea")), first)
    XCTAssertEqual(fixture.files.count, 1)
  }

  func test_outbox_row_38_parkedEntry_staysParked_andItsCorrectionIsAnError() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(422))
    let outbox = try fixture.open()
    let id = try outbox.send(call("teh"))
    fixture.waits(for: ["teh: parked (status 422)"])
    XCTAssertEqual(try outbox.send(call("teh")), id)
    assertRefused(outbox, call("tea"))
    fixture.waits(for: ["teh: parked (status 422)"])
    try outbox.drop(id)
    fixture.waits(for: [])
    try outbox.send(call("tea"))
    fixture.waits(forResults: ["status 422 \(body("teh"))", "200 \(body("tea"))"])
  }

  func test_outbox_row_38_commonParametersAndBoundaries_areNotCompared() throws {
    let fixture = try OutboxFixture(self)
    let time = Box(0)
    let network = fixture.backend {
      $0.commonParameters = {
        [
          "time": time.update {
            $0 += 1; return $0
          }
        ]
      }
    }
    let outbox = try fixture.open(on: network, starts: false)
    func form(_ text: String) -> Call<Response> {
      .post("/form", .multipart(MultipartForm([.field("text", text)]))).header("Idempotency-Key", "form")
    }
    XCTAssertEqual(try outbox.send(call("tea")), try outbox.send(call("tea")))
    XCTAssertEqual(try outbox.send(form("tea")), try outbox.send(form("tea")))
    assertRefused(outbox, form("milk"))
    let query = Call<Response>.post("/q", query: ["a": 1]).header("Idempotency-Key", "query")
    XCTAssertEqual(try outbox.send(query), try outbox.send(query))
    XCTAssertEqual(fixture.files.count, 3)
  }

  func test_outbox_row_38_entryOfAnOlderVersion_isNotOverwritten() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let directory = try OutboxDirectory(fixture.folder)
    var frozen = try FrozenCall(call("tea"), on: fixture.network)
    frozen.fingerprint = nil
    let old = OutboxEntry(
      frozen.id(of: nil), frozen, account: nil, lane: nil, createdAt: Date(), type: nil, value: nil)
    try directory.write(old, as: OutboxName(1, old.id))
    assertRefused(outbox, call("tea"))
    XCTAssertEqual(fixture.files.count, 1)
  }

  // MARK: A success belongs to the write

  func test_outbox_row_39_redirectToAnotherRequest_parks_andNothingElseIsSent() throws {
    let stranger = try NoteServer()
    for status in [301, 302, 307, 308] {
      let fixture = try OutboxFixture(self)
      let target = status < 303 ? "/login" : stranger.url.absoluteString + "/notes"
      fixture.server.script(.status(status, ["Location": target]))
      let outbox = try fixture.open()
      let id = try outbox.send(AddNote(text: "tea"))
      fixture.waits(forResults: ["status \(status) \(body("tea"))"])
      fixture.waits(for: ["tea: parked (status \(status))"])
      XCTAssertEqual(fixture.server.seen.map(\.method), ["POST"])
      // The person who sees it signs in at the portal.
      try outbox.retry(id)
      fixture.waits(for: [])
      XCTAssertEqual(fixture.server.applied, [body("tea")])
    }
    XCTAssertEqual(stranger.seen, [])
  }

  func test_outbox_row_39_redirectsOfTheWrite_areFollowed() throws {
    for status in [303, 307, 308] {
      let fixture = try OutboxFixture(self)
      fixture.server.script(.status(status, ["Location": "/moved"]))
      try fixture.open().send(AddNote(text: "tea"))
      fixture.waits { fixture.results.all.count == 1 }
      fixture.waits(for: [])
      XCTAssertEqual(fixture.server.seen.map(\.target), ["/notes", "/moved"])
      XCTAssertEqual(fixture.server.seen.last?.method, status == 303 ? "GET" : "POST")
      XCTAssertEqual(fixture.results.all.count, 1)
    }
    // PUT is not changed by 301 and 302.
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(302, ["Location": "/moved"]))
    try fixture.open().send(Call<Response>.put("/notes/1", json: ["text": "tea"]))
    fixture.waits { fixture.results.all.count == 1 }
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.map(\.method), ["PUT", "PUT"])
    XCTAssertEqual(fixture.server.seen.map(\.target), ["/notes/1", "/moved"])
  }

  func test_outbox_row_39_303ToAnotherOrigin_andOther3xx_park() throws {
    let stranger = try NoteServer()
    for (status, fields) in [
      (303, ["Location": stranger.url.absoluteString]), (302, [:]), (304, [:]), (300, [:]),
      (303, ["Location": "ftp://h"]),
      (307, ["Location": "/notes"]),
    ] {
      let fixture = try OutboxFixture(self)
      // A loop, in the last case, which the limit of redirects ends.
      for _ in 0..<11 { fixture.server.script(.status(status, fields)) }
      try fixture.open().send(AddNote(text: "tea"))
      fixture.waits(for: ["tea: parked (status \(status))"])
      XCTAssertEqual(fixture.server.seen.count, status == 307 ? 11 : 1)
    }
    XCTAssertEqual(stranger.seen, [])
  }

  func test_outbox_row_39_ownPolicyOfRedirects_isRespected() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(303, ["Location": "/made"]))
    try fixture.open(on: fixture.backend { $0.options.redirects = .none }).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: parked (status 303)"])
    XCTAssertEqual(fixture.server.seen.count, 1)
  }

  func test_outbox_row_04_unreadable2xx_isAccepted_andAnErrorOfTheTypedResults() throws {
    let fixture = try OutboxFixture(self)
    fixture.server.script(.status(200, body: "<html>"))
    let outbox = try fixture.open(starts: false)
    let kinds = Notes()
    _ = outbox.results(of: AddNote.self).subscribe(onNext: { outcome in
      if case .failure(let error) = outcome.result { kinds.add("\(error.kind)") }
    })
    try outbox.send(AddNote(text: "tea"))
    outbox.start()
    fixture.waits(for: [])
    fixture.waits { kinds.all == ["parse"] }
    XCTAssertEqual(fixture.results.all, ["200 \(body("tea"))"])
  }

  func test_outbox_row_15_dropOfAnEntryThatHasLeft_stillSendsTheOthers() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open()
    fixture.waits { fixture.emissions.value > 0 }
    // Another process stores an entry; this one changes an entry that it does not know.
    try fixture.another().send(AddNote(text: "tea"))
    XCTAssertEqual(fixture.server.seen, [])
    try outbox.drop(UUID())
    fixture.waits(forResults: ["200 \(body("tea"))"])
    try fixture.another().send(AddNote(text: "milk"))
    try outbox.retry(UUID())
    fixture.waits(forResults: ["200 \(body("tea"))", "200 \(body("milk"))"])
  }
}
