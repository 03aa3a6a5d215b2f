import Foundation
import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

/// A check that an idle transport and its process hold only kept connections. It applies at any time, not only after a
/// shutdown.
final class LeakCheck {
  private let transport: any Transport
  private let servers: [TestServer]
  private let keptConnections: Int
  private let test: XCTestCase
  private let url: URL
  private let base: Resources
  private var handles = 0

  /// Records the current state after a response from `url`. `servers` are the servers in this process, and the
  /// transport keeps at most `keptConnections` connections to each.
  init(
    _ test: XCTestCase, _ transport: any Transport, asking url: URL, _ servers: [TestServer] = [],
    keptConnections: Int = 0
  ) throws {
    self.test = test
    self.transport = transport
    self.servers = servers
    self.keptConnections = keptConnections
    self.url = url
    #if canImport(CLibcurl)
      if let transport = transport as? CurlTransport {
        // The transport's thread may be about to start.
        _ = try transport.held(test, asking: url)
        if Resources.now.ifKnown != nil { XCTAssertGreaterThan(Resources.now.transportThreads, 0) }
      }
    #endif
    var now = Resources.now
    now.descriptors -= 2 * servers.map(\.openConnectionCount).reduce(0, +)
    base = now
  }

  /// Asserts that `what` has leaked nothing. Only kept connections may remain.
  func check(_ what: String) throws {
    #if canImport(CLibcurl)
      if let transport = transport as? CurlTransport {
        let held = try transport.held(test, asking: url)
        XCTAssertEqual(held.live, 0, "transfers, after \(what)")
        XCTAssert(held.isQueueAtRest, "after \(what)")
        // A leaked easy handle never returns to the idle handles.
        XCTAssertGreaterThanOrEqual(held.idleHandles, handles, "handles, after \(what)")
        handles = held.idleHandles
      }
    #endif
    guard Resources.now.ifKnown != nil else { return }
    // Both ends of a kept connection are in this process.
    func spare() -> Int { base.descriptors + 2 * kept.reduce(0, +) - Resources.now.descriptors }
    #if canImport(CLibcurl)
      // libcurl closes kept connections that have ended with a later request, from 8.22 on at most once per second.
      for _ in 0..<40 where spare() < 0 {
        guard let transport = transport as? CurlTransport else { break }
        _ = try transport.held(test, asking: url)
        _ = holds(within: 0.05) { spare() >= 0 }
      }
    #endif
    // A Dispatch worker started by the transport's thread inherits the thread's name until it runs and sets its own.
    func areThreadsGone() -> Bool { Resources.now.transportThreads <= base.transportThreads }
    Self.wait { spare() >= 0 && self.kept.allSatisfy { $0 <= self.keptConnections } && areThreadsGone() }
    // Only the first leak is of interest. Each of the others would cost another wait.
    if spare() < 0 { throw Leak(description: "\(-spare()) descriptors are left of \(what)") }
    XCTAssertLessThanOrEqual(kept.max() ?? 0, keptConnections, "connections, after \(what)")
    XCTAssertLessThanOrEqual(Resources.now.transportThreads, base.transportThreads, "threads, after \(what)")
  }

  private struct Leak: Error, CustomStringConvertible { let description: String }

  private var kept: [Int] { servers.map(\.openConnectionCount) }

  /// Waits until `condition` holds, which a server may detect slightly later than its client. The caller asserts the
  /// condition.
  static func wait(until condition: () -> Bool) { _ = holds(condition) }
}

#if canImport(CLibcurl)
  extension CurlTransport {
    /// Returns the counts of the loop at the end of a request to `url`, read on the loop's thread.
    fileprivate func held(
      _ test: XCTestCase, asking url: URL
    ) throws -> (live: Int, isQueueAtRest: Bool, idleHandles: Int) {
      let seen = Locked<(live: Int, isQueueAtRest: Bool, idleHandles: Int)?>(nil)
      let ended = test.expectation(description: "ended")
      let sent = send(Request(url: url)) { [self] _ in
        seen.withLock { $0 = (loop.live.count, loop.queue.isAtRest, loop.idle.count) }
        ended.fulfill()
      }
      XCTAssertEqual(XCTWaiter().wait(for: [ended], timeout: 90), .completed)
      sent.dispose()
      return try XCTUnwrap(seen.withLock { $0 })
    }
  }
#endif
