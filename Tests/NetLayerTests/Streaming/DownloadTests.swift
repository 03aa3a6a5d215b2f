import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

final class DownloadTests: XCTestCase {
  private let scheduler = TestScheduler(resolution: .milliseconds(1))
  private let transport = ScriptedStream()
  private let notes = Notes()
  private var directory = URL(fileURLWithPath: "/")
  private var destination: URL { directory.appendingPathComponent("file.bin") }

  override func setUpWithError() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("download-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
  }

  private func subscribe(sha256: Data? = nil, _ endpoint: Call<Response> = Call(.get, "/file")) -> any Disposable {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let notes = notes
    return network.transfer(downloadingTo: destination, sha256: sha256) { endpoint }.subscribe(
      onNext: { transfer in
        switch transfer {
        case .progress(let progress):
          notes.add("\(progress.received)/\(progress.receiveTotal.map(String.init) ?? "?")")
        case .result(let file): notes.add(file.lastPathComponent)
        }
      },
      onError: { notes.add("\(NetworkError.wrapping($0).kind)") }, onCompleted: { notes.add("|") })
  }

  private func pending(_ status: Int, _ headers: HTTPHeaders, _ body: String...) throws -> ScriptedStream.PendingCall {
    scheduler.advanceBy(0)
    let pending = try XCTUnwrap(transport.pendingCalls.last)
    pending.reply(status, headers)
    scheduler.advanceBy(0)
    for fragment in body {
      pending.send(fragment)
      scheduler.advanceBy(50)
    }
    return pending
  }

  private func end(_ pending: ScriptedStream.PendingCall, _ kind: NetworkError.Kind? = nil) {
    pending.end(kind)
    scheduler.advanceBy(0)
  }

  func test_row_0_12_download_leavesOnlyItsFile() throws {
    let subscription = subscribe()
    let pending = try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], "abc", "def")
    XCTAssertEqual(pending.request.headers["Accept-Encoding"], "identity")
    XCTAssertNil(pending.request.headers["Range"])
    XCTAssertEqual(files, ["file.bin.part", "file.bin.part.json"])
    end(pending)
    XCTAssertEqual(notes.all, ["3/6", "6/6", "6/6", "file.bin", "|"])
    XCTAssertEqual(files, ["file.bin"])
    XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8))
    subscription.dispose()
  }

  func test_row_0_12_disposing_pauses_andSubscribingAgainResumes() throws {
    let first = subscribe()
    _ = try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], "abc")
    first.dispose()
    XCTAssertTrue(transport.pendingCalls[0].isOver)
    let second = subscribe(Call(.get, "/file", headers: ["X": "y"]))
    let pending = try pending(206, ["Content-Range": "bytes 3-5/6", "ETag": "\"v1\""], "def")
    XCTAssertEqual(pending.request.headers["X"], "y")
    XCTAssertEqual(pending.request.headers["Range"], "bytes=3-")
    XCTAssertEqual(pending.request.headers["If-Range"], "\"v1\"")
    end(pending)
    XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8))
    XCTAssertEqual(notes.all, ["3/6", "6/6", "6/6", "file.bin", "|"])
    second.dispose()
  }

  func test_oneByte_isResumed_andNoByteIsRequestedAsTheWholeFile() throws {
    for (body, range) in [("a", "bytes=1-"), ("", nil)] {
      let first = subscribe()
      _ = try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], body)
      first.dispose()
      let second = subscribe()
      scheduler.advanceBy(0)
      XCTAssertEqual(transport.pendingCalls.last?.request.headers["Range"], range)
      XCTAssertEqual(transport.pendingCalls.last?.request.headers["If-Range"], range.map { _ in "\"v1\"" })
      second.dispose()
      files.forEach { try? FileManager.default.removeItem(at: directory.appendingPathComponent($0)) }
    }
  }

  func test_failure_keepsReceivedBytes_andLastModifiedResumesWithoutAnEntityTag() throws {
    _ = subscribe()
    let dates: HTTPHeaders = [
      "Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT", "Date": "Mon, 01 Jan 2001 00:00:01 GMT",
    ]
    end(try pending(200, dates, "abc"), .connection)
    _ = subscribe()
    let pending = try pending(206, ["Content-Range": "bytes 3-5/*"], "def")
    XCTAssertEqual(pending.request.headers["If-Range"], "Mon, 01 Jan 2001 00:00:00 GMT")
    end(pending)
    XCTAssertEqual(notes.all, ["3/?", "connection", "6/?", "6/6", "file.bin", "|"])
  }

  func test_changedResource_restartsTheDownload() throws {
    _ = subscribe()
    end(try pending(200, ["ETag": "\"v1\""], "abc"), .timeout)
    _ = subscribe()
    end(try pending(200, ["Content-Length": "5", "ETag": "\"v2\""], "12345"))
    XCTAssertEqual(try Data(contentsOf: destination), Data("12345".utf8))
  }

  func test_withoutValidator_downloadRestarts() throws {
    let date = "Mon, 01 Jan 2001 00:00:00 GMT"
    for headers: HTTPHeaders in [
      [:], ["ETag": "W/\"1\""], ["ETag": "\"1\"", "Accept-Ranges": "none"], ["Last-Modified": date],
      ["Last-Modified": date, "Date": date],
      ["ETag": "W/\"1\"", "Last-Modified": date, "Date": "Mon, 01 Jan 2001 00:00:09 GMT"],
    ] {
      _ = subscribe()
      end(try pending(200, headers, "abc"), .connection)
      _ = subscribe()
      let pending = try pending(200, headers, "abcdef")
      XCTAssertNil(pending.request.headers["Range"], "\(headers)")
      end(pending)
      XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8))
    }
  }

  func test_rangeAfterTheEnd_completesOrRestarts() throws {
    _ = subscribe()
    end(try pending(200, ["ETag": "\"v1\""], "abc"), .connection)
    _ = subscribe()
    end(try pending(416, ["Content-Range": "bytes */3"]))
    XCTAssertEqual(try Data(contentsOf: destination), Data("abc".utf8))
    _ = subscribe()
    end(try pending(200, ["ETag": "\"v1\""], "abcd"), .connection)
    _ = subscribe()
    _ = try pending(416, ["Content-Range": "bytes */2"])
    let again = try pending(200, ["ETag": "\"v2\""], "xy")
    XCTAssertNil(again.request.headers["Range"])
    end(again)
    XCTAssertEqual(try Data(contentsOf: destination), Data("xy".utf8))
  }

  func test_rangeOfAnotherVersionOrOffset_isNotAppended() throws {
    for headers: HTTPHeaders in [
      ["Content-Range": "bytes 3-5/6", "ETag": "\"v2\""], ["Content-Range": "bytes 4-5/6", "ETag": "\"v1\""],
    ] {
      _ = subscribe()
      end(try pending(200, ["ETag": "\"v1\""], "abc"), .connection)
      _ = subscribe()
      _ = try pending(206, headers)
      let again = try pending(200, ["ETag": "\"v2\""], "123456")
      XCTAssertNil(again.request.headers["Range"], "\(headers)")
      end(again)
      XCTAssertEqual(try Data(contentsOf: destination), Data("123456".utf8))
    }
  }

  func test_incompleteBody_isNotAFile() throws {
    _ = subscribe()
    end(try pending(206, ["Content-Range": "bytes 0-9/10", "ETag": "\"1\""], "abc"))
    XCTAssertEqual(notes.all, ["3/10", "connection"])
    XCTAssertEqual(files, ["file.bin.part", "file.bin.part.json"])
  }

  func test_digest_isVerified() throws {
    _ = subscribe(sha256: Hash.sha256(Data("abc".utf8)))
    end(try pending(200, [:], "abc"))
    XCTAssertEqual(files, ["file.bin"])
    try FileManager.default.removeItem(at: destination)
    _ = subscribe(sha256: Hash.sha256(Data("abc".utf8)))
    end(try pending(200, ["ETag": "\"1\""], "abd"))
    XCTAssertEqual(notes.all.last, "file")
    XCTAssertEqual(files, [])
  }

  func test_errorStatus_failsAndChangesNoFile() throws {
    _ = subscribe()
    end(try pending(200, ["ETag": "\"1\""], "abc"), .connection)
    _ = subscribe()
    end(try pending(404, [:], "gone"))
    XCTAssertEqual(notes.all, ["3/?", "connection", "status"])
    XCTAssertEqual(files, ["file.bin.part", "file.bin.part.json"])
  }

  func test_failureBeforeTheFirstByte_leavesNoFile() throws {
    _ = subscribe()
    end(try pending(404, [:], "gone"))
    XCTAssertEqual(notes.all, ["status"])
    XCTAssertEqual(files, [])
  }

  func test_emptyFile_isDownloaded() throws {
    _ = subscribe()
    end(try pending(200, ["Content-Length": "0"]))
    XCTAssertEqual(files, ["file.bin"])
  }

  func test_secondDownloadToOneDestination_doesNotDisturbTheFirst() throws {
    let first = subscribe()
    let pending = try pending(200, ["ETag": "\"1\"", "Content-Length": "6"])
    // Before its first byte and after it.
    let second = subscribe()
    XCTAssertEqual(notes.all, ["file"])
    second.dispose()
    pending.send("abc")
    scheduler.advanceBy(50)
    subscribe().dispose()
    XCTAssertEqual(files, ["file.bin.part", "file.bin.part.json"])
    pending.send("def")
    scheduler.advanceBy(50)
    end(pending)
    XCTAssertEqual(notes.all.suffix(2), ["file.bin", "|"])
    XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8))
    first.dispose()
  }

  /// Starts a download of six bytes that is interrupted after "abc".
  private func begin(_ endpoint: Call<Response> = Call(.get, "/file")) throws {
    let subscription = subscribe(endpoint)
    end(try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], "abc"), .connection)
    subscription.dispose()
  }

  func test_anotherResource_isNotAppended() throws {
    try begin()
    let subscription = subscribe(Call(.get, "/other"))
    _ = try pending(206, ["Content-Range": "bytes 3-5/6", "ETag": "\"v1\""])
    // Requested again, without a range.
    let whole = try pending(200, ["Content-Length": "5", "ETag": "\"v1\""], "other")
    XCTAssertNil(whole.request.headers["Range"])
    end(whole)
    XCTAssertEqual(try Data(contentsOf: destination), Data("other".utf8))
    subscription.dispose()
  }

  func test_incompleteRange_isNotAFile() throws {
    try begin()
    let subscription = subscribe()
    end(try pending(206, ["Content-Range": "bytes 3-3/*", "ETag": "\"v1\""], "d"))
    XCTAssertEqual(notes.all.last, "connection")
    XCTAssertFalse(FileManager.default.fileExists(atPath: destination.path))
    subscription.dispose()
  }

  func test_incompleteRangeOfAnUnknownTotal_isNotAFile() throws {
    let subscription = subscribe()
    let first = try pending(200, ["ETag": "\"v1\""], "abc")
    end(first, .connection)
    subscription.dispose()
    let again = subscribe()
    end(try pending(206, ["Content-Range": "bytes 3-5/*", "ETag": "\"v1\""], "d"))
    XCTAssertEqual(notes.all.last, "connection")
    XCTAssertFalse(FileManager.default.fileExists(atPath: destination.path))
    again.dispose()
  }

  func test_unusableRangeResponse_restartsTheDownload() throws {
    for (status, headers) in [
      (416, ["Content-Range": "bytes */3", "ETag": "\"v1\""]), (416, ["Content-Range": "bytes */6", "ETag": "\"v2\""]),
      (206, ["ETag": "\"v1\""]), (206, ["Content-Type": "multipart/byteranges; boundary=x"]),
      (206, ["Content-Range": "bytes 3-5/6", "Content-Encoding": "gzip", "ETag": "\"v1\""]),
      (206, ["Content-Range": "bytes 3-9/10", "ETag": "\"v1\""]),
    ] as [(Int, HTTPHeaders)] {
      try begin()
      let subscription = subscribe()
      _ = try pending(status, headers)
      let whole = try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], "abcdef")
      XCTAssertNil(whole.request.headers["Range"], "\(status) \(headers)")
      end(whole)
      XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8), "\(status) \(headers)")
      subscription.dispose()
    }
  }

  func test_noContentInsteadOfTheRest_isNotAFile() throws {
    try begin()
    let subscription = subscribe()
    end(try pending(204, [:]))
    XCTAssertFalse(FileManager.default.fileExists(atPath: destination.path))
    XCTAssertEqual(files, ["file.bin.part", "file.bin.part.json"])
    XCTAssertNotEqual(notes.all.last, "|")
    subscription.dispose()
  }

  func test_foreignFileWithTheNameOfThePartialFile_isKept() throws {
    let mine = directory.appendingPathComponent("mine")
    try Data("mine".utf8).write(to: mine)
    let (part, note) = (
      directory.appendingPathComponent("file.bin.part"), directory.appendingPathComponent("file.bin.part.json")
    )
    for (file, others) in [(part, ["file.bin.part"]), (note, ["file.bin.part.json"])] {
      for content in ["my own", #"{"name":"x"}"#] {
        try Data(content.utf8).write(to: file)
        let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
        let error = try failure(of: network.transfer(downloadingTo: destination) { Call(.get, "/file") })
        XCTAssertEqual(error.kind, .file, "\(content)")
        XCTAssertTrue(
          error.reason.hasPrefix("\(file.path) does not belong to a download"), "\(content): \(error.reason)")
        XCTAssertEqual(try Data(contentsOf: file), Data(content.utf8), "\(content)")
        XCTAssertEqual(files, others + ["mine"], "\(content)")
      }
      try FileManager.default.removeItem(at: file)
    }
    for target in ["mine", "not there"] {
      try FileManager.default.createSymbolicLink(
        at: part, withDestinationURL: directory.appendingPathComponent(target))
      _ = subscribe()
      XCTAssertEqual(notes.all.last, "file")
      XCTAssertEqual(files, ["file.bin.part", "mine"])
      try FileManager.default.removeItem(at: part)
    }
    // A symbolic link in place of the note is replaced and not followed.
    try FileManager.default.createSymbolicLink(at: note, withDestinationURL: directory.appendingPathComponent("none"))
    _ = subscribe()
    end(try pending(200, ["Content-Length": "3", "ETag": "\"v1\""], "abc"))
    XCTAssertEqual(notes.all.last, "|")
    XCTAssertEqual(try Data(contentsOf: mine), Data("mine".utf8))
    XCTAssertEqual(files, ["file.bin", "mine"])
    XCTAssertEqual(transport.pendingCalls.count, 1)
  }

  func test_entityTagThatCanNotBeSent_restartsTheDownload() throws {
    for tag in ["\"a\u{1}b\"", "\"\(String(repeating: "a", count: 90_000))\""] {
      _ = subscribe()
      end(try pending(200, ["Content-Length": "10", "ETag": tag], "abc"))
      let subscription = subscribe()
      let pending = try pending(200, ["Content-Length": "3"], "new")
      XCTAssertNil(pending.request.headers["If-Range"])
      end(pending)
      subscription.dispose()
      XCTAssertEqual(try Data(contentsOf: destination), Data("new".utf8))
      try FileManager.default.removeItem(at: destination)
    }
  }

  func test_partialFileThatAnotherUserCanWriteTo_isReplaced() throws {
    let (part, note, name) = (destination.path + ".part", destination.path + ".part.json", destination.path + ".other")
    var changes: [(String, () -> Int32)] = [
      ("mode", { chmod(part, 0o660) }), ("mode of the note", { chmod(note, 0o666) }),
      ("name", { link(part, name) }),
    ]
    // Only the superuser can give files away.
    if geteuid() == 0 {
      changes += [("owner", { chown(part, 1, 1) }), ("owner of the note", { chown(note, 1, 1) })]
    }
    for (change, apply) in changes {
      try begin()
      XCTAssertEqual(apply(), 0, change)
      let subscription = subscribe()
      let pending = try pending(200, ["Content-Length": "3", "ETag": "\"v1\""], "new")
      XCTAssertNil(pending.request.headers["Range"], change)
      end(pending)
      subscription.dispose()
      XCTAssertEqual(try Data(contentsOf: destination), Data("new".utf8), change)
      let attributes = try FileManager.default.attributesOfItem(atPath: destination.path)
      XCTAssertEqual(attributes[.ownerAccountID] as? Int, Int(geteuid()), change)
      XCTAssertEqual(attributes[.referenceCount] as? Int, 1, change)
      XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o644, change)
      try? FileManager.default.removeItem(atPath: name)
    }
  }

  /// The note is read and replaced, so that the second name keeps its content. The partial file itself is written in place.
  func test_secondNameOfTheNote_isNoDamage() throws {
    try begin()
    let (note, name) = (destination.path + ".part.json", destination.path + ".other")
    XCTAssertEqual(link(note, name), 0)
    defer { try? FileManager.default.removeItem(atPath: name) }
    let subscription = subscribe()
    let pending = try pending(206, ["Content-Range": "bytes 3-5/6", "Content-Length": "3", "ETag": "\"v1\""], "def")
    XCTAssertNotNil(pending.request.headers["Range"])
    end(pending)
    subscription.dispose()
    XCTAssertEqual(try Data(contentsOf: destination), Data("abcdef".utf8))
  }

  func test_namesOfUpTo255Bytes_areDownloadedAndResumed() throws {
    for name in [
      String(repeating: "n", count: 255), String(repeating: "名", count: 82) + ".tar",
      String(repeating: "x", count: 246),
    ] {
      let file = directory.appending(path: name)
      let network = Network(
        Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
      let download = network.transfer(downloadingTo: file) { Call(.get, "/file") }
      let first = download.subscribe(onError: { _ in })
      end(try pending(200, ["Content-Length": "6", "ETag": "\"v1\""], "abc"), .connection)
      first.dispose()
      XCTAssertEqual(files.count, 2)
      let second = download.subscribe()
      let pending = try pending(206, ["Content-Range": "bytes 3-5/6", "ETag": "\"v1\""], "def")
      XCTAssertEqual(pending.request.headers["Range"], "bytes=3-")
      end(pending)
      second.dispose()
      XCTAssertEqual(try Data(contentsOf: file), Data("abcdef".utf8))
      XCTAssertEqual(files, [name])
      try FileManager.default.removeItem(at: file)
    }
  }

  func test_directory_isNotADestination() throws {
    try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: true)
    let subscription = subscribe()
    XCTAssertEqual(notes.all, ["file"])
    XCTAssertEqual(transport.pendingCalls.count, 0)
    subscription.dispose()
  }

  func test_unwritableDestination_isAnErrorWithItsPath() throws {
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    let missing = directory.appendingPathComponent("no/file")
    let error = try failure(of: network.transfer(downloadingTo: missing) { Call(.get, "/file") })
    XCTAssertEqual(error.kind, .file)
    XCTAssertTrue(error.reason.contains(missing.path), error.reason)
    let remote = try XCTUnwrap(URL(string: "http://h/x"))
    XCTAssertEqual(try failure(of: network.transfer(downloadingTo: remote) { Call(.get, "/file") }).kind, .file)
    XCTAssertEqual(transport.pendingCalls.count, 0)
  }

  func test_rateAndTimeLeft_useTheLastSeconds() {
    var rate = TransferRate()
    let start = Date(timeIntervalSinceReferenceDate: 0)
    rate.begin(1000, start)
    XCTAssertNil(rate.progress(1000, of: 5000, start).bytesPerSecond)
    let progress = rate.progress(2000, of: 5000, start + 2)
    XCTAssertEqual(progress.bytesPerSecond, 500)
    XCTAssertEqual(progress.timeLeft, .seconds(6))
    for second in 3...20 { _ = rate.progress(2000 + Int64(second - 2) * 100, of: nil, start + Double(second)) }
    XCTAssertEqual(rate.progress(3800, of: nil, start + 20).bytesPerSecond ?? 0, 100, accuracy: 1)
    XCTAssertNil(rate.report(1, of: nil, start + 20).flatMap { _ in rate.report(2, of: nil, start + 20.01) })
  }

  func test_extremeNumbersOfAServer_endNoDownloadInACrash() throws {
    let most = Int64.max
    for (headers, received) in [
      (["Content-Range": "bytes 0-\(most)/*"], nil), (["Content-Range": "bytes 0-\(most - 1)/*"], nil),
      (["Content-Range": "bytes 0-\(most - 1)/\(most)"], nil), (["Content-Range": "bytes 0-0/-1"], nil),
      (["Content-Range": "bytes 0-0/1"], 1), (["Content-Length": "\(most)"], nil),
    ] as [(HTTPHeaders, Int?)] {
      let status = headers["Content-Length"] == nil ? 206 : 200
      let stub = StubTransport { _ in .response(status: status, headers: headers, body: Data("x".utf8)) }
      let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
      let destination = destination
      let end = record(network.transfer(downloadingTo: destination) { Call(.get, "/file") })
      for case .progress(let progress) in end.elements {
        XCTAssert((0...1).contains(progress.fractionReceived ?? 0), "\(progress)")
        XCTAssertGreaterThanOrEqual(progress.timeLeft ?? .zero, .zero)
      }
      XCTAssertEqual(end.error == nil, received != nil, "\(headers)")
      try? FileManager.default.removeItem(at: destination)
    }
  }

  func test_fractions_areBetween0And1() {
    for (part, whole) in [(Int64.max, 1), (-5, 10), (1, -1), (.min, .max), (.max, .min)] as [(Int64, Int64)] {
      let progress = TransferProgress(
        sent: part, sendTotal: whole, received: part, receiveTotal: whole, bytesPerSecond: 0.001)
      XCTAssert((0...1).contains(progress.fractionReceived ?? -1) && (0...1).contains(progress.fractionSent ?? -1))
      XCTAssertGreaterThanOrEqual(progress.timeLeft ?? .seconds(-1), .zero)
    }
  }

  func test_contentRanges_areParsed() {
    XCTAssertEqual(ContentRange("bytes 3-5/6")?.first, 3)
    XCTAssertEqual(ContentRange("bytes 3-5/6")?.total, 6)
    XCTAssertEqual(ContentRange("bytes */6")?.total, 6)
    XCTAssertNil(ContentRange("bytes 0-1/*")?.total)
    for bad in ["", "bytes", "bytes 3-5", "bytes 5-3/6", "items 0-1/2", "bytes a-b/c", "bytes 0-1/x", "bytes -5/6"] {
      XCTAssertNil(ContentRange(bad), bad)
    }
    for bad in [
      "bytes 0-\(Int64.max)/*", "bytes 0-9223372036854775808/*", "bytes 0-4/-5", "bytes 0-4/+5", "bytes +0-4/5",
      "bytes 0-+4/5", "bytes 0-5/5", "bytes 0-9/5", "bytes 0-0/0", "bytes */-1", "bytes 0-４/5", "bytes 0-4/",
      "bytes 0-9//10", "bytes /0-9/10", "bytes 0--9/10", "bytes -0-9/10",
    ] { XCTAssertNil(ContentRange(bad), bad) }
    XCTAssertEqual(ContentRange("bytes 0-\(Int64.max - 1)/\(Int64.max)")?.last, .max - 1)
    XCTAssertEqual(ContentRange("bytes 0-\(Int64.max - 1)/*")?.last, .max - 1)
  }

  func test_row_0_12_downloadOverARealConnection_resumesAfterAFailure() throws {
    let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let ranges = Notes()
    let server = try TestServer(handler: { request in
      let range = request.headers.first { $0.name.lowercased() == "range" }?.value
      ranges.add(range ?? "all")
      guard let range, let first = Int(range.dropFirst("bytes=".count).dropLast()) else {
        return .init(
          headers: [("ETag", "\"1\"")], body: .promised(content.count, [.init(Array(content.prefix(100_000)))]),
          ending: .close)
      }
      return .init(
        status: 206,
        headers: [("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)"), ("ETag", "\"1\"")],
        body: .bytes(Array(content[first...])))
    })
    defer { server.stop() }
    let network = Network(Backend(baseURL: server.url))
    let transfers = record(network.transfer(downloadingTo: destination) { Call(.get, "/file") }.retry(3))
    XCTAssertEqual(transfers.elements.last?.result, destination)
    XCTAssertEqual(try [UInt8](Data(contentsOf: destination)), content)
    XCTAssertEqual(ranges.all, ["all", "bytes=100000-"])
  }
}
