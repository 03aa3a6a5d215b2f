import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// Models as messages, written and read with the backend's encoder and decoder.
final class WebSocketJSONTests: XCTestCase {
  private struct Move: Codable, Equatable {
    var playerName: String
    var time = Date(timeIntervalSince1970: 0)
  }

  private static let text = #"{"player_name":"white","time":"1970-01-01T00:00:00Z"}"#

  private func network(_ script: StubTransport.WebSocketScript, onError: Notes = Notes()) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://h/"), coding: .snakeCaseISO8601,
        transport: StubTransport([.init(.get, "/game", .socket(script))]), onError: { onError.add("\($0.kind)") }))
  }

  func test_modelsAreWrittenAndReadWithTheConventionsOfTheBackend() async throws {
    let sent = Notes()
    let echo = StubTransport.WebSocketScript { message in
      sent.add(message.text ?? "binary")
      return [.message(message), .message(.binary(message.data)), .close(.normal)]
    }
    let moves = try await network(echo).withWebSocket(.get("/game")) { socket in
      try await socket.send(json: Move(playerName: "white"))
      var moves: [Move] = []
      for try await move in socket.messages(as: Move.self) { moves.append(move) }
      return moves
    }
    XCTAssertEqual(sent.all, [Self.text])
    XCTAssertEqual(moves, [Move(playerName: "white"), Move(playerName: "white")], "text and binary")
  }

  func test_literalsAreSentUnchanged() async throws {
    let sent = Notes()
    let script = StubTransport.WebSocketScript { message in
      sent.add(message.text ?? "binary")
      return sent.all.count < 2 ? [] : [.close(.normal)]
    }
    try await network(script).withWebSocket(.get("/game")) { socket in
      try await socket.send(json: ["type": "join", "room_no": 7, "more": ["x": nil]])
      try await socket.sending(json: ["b", 1, true]).value
      for try await _ in socket.messages {}
    }
    let echo = StubTransport.WebSocketScript { message in
      sent.add(message.text ?? "binary")
      return [.message(message)]
    }
    let session = network(echo).webSocket(.get("/game")) { $0.sending(json: ["a": 1, "b": "c"]) }
    var echoed = 0
    for try await _ in session.messages.values {
      echoed += 1
      if echoed == 2 { break }
      try await session.send(json: ["a": nil, "b": false])
    }
    XCTAssertEqual(
      sent.all,
      [
        #"{"type":"join","room_no":7,"more":{"x":null}}"#, #"["b",1,true]"#, #"{"a":1,"b":"c"}"#,
        #"{"a":null,"b":false}"#,
      ])
  }

  func test_aMessageThatIsNotTheModelIsAParseErrorAndReportedOnce() async throws {
    for text in [#"{"player_name":1}"#, "hello", ""] {
      let errors = Notes()
      let network = network(.init([.message(.text(text))]), onError: errors)
      do {
        try await network.withWebSocket(.get("/game")) { socket in
          for try await _ in socket.messages(as: Move.self) { XCTFail("decoded \(text)") }
        }
        XCTFail("no error")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .parse, text) }
      XCTAssertEqual(errors.all, ["parse"], text)
    }
  }

  func test_aValueThatCannotBeEncodedIsNotSent() async throws {
    let sent = Notes()
    let script = StubTransport.WebSocketScript { message in
      sent.add(message.text ?? "")
      return [.close(.normal)]
    }
    try await network(script).withWebSocket(.get("/game")) { socket in
      do {
        try await socket.send(json: Double.infinity)
        XCTFail("no error")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .encoding) }
      do {
        try await socket.sending(json: Double.nan).value
        XCTFail("no error")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .encoding) }
      try await socket.sending(json: 1).value
      for try await _ in socket.messages {}
    }
    XCTAssertEqual(sent.all, ["1"])
  }

  func test_anAwaitedSendOfASessionIsSentWhenTheSocketIsOpen_andWithdrawnWhenItsTaskIsCancelled() async throws {
    let received = Notes()
    let script = StubTransport.WebSocketScript { message in
      received.add(message.text ?? "")
      return message.text == "last" ? [.close(.normal)] : []
    }
    let session = network(script, onError: Notes()).webSocket(.get("/game"))
    let withdrawn = Task { () async -> NetworkError? in
      do throws(NetworkError) {
        try await session.send("withdrawn")
        return nil
      } catch {
        return error
      }
    }
    withdrawn.cancel()
    let error = await withdrawn.value
    XCTAssertEqual(error?.kind, .cancelled)
    let listening = Task { for try await _ in session.messages.values {} }
    try await session.send(.binary(Data([1])))
    try await session.send("last")
    _ = await listening.result
    XCTAssertEqual(received.all, ["", "last"])
  }

  func test_aSessionSendsAndReadsModels() async throws {
    let errors = Notes()
    let script = StubTransport.WebSocketScript { message in
      [.message(message.text == Self.text ? message : .text("1"))]
    }
    let session = network(script, onError: errors).webSocket(.get("/game"), reconnect: RetryPolicy(attempts: 10)) {
      $0.sending(json: Move(playerName: "white"))
    }
    var moves: [Move] = []
    do {
      for try await move in session.messages(as: Move.self).values {
        moves.append(move)
        try await session.send(json: Move(playerName: "black"))
      }
      XCTFail("no error")
    } catch { XCTAssertEqual((error as? NetworkError)?.kind, .parse) }
    XCTAssertEqual(moves, [Move(playerName: "white")])
    XCTAssertEqual(errors.all, ["parse"])
  }
}
