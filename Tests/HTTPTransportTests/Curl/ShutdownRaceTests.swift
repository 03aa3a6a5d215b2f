#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of a transport that is shut down during concurrent use.
  final class ShutdownRaceTests: XCTestCase {
    func test_everyRequestEndsOnceWhenSendResumeAndDisposeRaceWithAShutdown() throws {
      let server = try TestServer { request in
        request.path == "/endless" ? .endless(.init([UInt8](repeating: 1, count: 20_000))) : .text("ok")
      }
      let (plain, endless) = (Request(url: server.url("/")), Request(url: server.url("/endless")))
      var random = randomNumbers()
      for _ in 0..<20 {
        let transport = try CurlTransport(.init(maxConnectionsPerHost: 16))
        let pendingCalls = (0..<24).map { _ in PendingCall(self) }
        let streams = (0..<8).map { _ in PendingStream(self) { _ in .pause } }
        // The last index, 32, is the shutdown. It runs at a random position.
        let order = Array(0...32).shuffled(using: &random)
        DispatchQueue.concurrentPerform(iterations: order.count) { turn in
          let index = order[turn]
          if index < 24 {
            let sent = pendingCalls[index].send(plain, on: transport)
            if index % 5 == 0 { sent.dispose() }
          } else if index < 32 {
            let control = streams[index - 24].start(endless, on: transport)
            for _ in 0..<20 { control.resume() }
            if index % 3 == 0 { control.dispose() }
          } else {
            transport.shutdown()
          }
        }
        for pending in pendingCalls {
          if case .failure(let error) = try pending.outcome() { XCTAssertEqual(error.kind, .cancelled) }
        }
        for stream in streams { XCTAssertEqual(TransportSuite.kind(try stream.outcome()), .cancelled) }
      }
    }
  }
#endif
