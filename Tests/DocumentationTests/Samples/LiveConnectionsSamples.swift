import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import XCTest

/// The samples of LiveConnections.md.
final class LiveConnectionsSamples: XCTestCase {
  func test_aConversation() async throws {
    let echo = StubTransport.WebSocketScript { message in
      [.message(.text("echo: \(message.text ?? "")")), .message(.text("bye")), .close(.normal)]
    }
    let stub = StubTransport([.init(.get, "/room", .socket(echo))])
    let chat = Network(Backend(baseURL: URL(string: "https://chat.example"), transport: stub))

    try await chat.withWebSocket(.get("/room")) { socket in
      try await socket.send("hello")
      for try await message in socket.messages {
        print(message.text ?? "\(message.byteCount) bytes")
      }
    }
    try assertPrinted(asIn: "LiveConnections", 0)
  }

  private struct Move: Codable {
    var player: String
    var to: String
  }

  func test_models() async throws {
    let reply = #"{"player":"black","to":"e5"}"#
    let script = StubTransport.WebSocketScript { message in
      XCTAssertEqual(message, .text(#"{"player":"white","to":"e4"}"#))
      return [.message(.text(reply)), .close(.normal)]
    }
    let stub = StubTransport([.init(.get, "/board", .socket(script))])
    let game = Network(Backend(baseURL: URL(string: "https://game.example"), transport: stub))

    try await game.withWebSocket(.get("/board")) { socket in
      try await socket.send(json: Move(player: "white", to: "e4"))
      for try await move in socket.messages(as: Move.self) {
        print("\(move.player) plays \(move.to)")
      }
    }
    try assertPrinted(asIn: "LiveConnections", 2)
  }

  func test_aSession() async throws {
    let (bag, done) = (DisposeBag(), Done())
    let script = StubTransport.WebSocketScript { _ in
      [.message(.text("AAPL 150")), .message(.text("AAPL 151")), .close(.normal)]
    }
    let stub = StubTransport([.init(.get, "/prices", .socket(script))])
    let market = Network(Backend(baseURL: URL(string: "https://market.example"), transport: stub))

    let session = market.webSocket(.get("/prices"), reconnect: RetryPolicy(attempts: 10)) { socket in
      socket.sending(#"{"subscribe":"AAPL"}"#)
    }
    session.messages
      .subscribe(
        onNext: { print($0.text ?? "") },
        onError: { print($0.localizedDescription) },
        onDisposed: { done.signal() }
      )
      .disposed(by: bag)
    await done.wait()
    try assertPrinted(asIn: "LiveConnections", 3)
  }

  func test_closeCodesOfAnApplication() throws {
    let feedURL = try XCTUnwrap(URL(string: "https://feed.example"))
    let tokens = MemoryTokenStore(Token(access: "t"))
    let stub = StubTransport { _ in nil }
    let refresh: @Sendable (Token?) async throws -> Token = { _ in Token(access: "new") }

    let login = AuthenticationInterceptor(
      for: [feedURL], store: tokens, isRejected: { $0.status == 401 || $0.closeCode == 4401 }, refresh: refresh)
    let feed = Network(Backend(baseURL: feedURL, transport: stub, interceptors: [login]))
    var options = WebSocketOptions(subprotocols: ["graphql-transport-ws"])
    options.reconnectingCloseCodes.formUnion([4401, 4408, 4500])
    let session = feed.webSocket(.get("/graphql"), options: options, reconnect: RetryPolicy(attempts: 5)) { socket in
      Single.from { try await login.token?.access ?? "" }
        .flatMapCompletable {
          socket.sending(json: ["type": "connection_init", "payload": ["token": JSON($0)]] as JSON)
        }
    }
    withExtendedLifetime(session) {}
  }

  func test_options() {
    let chat = Network()
    let options = WebSocketOptions(
      subprotocols: ["chat.v2"], maxMessageSize: 4 << 20, pingInterval: .seconds(20), compression: true)
    let session = chat.webSocket(.get("wss://chat.example/room"), options: options)
    withExtendedLifetime(session) {}
  }

  func test_aScript() {
    let script = StubTransport.WebSocketScript([
      .message(.text("AAPL 150"), after: .seconds(1)), .close(.goingAway, after: .seconds(2)),
    ])
    let stub = StubTransport([.init(.get, "/prices", .socket(script))], on: TestScheduler())
    withExtendedLifetime(stub) {}
  }

  func test_documentationComments() async throws {
    let echo = StubTransport.WebSocketScript { _ in [.close(.normal)] }
    let stub = StubTransport([.init(.get, "/chat", .socket(echo))])
    let network = Network(Backend(baseURL: URL(string: "https://chat.example"), transport: stub))
    try await network.withWebSocket(.get("/chat")) { socket in
      try await socket.send("hello")
      for try await message in socket.messages { print(message) }
    }
    _ = Printed.take()
  }
}
