import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// The call that continues an upload, and the end of one that its server refuses.
final class UploadIdentityTests: UploadTestCase {
  /// A call, and the settings of its backend.
  private struct Asked {
    var call: Call<Response> = .post("/files")
    var headers: HTTPHeaders = [:]
    var common: Parameters = [:]
    var redaction = Redaction.standard
    var change: @Sendable (inout Backend) -> Void = { _ in }
  }

  private func network(_ server: UploadServer, _ asked: Asked) -> Network {
    network(server) {
      ($0.headers, $0.redaction) = (asked.headers, asked.redaction)
      $0.commonParameters = { [common = asked.common] in common }
      asked.change(&$0)
    }
  }

  /// Interrupts an upload of `first`, then uploads the same file as `second`. Returns the requests of the second one.
  private func requests(_ method: UploadProtocol, _ first: Asked, then second: Asked) async throws -> [String] {
    let server = try UploadServer(method)
    let bytes = try write(300_000)
    try removeNotes()
    server.fail("PATCH", .cut(100_000))
    server.fail("HEAD", .hang)
    let running = network(server, first).transfer(film, to: first.call, by: method, retry: policy)
      .subscribe(onError: { XCTFail("\($0)") })
    XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
    running.dispose()
    XCTAssertEqual(notes.count, 1)
    server.clearLog()
    let result = await upload(server, method, on: network(server, second), to: second.call)
    XCTAssertNil(result.kind, "\(result)")
    XCTAssertEqual(server.finished, [bytes])
    let log = server.log
    if log.contains(where: { $0.hasPrefix("POST") }) {
      // The first one is still there, and the same call continues it.
      XCTAssertEqual(notes.count, 1)
      server.clearLog()
      let rest = await upload(server, method, on: network(server, first), to: first.call)
      XCTAssertNil(rest.kind)
      XCTAssertEqual(server.log, ["HEAD /uploads/1", "PATCH 100000+200000"])
      XCTAssertEqual(server.finished, [bytes, bytes])
    }
    XCTAssertEqual(notes, [])
    return log
  }

  private let continued = ["HEAD /uploads/1", "PATCH 100000+200000"]
  private let another = ["POST /files", "PATCH 0+300000"]

  func test_upload_row_36_otherTarget_isAnotherUpload() async throws {
    let cases: [(String, Asked, Asked)] = [
      ("query", Asked(call: .post("/files", query: ["album": 1])), Asked(call: .post("/files", query: ["album": 2]))),
      ("query in the path", Asked(call: .post("/files?album=1")), Asked(call: .post("/files?album=2"))),
      ("no query", Asked(), Asked(call: .post("/files?album=2"))),
      (
        "key of an object", Asked(call: .post("/files", query: ["key": "a.mp4"])),
        Asked(call: .post("/files", query: ["key": "b.mp4"]))
      ),
      (
        "time that is content", Asked(call: .post("/files", query: ["expires": 1])),
        Asked(call: .post("/files", query: ["expires": 2]))
      ),
      (
        "metadata", Asked(call: .post("/files").header("Upload-Metadata", "album MQ==")),
        Asked(call: .post("/files").header("Upload-Metadata", "album Mg=="))
      ),
      (
        "disposition", Asked(call: .post("/files").header("Content-Disposition", "inline; filename=a")),
        Asked(call: .post("/files").header("Content-Disposition", "inline; filename=b"))
      ),
      (
        "type", Asked(call: .post("/files").header("Content-Type", "video/mp4")),
        Asked(call: .post("/files").header("Content-Type", "text/plain"))
      ),
      (
        "own field", Asked(call: .post("/files").header("X-Album", "1")),
        Asked(call: .post("/files").header("X-Album", "2"))
      ),
      ("field of the backend", Asked(headers: ["X-Tenant": "a"]), Asked(headers: ["X-Tenant": "b"])),
      (
        "times without a signature", Asked(call: .post("/files?session=1&expires=1")),
        Asked(call: .post("/files?session=1&expires=2"))
      ),
      (
        "own name of a secret", Asked(headers: ["X-Shop-User": "a"], redaction: .standard.hiding(["x_shop_user"])),
        Asked(headers: ["X-Shop-User": "b"], redaction: .standard.hiding(["x_shop_user"]))
      ),
      (
        "secret that the backend shows", Asked(headers: ["X-Api-Key": "a"], redaction: .none),
        Asked(headers: ["X-Api-Key": "b"], redaction: .none)
      ),
    ]
    for method in methods {
      for (name, first, second) in cases {
        let log = try await requests(method, first, then: second)
        XCTAssertEqual(log, another, "\(method.name), \(name)")
      }
    }
  }

  /// A name that logs hide may still name the target.
  func test_upload_row_36_valueThatLogsHide_isPartOfTheTarget() async throws {
    for name in [
      "session", "sid", "pin", "ticket", "pass", "access", "refresh", "verifier", "auth", "token", "apiKey", "secret",
    ] {
      let log = try await requests(
        .tus, Asked(call: .post("/files", query: [name: "room1"])),
        then: Asked(call: .post("/files", query: [name: "room2"])))
      XCTAssertEqual(log, another, name)
    }
    for name in ["X-Ticket", "X-Session", "X-Pin", "X-Pass", "X-Api-Key", "X-User-Token", "Session-Id"] {
      let log = try await requests(
        .tus, Asked(call: .post("/files").header(name, "SUP-1")),
        then: Asked(call: .post("/files").header(name, "SUP-2")))
      XCTAssertEqual(log, another, name)
    }
  }

  func test_upload_row_36_secretsOfTheTarget_areNotOnDisk() async throws {
    let server = try UploadServer(.tus)
    try write(300_000)
    server.fail("PATCH", .cut(100_000))
    server.fail("HEAD", .status(400))
    let call = Call<Response>.post("/files", query: ["session": "room1"]).header("X-Ticket", "SUP-1")
    _ = await upload(server, .tus, on: network(server) { _ in }, to: call)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".upload") }
    XCTAssertEqual(names.count, 1)
    for name in names {
      let text = name + String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
      XCTAssertFalse(text.contains("room1") || text.contains("SUP-1"), text)
    }
  }

  func test_upload_row_36_sameTarget_isContinued() async throws {
    let signed = "X-Amz-Algorithm=a&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-Signature=1"
    let cases: [(String, Asked, Asked)] = [
      (
        "order of a query", Asked(call: .post("/files?a=1&b=2")), Asked(call: .post("/files?b=2&a=1"))
      ),
      (
        "signature in the query", Asked(call: .post("/files?sign=a&album=1")),
        Asked(call: .post("/files?sign=b&album=1"))
      ),
      (
        "signed query", Asked(call: .post("/files?album=1&\(signed)")),
        Asked(
          call: .post("/files?album=1&\(signed.replacing("=60", with: "=90").replacing("=2026", with: "=2027"))2"))
      ),
      (
        "signature", Asked(call: .post("/files").header("AuthorizationSignature", "a")),
        Asked(call: .post("/files").header("AuthorizationSignature", "b"))
      ),
      (
        "temporary credentials", Asked(call: .post("/files?\(signed)&X-Amz-Credential=a/1&X-Amz-Security-Token=1")),
        Asked(call: .post("/files?\(signed)&X-Amz-Credential=a/2&X-Amz-Security-Token=2"))
      ),
      ("cookie", Asked(headers: ["Cookie": "a=1"]), Asked(headers: ["Cookie": "a=2"])),
      (
        "authorization that the backend shows", Asked(headers: ["Authorization": "a"], redaction: .none),
        Asked(headers: ["Authorization": "b"], redaction: .none)
      ),
      ("authorization", Asked(headers: ["Authorization": "a"]), Asked(headers: ["Authorization": "b"])),
      ("common parameters", Asked(common: ["time": 1]), Asked(common: ["time": 2])),
      ("key", Asked(call: .post("/files").idempotent()), Asked(call: .post("/files").idempotent())),
      (
        "condition", Asked(call: .post("/files").header("If-Match", "\"a\"")),
        Asked(call: .post("/files").header("If-Match", "\"b\""))
      ),
      (
        "fields of one request", Asked(headers: ["Date": "a", "User-Agent": "1", "Accept-Language": "de"]),
        Asked(headers: ["Date": "b", "User-Agent": "2", "Accept-Language": "en"])
      ),
      ("case of a name", Asked(headers: ["X-Tenant": "a"]), Asked(headers: ["x-tenant": "a"])),
    ]
    for method in methods {
      for (name, first, second) in cases {
        let log = try await requests(method, first, then: second)
        XCTAssertEqual(log, continued, "\(method.name), \(name)")
      }
    }
  }

  func test_upload_row_36_accountsOfSignersAndCaches_arePartsOfTheUser() async throws {
    let changes: [(String, @Sendable (String, inout Backend) -> Void)] = [
      ("signer", { account, backend in backend.signer = ClosureSigner(for: { account }) { _ in RequestSignature() } }),
      (
        "cache",
        { account, backend in
          backend.interceptors = [CacheInterceptor(ResponseCache(storingIn: nil), account: { _ in account })]
        }
      ),
    ]
    for (name, change) in changes {
      func asked(_ account: String) -> Asked { Asked(change: { change(account, &$0) }) }
      let other = try await requests(.tus, asked("ann"), then: asked("bob"))
      XCTAssertEqual(other, another, name)
      let same = try await requests(.tus, asked("ann"), then: asked("ann"))
      XCTAssertEqual(same, continued, name)
    }
  }

  func test_upload_row_36_texts_neverClash() throws {
    func text(_ url: String, _ headers: HTTPHeaders = [:], file: String = "a", user: String = "") throws -> String {
      let request = Request(method: .post, url: try XCTUnwrap(URL(string: url)), headers: headers)
      return UploadIdentity.text(
        of: request, file: URL(filePath: "/tmp/\(file)"), user: user)
    }
    let texts = [
      try text("http://h/a"), try text("http://h/a", file: "b"), try text("http://h/a", user: "1:a"),
      try text("http://h/a", ["X": "1"]), try text("http://h/a", ["X": "1", "Y": "2"]),
      try text("http://h/a", ["X": "1:y: 2"]), try text("http://h/a?x=1"), try text("http://h/A"),
      try text("https://h/a"), try text("http://h:81/a"), try text("http://ann@h/a"), try text("http://bob@h/a"),
    ]
    XCTAssertEqual(Set(texts).count, texts.count)
    XCTAssertEqual(
      try text("http://ann:pass@H/a#part"), try text("http://ann@h/a"), "neither the password nor the fragment counts")
    XCTAssertEqual(try text("http://h/a?%73ig=1"), try text("http://h/a?%73ig=2"), "an escaped name is read, too")
    XCTAssertTrue(try text("http://h/a?b=user@host").contains("b=user@host"))
    XCTAssertEqual(try text("http://h/a?sign=1"), texts[0])
  }

  func test_upload_row_36_namesOfNotes_haveManyBits() {
    let file = URL(filePath: "/tmp/film.mp4")
    let names = (0..<100_000).map { UploadNoteFile.url(for: file, in: nil, identity: "\($0)").lastPathComponent }
    XCTAssertEqual(Set(names).count, 100_000)
    XCTAssertEqual(names[0].count, "film.mp4-".count + 32 + ".upload".count)
    let long = URL(filePath: "/tmp/" + String(repeating: "ü", count: 120))
    XCTAssertLessThanOrEqual(
      UploadNoteFile.url(for: long, in: nil, identity: "a").lastPathComponent.utf8.count, 255)
  }

  func test_upload_row_31_noteThatWouldNotBeRead_isAnError_andTheUploadIsDeleted() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(1000)
      server.fail("POST", .lie(["Location": "/uploads/1?" + String(repeating: "x", count: 66_000)]))
      let result = await upload(server, method)
      guard case .failure(let error) = result else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .file)
      XCTAssertTrue(error.reason.contains("at most 65536 are read"), error.reason)
      XCTAssertTrue(holds { server.uploads.isEmpty }, "nobody can continue it")
      XCTAssertEqual(notes, [])
    }
  }

  // MARK: A success belongs to the request

  func test_upload_row_37_redirectsToAnotherRequest_areErrors_andTheNoteStays() async throws {
    for method in methods {
      for status in [301, 302, 307, 308] {
        let server = try UploadServer(method)
        let stranger = try UploadServer(method)
        let bytes = try write(1000)
        // A login page, as a captive portal or an expired session has it.
        let target = [301, 302].contains(status) ? "/login" : stranger.url.absoluteString + "/files"
        server.fail("POST", .status(status, ["Location": target]))
        let created = await upload(server, method)
        guard case .failure(let error) = created else { return XCTFail("\(status) is a success") }
        XCTAssertEqual(error.response?.status, status)
        XCTAssertEqual(server.log, ["POST /files"])
        // The same for a part of the file.
        server.fail("PATCH", .status(307, ["Location": stranger.url.absoluteString + "/uploads/1"]))
        let patched = await upload(server, method)
        guard case .failure(let error) = patched else { return XCTFail("307 is a success") }
        XCTAssertEqual(error.response?.status, 307)
        XCTAssertEqual(stranger.log, [], "the file stays within the origin")
        await assertUploads(bytes, server, method)
      }
    }
  }

  // MARK: An upload is stored once

  func test_upload_row_35_valueThatNoTaskHasTaken_isDeliveredAgain_fromTheNote() async throws {
    for method in methods {
      let server = try UploadServer(method, .init(removesComplete: true))
      let bytes = try write(1000)
      // The subscriber has the result; the task that awaits it has not.
      let receipt = UploadReceipt()
      let first = try await network(server).events(
        of: film, to: .post("/files"), by: method, retry: policy, storingIn: nil, receipt: receipt
      ).compactMap(\.result).asSingle().value
      XCTAssertEqual(notes.count, 1, "the process may be killed now")
      receipt.end(isTaken: false)
      server.clearLog()
      let again = try await network(server).upload(film, to: Call<Response>.post("/files"), by: method)
      XCTAssertEqual(again.status, first.status)
      XCTAssertEqual(again.body, first.body)
      XCTAssertEqual(again.headers, first.headers)
      XCTAssertEqual(server.log, [], "the server, which has removed the upload, is not asked")
      XCTAssertEqual(server.finished, [bytes])
      XCTAssertEqual(notes, [])
      // Afterwards, the same call is a new upload.
      await assertUploadsAgain(server, method, [bytes, bytes])
    }
  }

  private func assertUploadsAgain(_ server: UploadServer, _ method: UploadProtocol, _ all: [Data]) async {
    let result = await upload(server, method)
    XCTAssertNil(result.kind)
    XCTAssertEqual(server.finished, all)
  }

  func test_upload_row_35_cancelledBeforeTheValueIsTaken_keepsTheNote() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let receipt = UploadReceipt()
    // The task is cancelled before the upload ends.
    receipt.end(isTaken: false)
    _ = try await network(server).events(
      of: film, to: Call<Response>.post("/files"), by: .tus, retry: policy, storingIn: nil, receipt: receipt
    ).compactMap(\.result).asSingle().value
    XCTAssertEqual(notes.count, 1)
    let result = await upload(server, .tus)
    XCTAssertNil(result.kind)
    XCTAssertEqual(server.finished.count, 1)
  }

  func test_upload_row_35_cancelUpload_afterTheResult_endsAnUploadThatWaitsForItsTask() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let receipt = UploadReceipt()
    let app = network(server)
    _ = try await app.events(
      of: film, to: Call<Response>.post("/files"), by: .tus, retry: policy, storingIn: nil, receipt: receipt
    ).compactMap(\.result).asSingle().value
    XCTAssertEqual(notes.count, 1)
    try await app.cancelUpload(of: film, to: Call<Response>.post("/files"), by: .tus).value
    try await eventually("the note is removed") { self.notes.isEmpty }
    // The task takes the result later, which changes nothing.
    receipt.end(isTaken: false)
    XCTAssertEqual(notes, [])
    XCTAssertEqual(server.finished.count, 1)
  }

  func test_upload_row_35_fileThatHasChanged_isANewUpload_despiteTheResult() async throws {
    let server = try UploadServer(.tus)
    let bytes = try write(1000)
    let receipt = UploadReceipt()
    _ = try await network(server).events(
      of: film, to: Call<Response>.post("/files"), by: .tus, retry: policy, storingIn: nil, receipt: receipt
    ).compactMap(\.result).asSingle().value
    receipt.end(isTaken: false)
    let changed = try write(2000, seed: 2)
    await assertUploadsAgain(server, .tus, [bytes, changed])
    XCTAssertEqual(server.uploads.count, 2, "a complete upload is not deleted")
  }

  func test_upload_row_36_storedResult_isNotDeliveredForAnotherCookie_thatTheBackendShows() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let receipt = UploadReceipt()
    _ = try await network(server, Asked(headers: ["Cookie": "session=ann"], redaction: .none)).events(
      of: film, to: Call<Response>.post("/files"), by: .tus, retry: policy, storingIn: nil, receipt: receipt
    ).compactMap(\.result).asSingle().value
    receipt.end(isTaken: false)
    server.clearLog()
    let other = Asked(headers: ["Cookie": "session=bob"], redaction: .none)
    let result = await upload(server, .tus, on: network(server, other), to: other.call)
    XCTAssertNil(result.kind)
    XCTAssertEqual(server.log, ["HEAD /uploads/1"], "the server says whether it is the result of this user")
  }

  func test_upload_row_35_largeResponse_isNotStored_andTheServerIsAsked() async throws {
    var response = Response(request: Request(url: film), status: 200, headers: ["A": "b"])
    response.headers["Set-Cookie"] = "session=1"
    XCTAssertEqual(UploadState.Finished(response)?.response(to: Request(url: film)).headers, ["A": "b"], "no cookies")
    response.body = Data(count: UploadState.Finished.maxBody)
    XCTAssertNil(UploadState.Finished(response))
  }

  // MARK: What is stored can be removed

  func test_upload_row_38_refusedUpload_canAlwaysBeCancelled() async throws {
    for method in methods {
      for status in [400, 403, 404, 405, 409, 410, 418, 501] {
        let (server, errors) = (try UploadServer(method), Notes())
        let bytes = try write(300_000)
        let network = network(server) { $0.onError = { errors.add("\($0.response?.status ?? 0)") } }
        server.fail("PATCH", .cut(100_000))
        server.fail("HEAD", .status(400))
        let failed = await upload(server, method, on: network)
        guard case .failure(let error) = failed else { return XCTFail("no error") }
        XCTAssertTrue(error.reason.contains("cancelUpload"), error.reason)
        XCTAssertEqual(notes.count, 1)
        server.fail("DELETE", .status(status))
        try await network.cancelUpload(of: film, to: .post("/files"), by: method).value
        XCTAssertEqual(notes, [], "\(status)")
        let isSilent = [404, 405, 410, 501].contains(status)
        XCTAssertEqual(errors.all, isSilent ? ["400"] : ["400", "\(status)"])
        await assertUploads(bytes, server, method)
      }
    }
  }

  func test_upload_row_38_cancellationThatMaySucceedLater_keepsTheNote() async throws {
    for status in [302, 401, 408, 423, 425, 429, 500, 503] {
      let server = try UploadServer(.tus)
      try write(300_000)
      server.fail("PATCH", .cut(100_000))
      server.fail("HEAD", .status(400))
      _ = await upload(server, .tus)
      server.fail("DELETE", .status(status))
      do {
        try await network(server).cancelUpload(of: film, to: .post("/files"), by: .tus).value
        XCTFail("\(status) is a success")
      } catch {
        XCTAssertEqual((error as? NetworkError)?.response?.status, status)
      }
      XCTAssertEqual(notes.count, 1)
      try await network(server).cancelUpload(of: film, to: .post("/files"), by: .tus).value
      XCTAssertEqual(notes, [])
      XCTAssertTrue(server.uploads.isEmpty)
    }
  }
}

/// The note of an upload whose result was taken.
extension UploadIdentityTests {
  func test_upload_row_35_noteOfATakenResult_remainsForASecond() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let clock = TestScheduler(resolution: .milliseconds(1))
    let result = await upload(server, .tus, on: network(server) { $0.clock = clock })
    XCTAssertNil(result.kind)
    clock.advanceBy(999)
    XCTAssertEqual(files, 1, "a process that is killed now delivers the result again")
    clock.advanceBy(1)
    XCTAssertEqual(files, 0)
  }

  func test_upload_row_35_takenResult_countsAsRemoved_inThisProcess() async throws {
    let server = try UploadServer(.tus)
    let bytes = try write(1000)
    let network = network(server) { $0.clock = TestScheduler(resolution: .milliseconds(1)) }
    let first = await upload(server, .tus, on: network)
    XCTAssertNil(first.kind)
    XCTAssertEqual(files, 1)
    try await network.cancelUpload(of: film, to: Call<Response>.post("/files"), by: .tus).value
    XCTAssertEqual(files, 0)
    XCTAssertEqual(server.uploads.count, 1, "a finished upload is not deleted")
    let second = await upload(server, .tus, on: network)
    XCTAssertNil(second.kind)
    XCTAssertEqual(files, 1)
    let third = await upload(server, .tus, on: network)
    XCTAssertNil(third.kind)
    XCTAssertEqual(server.finished, [bytes, bytes, bytes])
  }

  /// The number of notes on disk.
  private var files: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).count { $0.hasSuffix(".upload") }
  }
}

/// The upload that `cancelUpload` cancels.
extension UploadIdentityTests {
  func test_upload_row_38_cancelUpload_cancelsTheUploadOfTheSameCallOnly() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(300_000)
      let network = network(server) { _ in }
      for album in ["1", "2"] {
        server.fail("PATCH", .cut(100_000))
        server.fail("HEAD", .status(400))
        _ = await upload(server, method, on: network, to: .post("/files", query: ["album": album]))
      }
      XCTAssertEqual(notes.count, 2)
      server.clearLog()
      try await network.cancelUpload(of: film, to: Call<Response>.post("/files", query: ["album": "3"]), by: method)
        .value
      XCTAssertEqual(server.log, [])
      try await network.cancelUpload(of: film, to: Call<Response>.post("/files", query: ["album": "1"]), by: method)
        .value
      XCTAssertEqual(server.log, ["DELETE /uploads/1"])
      XCTAssertEqual(notes.count, 1)
      server.clearLog()
      let rest = await upload(server, method, on: network, to: .post("/files", query: ["album": "2"]))
      XCTAssertNil(rest.kind)
      XCTAssertEqual(server.log, ["HEAD /uploads/2", "PATCH 100000+200000"])
      XCTAssertEqual(server.finished, [bytes])
    }
  }
}
