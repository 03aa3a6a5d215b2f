#if canImport(CLibcurl)
  import Foundation
  import Streams
  import TestSupport
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests that no request is processed twice unless it is safe, and that no unprocessed request fails. A server counts
  /// the requests of every call, with retries, redirects, refreshed tokens, coalesced requests, cancellations, lost and
  /// retired connections, and shutdowns.
  ///
  /// `Tests/Reliability/once` runs a million calls. Environment variables: NETLAYER_ONCE is the number of calls,
  /// NETLAYER_ONCE_HTTP the only version of HTTP (1.1 or 2), and NETLAYER_ONCE_SEED repeats a run.
  final class OnceTests: XCTestCase {
    private static let environment = ProcessInfo.processInfo.environment
    private let count = environment["NETLAYER_ONCE"].flatMap { Int($0) } ?? 3000
    private let seed = environment["NETLAYER_ONCE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    /// The number of calls per transport. Every second transport is shut down with calls in flight.
    private let roundSize = 1000

    private func requireVersion(_ version: String) throws {
      let chosen = Self.environment["NETLAYER_ONCE_HTTP"] ?? version
      if chosen != version { throw XCTSkip("NETLAYER_ONCE_HTTP asks for HTTP/\(chosen) only") }
    }

    func test_overHTTP1_everyCallEndsOnce_andNoUnsafeRequestIsSentTwice() throws {
      try requireVersion("1.1")
      let server = try OnceServer(count: count, seed: seed)
      defer { server.stop() }
      try run(server, url: server.url, version: "1.1", CurlTransport.Configuration()) { call, error in
        // The client cannot know whether the server processed a request on a kept connection that was lost.
        guard error.kind == .connection || call.isOneShot else { return "\(error)" }
        let processed = server.count(of: call.id).processed
        let hasReply = ![.dropped, .lost, .busy].contains(call.script)
        return processed > 0 && hasReply ? "processed and answered, and failed: \(error)" : nil
      }
    }

    func test_overHTTP2_noUnsafeRequestIsSentTwice_andRepeatableOnesSucceed() throws {
      try requireVersion("2")
      guard CurlTransport.capabilities?.http2 == true else { throw XCTSkip("requires libcurl 8.14 with HTTP/2") }
      let server = try OnceServer(count: count, seed: seed)
      defer { server.stop() }
      // nginx retires a connection after 100 requests with GOAWAY, while others are in flight.
      let nginx = try NginxServer(
        server: """
          keepalive_requests 100; client_body_buffer_size 256k; access_log off;
          location / {
            proxy_pass \(server.url.absoluteString); proxy_next_upstream off; proxy_http_version 1.1;
            proxy_set_header X-Proxy nginx; proxy_redirect off; add_header X-Connection $connection always;
          }
          """, files: [:], isSecure: true)
      defer { nginx.stop() }
      let (url, certificate) = (try XCTUnwrap(nginx.secureURL), nginx.folder.appending(path: "certificate.pem"))
      let configuration = CurlTransport.Configuration(tls: .init(trust: .pem(file: certificate)))
      let lost = Locked(0)
      let connections = try run(server, url: url, version: "2", configuration) { call, error in
        let processed = server.count(of: call.id).processed
        // A single-use body cannot be sent again, even if the server did not process the request.
        if call.isOneShot && processed == 0 { return nil }
        // libcurl does not report whether a lost request was processed, so it is not sent again.
        if error.kind == .connection, call.isOneShot || !call.method.isIdempotent {
          lost.withLock { $0 += 1 }
          return nil
        }
        return "processed \(processed) times, and failed: \(error)"
      }
      print("\(lost.withLock { $0 }) of these calls were lost with their connection and must not be repeated")
      XCTAssertGreaterThan(connections, count / 200, "connections were to be retired")
    }

    /// Runs all calls and asserts their outcomes.
    ///
    /// - Parameter judge: A closure that returns the problem if a call that must not be sent twice fails with an
    ///   unexpected error, or `nil`.
    /// - Returns: The number of connections to the proxy.
    @discardableResult
    private func run(
      _ server: OnceServer, url: URL, version: String, _ configuration: CurlTransport.Configuration,
      judge: (OnceCall, NetworkError) -> String?
    ) throws -> Int {
      var configuration = configuration
      configuration.maxConnectionsPerHost = 64
      var sum = OnceRound.Tally()
      for (number, start) in stride(from: 0, to: count, by: roundSize).enumerated() {
        let transport = try CurlTransport(configuration)
        let counting = OnceTransport(transport)
        let shutDown: @Sendable () -> Void = { transport.shutdown() }
        let finished = expectation(description: "round \(number)")
        let round = OnceRound(
          start..<Swift.min(start + roundSize, count), server: server, url: url, through: counting,
          finished: finished, shutDown: number % 2 == 1 ? shutDown : nil)
        round.start()
        wait(for: [finished], timeout: 1200)
        // Requests whose callers have cancelled also end.
        LeakCheck.wait { counting.open == 0 }
        XCTAssertEqual(counting.open, 0, "requests that have not ended")
        let outcome = round.outcome
        sum.replied += outcome.replied
        sum.cancelled += outcome.cancelled
        sum.failed += outcome.failed
        sum.problems += outcome.problems + counting.problems
        sum.connections.formUnion(outcome.connections.map { "\(number) \($0)" })
        sum.versions.formUnion(outcome.versions)
        transport.shutdown()
      }
      let failures = sum.failed.compactMap { call, error in judge(call, error).map { "\(call): \($0)" } }
      let problems = sum.problems + server.problems + sentTwice(server, version) + failures
      for problem in problems.prefix(20) { XCTFail("\(problem) (seed \(seed))") }
      XCTAssertEqual(problems.count, 0)
      // The last of three sends over HTTP/2 uses HTTP/1.1.
      XCTAssertEqual(sum.versions.subtracting(version == "2" ? ["1.1"] : []), [version])
      print(
        "once: \(count) calls over HTTP/\(version), seed \(seed): \(sum.replied) answered, \(sum.cancelled) cancelled, "
          + "\(sum.failed.count) failed with their connection; \(server.connectionCount) connections at the server"
          + (sum.connections.isEmpty ? "" : ", \(sum.connections.count) at nginx"))
      return sum.connections.count
    }

    /// Returns the calls that reached the server more often than allowed.
    private func sentTwice(_ server: OnceServer, _ version: String) -> [String] {
      server.counts.enumerated().compactMap { id, count in
        let call = OnceCall(id, seed: seed)
        // Over HTTP/2, the end of a connection also loses the responses of other calls.
        let mayFail = version == "2" || [.busy, .dropped, .lost].contains(call.script)
        // Up to three attempts if the first one fails, and the transport may send each of them twice, or three times over
        // HTTP/2.
        // After a 303, the request is a GET.
        let isTurned = version == "2" && call.script == .turned
        let most = call.isRepeatable && mayFail ? (version == "2" ? 9 : 6) : isTurned ? 3 : call.callers
        // A retry starts from the first request of the call, even if the lost request followed a redirect.
        guard count.processed > most || count.redirected > (call.isRepeatable ? 6 : 1) else { return nil }
        return "\(call): processed \(count.processed) times, redirected \(count.redirected) times"
      }
    }
  }
#endif
