import Foundation
import LoopbackServer
import Races
import Streams
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Processes that send numbered writes are killed at random moments. A server that honors keys then has each write once,
/// in the order of its lane, and no write is missing that `send` has acknowledged.
///
/// `NETLAYER_OUTBOX_KILLS` sets the number of kills.
final class OutboxKillTests: XCTestCase {
  private static let environment = ProcessInfo.processInfo.environment
  private static let keys = ["a", "b", "c"]

  /// The notes of a child: a line for each acknowledged write, and for each result.
  private enum Mark {
    static let sent = "s"
    static let result = "r"
  }

  func test_outbox_killedProcesses_loseNothing_applyNothingTwice_keepTheOrder() throws {
    guard Self.environment["NETLAYER_OUTBOX_CHILD"] == nil else { throw XCTSkip("this is the process that is killed") }
    let kills = Self.environment["NETLAYER_OUTBOX_KILLS"].flatMap(Int.init) ?? 20
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "kills-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    var random = randomNumbers()
    let server = try FaultyServer(SplitMix64(seed: random.next()))
    var acknowledged: Set<String> = []
    var results: Set<String> = []
    for round in 0..<kills {
      // Every third time, two processes use the directory.
      let children = try (0..<(round % 3 == 2 ? 2 : 1)).map {
        try child(round * 2 + $0, directory, server.url, seed: random.next())
      }
      for child in children { child.waitForLines(Int.random(in: 1...25, using: &random)) }
      usleep(UInt32.random(in: 0..<3000, using: &random))
      for child in children { kill(child.process.processIdentifier, SIGKILL) }
      for child in children {
        child.process.waitUntilExit()
        XCTAssertEqual(child.process.terminationReason, .uncaughtSignal, "the child ended by itself")
        for line in child.rest().split(separator: "\n") {
          if line.hasPrefix(Mark.sent) { acknowledged.insert(String(line.dropFirst())) }
          if line.hasPrefix(Mark.result) { results.insert(String(line.dropFirst())) }
        }
      }
    }
    server.isFaulty.value = false
    let results2 = Box<Set<String>>(results)
    let outbox = try Self.outbox(directory, server.url)
    let remaining = Box(-1)
    _ = outbox.results.subscribe(onNext: { outcome in
      if case .success = outcome.result {
        _ = results2.update { $0.insert(String(decoding: outcome.entry.body, as: UTF8.self)) }
      }
    })
    outbox.start()
    _ = outbox.pending.subscribe(onNext: { remaining.value = $0.count })
    // The time depends on the number of entries and on the load, so only a standstill is an error.
    var (isEmpty, requests) = (false, -1)
    while !isEmpty, requests != server.requests {
      requests = server.requests
      isEmpty = holds(within: 30) { remaining.value == 0 && Self.names(directory).isEmpty }
    }
    XCTAssert(isEmpty, "\(remaining.value) are left")
    let applied = server.applied
    XCTAssertEqual(acknowledged.subtracting(applied), [], "lost")
    XCTAssertEqual(applied.count, Set(applied).count, "applied twice")
    // Killed between the removal and the line of the parent's pipe, a result may be unseen by the parent only.
    XCTAssertGreaterThan(results2.value.count, acknowledged.count / 2)
    for key in Self.keys {
      let numbers = applied.filter { $0.hasPrefix(key) }.map { text in
        text.dropFirst().split(separator: ".").compactMap { Int($0) }
      }
      // The writes of one process follow one another. Two concurrent processes may alternate.
      for writer in Set(numbers.map(\.[0])) {
        let own = numbers.filter { $0[0] == writer }.map { $0[1] }
        XCTAssertEqual(own, own.sorted(), "order of \(key) by \(writer)")
      }
      let rounds = numbers.map { $0[0] / 2 }
      XCTAssertEqual(rounds, rounds.sorted(), "the writes of a later run follow those of an earlier one")
    }
    print(
      "\(kills) kills: \(acknowledged.count) acknowledged, \(applied.count) applied, \(server.replays) replays, "
        + "\(server.requests) requests")
    XCTAssertGreaterThan(acknowledged.count, kills, "the children have sent nothing")
  }

  func test_outbox_killedProcesses_ofTwoUsers_sendNothingAsTheOther() throws {
    guard Self.environment["NETLAYER_OUTBOX_CHILD"] == nil else { throw XCTSkip("this is the process that is killed") }
    let kills = Self.environment["NETLAYER_OUTBOX_KILLS"].flatMap(Int.init) ?? 10
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "kills-\(UUID().uuidString)")
    let tokens = directory.appendingPathExtension("tokens")
    defer { for place in [directory, tokens] { try? FileManager.default.removeItem(at: place) } }
    var random = randomNumbers()
    let server = try FaultyServer(SplitMix64(seed: random.next()))
    var acknowledged: Set<String> = []
    for round in 0..<kills {
      let children = try (0..<2).map {
        try child(round * 2 + $0, directory, server.url, seed: random.next(), tokens: tokens)
      }
      for child in children { child.waitForLines(Int.random(in: 1...15, using: &random)) }
      usleep(UInt32.random(in: 0..<3000, using: &random))
      for child in children { kill(child.process.processIdentifier, SIGKILL) }
      for child in children {
        child.process.waitUntilExit()
        XCTAssertEqual(child.process.terminationReason, .uncaughtSignal, "the child ended by itself")
        for line in child.rest().split(separator: "\n") where line.hasPrefix(Mark.sent) {
          acknowledged.insert(String(line.dropFirst()))
        }
      }
    }
    server.isFaulty.value = false
    let login = Self.login(server.url, tokens)
    let outbox = try Self.outbox(directory, server.url, login)
    outbox.start()
    // Each user sends the entries of that user, and no others.
    for name in ["ann", "bob"] {
      login.set(Token(access: name, account: name))
      var (isEmpty, requests) = (false, -1)
      while !isEmpty, requests != server.requests {
        requests = server.requests
        isEmpty = holds(within: 30) { acknowledged.filter { $0.hasSuffix(name) }.isSubset(of: server.applied) }
      }
      XCTAssert(isEmpty, "entries of \(name) are lost")
    }
    let applied = server.applied
    XCTAssertEqual(applied.count, Set(applied).count, "applied twice")
    XCTAssertEqual(server.mismatches, [], "sent as the other user")
    XCTAssertGreaterThan(acknowledged.count, kills, "the children have sent nothing")
    print("\(kills) kills of two users: \(acknowledged.count) acknowledged, \(server.requests) requests")
  }

  private static func login(_ url: URL, _ tokens: URL) -> AuthenticationInterceptor {
    AuthenticationInterceptor(for: [url], store: FileTokenStore(storingIn: tokens)) { old -> Single<Token> in
      .just(Token(access: old?.access ?? "", account: old?.account))
    }
  }

  private static func names(_ directory: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).filter { $0 != "netlayer-outbox" }
  }

  private static func outbox(_ directory: URL, _ url: URL, _ login: AuthenticationInterceptor? = nil) throws -> Outbox {
    let retry = RetryPolicy(attempts: 1000, initialDelay: .milliseconds(2), maxDelay: .milliseconds(20))
    return try Outbox(
      storingIn: directory,
      on: Network(Backend(baseURL: url, interceptors: login.map { [RetryInterceptor(), $0] } ?? [])),
      reachability: TestReachability(), retry: retry)
  }

  /// Sends writes until the process is killed. Runs only in a child process.
  func test_child() throws {
    guard let path = Self.environment["NETLAYER_OUTBOX_CHILD"], let url = Self.environment["NETLAYER_OUTBOX_URL"],
      let url = URL(string: url), let writer = Self.environment["NETLAYER_OUTBOX_WRITER"]
    else { return }
    let login = Self.environment["NETLAYER_OUTBOX_TOKENS"].map { Self.login(url, URL(filePath: $0)) }
    let outbox = try Self.outbox(URL(filePath: path), url, login)
    var user = ""
    _ = outbox.results.subscribe(onNext: { outcome in
      Self.say(Mark.result + String(decoding: outcome.entry.body, as: UTF8.self))
    })
    outbox.start()
    var random = randomNumbers()
    for number in 0..<1_000_000 {
      let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
      if let login, number % 3 == 0 {
        user = Bool.random(using: &random) ? "ann" : "bob"
        login.set(Token(access: user, account: user))
      }
      let text = "\(key)\(writer).\(number)\(login == nil ? "" : " \(user)")"
      try outbox.send(Call(.post, "/notes", task: .data(Data(text.utf8))), lane: key)
      Self.say(Mark.sent + text)
      if number % 8 == 7 { usleep(UInt32.random(in: 0..<4000, using: &random)) }
    }
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  private final class Child {
    let process = Process()
    private let pipe = Pipe()
    private var text = Data()

    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    deinit { try? pipe.fileHandleForReading.close() }

    init(_ arguments: [String], _ environment: [String: String]) throws {
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      process.arguments = arguments
      process.environment = environment
      process.standardOutput = pipe
      process.standardError = FileHandle.nullDevice
      try process.run()
    }

    /// Waits for so many lines, of acknowledged writes and of results.
    func waitForLines(_ count: Int) {
      while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
        let more = pipe.fileHandleForReading.availableData
        guard !more.isEmpty else {
          return XCTFail("the child ended by itself: \(String(decoding: text, as: UTF8.self))")
        }
        text += more
      }
    }

    /// Returns all complete lines, when the process has ended.
    func rest() -> String {
      text += (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
      let end = text.lastIndex(of: UInt8(ascii: "\n")) ?? text.startIndex
      return String(decoding: text[..<end], as: UTF8.self)
    }
  }

  private func child(
    _ writer: Int, _ directory: URL, _ url: URL, seed: UInt64, tokens: URL? = nil
  ) throws -> Child {
    var environment = [
      "NETLAYER_OUTBOX_CHILD": directory.path, "NETLAYER_OUTBOX_URL": url.absoluteString,
      "NETLAYER_OUTBOX_WRITER": "\(writer)", "NETLAYER_SEED": "\(seed)",
    ]
    environment["NETLAYER_OUTBOX_TOKENS"] = tokens?.path
    return try Child(
      ["NetLayerOfflineTests.OutboxKillTests/test_child"], Self.environment.merging(environment) { $1 })
  }

  /// A server that honors keys, and loses requests and responses.
  private final class FaultyServer: Sendable {
    private struct State: Sendable {
      var applied: [String] = []
      var keys: Set<String> = []
      var replays = 0
      var mismatches: [String] = []
      var requests = 0
    }

    let isFaulty = Box(true)
    private let state = Box(State())
    private let server: TestServer

    init(_ numbers: SplitMix64) throws {
      let random = Box(numbers)
      server = try TestServer(maxLoggedRequests: 0) { [state, isFaulty] request in
        let fault = isFaulty.value ? random.update { Int.random(in: 0..<10, using: &$0) } : 9
        let key = request.header("Idempotency-Key") ?? ""
        state.update { $0.requests += 1 }
        if fault == 0 { return .resetBeforeHead }
        if fault == 1 { return .status(503) }
        state.update { state in
          let user = request.text.split(separator: " ").dropFirst().first.map(String.init)
          if let user, request.header("Authorization") != "Bearer \(user)" {
            state.mismatches.append("\(request.text) as \(request.header("Authorization") ?? "nobody")")
          }
          if state.keys.insert(key).inserted { state.applied.append(request.text) } else { state.replays += 1 }
        }
        return fault == 2 ? .closeBeforeHead : .json("{}")
      }
    }

    var url: URL { server.url }
    var applied: [String] { state.value.applied }
    var replays: Int { state.value.replays }
    var mismatches: [String] { state.value.mismatches }
    var requests: Int { state.value.requests }
  }
}
