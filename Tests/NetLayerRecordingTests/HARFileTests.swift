import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerRecording

/// An archive that grows is written at each change up to a size, and then when it has doubled.
final class HARFileTests: XCTestCase {
  private var folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private func entry(_ size: Int) -> HAREntry {
    let request = Request(url: URL(string: "http://h/x") ?? folder)
    let body = Data(repeating: 65, count: size)
    return HAREntry(
      request, .success(Response(request: request, status: 200, headers: ["Content-Type": "text/plain"], body: body)),
      started: Date(), redaction: .standard)
  }

  func test_largeArchive_isWrittenWhenItHasDoubled_andByItsEnd() throws {
    let url = folder.appending(path: "calls.har")
    let file = try HARFile(url, entries: [], limit: 64 << 20)
    func count() throws -> Int { try HARReader.entries(of: url).count }
    for number in 1...20 {
      XCTAssertTrue(try file.append([entry(10_000)]))
      XCTAssertEqual(try count(), number, "a small archive has each call at once")
    }
    var writes = 0
    for number in 21...400 where try file.append([entry(10_000)]) {
      writes += 1
      XCTAssertEqual(try count(), number)
    }
    XCTAssertLessThanOrEqual(writes, 12)
    XCTAssertLessThan(try count(), 400)
    try file.save()
    XCTAssertEqual(try count(), 400)
  }

  func test_archiveBeyondItsLimit_staysAsItWas() throws {
    let url = folder.appending(path: "calls.har")
    let file = try HARFile(url, entries: [], limit: 25_000)
    _ = try file.append([entry(10_000)])
    _ = try file.append([entry(10_000)])
    XCTAssertThrowsError(try file.append([entry(10_000)]))
    XCTAssertEqual(try HARReader.entries(of: url).count, 2)
    XCTAssertTrue(try file.append([entry(100)]))
    XCTAssertEqual(try HARReader.entries(of: url).count, 3)
  }

  func test_recordingThatIsReleased_hasEveryCall() async throws {
    let url = folder.appending(path: "calls.har")
    let text = String(repeating: "a", count: 100_000)
    func record() async throws {
      let network = Network(
        Backend(
          baseURL: URL(string: "http://h"),
          transport: try RecordingTransport(StubTransport { _ in .json("\"\(text)\"") }, to: url)))
      for _ in 0..<9 { try await network.fetch(.get("/x")) }
    }
    try await record()
    XCTAssertTrue(holds { (try? HARReader.entries(of: url).count) == 9 })
  }

  func test_recordingWithoutFurtherCalls_hasEveryCallASecondLater() async throws {
    let url = folder.appending(path: "calls.har")
    let text = String(repeating: "a", count: 100_000)
    let transport = try RecordingTransport(StubTransport { _ in .json("\"\(text)\"") }, to: url)
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    for _ in 0..<9 { try await network.fetch(.get("/x")) }
    XCTAssertTrue(holds { (try? HARReader.entries(of: url).count) == 9 })
    withExtendedLifetime(transport) {}
  }
}
