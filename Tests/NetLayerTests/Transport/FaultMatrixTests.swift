import Foundation
import LoopbackServer
import Streams
import XCTest

@testable import NetLayer

/// Every fault of a server × what is done with the body × the method: the right error, once, and nothing left behind.
class FaultMatrixTests: XCTestCase {
  /// What must come of a fault.
  enum Expected {
    case success
    case failure(Set<NetworkError.Kind>)

    static func failure(_ kind: NetworkError.Kind) -> Expected { .failure([kind]) }
  }

  enum Mode: CaseIterable { case data, stream, file }

  func makeTransport() throws -> any Transport { DefaultTransport.make() }

  /// Where this transport does something else, and what.
  func known(_ fault: LoopbackServer.Fault) -> Expected? { nil }

  /// Those that this transport survives.
  var faults: [LoopbackServer.Fault] { LoopbackServer.Fault.allCases }

  /// What comes of a POST on a kept connection that is gone, within which limits.
  var diedUnderAPost: (kind: NetworkError.Kind, limits: Request.Timeouts) { (.connection, Request.Timeouts()) }

  func shutDown(_ transport: any Transport) {
    #if canImport(CCurl)
      (transport as? CurlTransport)?.shutdown()
    #endif
    (transport as? URLSessionTransport)?.shutdown()
  }

  static func expected(_ fault: LoopbackServer.Fault) -> Expected {
    switch fault {
    case .neverAnswering, .headStalled, .dripping, .stalledBody: .failure(.timeout)
    case .lengthTooShort, .lengthAndChunks: .success
    case .redirectLoop, .redirectToFile: .failure(.redirect)
    default: .failure(.connection)
    }
  }

  private func isSlow(_ fault: LoopbackServer.Fault) -> Bool {
    if case .failure([.timeout]) = Self.expected(fault) { true } else { false }
  }

  func testEveryFaultEndsOnceAndLeavesNothing() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try warmUp()
    let before = Resources.now
    try autoreleased {
      let transport = try makeTransport()
      for fault in faults {
        let server = try LoopbackServer { request in
          request.path == "/text" ? .text("ok") : fault.response(to: request.target)
        }
        try run(
          fault.rawValue, known(fault) ?? Self.expected(fault), at: server.url("/fault"), next: server.url("/text"),
          isSlow: isSlow(fault), on: transport, folder)
        server.stop()
      }
      let other = try LoopbackServer { _ in .text("ok") }
      let closed = try LoopbackServer { _ in .text("never") }
      let gone = closed.url("/")
      closed.stop()
      try run("refused", .failure(.connection), at: gone, next: other.url("/"), on: transport, folder)
      let silent = try LoopbackServer.silent()
      try run(
        "never read", .failure(.timeout), at: silent.url("/"), next: other.url("/"), isSlow: true, on: transport, folder
      )
      try run(
        "redirect to another origin", .success,
        at: try redirecting(to: other.url("/")), next: other.url("/"), on: transport, folder)
      shutDown(transport)
      XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }
    helpers = []
    assertNothingLeft(before)
  }

  func testAKeptConnectionThatDiesUnderARequestIsReplacedWhereThatIsSafe() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for mode in Mode.allCases {
      for method in [HTTPMethod.get, .post] {
        // Every connection dies under its second request.
        let seen = Locked<Set<Int>>([])
        let server = try LoopbackServer { request in
          seen.withLock { $0.insert(request.connection).inserted } ? .text("ok") : .closeBeforeHead
        }
        let transport = try makeTransport()
        let first = Cell(self, .data, .get, server.url("/"), folder)
        first.start(on: transport, Request.Timeouts())
        XCTAssertNil(try first.end().kind)
        let second = Cell(self, mode, method, server.url("/"), folder)
        second.start(on: transport, method == .get ? Request.Timeouts() : diedUnderAPost.limits)
        XCTAssertEqual(try second.end().kind, method == .get ? nil : diedUnderAPost.kind, "\(mode) \(method)")
        shutDown(transport)
      }
    }
  }

  /// What the system's libraries open once is no leak.
  private func warmUp() throws {
    let server = try LoopbackServer { _ in .text("ok") }
    let transport = try makeTransport()
    let cell = Cell(self, .data, .post, server.url("/"), FileManager.default.temporaryDirectory)
    cell.start(on: transport, Request.Timeouts())
    _ = try cell.end()
    shutDown(transport)
  }

  private var helpers: [LoopbackServer] = []

  private func redirecting(to url: URL) throws -> URL {
    let server = try LoopbackServer { _ in .redirect(to: url.absoluteString, status: 307) }
    helpers.append(server)
    return server.url("/")
  }

  /// All six at once; then the transport must be as good as new.
  private func run(
    _ name: String, _ expected: Expected, at url: URL, next: URL, isSlow: Bool = false, on transport: any Transport,
    _ folder: URL
  ) throws {
    // Generous where no limit shall be reached, since a loaded machine is slow, too.
    let limits =
      isSlow
      ? Request.Timeouts(connect: 0.4, idle: 0.4, total: 0.9) : Request.Timeouts(connect: 30, idle: 30, total: 60)
    let cells = Mode.allCases.flatMap { mode in
      [HTTPMethod.get, .post].map { Cell(self, mode, $0, url, folder) }
    }
    for cell in cells { cell.start(on: transport, limits) }
    for cell in cells {
      let (kind, reason) = try cell.end()
      let what = "\(name) \(cell.mode) \(cell.method): \(reason)"
      switch expected {
      case .success: XCTAssertNil(kind, what)
      case .failure(let kinds):
        XCTAssert(kind.map(kinds.contains) == true, "\(kind.map { "\($0)" } ?? "success"), \(what)")
      }
      if kind != nil { XCTAssertEqual(try cell.leftovers(), [], what) }
      try cell.clean()
    }
    let after = Cell(self, .data, .get, next, folder)
    after.start(on: transport, Request.Timeouts())
    XCTAssertNil(try after.end().kind, "after \(name)")
  }

  private func autoreleased(_ body: () throws -> Void) throws {
    #if canImport(ObjectiveC)
      try autoreleasepool { try body() }
    #else
      try body()
    #endif
  }

  private func assertNothingLeft(_ before: Resources) {
    guard let before = before.ifKnown else { return }
    let gone = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in
        guard let now = Resources.now.ifKnown else { return true }
        return now.descriptors <= before.descriptors && now.transportThreads <= before.transportThreads
      }, object: nil)
    if XCTWaiter().wait(for: [gone], timeout: 20) != .completed {
      XCTFail("before \(before), now \(Resources.now)")
    }
  }

  /// One request of the matrix.
  private final class Cell: Sendable {
    let mode: Mode
    let method: HTTPMethod
    private let url: URL
    private let folder: URL
    /// The one of both that the mode needs.
    private let flight: Flight?
    private let stream: StreamFlight?

    init(_ test: XCTestCase, _ mode: Mode, _ method: HTTPMethod, _ url: URL, _ parent: URL) {
      self.mode = mode
      self.method = method
      self.url = url
      folder = parent.appending(path: UUID().uuidString)
      flight = mode == .stream ? nil : Flight(test)
      stream = mode == .stream ? StreamFlight(test) : nil
    }

    func start(on transport: any Transport, _ limits: Request.Timeouts) {
      var request = Request(method: method, url: url, timeouts: limits)
      if method == .post { request.body = .data(Data(count: 100_000)) }
      request.options.maxBodySize = 1 << 20
      switch mode {
      case .data: _ = flight?.send(request, on: transport)
      case .stream: stream?.start(request, on: transport)
      case .file:
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        request.destination = folder.appending(path: "body")
        _ = flight?.send(request, on: transport)
      }
    }

    func end() throws -> (kind: NetworkError.Kind?, reason: String) {
      switch try XCTUnwrap(try stream?.outcome() ?? flight?.outcome()) {
      case .success(let response): (nil, "\(response.status)")
      case .failure(let error): (error.kind, error.reason)
      }
    }

    func leftovers() throws -> [String] {
      mode == .file ? try FileManager.default.contentsOfDirectory(atPath: folder.path) : []
    }

    func clean() throws { if mode == .file { try FileManager.default.removeItem(at: folder) } }
  }
}

/// What the process holds, as far as the system tells.
struct Resources {
  var descriptors: Int
  var transportThreads: Int
  var residentBytes: Int

  var ifKnown: Resources? { descriptors > 0 ? self : nil }

  static var now: Resources {
    let files = FileManager.default
    let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    let tasks = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let names = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
      .first
    return Resources(
      descriptors: descriptors, transportThreads: names.filter { $0.hasPrefix("NetLayer.curl") }.count,
      residentBytes: (pages.flatMap { Int($0) } ?? 0) * 4096)
  }
}
