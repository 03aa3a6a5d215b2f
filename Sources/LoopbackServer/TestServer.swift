import PortableFoundation
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1 with scripted faults, for demos, tests and benchmarks (RFC 9112).
///
/// One thread serves all connections, so that a test observes events in one order. The server responds to tens of
/// thousands of requests per second, so that it is not the bottleneck of a benchmark. It listens only on the loopback
/// address, on a port that the system chooses, and stops when it is released.
///
///     let server = try TestServer { request in .json(#"{"path":"\#(request.path)"}"#) }
///     let url = server.url("/hello")
public final class TestServer: Sendable {
  /// A function that responds to one request. It is called on the server's only thread, so it must return quickly. To
  /// delay a response, use `Response.delay`, which does not delay other connections.
  public typealias Handler = @Sendable (Request) -> Response
  /// A function that returns the maximum number of bytes of a request's body before it is read. Its argument has no body.
  typealias BodyLimit = @Sendable (Request) -> Int

  /// The port that the system chose.
  public let port: UInt16
  private let loop: ServerLoop

  /// Starts a server whose responses are returned by `handler`.
  ///
  /// - Parameters:
  ///   - maxLoggedRequests: The maximum number of requests in `requests`. The default, 256, suits tests and limits the memory of
  ///     benchmarks.
  ///   - maxBodySize: The limit of each request that has a body; `nil` for 1 GB. A larger body gets status 413, and the
  ///     connection is closed.
  ///   - maxConnections: The maximum number of open connections, at least 1. Further clients wait until one of them closes.
  ///     The default of 4,096 is the length of the system's queue.
  ///   - expectation: A closure that responds to `Expect: 100-continue` before the body arrives. Status 100 requests
  ///     the body. Any other status is sent as the response, and the connection is closed.
  ///   - cut: A fault: a closure that returns the number of bytes of a body that the server reads before it closes the
  ///     connection; `nil` for the whole body. The request has no body yet. The handler then receives these bytes, and a
  ///     client that is still sending may not receive the response. Chunked bodies are not cut.
  ///   - handler: A closure that responds to each request.
  /// - Throws: `Failure` if the system can't provide a socket, port or pipe.
  public convenience init(
    maxLoggedRequests: Int = 256, maxBodySize: (@Sendable (Request) -> Int)? = nil, maxConnections: Int = 4_096,
    expectation: @escaping @Sendable (Request) -> Int = { _ in 100 },
    cut: @escaping @Sendable (Request) -> Int? = { _ in nil }, handler: @escaping Handler
  ) throws {
    try self.init(
      log: RequestLog(limit: maxLoggedRequests), maxBodySize: maxBodySize, maxConnections: maxConnections,
      expectation: expectation,
      cut: cut, handler: handler)
  }

  /// Starts a server for people, without a log. At the limit of connections, a new one closes the one that has been idle the
  /// longest, so that connections without requests don't keep anyone out.
  package convenience init(
    maxBodySize: @escaping @Sendable (Request) -> Int, closingIdleAbove maxConnections: Int, handler: @escaping Handler
  ) throws {
    try self.init(
      log: RequestLog(limit: 0), maxBodySize: maxBodySize, maxConnections: maxConnections, closesIdle: true,
      expectation: { _ in 100 }, handler: handler)
  }

  /// Starts a server that accepts no connections. Clients remain in the system's backlog.
  convenience init(isSilent: Bool) throws {
    try self.init(log: RequestLog(limit: 0), expectation: { _ in 100 }, accepts: !isSilent) { _ in .status(500) }
  }

  private init(
    log: RequestLog, maxBodySize: BodyLimit? = nil, maxConnections: Int = 4_096, closesIdle: Bool = false,
    expectation: @escaping @Sendable (Request) -> Int,
    cut: @escaping @Sendable (Request) -> Int? = { _ in nil }, accepts: Bool = true, handler: @escaping Handler
  ) throws {
    let listener = try Socket.listenOnLoopback()
    do {
      port = try listener.localPort()
      loop = try ServerLoop(
        listener: listener, log: log, maxBodySize: maxBodySize, maxConnections: Swift.max(1, maxConnections),
        closesIdle: closesIdle, expectation: expectation, cut: cut, accepts: accepts, handler: handler)
      try loop.start()
    } catch {
      listener.close()
      throw error
    }
  }

  /// Starts a server with a table of routes. Requests without a matching route receive status 404.
  ///
  /// - Throws: `Failure` if the system can't provide a socket, port or pipe.
  public convenience init(maxLoggedRequests: Int = 256, routes: Routes) throws {
    try self.init(maxLoggedRequests: maxLoggedRequests) { routes.respond(to: $0) }
  }

  deinit { loop.stop() }

  /// The URL of the server without a path: `http://127.0.0.1:<port>`.
  public var url: URL { url("") }

  /// Returns the URL of `path` on this server. `path` starts with `/` and may contain a query.
  public func url(_ path: String) -> URL {
    URL(text: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
  }

  /// The number of requests read completely so far.
  public var requestCount: Int { loop.log.requestCount.load(ordering: .relaxed) }
  /// The number of connections accepted so far. It is less than `requestCount` if clients reuse connections.
  public var connectionCount: Int { loop.log.connectionCount.load(ordering: .relaxed) }
  /// The number of open connections.
  public var openConnectionCount: Int { loop.log.openCount.load(ordering: .relaxed) }
  /// The number of bytes of responses that the system has accepted, including heads. It stops growing while clients do
  /// not read.
  public var sentByteCount: Int { loop.log.sentByteCount.load(ordering: .relaxed) }
  /// The latest requests, the oldest first; at most `maxLoggedRequests`.
  public var requests: [Request] { loop.log.newest() }

  /// Closes all connections and the port, and waits for the end of the thread. Later calls have no effect.
  ///
  /// A call within a handler can't wait, and returns immediately.
  public func stop() { loop.stop() }

  /// An error of a system call made by the server.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    /// The failed call, and the system's error message.
    public let description: String

    init(_ call: String, errno code: Int32) {
      description = "TestServer: \(call) failed: \(String(cString: strerror(code))) (errno \(code))"
    }
  }
}

/// The log of the server's requests and connections, which tests read from other threads.
final class RequestLog: Sendable {
  // This counter and the next three are written by the loop and read by tests.
  let requestCount = Atomic<Int>(0)
  // As above.
  let connectionCount = Atomic<Int>(0)
  // As above.
  let openCount = Atomic<Int>(0)
  // As above.
  let sentByteCount = Atomic<Int>(0)
  private let limit: Int
  // Guards the logged requests.
  private let entries = Locked(Entries())

  private struct Entries {
    var requests: [TestServer.Request] = []
    var bodyBytes = 0
  }

  /// The maximum number of bytes of all logged bodies. If it is exceeded, the oldest requests are removed.
  private static let maxBodyBytes = 64 << 20

  init(limit: Int) { self.limit = Swift.min(Swift.max(0, limit), Int.max / 2) }

  func append(_ request: TestServer.Request) {
    requestCount.add(1, ordering: .relaxed)
    guard limit > 0 else { return }
    entries.withLock { entries in
      entries.requests.append(request)
      entries.bodyBytes += request.body.count
      // Trimmed at twice the limit, so that removing costs little per request.
      if entries.requests.count > 2 * limit { Self.drop(limit, from: &entries) }
      while entries.bodyBytes > Self.maxBodyBytes, entries.requests.count > 1 { Self.drop(1, from: &entries) }
    }
  }

  private static func drop(_ count: Int, from entries: inout Entries) {
    for request in entries.requests.prefix(count) { entries.bodyBytes -= request.body.count }
    entries.requests.removeFirst(count)
  }

  func newest() -> [TestServer.Request] { entries.withLock { Array($0.requests.suffix(limit)) } }
}
