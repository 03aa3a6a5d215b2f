import Foundation
import LoopbackServer
import Races
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Random schedules of writes, sign-ins, lost networks and restarts, with two outboxes on one directory, through real
/// networks and a server that loses requests and responses.
///
/// `OUTBOX_NETWORK_SCHEDULES` sets the number of schedules.
final class OutboxNetworkTests: XCTestCase {
  func test_outbox_randomSchedules_throughANetwork_loseNothingAndRepeatNothing() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["OUTBOX_NETWORK_SCHEDULES"].flatMap(Int.init) ?? 10
    let first = environment["OUTBOX_NETWORK_FIRST"].flatMap(Int.init) ?? 1
    for seed in first..<first + count {
      let schedule = try Schedule(UInt64(seed), self)
      let problems = try schedule.run()
      guard problems.isEmpty else {
        return XCTFail("seed \(seed): \(problems.joined(separator: "\n"))\n\(schedule.log.joined(separator: "\n"))")
      }
    }
  }

  private final class Schedule {
    private struct Device {
      let authentication: AuthenticationInterceptor
      let network: Network
      let reachability = TestReachability(false)
      var user = "a"
      var outbox: Outbox?
    }

    /// The server's requests, by user.
    private struct Server: Sendable {
      var generator: SplitMix64
      var isKind = false
      var applied: [String] = []
      var keys: [String: Bool] = [:]
      var foreign: [String] = []
      var validToken = 0
    }

    private let server: Box<Server>
    private let host: TestServer
    private let clock = TestScheduler(resolution: .milliseconds(1))
    private let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "schedule-\(UUID().uuidString)")
    private var devices: [Device] = []
    private var generator: SplitMix64
    private var sent: [String] = []
    private let results = Box<Set<String>>([])
    private let notes = Notes()
    var log: [String] { notes.all.suffix(80) }

    init(_ seed: UInt64, _ test: XCTestCase) throws {
      generator = SplitMix64(seed: seed)
      server = Box(Server(generator: SplitMix64(seed: seed &+ 1)))
      host = try TestServer { [server] request in server.update { Self.respond(to: request, &$0) } }
      test.addTeardownBlock { [folder] in try? FileManager.default.removeItem(at: folder) }
      for _ in 0..<2 {
        let authentication = AuthenticationInterceptor(
          for: [host.url], store: MemoryTokenStore(Token(access: "a.0", account: "a"))
        ) { _ -> Single<Token> in .error(NetworkError(kind: .status, reason: "no refresh")) }
        let backend = Backend(baseURL: host.url, clock: clock, interceptors: [authentication])
        devices.append(Device(authentication: authentication, network: Network(backend)))
      }
    }

    /// A body is `USER KEY NUMBER`, and a token `USER.NUMBER`.
    private static func respond(to request: TestServer.Request, _ server: inout Server) -> TestServer.Response {
      let token = (request.header("Authorization") ?? "").dropFirst(7)
      let user = String(token.prefix(1))
      if !request.text.hasPrefix(user) { server.foreign.append("\(request.text) with \(token)") }
      let fault = server.isKind ? 99 : Int.random(in: 0..<100, using: &server.generator)
      if Int(token.dropFirst(2)) ?? 0 < server.validToken { return .status(401) }
      if fault < 8 { return .resetBeforeHead }
      if fault < 16 { return .status(503) }
      let key = request.header("Idempotency-Key") ?? ""
      if fault < 20, server.keys[key] == nil { return .status(422) }
      if server.keys[key] == nil { server.applied.append(request.text) }
      server.keys[key] = true
      return fault < 30 ? .closeBeforeHead : .json("{}")
    }

    private func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    func run() throws -> [String] {
      for _ in 0..<60 {
        let d = random(0...1)
        switch random(1...100) {
        case ...45: try send(d)
        case ...55: try open(d)
        case ...60:
          notes.add("\(d) ends")
          devices[d].outbox = nil
        case ...70: setOnline(d, random(0...2) > 0)
        case ...80: signIn(d, random(0...1) == 0 ? "a" : "b")
        case ...84:
          notes.add("tokens expire")
          server.update { $0.validToken += 1 }
        default: clock.advanceBy(random(0...3000))
        }
        usleep(UInt32(random(0...300)))
      }
      return try finish()
    }

    private func open(_ d: Int) throws {
      notes.add("\(d) starts")
      devices[d].outbox = nil
      let retry = RetryPolicy(attempts: 3, initialDelay: .milliseconds(200), maxDelay: .seconds(1))
      let outbox = try Outbox(
        storingIn: folder, on: devices[d].network, reachability: devices[d].reachability, retry: retry,
        onProblem: { [notes] in notes.add($0.reason) })
      _ = outbox.results.subscribe(onNext: { [results, notes] outcome in
        let text = String(decoding: outcome.entry.body, as: UTF8.self)
        notes.add("\(d): \(text) \(OutboxFixture.text(outcome))")
        if case .success = outcome.result { results.update { _ = $0.insert(text) } }
      })
      devices[d].outbox = outbox
      outbox.start()
    }

    private func send(_ d: Int) throws {
      if devices[d].outbox == nil { try open(d) }
      let key = ["k", "l"][random(0...1)]
      let text = "\(devices[d].user) \(key) \(sent.count)"
      notes.add("\(d) sends \(text)")
      try devices[d].outbox?.send(Call(.post, "/notes", task: .data(Data(text.utf8))), lane: key)
      sent.append(text)
    }

    private func setOnline(_ d: Int, _ isOnline: Bool) {
      notes.add("\(d) is \(isOnline ? "on" : "off")line")
      devices[d].reachability.set(isOnline)
    }

    private func signIn(_ d: Int, _ user: String) {
      notes.add("\(d) signs in \(user)")
      devices[d].user = user
      devices[d].authentication.set(Token(access: "\(user).\(server.value.validToken)", account: user))
    }

    /// Lets everything succeed, and returns what is wrong then.
    private func finish() throws -> [String] {
      notes.add("everything works")
      server.update { $0.isKind = true }
      for d in 0...1 {
        try open(d)
        setOnline(d, true)
      }
      for user in ["a", "b"] {
        for d in 0...1 { signIn(d, user) }
        let isDone = holds(within: 20) {
          clock.advanceBy(100)
          retryParked()
          return left(of: user) == 0
        }
        if !isDone { return ["\(left(of: user)) entries of \(user) are left"] }
      }
      let (server, results) = (server.value, results.value)
      var problems = server.foreign
      problems += sent.filter { !server.applied.contains($0) }.map { "\($0) is lost" }
      problems += sent.filter { !results.contains($0) }.map { "the result of \($0) is lost" }
      if Set(server.applied).count != server.applied.count { problems.append("applied twice: \(server.applied)") }
      for lane in ["a k", "a l", "b k", "b l"] {
        let numbers = server.applied.filter { $0.hasPrefix(lane) }.compactMap { Int($0.dropFirst(4)) }
        if numbers != numbers.sorted() { problems.append("order of \(lane): \(numbers)") }
      }
      return problems
    }

    /// The number of entries of `user` in the directory.
    private func left(of user: String) -> Int {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return files.filter { OutboxName.read($0) != nil }.count { file in
        guard let bytes = try? Data(contentsOf: folder.appending(path: file)) else { return true }
        return OutboxEntry(bytes, id: UUID())?.account == user
      }
    }

    private func retryParked() {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for found in files.compactMap(OutboxName.read) where found.hold != nil {
        for device in devices { _ = try? device.outbox?.retry(found.name.id) }
      }
    }
  }
}
