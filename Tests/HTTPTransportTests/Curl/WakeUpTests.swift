#if canImport(CLibcurl)
  import CLibcurl
  import Foundation
  import LoopbackServer
  import XCTest

  @testable import HTTPTransport

  /// Tests of the wake-ups of the curl loop, which the kernel counts in the loop's eventfd.
  final class WakeUpTests: XCTestCase {
    /// Returns the count of each eventfd of this process. Nothing reads those of transports, so they only grow.
    private func counts() throws -> [String: UInt64] {
      var counts: [String: UInt64] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo") {
        // The file may be closed by now.
        guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8),
          let line = text.split(separator: "\n").first(where: { $0.hasPrefix("eventfd-count:") })
        else { continue }
        let digits = line.dropFirst("eventfd-count:".count).drop { $0 == " " || $0 == "\t" }
        counts[name] = UInt64(digits, radix: 16)
      }
      return counts
    }

    /// Sends `count` requests, each in the completion of the previous one.
    private static func send(
      _ count: Int, _ request: Request, on transport: CurlTransport, then done: @escaping @Sendable (Bool) -> Void
    ) {
      guard count > 0 else { return done(true) }
      _ = transport.send(request) { result in
        guard case .success = result else { return done(false) }
        send(count - 1, request, on: transport, then: done)
      }
    }

    func test_requestsThatCompletionsSend_wakeNoLoop() throws {
      try XCTSkipIf(CurlTransport.capabilities == nil, "requires libcurl")
      let server = try TestServer { _ in .json("{}") }
      defer { server.stop() }
      let transport = try CurlTransport()
      defer { transport.shutdown() }
      // The loops of earlier tests may end meanwhile, and the system has eventfds, too, so this loop's gets a mark.
      let mark: UInt64 = 10_000
      let others = try counts()
      for _ in 0..<mark { ccurl_multi_wakeup(transport.loop.multi) }
      let own = try counts().filter { $0.value >= mark && $0.value - mark >= others[$0.key] ?? 0 }
      XCTAssertEqual(own.count, 1, "\(others), \(own)")
      let done = expectation(description: "all responses")
      Self.send(50, Request(url: server.url), on: transport) { isComplete in
        XCTAssert(isComplete)
        done.fulfill()
      }
      wait(for: [done], timeout: 60)
      // Only the test wakes the loop, for the first request.
      let (end, before) = (try counts(), try XCTUnwrap(own.first))
      XCTAssertLessThanOrEqual(try XCTUnwrap(end[before.key]), before.value + 1)
    }
  }
#endif
