import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

/// WebSockets through the whole layer, with the default transport and a loopback server.
final class WebSocketTests: XCTestCase {
  private func network(
    _ server: TestServer, interceptors: [any Interceptor] = [], timeouts: Request.Timeouts = Request.Timeouts()
  ) -> Network {
    Network(Backend(baseURL: server.url, timeouts: timeouts, interceptors: interceptors))
  }

  func test_echoServerReturnsMessagesInOrder() async throws {
    let server = try TestServer { _ in .socket(.echo) }
    let received = try await network(server).withWebSocket(.get("/chat")) { socket in
      var received: [WebSocketMessage] = []
      try await socket.send("hello")
      try await socket.send(.binary(Data([0, 255, 1])))
      try await socket.send("")
      try await socket.send(String(repeating: "é", count: 50_000))
      for try await message in socket.messages {
        received.append(message)
        if received.count == 4 { break }
      }
      return received
    }
    XCTAssertEqual(
      received,
      [
        .text("hello"), .binary(Data([0, 255, 1])), .text(""), .text(String(repeating: "é", count: 50_000)),
      ])
    XCTAssertEqual(server.requests.first?.header("Upgrade"), "websocket")
  }

  func test_bufferedMessagesAndThoseThatWaitKeepTheirOrderAndGoBeforeTheClose() async throws {
    let sizes = (0..<5000).map { $0 % 500 == 499 ? 100_000 : $0 % 200 }
    let received = Box<[Int]>([])
    let script = TestServer.WebSocketScript(onMessage: { message in
      if case .binary(let bytes) = message { received.update { $0.append(bytes.count) } }
      return []
    })
    let server = try TestServer { _ in .socket(script) }
    try await network(server).withWebSocket(.get("/")) { socket in
      for size in sizes { try await socket.send(.binary(Data(count: size))) }
    }
    XCTAssertEqual(received.value, sizes)
  }

  func test_leavingTheScopeClosesWith1000AndAnErrorLeavesImmediately() async throws {
    let codes = Box<[[UInt8]]>([])
    let script = TestServer.WebSocketScript(onControl: { opcode, payload in
      if opcode == 8 { codes.update { $0.append(payload) } }
      return nil
    })
    let server = try TestServer { _ in .socket(script) }
    let reply = try await network(server).withWebSocket(.get("/")) { _ in 42 }
    XCTAssertEqual(reply, 42)
    XCTAssertEqual(codes.value, [[3, 0xE8]], "closed before the call returns")
    struct Own: Error {}
    do {
      try await network(server).withWebSocket(.get("/")) { _ in throw Own() }
      XCTFail("no error")
    } catch is Own {}
  }

  func test_sendingAfterACloseFails_withTheServersCodeOrWithoutOne() async throws {
    let server = try TestServer { _ in .socket(.init(onOpen: [.close(4003, "enough")])) }
    do {
      try await network(server).withWebSocket(.get("/")) { socket in
        while true {
          try await socket.send("x")
          await Task.yield()
        }
      }
    } catch let error as NetworkError {
      XCTAssertEqual(error.kind, .socketClosed, error.reason)
      XCTAssertEqual(error.code, 4003)
    }
    let echo = try TestServer { _ in .socket(.echo) }
    try await network(echo).withWebSocket(.get("/")) { socket in
      socket.close()
      do {
        try await socket.send("lost")
        XCTFail("no error")
      } catch let error as NetworkError { XCTAssertEqual(error.kind, .connection) }
    }
  }

  func test_theServersCloseIsKnown_andIsAbnormalIfItDidNotRespond() async throws {
    func close(_ script: TestServer.WebSocketScript) async throws -> WebSocketClose? {
      let server = try TestServer { _ in .socket(script) }
      return try await network(server).withWebSocket(.get("/")) { socket in
        XCTAssertNil(socket.serverClose)
        socket.close()
        for try await _ in socket.messages {}
        return socket.serverClose
      }
    }
    let replied = try await close(.echo)
    XCTAssertEqual(replied, WebSocketClose(code: .normal))
    let lost = try await close(.init(onControl: { opcode, _ in opcode == 8 ? [.reset] : nil }))
    XCTAssertEqual(lost, WebSocketClose(code: .abnormal))
  }

  func test_cancelledTaskStopsReadingAndOpening() async throws {
    let server = try TestServer { request in request.path == "/never" ? .neverResponding : .socket(.echo) }
    let network = network(server)
    for path in ["/", "/never"] {
      let isReady = Notes()
      let task = Task {
        try await network.withWebSocket(.get(path)) { socket in
          isReady.add("open")
          for try await _ in socket.messages {}
        }
      }
      try await eventually("the condition holds") { !isReady.all.isEmpty || server.requests.last?.path == "/never" }
      task.cancel()
      do {
        try await task.value
        XCTFail("no error")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .cancelled) }
    }
  }

  func test_cancelledTaskDoesNotWaitForAServerThatDoesNotRead() async throws {
    let server = try TestServer { _ in .socket(.init(onOpen: [.text("go"), .stopReading])) }
    let network = network(server)
    let sent = Counter()
    let task = Task {
      try await network.withWebSocket(.get("/")) { socket in
        for try await _ in socket.messages { break }
        while true {
          try await socket.send(.binary(Data(repeating: 1, count: 1 << 14)))
          sent.next()
        }
      }
    }
    // The systems of the client and the server buffer some messages.
    var before = 0
    while sent.value == 0 || sent.value != before {
      before = sent.value
      try await Task.sleep(for: .milliseconds(50))
    }
    task.cancel()
    do {
      try await task.value
      XCTFail("no error")
    } catch { XCTAssertEqual((error as? NetworkError)?.kind, .cancelled) }
  }

  func test_cancelledTaskSendsNothingAndKeepsTheSocketOpen() async throws {
    let server = try TestServer { _ in .socket(.echo) }
    try await network(server).withWebSocket(.get("/")) { socket in
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        try await socket.send("withdrawn")
      }
      task.cancel()
      do {
        try await task.value
        XCTFail("no error")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .cancelled) }
      try await socket.send("still open")
      for try await message in socket.messages {
        XCTAssertEqual(message, .text("still open"))
        break
      }
    }
  }

  func test_errorHandlerOfTheBackendReceivesRejectionsAndBrokenSocketsOnce() async throws {
    let server = try TestServer { request in
      request.path == "/no" ? .json(#"{"message":"sign in"}"#, status: 403) : .socket(.init(onOpen: [.end]))
    }
    let errors = Notes()
    let network = network(server).with { $0.onError = { errors.add("\($0.kind) \($0.code) \($0.message)") } }
    for path in ["/no", "/lost"] {
      do {
        try await network.withWebSocket(.get(path)) { for try await _ in $0.messages {} }
        XCTFail("no error")
      } catch {}
    }
    XCTAssertEqual(errors.all.count, 2)
    XCTAssertEqual(errors.all.first, "status 403 sign in")
    XCTAssertTrue(errors.all.last?.hasPrefix("connection") == true)
  }

  func test_headersParametersAndInterceptorsApplyToSockets() async throws {
    struct Stamp: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.headers["X-Stamp"] = "1"
        return next(request)
      }
    }
    let server = try TestServer { _ in .socket(.echo) }
    let network = network(server, interceptors: [Stamp()]).with {
      $0.headers = ["X-App": "chat"]
      $0.commonParameters = { ["v": 2] }
    }
    try await network.withWebSocket(.get("ws://127.0.0.1:\(server.port)/room?id=1")) { _ in }
    let request = try XCTUnwrap(server.requests.first)
    XCTAssertEqual(request.path, "/room")
    XCTAssertEqual(request.query("id"), "1")
    XCTAssertEqual(request.query("v"), "2")
    XCTAssertEqual(request.header("X-App"), "chat")
    XCTAssertEqual(request.header("X-Stamp"), "1")
  }

  func test_slowSubscriberPausesTheServer() async throws {
    let message = TestServer.WebSocketScript.Action.binary([UInt8](repeating: 1, count: 10_000))
    let server = try TestServer { _ in
      .socket(.init(onOpen: Array(repeating: message, count: 2000) + [.close(1000, "")]))
    }
    try await network(server).withWebSocket(.get("/")) { socket in
      var iterator = socket.messages.makeAsyncIterator()
      _ = try await iterator.next()
      var before = -1
      while before != server.sentByteCount {
        before = server.sentByteCount
        try await Task.sleep(for: .milliseconds(50))
      }
      XCTAssertLessThan(before, 10_000_000)
      var count = 1
      while try await iterator.next() != nil { count += 1 }
      XCTAssertEqual(count, 2000)
    }
  }

  func test_releasingASocketClosesIt() async throws {
    let server = try TestServer { _ in .socket(.echo) }
    let network = network(server)
    let subscription = network.webSocket(.get("/")).messages.subscribe(onNext: { _ in })
    try await eventually("the condition holds") { server.openConnectionCount > 0 }
    subscription.dispose()
    try await eventually("the condition holds") { server.openConnectionCount == 0 }
  }

  func test_messagesCanBeReadOnce() async throws {
    let server = try TestServer { _ in .socket(.init(onOpen: [.text("a")])) }
    try await network(server).withWebSocket(.get("/")) { socket in
      var first = socket.messages.makeAsyncIterator()
      var second = socket.messages.makeAsyncIterator()
      let message = try await first.next()
      XCTAssertEqual(message, .text("a"))
      do {
        _ = try await second.next()
        XCTFail("read twice")
      } catch { XCTAssertEqual((error as? NetworkError)?.kind, .other) }
    }
  }
}
