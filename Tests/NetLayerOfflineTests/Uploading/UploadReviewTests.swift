import Foundation
import HTTPTransport
import LoopbackServer
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Uploads and results that belong to another user, another path, or another request.
final class UploadReviewTests: UploadTestCase {
  private let call = Call<Response>.post("/files")

  func test_upload_row_34_cancelUpload_thatIsRedirectedToAnotherRequest_keepsTheNote() async throws {
    let asked = Notes()
    let portal = try TestServer { request in
      asked.add("\(request.method) \(request.path)")
      return .status(200)
    }
    for method in methods {
      let server = try UploadServer(method)
      try removeNotes()
      try write(300_000)
      server.fail("PATCH", .cut(100_000))
      server.fail("HEAD", .hang)
      let running = network(server).transfer(film, to: call, by: method, retry: policy).subscribe()
      XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
      running.dispose()
      server.fail("DELETE", .status(302, ["Location": portal.url("/login").absoluteString]))
      let ended = Notes()
      let end = network(server).cancelUpload(of: film, to: call, by: method)
        .subscribe(onCompleted: { ended.add("completed") }, onError: { ended.add("\(NetworkError.wrapping($0).kind)") })
      XCTAssertTrue(holds { !ended.all.isEmpty })
      end.dispose()
      XCTAssertEqual(ended.all, ["status"])
      XCTAssertEqual(notes.count, 1)
      XCTAssertEqual(server.uploads.count, 1)
    }
    XCTAssertEqual(asked.all, [])
  }

  func test_upload_row_36_storedResult_isNotDeliveredToAUserWhomOnlyASecretNames() async throws {
    for kind in [
      "Authorization", "X-User-Token", "X-Signature", "backend", "user", "password", "query", "signed", "common",
      "cookie",
      "nothing",
    ] {
      let server = try UploadServer(.tus)
      try removeNotes()
      try write(3000)
      server.fail("PATCH", .lie(["X-Private": "of ann"]))
      func call(_ who: String) throws -> Call<Response> {
        switch kind {
        case "backend", "cookie", "common", "nothing": return .post("/files")
        case "query": return .post("/files", query: ["token": who])
        case "signed": return .post("/files", query: ["sign": who])
        case "user", "password":
          var parts = try XCTUnwrap(URLComponents(url: server.url, resolvingAgainstBaseURL: true))
          (parts.user, parts.password, parts.path) = (kind == "user" ? who : "u", kind == "user" ? "p" : who, "/files")
          return .post(try XCTUnwrap(parts.url))
        default: return Call<Response>.post("/files").header(kind, "Basic \(who)")
        }
      }
      func net(_ who: String) -> Network {
        network(server) {
          if kind == "backend" { $0.headers = ["Authorization": "Basic \(who)"] }
          if kind == "common" { $0.commonParameters = { ["token": who] } }
          guard kind == "cookie" else { return }
          let jar = CookieJar()
          jar.store(["Set-Cookie": "session=\(who)"], from: server.url)
          $0.options.cookies = jar
        }
      }
      // A process that is killed before its task takes the result.
      let (receipt, got) = (UploadReceipt(), Notes())
      let end = net("ann").events(
        of: film, to: try call("ann"), by: .tus, retry: policy, storingIn: nil, receipt: receipt
      ).subscribe(
        onNext: { if $0.result != nil { got.add("result") } }, onError: { got.add("\($0)") },
        onCompleted: { got.add("end") })
      // The upload waits for the task when it has ended, not before.
      XCTAssertTrue(holds { got.all == ["result", "end"] }, "\(kind) \(got.all)")
      receipt.end(isTaken: false)
      end.dispose()
      server.clearLog()
      let result = await upload(server, .tus, on: net("bob"), to: try call("bob"))
      XCTAssertNil(result.kind, kind)
      XCTAssertEqual(try result.get().headers["X-Private"], kind == "nothing" ? "of ann" : nil, kind)
      switch kind {
      case "nothing": XCTAssertEqual(server.log, [], kind)
      case "user", "X-User-Token", "query": XCTAssertEqual(server.log.first, "POST /files", kind)
      default: XCTAssertEqual(server.log, ["HEAD /uploads/1"], kind)
      }
    }
  }

  // MARK: A note that was removed

  private func anyNote() throws -> UploadState.Note {
    UploadState.Note(
      url: try XCTUnwrap(URL(string: "http://h/1")), file: FileVersion(size: 5, changed: 7, start: "a", end: "b"))
  }

  func test_upload_row_27_noteThatWasRemoved_isLockedAgain_orBusy() throws {
    try write(5)
    let url = UploadNoteFile.url(for: film, in: nil, identity: "k")
    let first = try UploadNoteFile(url)
    try first.save(try anyNote())
    // Nobody else uses the file.
    try FileManager.default.removeItem(at: url)
    try first.save(try anyNote())
    XCTAssertThrowsError(try UploadNoteFile(url)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .fileInUse) }
    // A second upload has the lock of a new file.
    try FileManager.default.removeItem(at: url)
    let second = try UploadNoteFile(url)
    try second.save(try anyNote())
    XCTAssertThrowsError(try first.save(try anyNote())) { XCTAssertEqual(($0 as? NetworkError)?.kind, .fileInUse) }
    first.forget()
    first.letGo()
    guard case .note = try second.read() else { return XCTFail("the note of the second upload was removed") }
    XCTAssertThrowsError(try UploadNoteFile(url)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .fileInUse) }
    second.end()
  }

  func test_upload_row_27_noteWithoutAName_isNotRemovedForAnother() throws {
    try write(5)
    let url = UploadNoteFile.url(for: film, in: nil, identity: "k")
    let first = try UploadNoteFile(url)
    try FileManager.default.removeItem(at: url)
    let second = try UploadNoteFile(url)
    first.letGo()
    XCTAssertTrue(FileManager.default.fileExists(atPath: url.path))
    second.letGo()
    XCTAssertFalse(FileManager.default.fileExists(atPath: url.path))
  }

  func test_upload_row_27_lastByte_isNotSent_whenAnotherUploadHasTheFile() throws {
    for method in methods {
      let server = try UploadServer(method)
      try removeNotes()
      try write(300_000)
      let (clock, ends, pauses) = (TestScheduler(resolution: .milliseconds(1)), Notes(), Notes())
      // Both wait for their next attempt; only the clock of the first one moves.
      func begin(_ clock: TestScheduler, _ count: Int) -> any Disposable {
        server.fail("PATCH", .cut(100_000))
        let retry = RetryPolicy(
          attempts: 8, initialDelay: .seconds(1),
          jitter: { range in
            pauses.add("pause")
            return range.upperBound
          })
        let running = network(server) { $0.clock = clock }.transfer(film, to: call, by: method, retry: retry)
          .subscribe(onError: { ends.add("\(NetworkError.wrapping($0).kind)") }, onCompleted: { ends.add("completed") })
        XCTAssertTrue(holds { pauses.all.count == count }, "\(server.log) \(ends.all)")
        return running
      }
      let first = begin(clock, 1)
      for note in notes { try FileManager.default.removeItem(at: folder.appending(path: note)) }
      let second = begin(TestScheduler(resolution: .milliseconds(1)), 2)
      XCTAssertTrue(
        holds {
          clock.advanceBy(1000)
          return !ends.all.isEmpty
        })
      XCTAssertEqual(ends.all, ["fileInUse"])
      XCTAssertEqual(server.finished, [])
      first.dispose()
      second.dispose()
    }
  }

  func test_upload_row_31_fileThroughALinkOfItsDirectory_isTheSameUpload() async throws {
    let server = try UploadServer(.tus)
    try write(3000)
    let link = folder.deletingLastPathComponent().appending(path: "link-\(UUID().uuidString)")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    defer { try? FileManager.default.removeItem(at: link) }
    let (net, other) = (network(server), link.appending(path: "film.mp4"))
    _ = try await net.upload(film, to: call, by: .tus, retry: policy)
    _ = try await net.upload(other, to: call, by: .tus, retry: policy)
    server.fail("PATCH", .hang)
    let ended = Notes()
    let running = net.transfer(film, to: call, by: .tus, retry: policy)
      .subscribe(onError: { ended.add("\(NetworkError.wrapping($0).kind)") })
    XCTAssertTrue(holds { server.log.last?.hasPrefix("PATCH") == true })
    let cancelling = net.cancelUpload(of: other, to: call, by: .tus)
      .subscribe(onCompleted: { ended.add("completed") }, onError: { ended.add("error \($0)") })
    XCTAssertTrue(holds { ended.all == ["cancelled", "completed"] }, "\(ended.all)")
    cancelling.dispose()
    running.dispose()
  }

  func test_upload_row_34_cancelUpload_whileATaskTakesTheResult_completes() async throws {
    let server = try UploadServer(.tus)
    try write(3000)
    let (receipt, got, net) = (UploadReceipt(), Notes(), network(server))
    let end = net.events(of: film, to: call, by: .tus, retry: policy, storingIn: nil, receipt: receipt)
      .subscribe(onNext: { if $0.result != nil { got.add("result") } }, onCompleted: { got.add("completed") })
    XCTAssertTrue(holds { got.all == ["result", "completed"] })
    let ended = Notes()
    let cancelling = net.cancelUpload(of: film, to: call, by: .tus)
      .subscribe(onCompleted: { ended.add("completed") }, onError: { ended.add("\($0)") })
    XCTAssertTrue(holds { !ended.all.isEmpty })
    XCTAssertEqual(ended.all, ["completed"])
    receipt.end(isTaken: true)
    XCTAssertEqual(notes, [])
    cancelling.dispose()
    end.dispose()
  }
}
