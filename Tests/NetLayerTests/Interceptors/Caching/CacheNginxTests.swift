import Foundation
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The cache with nginx, which generates ETag, Last-Modified, Expires, Vary and 304. The client
/// and nginx must count the same numbers of requests and hits.
final class CacheNginxTests: XCTestCase {
  private static let server = """
    location /fresh.json { expires 1h; if ($request_method = POST) { return 204; } }
    location /checked.json { add_header Cache-Control no-cache; }
    location /gzipped.json { gzip on; gzip_types application/json; gzip_min_length 0; gzip_vary on; expires 1h; }
    location /spoken { add_header Vary Accept-Language; add_header Cache-Control max-age=600;
      default_type application/json; return 200 '"$http_accept_language"'; }
    location /secret.json { add_header Cache-Control no-store; }
    location /shaky.json { add_header Cache-Control "max-age=60, stale-if-error=600"; if ($http_x_fail) { return 503; } }
    location /gone { add_header Cache-Control max-age=60 always; return 410; }
    """

  /// The clock of the system, which can be advanced.
  private final class Clock: SchedulerType {
    private let ahead = Locked(0.0)
    private let base = ConcurrentDispatchQueueScheduler(qos: .utility)

    var now: Date { Date(timeIntervalSinceNow: ahead.withLock { $0 }) }
    func advance(_ seconds: Double) { ahead.withLock { $0 += seconds } }
    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }
    func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
      base.scheduleRelative(dueTime, action)
    }
  }

  private let clock = Clock()
  private let sent = SentCounter()

  func test_hitsRevalidationsAndEntries_matchTheServersLog() throws {
    let files = ["fresh", "checked", "gzipped", "secret", "shaky", "plain"]
    let nginx = try NginxServer(
      server: Self.server,
      files: Dictionary(uniqueKeysWithValues: files.map { ("\($0).json", Data(#"{"v":1}"#.utf8)) }))
    defer { nginx.stop() }
    // Not modified for a hundred days, so the heuristic considers it fresh for ten days.
    try nginx.write(#"{"v":1}"#, to: "plain.json", daysAgo: 100)
    let directory = nginx.folder.appending(path: "cache")
    let cache = ResponseCache(storingIn: directory)
    let network = Network(
      Backend(
        baseURL: nginx.url, transport: DefaultTransport.make(), clock: clock,
        interceptors: [CacheInterceptor(cache), sent.observer]))
    var origins: [Response.Source] = []
    @discardableResult
    func call(_ path: String, _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:]) throws -> Response {
      let reply = record(network.responses(method, nginx.url.appending(queryPath: path), headers: headers))
      let response = try XCTUnwrap(reply.elements.last, "\(path): \(reply.errors)")
      origins.append(response.source)
      return response
    }
    func check(
      _ path: String, _ wanted: String, _ headers: HTTPHeaders = [:], body: String? = nil, line: UInt = #line
    ) throws {
      let response = try call(path, .get, headers)
      let kind =
        response.source.isStale ? "stale" : "\(response.source.kind)"
      XCTAssertEqual("\(response.status) \(kind)", wanted, path, line: line)
      if let body { XCTAssertEqual(String(decoding: response.body, as: UTF8.self), body, path, line: line) }
    }

    for path in ["/fresh.json", "/plain.json", "/gzipped.json", "/gone"] {
      let status = path == "/gone" ? 410 : 200
      try check(path, "\(status) network")
      for _ in 0..<3 { try check(path, "\(status) cache") }
    }
    try check("/checked.json", "200 network")
    for _ in 0..<3 { try check("/checked.json", "200 revalidated", body: #"{"v":1}"#) }
    try nginx.write(#"{"v":22}"#, to: "checked.json")
    try check("/checked.json", "200 network", body: #"{"v":22}"#)
    try check("/checked.json", "200 revalidated", body: #"{"v":22}"#)
    for language in ["de", "zh", "de", "zh"].enumerated() {
      let origin = language.offset < 2 ? "network" : "cache"
      try check("/spoken", "200 \(origin)", ["Accept-Language": language.element], body: "\"\(language.element)\"")
    }
    for _ in 0..<2 { try check("/secret.json", "200 network") }
    try check("/plain.json?a=1", "200 network")
    try check("/plain.json?a=1", "200 revalidated")

    clock.advance(61)
    try check("/gone", "410 network")
    try check("/shaky.json", "200 network")
    clock.advance(61)
    try check("/shaky.json", "200 stale", ["X-Fail": "1"])
    try check("/shaky.json", "200 revalidated")
    // Revalidated on request, because every response would be an hour old by a clock that is an hour ahead of the server's.
    for path in ["/fresh.json", "/gzipped.json"] {
      try check(path, "200 revalidated", ["Cache-Control": "max-age=0"])
      try check(path, "200 cache")
    }
    try check("/plain.json", "200 cache")
    XCTAssertEqual(try call("/fresh.json", .post).status, 204)
    try check("/fresh.json", "200 network")
    try check("/fresh.json", "200 cache")

    let log = try nginx.log(count: sent.count)
    XCTAssertEqual(log.count, sent.count, "no request went past the counter, and none was made up")
    let confirmed = log.filter { $0.hasSuffix(" 304") }.count
    XCTAssertEqual(origins.filter { $0 == .revalidated }.count, confirmed)
    let failed = log.filter { $0.hasSuffix(" 503") }.count
    XCTAssertEqual(origins.filter { $0 == .network }.count, log.count - confirmed - failed)
    XCTAssertEqual(origins.filter(\.isCache).count, origins.count - log.count + failed)
    // One response per URL is stored. /spoken has two and an entry for its Vary field; /secret.json is not stored.
    let replied = Set(
      log.filter { ($0.hasSuffix(" 200") || $0.hasSuffix(" 410")) && !$0.contains("secret") })
    XCTAssertEqual(cache.settle().count, replied.count + 2)
    print(
      "nginx: \(origins.count) calls, \(origins.filter(\.isCache).count) hits, \(log.count) requests, "
        + "\(confirmed) confirmed by 304, \(cache.settle().count) files")
  }

  func test_entryOfAnEarlierProcess_isRevalidated() async throws {
    let nginx = try NginxServer(server: Self.server, files: ["checked.json": Data(#"{"v":1}"#.utf8)])
    defer { nginx.stop() }
    func start() -> (origin: Response.Source?, hasEnded: () -> Bool) {
      let cache = ResponseCache(storingIn: nginx.folder.appending(path: "cache"))
      let network = Network(Backend(baseURL: nginx.url, interceptors: [CacheInterceptor(cache)]))
      let origin = record(network.responses(.get, "/checked.json")).elements.last?.source
      _ = cache.settle()
      return (origin, { [weak cache] in cache == nil })
    }
    var origins: [Response.Source?] = []
    for _ in 0..<3 {
      let run = start()
      origins.append(run.origin)
      // While a cache uses the directory, another one uses only memory.
      try await eventually("the cache is released", run.hasEnded)
    }
    XCTAssertEqual(origins, [.network, .revalidated, .revalidated])
    XCTAssertEqual(
      try nginx.log(count: 3), ["GET /checked.json 200", "GET /checked.json 304", "GET /checked.json 304"])
  }
}

/// Counts the requests that are sent.
private final class SentCounter: Sendable {
  private let number = Locked(0)

  var count: Int { number.withLock { $0 } }

  var observer: CallEventHandler {
    CallEventHandler { [self] event in if event.kind == .sent { number.withLock { $0 += 1 } } }
  }
}

extension URL {
  fileprivate func appending(queryPath text: String) -> URL { URL(string: absoluteString + text) ?? self }
}
