#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import Streams
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Tests of the counts of a transport's connections and requests.
  final class CurlGaugesTests: XCTestCase {
    private typealias Counts = CurlTransport.Gauges.Counts

    private func counts(connections: Int, idle: Int, running: Int, waiting: Int) -> Counts {
      var counts = Counts()
      (counts.connections, counts.idle, counts.running, counts.waiting) = (connections, idle, running, waiting)
      return counts
    }

    /// Makes a server that sends one response for each signal.
    private func makeServer(respondingTo mayRespond: DispatchSemaphore) throws -> RawServer {
      try RawServer { client, _ in
        while client.receiveHead() != nil {
          guard mayRespond.wait(timeout: .now() + 60) == .success else { return }
          client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
      }
    }

    /// Returns the counts of `url`'s origin as soon as they equal `expected`, or the last counts after many attempts.
    private func settled(_ expected: Counts, of url: URL, in transport: CurlTransport) async -> Counts? {
      var found: Counts?
      for _ in 0..<20_000 {
        found = await transport.gauges().origins[Origin(url).text]
        if found == expected { break }
        await Task.yield()
      }
      return found
    }

    func test_theGaugesCountRequestsFromTheQueueToTheirCompletion() async throws {
      let mayRespond = DispatchSemaphore(value: 0)
      let server = try makeServer(respondingTo: mayRespond)
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 2))
      var found = await transport.gauges()
      XCTAssertEqual(found, CurlTransport.Gauges())

      let pendingCalls = (0..<5).map { _ in PendingCall(self) }
      let controls = pendingCalls.map { $0.send(Request(url: server.url), on: transport) }
      var expected = counts(connections: 2, idle: 0, running: 2, waiting: 3)
      var counted = await settled(expected, of: server.url, in: transport)
      XCTAssertEqual(counted, expected)
      controls[4].dispose()
      expected = counts(connections: 2, idle: 0, running: 2, waiting: 2)
      counted = await settled(expected, of: server.url, in: transport)
      XCTAssertEqual(counted, expected)

      for _ in 0..<4 { mayRespond.signal() }
      for pending in pendingCalls.prefix(4) { XCTAssertEqual(try pending.outcome().get().status, 200) }
      XCTAssertEqual(TransportSuite.kind(try pendingCalls[4].outcome()), .cancelled)
      // No request is running, so a single read is sufficient.
      found = await transport.gauges()
      expected = counts(connections: 2, idle: 2, running: 0, waiting: 0)
      XCTAssertEqual(found.total, expected)
      XCTAssertEqual(found.origins, [Origin(server.url).text: expected])

      await transport.shutdownAndWait()
      found = await transport.gauges()
      XCTAssertEqual(found, CurlTransport.Gauges())
    }

    func test_loopsThatHoldAllConnections_blockOneAnother_unlessThereAreMore_orTheyTakeFewElements() async throws {
      let server = try TestServer { request in
        guard request.path == "/lines" else { return .json("7") }
        return .init(
          body: .raw([.init("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n1\n")]), ending: .hang)
      }
      for (connections, takes) in [(2, nil), (3, nil), (2, 1)] as [(Int, Int?)] {
        let transport = try CurlTransport(.init(maxConnectionsPerHost: connections))
        let network = Network(Backend(baseURL: server.url, transport: transport))
        let begun = Counter()
        let loops = (0..<2).map { _ in
          Task {
            let lines = network.lines(.get("/lines"), as: Int.self)
            for try await _ in (takes.map { lines.take($0) } ?? lines).values {
              begun.next()
              try await eventually("both loops have an element") { begun.value == 2 }
              return try await network.fetch(.get("/item"), as: Int.self)
            }
            return 0
          }
        }
        if connections == 2, takes == nil {
          let expected = counts(connections: 2, idle: 0, running: 2, waiting: 2)
          let counted = await settled(expected, of: server.url, in: transport)
          XCTAssertEqual(counted, expected, "each loop waits for a connection that the other has")
          loops[0].cancel()
        } else {
          let first = try await loops[0].value
          XCTAssertEqual(first, 7)
        }
        let last = try await loops[1].value
        XCTAssertEqual(last, 7, "\(connections) connections, take \(takes ?? 0)")
        await transport.shutdownAndWait()
      }
    }

    func test_aCancelledRequestDoesNotRaiseTheLimitOfConnections() async throws {
      let mayRespond = DispatchSemaphore(value: 0)
      let server = try makeServer(respondingTo: mayRespond)
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let pendingCalls = (0..<4).map { _ in PendingCall(self) }
      let controls = pendingCalls.map { $0.send(Request(url: server.url), on: transport) }
      var expected = counts(connections: 1, idle: 0, running: 1, waiting: 3)
      var counted = await settled(expected, of: server.url, in: transport)
      XCTAssertEqual(counted, expected)
      controls[0].dispose()
      expected = counts(connections: 1, idle: 0, running: 1, waiting: 2)
      counted = await settled(expected, of: server.url, in: transport)
      XCTAssertEqual(counted, expected)
      XCTAssertEqual(TransportSuite.kind(try pendingCalls[0].outcome()), .cancelled)
      for _ in pendingCalls { mayRespond.signal() }
      for pending in pendingCalls.dropFirst() { XCTAssertEqual(try pending.outcome().get().status, 200) }
    }

    /// TLS libraries write without MSG_NOSIGNAL, so a server that closes a connection could end the process.
    func test_theThreadBlocksTheSignalOfABrokenPipe() async throws {
      let transport = try CurlTransport()
      // The thread has begun.
      _ = await transport.gauges()
      let tasks = "/proc/self/task"
      let masks = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task -> UInt64? in
        guard let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8),
          status.hasPrefix("Name:\tNetLayer.curl"), let mask = status.split(separator: "SigBlk:\t").last?.prefix(16)
        else { return nil }
        return UInt64(mask, radix: 16)
      }
      XCTAssertFalse(masks.isEmpty)
      for mask in masks { XCTAssertEqual(mask >> (UInt64(SIGPIPE) - 1) & 1, 1) }
      transport.shutdown()
    }

    func test_originsAreCountedSeparately_alsoOnAUnixSocket() async throws {
      let folder = try makeSocketFolder()
      let serve: @Sendable (RawClient, Int) -> Void = { client, _ in
        while client.receiveHead() != nil { client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
      }
      let (one, two) = (try RawServer(serve), try RawServer(path: folder + "/s", serve))
      let transport = try CurlTransport(.init(addresses: ["socket": .unixSocket(path: folder + "/s")]))
      for url in [one.url, try XCTUnwrap(URL(string: "http://socket/")), one.url] {
        let pending = PendingCall(self)
        _ = pending.send(Request(url: url), on: transport)
        XCTAssertEqual(try pending.outcome().get().status, 200)
      }
      let found = await transport.gauges()
      let idle = counts(connections: 1, idle: 1, running: 0, waiting: 0)
      XCTAssertEqual(found.origins, [Origin(one.url).text: idle, "http://socket": idle])
      XCTAssertEqual(found.total, counts(connections: 2, idle: 2, running: 0, waiting: 0))
      withExtendedLifetime(two) {}
    }

    func test_gaugesReturnDuringAShutdown() async throws {
      for _ in 0..<20 {
        let transport = try CurlTransport()
        await withTaskGroup(of: Int.self) { group in
          for index in 0..<8 {
            group.addTask {
              if index == 4 { transport.shutdown() }
              return await transport.gauges().total.connections
            }
          }
          for await connections in group { XCTAssertEqual(connections, 0) }
        }
      }
    }
  }
#endif
