#if canImport(CCurl)
  import Foundation
  import Streams
  import TestSupport
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// Nothing is sent twice that must not be, and nothing fails that was refused unprocessed: a server counts the requests
  /// of every call, among retries, redirects, refreshed tokens, shared requests, cancellations, connections that die or
  /// are retired, and shutdowns.
  ///
  /// `Tests/Reliability/once` does it with a million calls. In the environment, NETLAYER_ONCE is their number,
  /// NETLAYER_ONCE_HTTP the one version of HTTP (1.1 or 2), NETLAYER_ONCE_SEED repeats a run.
  final class OnceTests: XCTestCase {
    private static let environment = ProcessInfo.processInfo.environment
    private let count = environment["NETLAYER_ONCE"].flatMap { Int($0) } ?? 20_000
    private let seed = environment["NETLAYER_ONCE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    /// The calls of a transport. Of two transports, the second is shut down with calls in flight.
    private let roundSize = 1000

    private func requireVersion(_ version: String) throws {
      let chosen = Self.environment["NETLAYER_ONCE_HTTP"] ?? version
      if chosen != version { throw XCTSkip("NETLAYER_ONCE_HTTP asks for HTTP/\(chosen) only") }
    }

    func testOverHTTP1EveryCallEndsOnceAndNothingIsSentTwiceThatMustNotBe() throws {
      try requireVersion("1.1")
      let server = try OnceServer(count: count, seed: seed)
      defer { server.stop() }
      try run(server, url: server.url, version: "1.1", CurlTransport.Configuration()) { call, error in
        // Nobody knows whether a kept connection that has died took the request along.
        guard error.kind == .connection || call.isOneShot else { return "\(error)" }
        let processed = server.count(of: call.id).processed
        let isAnswered = ![.dropped, .lost, .busy].contains(call.script)
        return processed > 0 && isAnswered ? "processed and answered, and failed: \(error)" : nil
      }
    }

    func testOverHTTP2NothingFailsThatTheServerHasNotProcessed() throws {
      try requireVersion("2")
      guard CurlTransport.capabilities?.http2 == true else { throw XCTSkip("the libcurl found speaks no HTTP/2 here") }
      let server = try OnceServer(count: count, seed: seed)
      defer { server.stop() }
      // A connection that has had its requests is ended by GOAWAY, with others in flight.
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
      let configuration = CurlTransport.Configuration(tls: .init(trust: .file(certificate)))
      let lost = Locked(0)
      let connections = try run(server, url: url, version: "2", configuration) { call, error in
        let processed = server.count(of: call.id).processed
        // A body that exists once is gone where it was sent to a server that did not take it.
        if call.isOneShot && processed == 0 { return nil }
        // libcurl 7 gives up a connection when a call on it is cancelled while it can take no more: what is on it is lost.
        if CurlLibrary.missesEndOfStream, error.kind == .connection {
          lost.withLock { $0 += 1 }
          return nil
        }
        return "processed \(processed) times, and failed: \(error)"
      }
      print("\(lost.withLock { $0 }) of these calls were lost with connections that libcurl has given up")
      XCTAssertLessThanOrEqual(
        lost.withLock { $0 }, max(1, count / 20_000), "lost with connections that libcurl has given up")
      XCTAssertGreaterThan(connections, count / 200, "connections were to be retired")
    }

    /// Makes all calls and asserts what they must come to.
    ///
    /// - Parameter judge: says what is wrong with the failure of a call that must not be sent twice.
    /// - Returns: how many connections to the proxy were used.
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
        // Those whose callers have left end, too.
        LeakCheck.wait { counting.open == 0 }
        XCTAssertEqual(counting.open, 0, "requests that have not ended")
        let outcome = round.outcome
        sum.answered += outcome.answered
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
      XCTAssertEqual(sum.versions, [version])
      print(
        "once: \(count) calls over HTTP/\(version), seed \(seed): \(sum.answered) answered, \(sum.cancelled) cancelled, "
          + "\(sum.failed.count) failed with their connection; \(server.connectionCount) connections at the server"
          + (sum.connections.isEmpty ? "" : ", \(sum.connections.count) at nginx"))
      return sum.connections.count
    }

    /// What reached the server more often than it may.
    private func sentTwice(_ server: OnceServer, _ version: String) -> [String] {
      server.counts.enumerated().compactMap { id, count in
        let call = OnceCall(id, seed: seed)
        // Over HTTP/2, the end of a connection takes along the responses of others.
        let mayFail = version == "2" || [.busy, .dropped, .lost].contains(call.script)
        // Three attempts, where a first one fails; and the transport may send each once more.
        let most = call.isRepeatable && mayFail ? 6 : call.callers
        // A retry begins where the call began, also when the request that was lost is the one behind the redirect.
        guard count.processed > most || count.redirected > (call.isRepeatable ? 6 : 1) else { return nil }
        return "\(call): processed \(count.processed) times, redirected \(count.redirected) times"
      }
    }
  }
#endif
