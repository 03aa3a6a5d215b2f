import LoopbackServer
import XCTest

@testable import Demo

final class FetcherTests: XCTestCase {
  func test_callsThatTheHARFileDoesNotContain_areReported() throws {
    let server = try TestServer { .text($0.path) }
    let file = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    var options = GetOptions()
    (options.archive, options.concurrency) = (file, 1)
    for (maxCalls, omission) in [(3, nil), (1, 2)] {
      let fetcher = try Fetcher(options, Console(), maxCalls: maxCalls)
      for path in ["/1", "/2", "/3"] { fetcher.fetch(server.url(path).absoluteString) }
      fetcher.wait()
      XCTAssertEqual(fetcher.omission?.contains(" \(omission ?? 0) calls: "), omission.map { _ in true })
      XCTAssertEqual(fetcher.writeArchive(), omission == nil)
    }
  }
}
