import Foundation
import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport

/// The default limits with a real server and shorter times: no call that makes progress ends, and each that makes none does.
final class ProgressTests: XCTestCase {
  private struct Row: Decodable, Sendable { var a: Int }

  private func transports() -> [any Transport] {
    #if HAS_URLSESSION && !canImport(Darwin)
      [DefaultTransport.make(), URLSessionTransport()]
    #else
      [DefaultTransport.make()]
    #endif
  }

  /// Returns a network with `idle` in place of the 60 s of both rules.
  private func network(
    _ url: URL, _ transport: any Transport, idle: Duration, _ interceptors: any Interceptor...
  ) -> Network {
    Network(
      Backend(
        baseURL: url, transport: transport, timeouts: .init(connect: .seconds(0.5), idle: idle),
        interceptors: interceptors + [Scaled(rate: MinimumRate(bytes: 1 << 10, span: idle))]))
  }

  private struct Scaled: Interceptor {
    let rate: MinimumRate

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      request.context[MinimumRate.self] = rate
      return next(request)
    }
  }

  /// Returns a source of `count` chunks, then the end.
  private static func chunks(_ count: Int, of bytes: Int, thenSilence silent: Int = 0) -> @Sendable () -> [UInt8]? {
    let left = Locked(count + silent)
    return {
      left.withLock { left in
        left -= 1
        return left < 0 ? nil : left < silent ? [] : Array(repeating: 0x20, count: bytes)
      }
    }
  }

  /// A body and a silence before the head that take several times, or most, of each limit.
  func test_callsThatMakeProgress_succeed() async throws {
    let server = try TestServer { request in
      var response = TestServer.Response(body: .pulled(every: 0.05, Self.chunks(100, of: 200)))
      if request.path == "/late" {
        response = .text("late")
        response.delay = 1.2
      }
      return response
    }
    defer { server.stop() }
    for transport in transports() {
      let network = network(server.url, transport, idle: .seconds(2), RetryInterceptor())
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (first, second) = (folder.appending(path: "a"), folder.appending(path: "b"))
      async let fetched = network.fetch(.get("/body"), as: Data.self).count
      async let response = network.response(.get("/body")).body.count
      async let downloaded = network.download(.get("/body"), to: first)
      async let stored = network.fetch(Call<Response>(.get, "/body", task: .download(to: second)))
      async let late = network.fetch(.get("/late"), as: String.self)
      let counts = try await [fetched, response]
      XCTAssertEqual(counts, [20_000, 20_000], "\(transport)")
      let files = try await [downloaded] + [stored.file].compactMap { $0 }
      let sizes = try files.map { try Data(contentsOf: $0).count }
      XCTAssertEqual(sizes, [20_000, 20_000], "\(transport)")
      let text = try await late
      XCTAssertEqual(text, "late", "\(transport)")
    }
    XCTAssertEqual(server.requests.count, 5 * transports().count, "nothing was retried")
  }

  #if canImport(CLibcurl)
    func test_uploadsThatMakeProgress_succeed_andOthersEndAsOftenAsThePolicySays() async throws {
      let count = 300_000
      let isRead = Locked(0)
      let server = try RawServer { connection, _ in
        guard let head = connection.receiveHead() else { return }
        isRead.withLock { $0 += 1 }
        var left = count
        // 80 KB per second for 3 s, or a byte every 50 ms.
        while left > (head.contains("/slow") ? 60_000 : count - 200) {
          let got = connection.skip(head.contains("/slow") ? 4096 : 1)
          guard got > 0 else { return }
          left -= got
          usleep(50_000)
        }
        while left > 0 {
          let got = connection.skip(left)
          guard got > 0 else { return }
          left -= got
        }
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
      let retry = RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))
      let transport = try CurlTransport()
      let network = network(server.url, transport, idle: .seconds(1.5), retry)
      let body = HTTPTask.data(Data(count: count))
      let status = try await network.fetch(.put("/slow", body)).status
      XCTAssertEqual(status, 200)
      XCTAssertEqual(isRead.withLock { $0 }, 1)
      let hasty = self.network(server.url, transport, idle: .seconds(0.4), retry)
      let error = await failureOf { try await hasty.fetch(.put("/stuck", body)) }
      XCTAssertEqual(error?.kind, .timeout)
      XCTAssertTrue(error?.reason.contains("Timeouts.idle") == true, error?.reason ?? "")
      XCTAssertEqual(isRead.withLock { $0 }, 4, "three attempts, not more")
    }
  #endif

  func test_aServerThatTrickles_endsWithTheRule() async throws {
    let server = try TestServer { _ in TestServer.Response(body: .pulled(every: 0.1, { [0x20] })) }
    defer { server.stop() }
    for transport in transports() {
      let before = server.requests.count
      let network = network(server.url, transport, idle: .seconds(0.5))
      let retrying = self.network(
        server.url, transport, idle: .seconds(0.5),
        RetryInterceptor(policy: RetryPolicy(attempts: 2, initialDelay: .milliseconds(1))))
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "a")
      async let fetched = failureOf { _ = try await network.fetch(.get("/body"), as: Data.self) }
      async let response = failureOf { _ = try await network.response(.post("/body", json: ["a": 1])) }
      async let downloaded = failureOf { try await network.download(.get("/body"), to: file) }
      async let stored = failureOf {
        try await network.fetch(Call<Response>(.get, "/body", task: .download(to: folder.appending(path: "b"))))
      }
      async let retried = failureOf { _ = try await retrying.fetch(.get("/body"), as: Data.self) }
      for error in await [fetched, response, downloaded, stored, retried] {
        XCTAssertEqual(error?.kind, .timeout, "\(transport)")
        XCTAssertTrue(
          error?.reason.contains("sent fewer than 1024 bytes of the response in 0.5 s; raise Timeouts.idle") == true,
          error?.reason ?? "none")
      }
      XCTAssertEqual(server.requests.count - before, 6)
      // An explicit limit of the attempt replaces the rule.
      let limited = await failureOf {
        try await network.fetch(.get("/body").timeouts(idle: .seconds(0.5), attempt: .seconds(1.5)))
      }
      XCTAssertTrue(limited?.reason.contains("Timeouts.attempt") == true, limited?.reason ?? "none")
    }
  }

  #if canImport(CLibcurl)
    func test_aServerThatSaysThatItWorks_mayTakeLong() async throws {
      let interim = (0..<10).map { _ in TestServer.Response.Chunk("HTTP/1.1 102 Processing\r\n\r\n", after: 0.3) }
      let final = TestServer.Response.Chunk("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", after: 0.3)
      let server = try TestServer { _ in TestServer.Response(body: .raw(interim + [final])) }
      defer { server.stop() }
      let network = network(server.url, try CurlTransport(), idle: .seconds(1))
      let text = try await network.fetch(.get("/"), as: String.self)
      XCTAssertEqual(text, "ok")
    }

    func test_aHeadThatTrickles_ends() async throws {
      let transport = try CurlTransport()
      for text in [
        "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: ", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 ",
      ] {
        let rest = (0..<600).map { _ in TestServer.Response.Chunk("x", after: 0.1) }
        let server = try TestServer { _ in TestServer.Response(body: .raw([.init(text)] + rest)) }
        defer { server.stop() }
        let network = network(server.url, transport, idle: .seconds(0.5))
        let start = ContinuousClock.now
        let error = await failureOf { try await network.fetch(.get("/")) }
        XCTAssertEqual(error?.kind, .timeout, text)
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(20), text)
      }
    }
  #endif

  func test_streams_mayBeSilentAndSlow_afterTheHead() async throws {
    let line = Array("{\"a\":1}\n".utf8)
    let server = try TestServer { request in
      guard request.path != "/never" else { return .neverResponding }
      let count = Locked(0)
      return TestServer.Response(
        headers: [("Content-Type", request.path == "/events" ? "text/event-stream" : "application/x-ndjson")],
        body: .pulled(every: 0.1) {
          count.withLock { count in
            count += 1
            // A silence of 1.5 s between two lines.
            return count == 1 ? line : count < 16 ? [] : count == 16 ? Array("data: 1\n\n".utf8) + line : nil
          }
        })
    }
    defer { server.stop() }
    for transport in transports() {
      let network = network(server.url, transport, idle: .seconds(0.5))
      func counts(_ silence: Duration?) async throws -> [Int] {
        async let lines = network.lines(.get("/"), as: String.self, silence: silence).toArray().value.count
        async let stream = network.stream(.get("/"), silence: silence).toArray().value.count
        async let body = network.withStream(.get("/"), silence: silence) { try await $0.body.toArray().value.count }
        async let single = network.response(streaming: .get("/"), silence: silence).asObservable().flatMap(\.body)
          .toArray().value.count
        async let events = network.events(.post("/events", json: ["a": 1]), silence: silence).toArray().value.count
        return try await [lines, stream, body, single, events]
      }
      let all = try await counts(nil)
      XCTAssertEqual(all, [4, 2, 2, 2, 1], "\(transport)")
      let error = await failureOf { _ = try await counts(.seconds(0.5)) }
      XCTAssertEqual(error?.kind, .timeout, "\(transport)")
      XCTAssertTrue(error?.reason.contains("(silence") == true, error?.reason ?? "none")
      // Before the head, the limit of all calls applies.
      let late = await failureOf { for try await _ in network.lines(.get("/never"), as: Row.self).values {} }
      XCTAssertTrue(late?.reason.contains("Timeouts.idle") == true, late?.reason ?? "none")
      let lateEvents = await failureOf {
        for try await _ in network.events(.post("/never", json: ["a": 1])).values {}
      }
      XCTAssertTrue(lateEvents?.reason.contains("Timeouts.idle") == true, lateEvents?.reason ?? "none")
    }
  }
}

private func failureOf(_ call: () async throws -> Void) async -> NetworkError? {
  do {
    try await call()
    return nil
  } catch { return error as? NetworkError }
}
