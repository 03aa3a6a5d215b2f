import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The situations of an upload, over real connections: those of other origins, of disks, and of the end.
final class UploadServerRowTests: UploadTestCase {
  func test_upload_row_29_uploadOnAnotherOrigin_getsNoCredentials() async throws {
    for method in methods {
      let (home, storage) = (try UploadServer(method), try UploadServer(method))
      let bytes = try write(1000)
      storage.fail("PATCH", .cut(100))
      let login = AuthenticationInterceptor(for: [home.url], store: MemoryTokenStore(Token(access: "secret"))) {
        _ -> Single<Token> in .never()
      }
      let network = network(home) {
        $0.interceptors = [login]
        $0.headers = ["X-Backend": "secret"]
        $0.commonParameters = { ["key": "secret"] }
      }
      // The storage has the upload that the endpoint creates.
      let created = try await self.network(storage).fetch(
        .post("/files").header("Upload-Length", "1000").header("Tus-Resumable", "1.0.0"))
      let place = storage.url.appending(path: created.headers["Location"] ?? "").absoluteString
      storage.clearLog()
      home.fail("POST", .status(201, ["Location": place]))
      let result = await upload(home, method, on: network, to: .post("/files").header("X-Mine", "secret"))
      XCTAssertNil(result.kind)
      XCTAssertEqual(storage.finished, [bytes])
      XCTAssertEqual(home.requests.first?.header("Authorization"), "Bearer secret")
      XCTAssertEqual(home.requests.first?.header("X-Mine"), "secret")
      XCTAssertEqual(home.requests.first?.query("key"), "secret")
      XCTAssertEqual(storage.requests.map(\.method), ["PATCH", "HEAD", "PATCH"])
      for request in storage.requests {
        XCTAssertFalse(request.headers.contains { $0.value.contains("secret") }, "\(request.headers)")
        XCTAssertFalse(request.target.contains("secret"))
      }
    }
  }

  func test_upload_row_29_ownOrigin_getsTheFieldsOfTheEndpoint() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(1000)
      server.fail("PATCH", .cut(100))
      let call = Call(
        .post, "/files",
        headers: [
          "X-Mine": "a", "Content-Type": "text/plain", "Upload-Metadata": "mine", "Content-Disposition": "inline",
        ])
      let result = await upload(server, method, on: network(server) { $0.headers = ["X-Backend": "b"] }, to: call)
      XCTAssertNil(result.kind)
      XCTAssertEqual(server.requests.map { $0.header("X-Mine") }, ["a", "a", "a", "a"])
      XCTAssertEqual(server.requests.map { $0.header("X-Backend") }, ["b", "b", "b", "b"])
      XCTAssertEqual(server.requests[0].header("Upload-Metadata"), "mine", "the endpoint's own field wins")
      XCTAssertEqual(server.requests[0].header("Content-Type"), "text/plain")
      XCTAssertEqual(server.requests.dropFirst().map { $0.header("Upload-Metadata") }, [nil, nil, nil])
      XCTAssertNil(server.requests[2].header("Content-Type"))
    }
  }

  func test_upload_row_29_keyAndConditionsOfTheCreation_areNotRepeated() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(1000)
      server.fail("PATCH", .cut(100))
      let call: Call<Response> = .post("/files").idempotent().header("If-None-Match", "*").header("If-Match", "\"a\"")
      let result = await upload(server, method, to: call)
      XCTAssertNil(result.kind)
      XCTAssertEqual(server.requests.map(\.method), ["POST", "PATCH", "HEAD", "PATCH"])
      for name in ["Idempotency-Key", "If-None-Match", "If-Match"] {
        XCTAssertEqual(server.requests[0].header(name), call.headers[name])
        XCTAssertEqual(server.requests.dropFirst().map { $0.header(name) }, [nil, nil, nil], name)
      }
    }
  }

  func test_upload_row_29_locationsThatMayNotBeUsed_areRefused() async throws {
    for method in methods {
      let created = StubTransport([
        .init(.post, "/files", .response(status: 201, headers: ["Location": "http://shop.test/uploads/1"]))
      ])
      try write(10)
      let network = Network(Backend(baseURL: URL(string: "https://shop.test"), transport: created))
      do {
        try await network.upload(film, to: .post("/files"), by: method, retry: policy)
        XCTFail("no error")
      } catch {
        XCTAssertEqual(error.kind, .redirect)
        XCTAssertTrue(error.reason.contains("from https to http"), error.reason)
      }
      for place in ["ftp://h/1", "file:///etc/passwd", "http://", "http://[", "mailto:x", "", " "] {
        let server = try UploadServer(method)
        server.fail("POST", .lie(["Location": place]))
        let result = await upload(server, method)
        XCTAssertEqual(result.kind, .redirect, place)
        XCTAssertEqual(server.log, ["POST /files"], "nothing is sent there")
        XCTAssertEqual(notes, [])
      }
    }
  }

  func test_upload_row_30_redirectedHEADAndPATCH_areFollowed() async throws {
    for method in methods {
      for status in [307, 308] {
        let server = try UploadServer(method)
        let bytes = try write(1000)
        server.fail("PATCH", .cut(100))
        server.fail("HEAD", .status(status, ["Location": "/uploads/1?moved"]))
        server.fail("PATCH", .status(status, ["Location": "/uploads/1?moved"]))
        await assertUploads(bytes, server, method)
        XCTAssertEqual(
          server.requests.map { "\($0.method) \($0.target)" },
          [
            "POST /files", "PATCH /uploads/1", "HEAD /uploads/1", "HEAD /uploads/1?moved", "PATCH /uploads/1",
            "PATCH /uploads/1?moved",
          ])
      }
    }
  }

  func test_upload_refusedPATCH_isReplacedByPOST_withTus() async throws {
    for size in [1, 1000, 600_000] {
      let server = try UploadServer(.tus, UploadServer.Habits(refusesPatch: true))
      let bytes = try write(size)
      await assertUploads(bytes, server, .tus)
      XCTAssertEqual(server.requests.map(\.method), ["POST", "PATCH", "HEAD", "POST"], "\(size)")
      XCTAssertEqual(server.requests.last?.header("X-HTTP-Method-Override"), "PATCH")
    }
  }

  func test_upload_requestSize_isThatOfTheCaller() async throws {
    for (size, requestSize, count) in [(1_000_000, 262_144, 4), (1_000_000, 1_000_000, 1), (10, 3, 4), (10, 0, 10)] {
      let server = try UploadServer(.tus)
      let bytes = try write(size)
      try await network(server).upload(film, to: .post("/files"), by: .tus, retry: policy, requestSize: requestSize)
      XCTAssertEqual(server.finished.last, bytes)
      XCTAssertEqual(server.requests.count { $0.method == "PATCH" }, count, "\(size) \(requestSize)")
    }
  }

  func test_upload_requests_haveTheTraceOfTheCaller() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(1000)
      let network = network(server) { $0.interceptors = [TraceInterceptor()] }
      let trace = TraceContext()
      try await TraceContext.$current.withValue(trace) {
        try await network.upload(film, to: .post("/files"), by: method, retry: policy, requestSize: 400)
      }
      let traces = server.requests.map { TraceContext(traceparent: $0.header("traceparent") ?? "")?.traceID }
      XCTAssertGreaterThan(traces.count, 3)
      XCTAssertEqual(traces, Array(repeating: trace.traceID, count: traces.count))
    }
  }

  func test_upload_row_31_fullDisk_isAnError_andTheUploadIsDeleted() async throws {
    let disk = folder.appending(path: "disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    try SmallDisk.mount(at: disk, for: self)
    for method in methods {
      let server = try UploadServer(method)
      try write(1000)
      let filler = disk.appending(path: "filler")
      // The lock fits, and the note does not.
      server.fail("POST", .before { _ = try? Self.fill(filler) })
      do {
        try await network(server).upload(film, to: .post("/files"), by: method, retry: policy, storingIn: disk)
        XCTFail("no error")
      } catch {
        XCTAssertEqual(error.kind, .file)
        XCTAssertTrue(error.reason.contains("storingIn"), error.reason)
      }
      XCTAssertTrue(holds { server.log == ["POST /files", "DELETE /uploads/1"] }, "\(server.log)")
      XCTAssertEqual(server.finished, [])
      try FileManager.default.removeItem(at: filler)
      XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: disk.path), [])
    }
  }

  private static func fill(_ file: URL) throws {
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    for _ in 0..<100_000 { try handle.write(contentsOf: Data(count: 512)) }
  }

  func test_upload_row_31_directoryThatCantBeWritten_isAnErrorThatNamesTheRemedy() async throws {
    let disk = folder.appending(path: "disk")
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
    try SmallDisk.mount(at: disk, for: self)
    let server = try UploadServer(.tus)
    let bytes = try write(1000)
    try FileManager.default.copyItem(at: film, to: disk.appending(path: "film.mp4"))
    try SmallDisk.setReadOnly(true, disk)
    let (network, film) = (network(server), disk.appending(path: "film.mp4"))
    do {
      try await network.upload(film, to: .post("/files"), by: .tus, retry: policy)
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error.kind, .file)
      XCTAssertTrue(error.reason.contains("storingIn"), error.reason)
    }
    XCTAssertEqual(server.log, [])
    try await network.upload(film, to: .post("/files"), by: .tus, retry: policy, storingIn: folder)
    XCTAssertEqual(server.finished, [bytes])
  }

  func test_upload_row_33_targetThatRejectsTheUpload_isAStatus_andTheNoteIsGone() async throws {
    let server = try UploadServer(.ietf(), UploadServer.Habits(target: 422))
    try write(1000)
    let result = await upload(server, .ietf())
    guard case .failure(let error) = result else { return XCTFail("no error") }
    XCTAssertEqual(error.kind, .status)
    XCTAssertEqual(error.status, 422)
    XCTAssertEqual(notes, [])
    XCTAssertEqual(server.log, ["POST /files", "PATCH 0+1000"])
  }

  func test_upload_row_34_sameFileAgainAfterASuccess_isANewUpload() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(1000)
      await assertUploads(bytes, server, method)
      let result = await upload(server, method)
      XCTAssertNil(result.kind)
      XCTAssertEqual(server.finished, [bytes, bytes])
      XCTAssertEqual(server.log.suffix(2), ["POST /files", "PATCH 0+1000"])
    }
  }

  func test_upload_row_34_errorsOfReading_endTheUpload() async throws {
    struct Film: Decodable, Sendable { var id: Int }
    let server = try UploadServer(.tus)
    try write(1000)
    let errors = Box<[NetworkError.Kind]>([])
    let network = network(server) { $0.onError = { error in errors.update { $0.append(error.kind) } } }
    do {
      _ = try await network.upload(film, to: .post("/files").as(Film.self), by: .tus, retry: policy)
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error.kind, .parse)
    }
    XCTAssertEqual(notes, [], "the server has the file")
    XCTAssertEqual(errors.value, [.parse], "reported once")
    server.fail("PATCH", .cut(10))
    try await network.upload(film, to: .post("/files"), by: .tus, retry: policy)
    XCTAssertEqual(errors.value, [.parse], "an attempt that another one follows is not an error")
    server.fail("POST", .status(403))
    _ = await upload(server, .tus, on: network)
    XCTAssertEqual(errors.value, [.parse, .status])
  }

  func test_upload_row_35_processThatEndsAfterTheResult_deliversItAgain() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(1000)
      server.fail("PATCH", .loseResponse)
      let copy = Box(Data())
      let (folder, note) = (folder, Box(""))
      // The note at the moment of the result.
      let results = Counter()
      for try await event in network(server).transfer(film, to: .post("/files"), by: method, retry: policy).do(
        onNext: { event in
          guard event.result != nil else { return }
          note.value =
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".upload") } ?? ""
          copy.value = try Data(contentsOf: folder.appending(path: note.value))
        }
      ).values where event.result != nil { results.next() }
      XCTAssertEqual(results.value, 1)
      XCTAssertFalse(copy.value.isEmpty, "the note is removed after the result")
      XCTAssertEqual(notes, [])
      try copy.value.write(to: folder.appending(path: note.value))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: folder.appending(path: note.value).path)
      server.clearLog()
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log, [], "the note has the response")
    }
  }

  func test_upload_row_35_subscriberThatLeavesWithTheResult_hasIt() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let events = network(server).transfer(film, to: .post("/files"), by: .tus, retry: policy)
    let first = try await events.compactMap { $0.result }.take(1).asSingle().value
    XCTAssertEqual(first.status, 204)
    XCTAssertTrue(holds { notes.isEmpty }, "the note is removed")
  }

  func test_upload_row_32_damagedNotes_startOver_andAreReported() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(16 << 20)
      server.fail("PATCH", .cut(100_000))
      server.fail("HEAD", .status(403))
      _ = await upload(server, method)
      let (place, whole) = (note, try Data(contentsOf: note))
      let reports = Box<[String]>([])
      let network = network(server) { $0.onError = { error in reports.update { $0.append(error.reason) } } }
      for damage in [whole.prefix(whole.count - 1), whole.prefix(5), whole + Data([0]), Data(count: whole.count)] {
        UploadRegistry.shared.settle()
        try damage.write(to: place)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path)
        server.clearLog()
        let result = await upload(server, method, on: network)
        XCTAssertNil(result.kind)
        XCTAssertEqual(server.log, ["POST /files", "PATCH 0+\(bytes.count)"])
      }
      XCTAssertEqual(reports.value.count, 4)
      XCTAssertTrue(reports.value.allSatisfy { $0.contains("is damaged") })
      // Another user can write it, so that it may name any server.
      UploadRegistry.shared.settle()
      try whole.write(to: place)
      try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: place.path)
      server.clearLog()
      _ = await upload(server, method, on: network)
      XCTAssertEqual(server.log.first, "POST /files")
      XCTAssertEqual(reports.value.count, 5)
    }
  }

  func test_upload_row_32_noteOfALaterVersion_isUntouched() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(16 << 20)
      server.fail("PATCH", .cut(100_000))
      server.fail("HEAD", .status(403))
      _ = await upload(server, method)
      var record = try XCTUnwrap(DurableRecord(try Data(contentsOf: note)))
      record.set("version", 2)
      try record.bytes.write(to: note)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: note.path)
      server.clearLog()
      let result = await upload(server, method)
      XCTAssertEqual(result.kind, .file)
      XCTAssertEqual(server.log, [])
      XCTAssertEqual(try Data(contentsOf: note), record.bytes)
      do {
        try await network(server).cancelUpload(of: film, to: .post("/files"), by: method).value
        XCTFail("no error")
      } catch {
        XCTAssertEqual((error as? NetworkError)?.kind, .file)
      }
      XCTAssertEqual(try Data(contentsOf: note), record.bytes)
    }
  }

  func test_upload_row_32_membersOfOtherVersions_remain() throws {
    let url = UploadNoteFile.url(for: film, in: nil, identity: "k")
    let version = FileVersion(size: 5, changed: 7, start: "a", end: "b")
    var note = UploadState.Note(url: try XCTUnwrap(URL(string: "http://h/1")), file: version)
    let file = try UploadNoteFile(url)
    guard case .none = try file.read() else { return XCTFail("a note") }
    try file.save(note)
    file.letGo()
    var record = try XCTUnwrap(DurableRecord(try Data(contentsOf: url)))
    record.set("later", [1, 2])
    try record.bytes.write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    let again = try UploadNoteFile(url)
    guard case .note(let read) = try again.read() else { return XCTFail("no note") }
    XCTAssertEqual(read, note)
    note.isEnding = true
    try again.save(note)
    XCTAssertThrowsError(try UploadNoteFile(url), "the lock outlives the rename") { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .fileInUse)
    }
    XCTAssertEqual(DurableRecord(try Data(contentsOf: url))?.head["later"].description, "[1,2]")
    XCTAssertEqual(DurableRecord(try Data(contentsOf: url))?.head["isEnding"].bool, true)
    // The next upload of the file has none of them.
    again.forget()
    try again.save(note)
    again.letGo()
    XCTAssertEqual(DurableRecord(try Data(contentsOf: url))?.head["later"].exists, false)
  }
}
