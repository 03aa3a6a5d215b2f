import Foundation
import NetLayerOffline
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

struct Note: Decodable, Sendable {
  var text: String
}

struct AddNote: Endpoint, Codable {
  typealias Output = Note
  let id: UUID
  let text: String
  var path: String { "/notes" }
  var method: HTTPMethod { .post }
  var task: HTTPTask { .json(["id": id.uuidString, "text": text]) }
}

@MainActor
final class NotesScreen {
  var unsent: [AddNote] = []
  var note = ""
  private let outbox: Outbox
  private let bag = DisposeBag()

  init(directory: URL, app: Network, login: AuthenticationInterceptor) throws {
    outbox = try Outbox(storingIn: directory, on: app)
    Observable.combineLatest(outbox.pending, login.accountStates)
      .subscribeOnMain(with: self) { me, latest in
        let (entries, user) = latest
        me.unsent = entries.filter { $0.account == user.name }.compactMap { $0.endpoint(as: AddNote.self) }
      }
      .disposed(by: bag)
    outbox.results(of: AddNote.self)
      .subscribeOnMain(with: self) { me, added in me.show(added.endpoint, added.result) }
      .disposed(by: bag)
    outbox.start()
  }

  func add(_ text: String) {
    do {
      try outbox.send(AddNote(id: UUID(), text: text), lane: "notes")
    } catch {
      note = error.message
    }
  }

  private func show(_ added: AddNote, _ result: Result<Note, NetworkError>) {
    switch result {
    case .success(let saved): note = "Saved: \(saved.text)"
    case .failure(let error): note = "\(added.text): \(error.message)"
    }
  }
}

enum OutboxCalls {
  struct Order: Decodable, Sendable {
    var id: Int
  }

  static func once(_ app: Network) async throws -> Order {
    let order = try await app.fetch(.post("/orders", json: ["tea": 2]).idempotent(), as: Order.self)
    return order
  }

  static func begin(_ directory: URL, _ app: Network, _ film: URL) async throws {
    let outbox = try Outbox(storingIn: directory, on: app)
    try outbox.send(AddNote(id: UUID(), text: "milk"))
    outbox.start()

    let response = try await app.upload(film, to: .post("/films"), by: .tus)
    print(response.status)
  }

  static func decide(_ outbox: Outbox, _ entries: [Outbox.Entry]) throws {
    for entry in entries {
      guard entry.state.isParked else { continue }
      if entry.state.status == 409 { try outbox.retry(entry.id) } else { try outbox.drop(entry.id) }
    }
  }
}

final class OutboxSamples: XCTestCase {
  private struct SwitchedNetwork: Reachability {
    let isOn = BehaviorRelay(value: false)
    var isReachable: Observable<Bool> { isOn.asObservable() }
  }

  func test_entry_thatWaitsForTheNetwork_isPrintedAsInTheGuide() throws {
    let bag = DisposeBag()
    let notesURL = URL(string: "https://notes.example")
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let clock = TestScheduler(resolution: .milliseconds(1))
    let network = SwitchedNetwork()
    let busy = StubTransport.StubbedResponse.json("", status: 503)
    let stub = StubTransport([.init(.post, "/notes", .sequence([busy, .json("{}", status: 201)]))], on: clock)

    let app = Network(Backend(baseURL: notesURL, transport: stub, clock: clock, mapping: clock))
    let outbox = try Outbox(storingIn: directory, on: app, reachability: network)
    outbox.results
      .subscribe(onNext: { print($0.entry.path, (try? $0.result.get().status) ?? 0) })
      .disposed(by: bag)
    outbox.pending.map(\.first?.state).distinctUntilChanged()
      .subscribe(onNext: { print($0.map { "\($0)" } ?? "nothing to send") })
      .disposed(by: bag)
    outbox.start()
    try outbox.send(AddNote(id: UUID(), text: "tea"))
    clock.start()
    network.isOn.accept(true)
    clock.advanceBy(1000)
    try assertPrinted(asIn: "WritesThatSurvive")
  }

  @MainActor
  func test_screenOfTheGuide_showsTheUnsentNotesOfThePresentUser() async throws {
    let url = try XCTUnwrap(URL(string: "https://notes.example"))
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let login = AuthenticationInterceptor(
      for: [url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
    ) { _ in .never() }
    try await login.loadAccount()
    let stub = StubTransport { _ in .failure(.connection) }
    let app = Network(Backend(baseURL: url, transport: stub, interceptors: [login]))
    let screen = try NotesScreen(directory: directory, app: app, login: login)
    screen.add("of ann")
    try await eventually("the condition holds") { screen.unsent.map(\.text) == ["of ann"] }
    try await login.setToken(nil)
    try await eventually("the condition holds") { screen.unsent.isEmpty }
    try await login.setToken(Token(access: "b", account: "bob"))
    screen.add("of bob")
    try await eventually("the condition holds") { !screen.unsent.isEmpty }
    XCTAssertEqual(screen.unsent.map(\.text), ["of bob"])
    try await login.setToken(Token(access: "a", account: "ann"))
    try await eventually("the condition holds") { screen.unsent.map(\.text) == ["of ann"] }
  }
}
