import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// The situations of an upload, over real connections: those in which the server and the connection behave.
final class UploadRowTests: UploadTestCase {
  func test_upload_row_01_firstUpload_emitsProgressAndTheResult() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(700_000)
      let seen = Box<[TransferProgress]>([])
      let result = await upload(server, method) { progress in seen.update { $0.append(progress) } }
      XCTAssertEqual(try result.get().status, method == .tus ? 204 : 200)
      XCTAssertEqual(server.log, ["POST /files", "PATCH 0+700000"])
      XCTAssertEqual(server.finished, [bytes])
      XCTAssertEqual(seen.value.first, TransferProgress(sent: 0, sendTotal: 700_000))
      XCTAssertEqual(seen.value.last?.sent, 700_000)
      XCTAssertEqual(notes, [])
      let fields = try XCTUnwrap(server.uploads["/uploads/1"]?.fields)
      XCTAssertEqual(fields["Upload-Length"], "700000")
      if method == .tus {
        XCTAssertEqual(fields["Tus-Resumable"], "1.0.0")
        XCTAssertEqual(fields["Upload-Metadata"], "filename ZmlsbS5tcDQ=,filetype dmlkZW8vbXA0")
      } else {
        XCTAssertEqual(fields["Upload-Draft-Interop-Version"], "8")
        XCTAssertEqual(fields["Upload-Complete"], "?0")
        XCTAssertEqual(fields["Content-Type"], "video/mp4")
        XCTAssertEqual(fields["Content-Disposition"], "inline; filename=\"film.mp4\"")
      }
    }
  }

  func test_upload_row_01_fileAndDirectory_areClosed_whileTheResponseIsKept() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(100_000)
      let response = try await upload(server, method).get()
      UploadRegistry.shared.settle()
      let (film, folder) = (film, folder)
      XCTAssertTrue(holds { descriptors(of: film) == 0 }, "the file is open \(descriptors(of: film)) times")
      XCTAssertTrue(holds { descriptors(of: folder) == 0 }, "the directory is open \(descriptors(of: folder)) times")
      withExtendedLifetime(response) {}
    }
  }

  func test_upload_row_01_events_endWithTheResultAndCompletion() async throws {
    let server = try UploadServer(.tus)
    try write(10)
    var texts: [String] = []
    for try await event in network(server).transfer(film, to: .post("/files"), by: .tus).values {
      texts.append(event.progress.map { "\($0.sent)/\($0.sendTotal ?? -1)" } ?? "\(event.result?.status ?? 0)")
    }
    XCTAssertEqual(texts.first, "0/10")
    XCTAssertEqual(texts.suffix(1), ["204"])
  }

  func test_upload_row_02_emptyFile() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(0)
      await assertUploads(Data(), server, method)
      XCTAssertEqual(server.log, method == .tus ? ["POST /files"] : ["POST /files", "PATCH 0+0"])
      if method == .ietf() { XCTAssertEqual(server.requests.last?.header("Upload-Complete"), "?1") }
    }
  }

  func test_upload_row_03_cutAndKept_continuesFromThere() async throws {
    for method in methods {
      try removeNotes()
      for cut in [0, 1, 65_536, 299_999] {
        let server = try UploadServer(method)
        let bytes = try write(300_000)
        server.fail("PATCH", .cut(cut))
        await assertUploads(bytes, server, method)
        XCTAssertEqual(
          server.log,
          ["POST /files", "PATCH 0+\(cut)", "HEAD /uploads/1"]
            + (cut == 0 ? ["PATCH 0+262144", "PATCH 262144+37856"] : ["PATCH \(cut)+\(300_000 - cut)"]), "cut at \(cut)"
        )
      }
    }
  }

  func test_upload_row_04_discardedBytes_makeRequestsSmaller() async throws {
    for method in methods {
      try removeNotes()
      // No request of more than 300,000 bytes passes, and nothing of it is kept.
      let server = try UploadServer(method, UploadServer.Habits(discards: true, cutsAt: 300_000))
      let bytes = try write(3_000_000)
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log.prefix(4), ["POST /files", "PATCH 0+300000", "HEAD /uploads/1", "PATCH 0+262144"])
    }
  }

  func test_upload_row_05_lostResponseToPOST_createsAgain() async throws {
    for method in methods {
      try removeNotes()
      for fault in [UploadServer.Fault.loseResponse, .loseRequest, .status(503), .status(429)] {
        let server = try UploadServer(method)
        let bytes = try write(1000)
        server.fail("POST", fault)
        await assertUploads(bytes, server, method)
        XCTAssertEqual(server.log, ["POST /files", "POST /files", "PATCH 0+1000"])
      }
      let server = try UploadServer(method)
      server.fail("POST", .status(403))
      let result = await upload(server, method)
      XCTAssertEqual(result.kind, .status)
      XCTAssertEqual(server.log, ["POST /files"])
      XCTAssertEqual(notes, [], "an upload without a URL leaves nothing")
    }
  }

  func test_upload_row_07_lostLastResponse_isAskedFor() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(1000)
      server.fail("PATCH", .loseResponse)
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log, ["POST /files", "PATCH 0+1000", "HEAD /uploads/1"])
    }
  }

  func test_upload_row_08_09_lostLastResponseOfARemovedUpload_isAnUnknownOutcome_untilItIsCancelled() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method, UploadServer.Habits(removesComplete: true))
      let bytes = try write(1000)
      server.fail("PATCH", .loseResponse)
      for round in 1...3 {
        let result = await upload(server, method)
        XCTAssertEqual(result.kind, .unknownOutcome, "subscription \(round)")
        XCTAssertEqual(notes.count, 1)
      }
      XCTAssertEqual(
        server.log, ["POST /files", "PATCH 0+1000", "HEAD /uploads/1", "HEAD /uploads/1", "HEAD /uploads/1"])
      XCTAssertEqual(server.finished.count, 1, "never a second upload")
      server.clearLog()
      try await network(server).cancelUpload(of: film, to: .post("/files"), by: method).value
      XCTAssertEqual(notes, [])
      let result = await upload(server, method)
      XCTAssertNil(result.kind)
      XCTAssertEqual(server.log, ["DELETE /uploads/1", "POST /files", "PATCH 0+1000"])
      XCTAssertEqual(server.finished, [bytes, bytes])
    }
  }

  func test_upload_row_10_forgottenUpload_startsOver() async throws {
    for method in methods {
      try removeNotes()
      for status in [404, 410] {
        let server = try UploadServer(method)
        // More than the buffers of the connection, so that the last byte has not left.
        let bytes = try write(16 << 20)
        server.fail("PATCH", .cut(100_000))
        server.fail("HEAD", .status(status))
        await assertUploads(bytes, server, method)
        XCTAssertEqual(
          server.log, ["POST /files", "PATCH 0+100000", "HEAD /uploads/1", "POST /files", "PATCH 0+\(16 << 20)"])
      }
    }
  }

  func test_upload_row_11_rejectedHEAD_isAnError_andTheNoteStays() async throws {
    for method in methods {
      try removeNotes()
      for status in [403, 400, 412] {
        let server = try UploadServer(method)
        let bytes = try write(300_000)
        server.fail("PATCH", .cut(100_000))
        server.fail("HEAD", .status(status))
        let result = await upload(server, method)
        guard case .failure(let error) = result else { return XCTFail("no error") }
        XCTAssertEqual(error.kind, .status)
        XCTAssertEqual(error.status, status)
        XCTAssertEqual(server.log.count, 3, "one request")
        XCTAssertEqual(notes.count, 1)
        await assertUploads(bytes, server, method)
        XCTAssertEqual(server.log.suffix(2), ["HEAD /uploads/1", "PATCH 100000+200000"])
      }
    }
  }

  func test_upload_row_11_serverOfAnotherTusVersion_isNamedWithTheRemedy() async throws {
    for (versions, remedy) in [
      ("0.2.2, 0.2.1", "; it supports tus 0.2.2, 0.2.1 instead of 1.0.0: upload to an endpoint"), ("1.0.0,0.2.2", nil),
      (nil, nil),
    ] as [(String?, String?)] {
      let server = try UploadServer(.tus)
      let bytes = try write(1000)
      server.fail("POST", .status(412, versions.map { ["Tus-Version": $0] } ?? [:]))
      let result = await upload(server, .tus)
      guard case .failure(let error) = result else { return XCTFail("no error") }
      XCTAssertEqual(error.status, 412)
      XCTAssertEqual(error.reason.contains("instead of 1.0.0"), remedy != nil)
      if let remedy { XCTAssertTrue(error.reason.contains(remedy), error.reason) }
      XCTAssertEqual(server.log, ["POST /files"], "it is not asked again")
      // The remedy.
      await assertUploads(bytes, server, .tus)
    }
  }

  func test_upload_row_13_busyServer_isAskedAgain() async throws {
    for method in methods {
      try removeNotes()
      for status in [423, 429, 500, 503] {
        let server = try UploadServer(method)
        let bytes = try write(1000)
        server.fail("PATCH", .status(status))
        server.fail("HEAD", .status(status))
        await assertUploads(bytes, server, method)
        XCTAssertEqual(
          server.log, ["POST /files", "PATCH 0+1000", "HEAD /uploads/1", "HEAD /uploads/1", "PATCH 0+1000"])
      }
    }
  }

  func test_upload_row_14_conflict_isAskedFor() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(1000)
      server.fail("PATCH", .status(409))
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log, ["POST /files", "PATCH 0+1000", "HEAD /uploads/1", "PATCH 0+1000"])
    }
  }

  func test_upload_row_15_offsetThatJumpsAhead_isFollowed() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(300_000)
      server.fail("PATCH", .cut(100_000))
      // The rest of the request arrives late, after the server was asked once.
      let late = [UInt8](bytes[100_000..<150_000])
      server.fail("HEAD", .status(423))
      server.fail("HEAD", .before { [unowned server] in server.append(late, to: "/uploads/1") })
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log.suffix(1), ["PATCH 150000+150000"])
    }
  }

  func test_upload_row_16_offsetBehindTheConfirmedOne_isFollowed_andIsNoProgress() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(300_000)
      server.habits.maxAppend = 0
      server.fail("PATCH", .cut(100_000))
      // A server that has 100,000 bytes, and then never more than 50,000.
      server.fail("HEAD", .lie([:]))
      server.fail("PATCH", .status(409), times: 20)
      server.fail("HEAD", .lie(["Upload-Offset": "50000"]), times: 20)
      let seen = Box<[Int64]>([])
      let result = await upload(server, method) { progress in seen.update { $0.append(progress.sent) } }
      XCTAssertEqual(result.kind, .connection)
      XCTAssertTrue(zip(seen.value, seen.value.dropFirst()).contains { $0 > $1 }, "progress steps back")
      XCTAssertTrue(server.log.contains { $0.hasPrefix("PATCH 50000+") })
      XCTAssertEqual(server.log.count { $0.hasPrefix("PATCH") }, 9, "\(server.log)")
      XCTAssertEqual(notes.count, 1)
    }
  }

  func test_upload_row_18_sameOffsetAgainAndAgain_ends() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(300_000)
      server.fail("PATCH", .status(204, ["Upload-Offset": "0", "Upload-Complete": "?0"]), times: 100)
      let result = await upload(server, method)
      guard case .failure(let error) = result else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .connection)
      XCTAssertTrue(error.reason.contains("8 attempts"), error.reason)
      XCTAssertEqual(server.log.count { $0.hasPrefix("PATCH") }, 8)
    }
  }
}
