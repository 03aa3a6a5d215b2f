import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Sessions whose server closes with a code of the application, in virtual time; one unit is a millisecond.
final class WebSocketCloseTests: XCTestCase {
  private typealias Script = StubTransport.WebSocketScript

  private func policy(_ virtual: VirtualNetwork) -> RetryPolicy {
    RetryPolicy(
      attempts: 4, initialDelay: .seconds(1), maxDelay: .seconds(30), jitter: { $0.upperBound },
      scheduler: virtual.scheduler)
  }

  private func run(_ session: WebSocketSession, _ virtual: VirtualNetwork) -> [String] {
    let notes = virtual.notes
    let subscription = session.messages.subscribe(
      onNext: { notes.add($0.text ?? "") },
      onError: { notes.add("\(NetworkError.wrapping($0).code) \(NetworkError.wrapping($0).message)") },
      onCompleted: { notes.add("completed") })
    virtual.scheduler.advanceBy(120_000)
    subscription.dispose()
    return notes.all
  }

  private func closing(_ code: CloseCode, _ reason: String = "") -> StubTransport.StubbedResponse {
    .socket(Script([.message(.text("a")), .close(code, reason: reason, after: .seconds(6))]))
  }

  func test_codesThatReconnect_areAnOption() {
    // Pusher: 4200 to 4299; Discord: 4000 to 4009, but not 4004.
    var pusher = WebSocketOptions()
    pusher.reconnectingCloseCodes.formUnion((4200...4299).map { CloseCode(rawValue: $0) })
    var never = WebSocketOptions()
    never.reconnectingCloseCodes = []
    let rows: [(WebSocketOptions, CloseCode, Int)] = [
      (pusher, 4200, 2), (pusher, 4299, 2), (pusher, 4100, 1), (pusher, .goingAway, 2), (never, .goingAway, 1),
      (WebSocketOptions(), 4200, 1), (WebSocketOptions(), .serviceRestart, 2),
    ]
    for (options, code, connections) in rows {
      let virtual = VirtualNetwork(.sequence([closing(code), .socket(Script([.close(.normal)]))]))
      _ = run(virtual.network().webSocket(.get("/"), options: options, reconnect: policy(virtual)), virtual)
      XCTAssertEqual(virtual.paths.count, connections, "\(code)")
    }
  }

  func test_expectedCode_endsTheMessages_evenIfItReconnects() {
    var options = WebSocketOptions(expectedCloseCodes: [4200])
    options.reconnectingCloseCodes = [4200]
    let virtual = VirtualNetwork(closing(4200))
    XCTAssertEqual(
      run(virtual.network().webSocket(.get("/"), options: options, reconnect: policy(virtual)), virtual),
      ["a", "completed"])
  }

  func test_reasonOfTheServer_isTheMessage() async {
    let rows = [
      ("Too many initialisation requests", "Too many initialisation requests"),
      ("", NetworkError.Messages.localized.text(for: .socketClosed, status: 101)),
    ]
    for (reason, message) in rows {
      let virtual = VirtualNetwork(closing(4429, reason))
      XCTAssertEqual(run(virtual.network().webSocket(.get("/")), virtual), ["a", "4429 \(message)"])
    }
  }

  /// A server that closes the sockets of old tokens with 4401 after a while.
  private func server(_ accepts: @escaping @Sendable (String) -> Bool) -> VirtualNetwork {
    VirtualNetwork { request in
      let field = request.headers["Authorization"] ?? ""
      return accepts(field)
        ? .socket(Script([.message(.text("in \(field)")), .close(.normal, after: .seconds(9))]))
        : .socket(Script([.message(.text("out \(field)")), .close(4401, reason: "expired", after: .seconds(6))]))
    }
  }

  private func session(
    _ virtual: VirtualNetwork, refreshes: Counter, isRejected: @escaping @Sendable (Response) -> Bool
  ) -> WebSocketSession {
    let login = AuthenticationInterceptor(
      for: [URL(string: "http://h/") ?? URL(filePath: "/")],
      store: MemoryTokenStore(Token(access: "0", account: "ann")), isRejected: isRejected
    ) { (_: Token?) -> Single<Token> in .just(Token(access: "\(refreshes.next())", account: "ann")) }
    var options = WebSocketOptions()
    options.reconnectingCloseCodes.insert(4401)
    return virtual.network(login).webSocket(.get("/"), options: options, reconnect: policy(virtual))
  }

  func test_tokenThatTheServerRejectsWithACode_isRefreshedBeforeTheNextOpening() {
    let (virtual, refreshes) = (server { $0 == "Bearer 1" }, Counter())
    let session = session(virtual, refreshes: refreshes) { $0.status == 401 || $0.closeCode == 4401 }
    XCTAssertEqual(run(session, virtual), ["out Bearer 0", "in Bearer 1", "completed"])
    XCTAssertEqual(refreshes.value, 1)
  }

  func test_codeThatDoesNotNameTheToken_keepsIt() {
    let (virtual, refreshes) = (server { _ in false }, Counter())
    let session = session(virtual, refreshes: refreshes) { $0.status == 401 }
    XCTAssertEqual(Set(run(session, virtual)).subtracting(["4401 expired"]), ["out Bearer 0"])
    XCTAssertGreaterThan(virtual.stub.requests.count, 2)
    for request in virtual.stub.requests {
      XCTAssertNil(request.context[ClosedSocket.self]?.request.context[ClosedSocket.self], "a chain that grows")
    }
    XCTAssertEqual(refreshes.value, 0)
  }

  func test_tokenThatWasReplacedMeanwhile_isNotRefreshedAgain() async throws {
    let virtual = server { $0 == "Bearer other" }
    let refreshes = Counter()
    let login = AuthenticationInterceptor(
      for: [URL(string: "http://h/") ?? URL(filePath: "/")],
      store: MemoryTokenStore(Token(access: "0", account: "ann")), isRejected: { $0.closeCode == 4401 }
    ) { (_: Token?) -> Single<Token> in .just(Token(access: "\(refreshes.next())", account: "ann")) }
    var options = WebSocketOptions()
    options.reconnectingCloseCodes.insert(4401)
    let session = virtual.network(login).webSocket(.get("/"), options: options, reconnect: policy(virtual))
    let notes = virtual.notes
    let subscription = session.messages.subscribe(onNext: { notes.add($0.text ?? "") }, onError: { notes.add("\($0)") })
    virtual.scheduler.advanceBy(1_000)
    try await login.setToken(Token(access: "other", account: "ann"))
    virtual.scheduler.advanceBy(60_000)
    subscription.dispose()
    XCTAssertEqual(notes.all, ["out Bearer 0", "in Bearer other"])
    XCTAssertEqual(refreshes.value, 0)
  }
}
