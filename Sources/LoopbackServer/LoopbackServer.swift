import PortableFoundation
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1 for demos, tests and benchmarks, with faults on demand (RFC 9112).
///
/// One thread serves all connections, so that what a test observes has one order; it answers tens of thousands of
/// requests a second and is not what a benchmark measures first. It listens on a port the system chooses, on the
/// loopback address alone, and stops when it is released.
///
///     let server = try LoopbackServer { request in .json(#"{"path":"\#(request.path)"}"#) }
///     let url = server.url("/hello")
public final class LoopbackServer: Sendable {
  /// Answers one request; called on the server's only thread, so it must return at once. Waiting is said by
  /// `Response.delay`, which holds up no other connection.
  public typealias Handler = @Sendable (Request) -> Response

  /// The port the system chose.
  public let port: UInt16
  private let loop: ServerLoop

  /// Starts a server that answers every request with what `handler` returns.
  ///
  /// - Parameters:
  ///   - logLimit: how many of the newest requests `requests` keeps; 256 lets a test look back without a benchmark
  ///     filling the memory.
  ///   - expectation: answers `Expect: 100-continue`, before the body comes: 100 asks for it, any other status is the
  ///     answer, and the connection is closed.
  ///   - handler: answers each request.
  /// - Throws: `Failure` when the system grants no socket, port or pipe.
  public convenience init(
    logLimit: Int = 256, expectation: @escaping @Sendable (Request) -> Int = { _ in 100 }, handler: @escaping Handler
  ) throws {
    try self.init(log: RequestLog(limit: logLimit), expectation: expectation, handler: handler)
  }

  /// One that accepts nothing: the system's backlog does.
  convenience init(isSilent: Bool) throws {
    try self.init(log: RequestLog(limit: 0), expectation: { _ in 100 }, accepts: !isSilent) { _ in .status(500) }
  }

  private init(
    log: RequestLog, expectation: @escaping @Sendable (Request) -> Int, accepts: Bool = true,
    handler: @escaping Handler
  ) throws {
    let listener = try Socket.listenOnLoopback()
    do {
      port = try listener.localPort()
      loop = try ServerLoop(
        listener: listener, log: log, expectation: expectation, accepts: accepts, handler: handler)
      try loop.start()
    } catch {
      listener.close()
      throw error
    }
  }

  /// Starts a server that answers by a table of routes; what no route matches gets 404.
  ///
  /// - Throws: `Failure` when the system grants no socket, port or pipe.
  public convenience init(logLimit: Int = 256, routes: Routes) throws {
    try self.init(logLimit: logLimit) { routes.respond(to: $0) }
  }

  deinit { loop.stop() }

  /// `http://127.0.0.1:<port>`, without a path.
  public var url: URL { url("") }

  /// The URL of `path` on this server; `path` starts with `/` and may carry a query.
  public func url(_ path: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
  }

  /// The number of requests read completely so far.
  public var requestCount: Int { loop.log.requestCount.load(ordering: .relaxed) }
  /// The number of connections accepted so far: stays below `requestCount` when a client keeps connections alive.
  public var connectionCount: Int { loop.log.connectionCount.load(ordering: .relaxed) }
  /// The number of connections open now.
  public var openConnectionCount: Int { loop.log.openCount.load(ordering: .relaxed) }
  /// The bytes of answers handed to the system so far, heads included: stands still while clients read nothing.
  public var sentByteCount: Int { loop.log.sentByteCount.load(ordering: .relaxed) }
  /// The newest requests, oldest first; at most the `logLimit` given.
  public var requests: [Request] { loop.log.newest() }

  /// Closes every connection and the port, and waits until the thread is gone; calls after the first do nothing.
  ///
  /// Called from within a handler it can't wait, and returns at once.
  public func stop() { loop.stop() }

  /// The system refused something the server needs.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    /// The call that failed and the system's own words.
    public let description: String

    init(_ call: String, errno code: Int32) {
      description = "LoopbackServer: \(call) failed: \(String(cString: strerror(code))) (errno \(code))"
    }
  }
}

/// What the server has seen, for tests to look at from other threads.
final class RequestLog: @unchecked Sendable {  // safe: `entries` is touched behind the lock only
  // The loop counts, in this and the next three; tests read.
  let requestCount = Atomic<Int>(0)
  // As above.
  let connectionCount = Atomic<Int>(0)
  // As above.
  let openCount = Atomic<Int>(0)
  // As above.
  let sentByteCount = Atomic<Int>(0)
  private let limit: Int
  // Not a Mutex: Thread Sanitizer does not understand its contended path on Linux, and tests look on from other threads.
  private let lock = Lock()
  private var entries = Entries()

  private struct Entries {
    var requests: [LoopbackServer.Request] = []
    var bodyBytes = 0
  }

  /// Bodies of the requests kept: beyond this, the oldest go first.
  private static let maxBodyBytes = 64 << 20

  init(limit: Int) { self.limit = Swift.max(0, limit) }

  func append(_ request: LoopbackServer.Request) {
    requestCount.add(1, ordering: .relaxed)
    guard limit > 0 else { return }
    lock.withLock {
      entries.requests.append(request)
      entries.bodyBytes += request.body.count
      // Trimmed at twice the limit, so that the shift is paid once in `limit` requests.
      if entries.requests.count > 2 * limit { Self.drop(limit, from: &entries) }
      while entries.bodyBytes > Self.maxBodyBytes, entries.requests.count > 1 { Self.drop(1, from: &entries) }
    }
  }

  private static func drop(_ count: Int, from entries: inout Entries) {
    for request in entries.requests.prefix(count) { entries.bodyBytes -= request.body.count }
    entries.requests.removeFirst(count)
  }

  func newest() -> [LoopbackServer.Request] { lock.withLock { Array(entries.requests.suffix(limit)) } }
}
