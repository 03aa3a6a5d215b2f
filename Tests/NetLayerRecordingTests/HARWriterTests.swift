import Foundation
import XCTest

@testable import NetLayerRecording

/// Tests of the fields that the readers of archives require.
final class HARWriterTests: XCTestCase {
  private func written(_ entry: HAREntry) throws -> [String: Any] {
    let archive = try JSONSerialization.jsonObject(with: HARWriter.archive([entry])) as? [String: Any]
    let log = try XCTUnwrap(archive?["log"] as? [String: Any])
    XCTAssertEqual(log["version"] as? String, "1.2")
    XCTAssertEqual((log["pages"] as? [Any])?.count, 0)
    XCTAssertNotNil((log["creator"] as? [String: Any])?["version"])
    return try XCTUnwrap((log["entries"] as? [[String: Any]])?.first)
  }

  func test_unfinishedFileOfAKilledProcess_isRemovedWhenTheArchiveIsOpened() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("secret".utf8).write(to: folder.appending(path: ".netlayer-new-\(UUID().uuidString)"))
    _ = try HARFile(folder.appending(path: "calls.har"), entries: [], limit: 1 << 20)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["calls.har"])
  }

  func test_aLink_isReplacedAndNotFollowed() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID().uuidString)")
    let (target, shared) = (folder.appending(path: "own.txt"), folder.appending(path: "shared"))
    try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("mine".utf8).write(to: target)
    for destination in ["../own.txt", "none"] {
      let link = shared.appending(path: "calls.har")
      try? FileManager.default.removeItem(at: link)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: destination)
      if geteuid() == 0 { XCTAssertEqual(lchown(link.path, 1, 1), 0) }
      _ = try HARFile(link, entries: [], limit: 1 << 20)
      XCTAssertEqual(try Data(contentsOf: target), Data("mine".utf8))
      XCTAssertEqual(try HARReader.entries(of: link).count, 0)
      XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: shared.path), ["calls.har"])
    }
    // A link to the directory is the caller's choice.
    try FileManager.default.createSymbolicLink(at: folder.appending(path: "link"), withDestinationURL: shared)
    _ = try HARFile(folder.appending(path: "link/more.har"), entries: [], limit: 1 << 20)
    XCTAssertEqual(
      try FileManager.default.contentsOfDirectory(atPath: shared.path).sorted(), ["calls.har", "more.har"])
    XCTAssertEqual(mkfifo(shared.appending(path: "fifo").path, 0o600), 0)
    XCTAssertThrowsError(try HARFile(shared.appending(path: "fifo"), entries: [], limit: 1 << 20))
  }

  private func entry(
    _ result: (Request) -> Result<Response, NetworkError>, body: Request.Body = .none
  ) throws -> HAREntry {
    let url = try XCTUnwrap(URL(string: "https://u:p@h/a?q=%C3%A9+b&token=abc&flag#part"))
    let request = Request(method: .post, url: url, headers: ["Authorization": "Bearer abc"], body: body)
    return HAREntry(request, result(request), started: Date(timeIntervalSince1970: 1.5), redaction: .standard)
  }

  func test_allRequiredFieldsAreWritten() throws {
    let entry = try written(try entry { .success(Response(request: $0)) })
    XCTAssertEqual(
      Set(entry.keys),
      ["startedDateTime", "time", "request", "response", "cache", "timings", "_resourceType"])
    let request = try XCTUnwrap(entry["request"] as? [String: Any])
    XCTAssertEqual(
      Set(request.keys),
      ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"])
    let response = try XCTUnwrap(entry["response"] as? [String: Any])
    XCTAssertEqual(
      Set(response.keys),
      [
        "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
        "bodySize",
      ])
    let content = try XCTUnwrap(response["content"] as? [String: Any])
    XCTAssertEqual(Set(content.keys), ["size", "mimeType", "text"])
    XCTAssertEqual(
      Set((entry["timings"] as? [String: Any] ?? [:]).keys),
      ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"])
    XCTAssertEqual(entry["startedDateTime"] as? String, "1970-01-01T00:00:01.500Z")
  }

  func test_urlsHaveNoFragmentAndNoSecrets_andTheQueryIsDecoded() throws {
    let request = try XCTUnwrap(
      try written(try entry { .success(Response(request: $0)) })["request"] as? [String: Any])
    XCTAssertEqual(request["url"] as? String, "https://***@h/a?q=%C3%A9+b&token=***&flag")
    XCTAssertEqual(
      (request["queryString"] as? [[String: String]])?.map { [$0["name"], $0["value"]] },
      [["q", "é b"], ["token", "***"], ["flag", ""]])
    XCTAssertEqual((request["headers"] as? [[String: String]])?.first?["value"], "***")
  }

  func test_TLSIsPartOfConnect_andNoPhaseIsNegative() throws {
    let metrics = TransferMetrics(
      queued: .milliseconds(1), nameLookup: .milliseconds(2), connect: .milliseconds(3), tls: .milliseconds(4),
      send: .milliseconds(6), firstByte: .milliseconds(20), total: .milliseconds(25), httpVersion: "2",
      remoteAddress: "[::1]:443")
    let entry = try entry { .success(Response(request: $0, metrics: metrics)) }
    XCTAssertEqual(entry.timings.connect, 7, accuracy: 0.001)
    XCTAssertEqual(entry.timings.ssl, 4, accuracy: 0.001)
    XCTAssertEqual(entry.timings.send, 6, accuracy: 0.001)
    XCTAssertEqual(entry.timings.wait, 4, accuracy: 0.001)
    XCTAssertEqual(entry.timings.receive, 5, accuracy: 0.001)
    XCTAssertEqual(entry.address, "::1")
    XCTAssertEqual(entry.httpVersion, "HTTP/2")
    let failed = try self.entry { request in
      var error = NetworkError(kind: .timeout, reason: "late", request: request)
      error.metrics = TransferMetrics(queued: .milliseconds(9), firstByte: .milliseconds(4), total: .milliseconds(5))
      return .failure(error)
    }
    XCTAssertEqual(failed.timings.wait, 0)
    XCTAssertEqual(failed.timings.receive, 0)
  }

  func test_aFailureHasStatus0_andNoSecrets() throws {
    let entry = try written(
      try entry { .failure(NetworkError(kind: .timeout, reason: "token=abc is late", request: $0)) })
    let response = try XCTUnwrap(entry["response"] as? [String: Any])
    XCTAssertEqual(response["status"] as? Int, 0)
    XCTAssertEqual(response["_error"] as? String, "timeout: token=*** is late")
    XCTAssertEqual((entry["_error"] as? [String: Any])?["code"] as? Int, -1212)
  }

  func test_bodies() throws {
    func sent(_ body: Request.Body) throws -> HAREntry.SentBody {
      try entry({ .success(Response(request: $0)) }, body: body).requestBody
    }
    XCTAssertEqual(try sent(.data(Data("password=a".utf8))), .text("password=***", type: ""))
    XCTAssertEqual(try sent(.data(Data())), HAREntry.SentBody.none)
    XCTAssertEqual(try sent(.file(URL(filePath: "/a"))), .unknown)
    XCTAssertEqual(
      try sent(.data(Data([255]))), .digest(Hash.sha256(Data([255])).hex, count: 1, type: ""))
    let binary = try entry { .success(Response(request: $0, body: Data([0, 255]))) }
    let content = (try written(binary)["response"] as? [String: Any])?["content"] as? [String: Any]
    XCTAssertEqual(content?["encoding"] as? String, "base64")
    XCTAssertEqual(content?["text"] as? String, "AP8=")
  }

  func test_sizeOfAnArchive_isKnownBeforeItIsWritten() throws {
    let entries = try (0..<3).map { _ in HARWriter.encoded(try entry { .success(Response(request: $0)) }) }
    for count in 0...3 {
      let list = Array(entries.prefix(count))
      // The first entry has one byte before it, and not two.
      XCTAssertEqual(HARWriter.size(encoded: list), HARWriter.archive(encoded: list).count + min(count, 1))
    }
  }

  func test_hostileTextsAreEscaped() throws {
    var entry = try entry { .success(Response(request: $0)) }
    entry.responseHeaders.append("A\"\u{0}", "\\\n\u{2028}</script>")
    entry.facts.endpoint = "\u{7F}\"}"
    entry.time = .nan
    XCTAssertNoThrow(try written(entry))
    var read = try XCTUnwrap(HARReader.entries(in: HARWriter.archive([entry])).first)
    XCTAssertEqual(read.facts.endpoint, entry.facts.endpoint)
    read.time = 0
    XCTAssertEqual(read.responseHeaders.count, 1)
  }
}
