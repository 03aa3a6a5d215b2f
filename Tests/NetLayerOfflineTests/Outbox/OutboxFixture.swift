import Foundation
import LoopbackServer
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// A write of the tests, which the outbox can return with its result.
struct AddNote: Endpoint, Codable, Equatable {
  struct Made: Decodable, Sendable, Equatable { var text: String }
  typealias Output = Made

  var text: String
  var path: String { "/notes" }
  var method: HTTPMethod { .post }
  var task: HTTPTask { .json(["text": text]) }
}

/// The network of a device, as the test sets it.
final class TestReachability: Reachability {
  private let state: BehaviorRelay<Bool>

  init(_ isReachable: Bool = true) { state = BehaviorRelay(value: isReachable) }

  var isReachable: Observable<Bool> { state.asObservable() }
  func set(_ isReachable: Bool) { state.accept(isReachable) }
}

/// A server of notes that honors `Idempotency-Key`, on 127.0.0.1.
final class NoteServer: Sendable {
  enum Reply: Sendable {
    case status(Int, [String: String] = [:], body: String = "")
    /// The write is applied, and the connection closed without a response.
    case lost
    /// The write is applied, and no response follows.
    case silent
  }

  struct Seen: Sendable, Equatable {
    let method: String
    let target: String
    let key: String?
    let text: String
    let token: String?
  }

  private struct State: Sendable {
    var seen: [Seen] = []
    var applied: [String] = []
    var responses: [String: String] = [:]
    var replies: [Reply] = []
    var rejected: Set<String> = []
    var fields: [[String: String]] = []
  }

  private let state = Box(State())
  let server: TestServer

  init() throws {
    server = try TestServer { [state] request in state.update { Self.respond(to: request, &$0) } }
  }

  var url: URL { server.url }
  var seen: [Seen] { state.value.seen }
  var keys: [String?] { seen.map(\.key) }
  /// The bodies of the writes, in the order in which they were applied.
  var applied: [String] { state.value.applied }
  /// The header fields of the requests.
  var fields: [[String: String]] { state.value.fields }
  /// Scripts the next replies; without one, a write is applied and its body returned.
  func script(_ replies: Reply...) { state.update { $0.replies += replies } }
  /// Sets the tokens for which the server responds with 401.
  func reject(_ tokens: String...) { reject(tokens) }
  func reject(_ tokens: [String]) { state.update { $0.rejected = Set(tokens.map { "Bearer \($0)" }) } }

  private static func respond(to request: TestServer.Request, _ state: inout State) -> TestServer.Response {
    let token = request.header("Authorization")
    let key = request.header("Idempotency-Key")
    state.seen.append(
      Seen(method: request.method, target: request.target, key: key, text: request.text, token: token))
    state.fields.append(Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { $1 })
    if let token, state.rejected.contains(token) { return .status(401) }
    let reply = state.replies.isEmpty ? nil : state.replies.removeFirst()
    if case .status(let status, let fields, let body) = reply {
      var response = TestServer.Response.json(body, status: status)
      for (name, value) in fields { response = response.header(name, value) }
      return response
    }
    if key.map({ state.responses[$0] == nil }) ?? true { state.applied.append(request.text) }
    if let key { state.responses[key] = request.text }
    switch reply {
    case .lost: return .closeBeforeHead
    case .silent: return TestServer.Response(body: .raw([]), ending: .hang)
    default: return .json(request.text.isEmpty ? "{}" : request.text)
    }
  }
}

/// A directory and a network with an outbox, whose delays run in virtual time in milliseconds.
final class OutboxFixture {
  let folder: URL
  let server: NoteServer
  let clock = TestScheduler(resolution: .milliseconds(1))
  let reachability = TestReachability()
  let problems = Notes()
  let errors = Notes()
  let results = Notes()
  private(set) var network: Network
  private(set) var outbox: Outbox?
  private weak var life: Life?
  private let states = Box<[Outbox.Entry]>([])
  let emissions = Counter()

  init(_ test: XCTestCase, interceptors: [any Interceptor] = []) throws {
    folder = URL(filePath: NSTemporaryDirectory()).appending(path: "outbox-\(UUID().uuidString)")
    server = try NoteServer()
    network = Network()
    network = backend(interceptors)
    test.addTeardownBlock { [folder] in try? FileManager.default.removeItem(at: folder) }
  }

  /// Returns the network of the fixture with other settings.
  func backend(_ interceptors: [any Interceptor] = [], _ change: (inout Backend) -> Void = { _ in }) -> Network {
    var backend = Backend(baseURL: server.url, clock: clock, interceptors: interceptors)
    backend.onError = { [errors] in errors.add("\($0.kind)") }
    change(&backend)
    return Network(backend)
  }

  /// Opens the outbox, as a launch of the app does.
  @discardableResult
  func open(
    on other: Network? = nil, attempts: Int = 20, limits: Outbox.Limits = Outbox.Limits(), starts: Bool = true
  ) throws -> Outbox {
    let life = Life()
    let outbox = try another(on: other, attempts: attempts, limits: limits, life)
    (self.outbox, self.life) = (outbox, life)
    _ = outbox.results.subscribe(onNext: { [results] in results.add(Self.text($0)) })
    _ = outbox.pending.subscribe(onNext: { [states, emissions] in
      states.value = $0
      emissions.next()
    })
    if starts { outbox.start() }
    return outbox
  }

  /// Opens an outbox in the same directory, as another process does.
  func another(
    on other: Network? = nil, attempts: Int = 20, limits: Outbox.Limits = Outbox.Limits(), _ life: Life? = nil
  ) throws -> Outbox {
    let retry = RetryPolicy(
      attempts: attempts, initialDelay: .seconds(1), maxDelay: .seconds(300), jitter: { $0.upperBound })
    return try Outbox(
      storingIn: folder, on: other ?? network, reachability: reachability, retry: retry, limits: limits,
      onProblem: { [problems, life] error in withExtendedLifetime(life) { problems.add(error.reason) } })
  }

  /// Ends the outbox as a kill does: afterwards, nothing of it runs.
  func close(file: StaticString = #filePath, line: UInt = #line) {
    outbox = nil
    XCTAssert(holds(within: 20) { life == nil }, "the outbox still runs", file: file, line: line)
  }

  /// An object that an outbox keeps until the last of its work has ended.
  final class Life: Sendable {}

  static func text(_ outcome: Outbox.Outcome) -> String {
    let text = String(decoding: outcome.entry.body, as: UTF8.self)
    switch outcome.result {
    case .success(let response): return "\(response.status) \(text)"
    case .failure(let error): return "\(error.kind) \(error.response.map { "\($0.status)" } ?? "-") \(text)"
    }
  }

  var entries: [Outbox.Entry] { states.value }

  /// The texts of the entries with their states, such as `tea: retry`.
  var pending: [String] {
    states.value.map { entry in
      let text = (try? JSON(parsing: entry.body))?["text"].string ?? String(decoding: entry.body, as: UTF8.self)
      return "\(text): \(entry.state)"
    }
  }

  /// Waits until `pending` is as expected.
  func waits(for expected: [String], file: StaticString = #filePath, line: UInt = #line) {
    XCTAssert(holds { pending == expected }, "\(pending), not \(expected)", file: file, line: line)
  }

  func waits(forResults expected: [String], file: StaticString = #filePath, line: UInt = #line) {
    XCTAssert(holds { results.all == expected }, "\(results.all), not \(expected)", file: file, line: line)
  }

  /// Waits until `condition` holds.
  func waits(file: StaticString = #filePath, line: UInt = #line, until condition: () -> Bool) {
    XCTAssert(holds(within: 20, condition), "pending \(pending), results \(results.all)", file: file, line: line)
  }

  /// Advances the clock until the next delay is over.
  func pass(_ time: Duration) { clock.advanceBy(Int(time / .milliseconds(1))) }

  /// The names of the entries' files.
  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0 != "netlayer-outbox" }
      .sorted()
  }

  func file(_ name: String) -> URL { folder.appending(path: name) }

  /// Stores an entry as another process does: `send` of this outbox does not know of it.
  func write(
    _ number: UInt64, to directory: OutboxDirectory
  ) throws -> (entry: OutboxEntry, file: OutboxDirectory.File) {
    let call = try FrozenCall(AddNote(text: "\(number)"), on: network)
    let entry = OutboxEntry(UUID(), call, account: nil, lane: nil, createdAt: Date(), type: nil, value: nil)
    let file = OutboxDirectory.File(name: OutboxName(number, entry.id), hold: nil)
    try directory.write(entry, as: file.name)
    return (entry, file)
  }
}

func body(_ text: String) -> String { "{\"text\":\"\(text)\"}" }
