import Foundation
@_spi(Faults) import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

/// Tests of every server fault × body mode × method: each request fails once, with the correct error, and leaks
/// nothing.
class FaultMatrixTests: XCTestCase {
  func makeTransport() throws -> any Transport { try makeTrustingTransport() }

  /// The faults that this transport supports.
  var faults: [TestServer.Fault] { TestServer.Fault.allCases }

  /// The maximum number of connections that this transport keeps to one host.
  var keptConnections: Int { 6 }

  /// The header fields of the requests that follow a fault.
  var nextHeaders: HTTPHeaders { [:] }

  /// The expected outcome of a POST on a lost kept connection, and the time limits.
  var diedUnderAPost: (expected: FaultGrid.Expected, limits: Request.Timeouts) {
    #if canImport(CLibcurl)
      // Before 7.80, libcurl always sends the request again over a new connection, which works.
      if !CurlLibrary.asksBeforeSending { return (.reply("ok"), Request.Timeouts()) }
    #endif
    return (.failure(.connection), Request.Timeouts())
  }

  func shutDown(_ transport: any Transport) {
    #if canImport(CLibcurl)
      (transport as? CurlTransport)?.shutdown()
    #endif
    #if HAS_URLSESSION
      (transport as? URLSessionTransport)?.shutdown()
    #endif
  }

  class func expected(_ fault: TestServer.Fault) -> FaultGrid.Expected {
    switch fault {
    case .neverResponding, .headStalled, .stalledBody: .failure(.timeout, saying: "Timeouts.idle")
    case .dripping: .failure(.timeout, saying: "Timeouts.attempt")
    // Bytes after the content are not part of it. If both framings are present, the chunked one applies.
    case .lengthTooShort, .lengthAndChunks: .reply("ok")
    case .redirectLoop: .failure(.redirect, saying: "more than 10 redirects")
    case .redirectToFile: .failure(.redirect, saying: "file:///etc/passwd")
    case .endlessBody, .gzipBomb: .failure(.tooLarge, saying: "larger than 1048576 bytes")
    case .malformedStatusLine, .headerWithoutColon, .foldedFirstField, .hugeHeader, .tenThousandHeaders,
      .negativeLength, .twoLengths, .brokenChunkSize, .corruptGzip, .wrongContentEncoding:
      .failure(.parse)
    // The name is that of no coding.
    case .unknownContentEncoding: .reply("plain")
    default: .failure(.connection)
    }
  }

  /// Returns limits that differ widely, so that the expected one is reached first. If no limit is expected, they are
  /// generous, because a loaded machine is slow.
  private static func limits(_ expected: FaultGrid.Expected) -> Request.Timeouts {
    guard case .failure(.timeout, _, let limit) = expected else {
      return .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(60))
    }
    return switch limit {
    case "Timeouts.connect": .init(connect: .seconds(0.3), idle: .seconds(0.9), attempt: .seconds(60))
    case "Timeouts.idle": .init(connect: .seconds(0.9), idle: .seconds(0.3), attempt: .seconds(60))
    default: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(0.9))
    }
  }

  func test_everyFaultFailsOnceWithoutLeaks() throws {
    try warmUp()
    let before = Resources.now
    try autoreleased {
      func makeServer() throws -> TestServer {
        try TestServer { request in
          TestServer.Fault(rawValue: String(request.path.dropFirst()))?.response(to: request.target) ?? .text("ok")
        }
      }
      let server = try makeServer()
      // The faults that reach a time limit run concurrently, so each has its own server.
      let limited = faults.filter { if case .failure(.timeout, _, _) = Self.expected($0) { true } else { false } }
      let slow = try limited.map { _ in try makeServer() }
      let silent = try TestServer.silent()
      let other = try TestServer { _ in .text("ok") }
      let target = other.url("/").absoluteString
      let redirecting = try TestServer { _ in .redirect(to: target, status: 307) }
      let closed = try TestServer { _ in .text("never") }
      let gone = closed.url("/")
      closed.stop()
      let transport = try makeTransport()
      var grid = try FaultGrid(self, transport, next: server.url("/text"))
      grid.nextHeaders = nextHeaders
      defer { try? FileManager.default.removeItem(at: grid.folder) }
      let leaks = try LeakCheck(
        self, transport, asking: grid.next, [server, silent, other, redirecting] + slow,
        keptConnections: keptConnections)
      func row(_ name: String, _ expected: FaultGrid.Expected, at url: URL) -> FaultGrid.Row {
        .init(name: name, expected: expected, url: url, limits: Self.limits(expected))
      }
      func run(_ name: String, _ expected: FaultGrid.Expected, at url: URL) throws {
        try grid.run(name, expected, at: url, Self.limits(expected))
        try leaks.check(name)
      }
      let seed = "LOOPBACK_SEED=\(TestServer.Fault.seed)"
      for fault in faults where !limited.contains(fault) {
        let name = fault == .resetAtRandomByte ? "\(fault.rawValue) (\(seed))" : fault.rawValue
        try run(name, Self.expected(fault), at: server.url("/\(fault.rawValue)"))
      }
      try run("refused", .failure(.connection), at: gone)
      let secure = try XCTUnwrap(URL(string: "https://127.0.0.1:\(silent.port)/"))
      try grid.run(
        zip(limited, slow).map { row($0.rawValue, Self.expected($0), at: $1.url("/\($0.rawValue)")) } + [
          row("never read", .failure(.timeout, saying: "Timeouts.idle"), at: silent.url("/")),
          row("silent handshake", .failure(.timeout, saying: "Timeouts.connect"), at: secure),
        ])
      try leaks.check("the time limits")
      try crossOrigins(grid, redirecting, other)
      try leaks.check("redirect to another origin")
      shutDown(transport)
    }
    assertNothingLeft(before)
  }

  /// Asserts that a redirect to another origin keeps the method and the body, and drops all secret fields.
  private func crossOrigins(_ grid: FaultGrid, _ server: TestServer, _ other: TestServer) throws {
    let secrets: HTTPHeaders = [
      "Authorization": "Bearer secret", "Cookie": "a=secret", "Proxy-Authorization": "Basic secret",
      "X-Api-Key": "secret", "X-Marked": "secret",
    ]
    var options = Request.Options()
    options.redaction = options.redaction.hiding(["x-marked"])
    try grid.run(
      "redirect to another origin", .reply("ok"), at: server.url("/"), Self.limits(.reply("")), headers: secrets,
      options: options)
    for (log, expected) in [(server.requests, secrets.count), (other.requests, 0)] {
      XCTAssertEqual(log.filter { $0.method == "GET" }.map(\.body), [[], [], []])
      let posts = log.filter { $0.method == "POST" }
      XCTAssertEqual(posts.count, 3)
      XCTAssert(posts.allSatisfy { Data($0.body) == FaultGrid.body }, "\(posts.map(\.body.count))")
      XCTAssertEqual(
        Set(log.map { "\($0.method) \($0.header("X-Cell") ?? "")" }).count, 6, "each of the six, once")
      for request in log {
        XCTAssertEqual(request.headers.filter { $0.value.contains("secret") }.count, expected, "\(request.headers)")
      }
    }
  }

  func test_aLostKeptConnectionIsReplaced_ifARetryIsSafe() throws {
    var started: [(name: String, method: HTTPMethod, cell: FaultGrid.Cell, server: TestServer, end: () -> Void)] = []
    for mode in FaultGrid.Mode.allCases {
      for method in [HTTPMethod.get, .post] {
        // Every connection ends at its second request.
        let seen = Locked<Set<Int>>([])
        let server = try TestServer { request in
          seen.withLock { $0.insert(request.connection).inserted } ? .text("ok") : .closeBeforeHead
        }
        let transport = try makeTransport()
        let grid = try FaultGrid(self, transport, next: server.url("/"))
        let first = FaultGrid.Cell(.data, .get, in: grid)
        first.start(server.url("/"), Request.Timeouts())
        try first.check(.reply("ok"), "first")
        let second = FaultGrid.Cell(mode, method, in: grid)
        let limits = method == .get ? Request.Timeouts() : diedUnderAPost.limits
        second.start(server.url("/"), limits)
        started.append(
          (
            "\(mode) \(method)", method, second, server,
            { [self] in
              shutDown(transport)
              try? FileManager.default.removeItem(at: grid.folder)
            }
          ))
      }
    }
    for (name, method, cell, server, end) in started {
      try cell.check(method == .get ? .reply("ok") : diedUnderAPost.expected, name)
      // The lost request and its retry.
      XCTAssertEqual(server.requestCount, method == .get ? 3 : 2, name)
      end()
    }
  }

  /// Opens the resources that system libraries open once, so that they do not count as leaks.
  private func warmUp() throws {
    let before = Resources.now
    let server = try TestServer { _ in .text("ok") }
    let transport = try makeTransport()
    let grid = try FaultGrid(self, transport, next: server.url("/"))
    defer { try? FileManager.default.removeItem(at: grid.folder) }
    try grid.run("warm-up", .reply("ok"), at: server.url("/"), Request.Timeouts())
    shutDown(transport)
    LeakCheck.wait { Resources.now.transportThreads <= before.transportThreads }
  }

  private func autoreleased(_ body: () throws -> Void) throws {
    #if canImport(ObjectiveC)
      try autoreleasepool { try body() }
    #else
      try body()
    #endif
  }

  private func assertNothingLeft(_ before: Resources) {
    LeakCheck.wait {
      let now = Resources.now
      return now.descriptors <= before.descriptors && now.transportThreads <= before.transportThreads
    }
    XCTAssertLessThanOrEqual(Resources.now.descriptors, before.descriptors)
    XCTAssertLessThanOrEqual(Resources.now.transportThreads, before.transportThreads)
  }
}
