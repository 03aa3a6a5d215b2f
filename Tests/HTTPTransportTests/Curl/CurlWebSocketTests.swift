import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

#if canImport(CLibcurl)
  /// Tests of WebSockets over libcurl's connections, against a scripted server.
  final class CurlWebSocketTests: XCTestCase {
    private typealias Script = TestServer.WebSocketScript

    /// A record of the events of one socket, which tests wait for.
    private final class Listener: Sendable {
      let notes = Notes()
      let responses = Box<[Response]>([])
      let end = Box<Result<WebSocketClose, NetworkError>?>(nil)
      let flow: @Sendable (Int) -> BodyFlow
      let count = Counter()

      init(flow: @escaping @Sendable (Int) -> BodyFlow = { _ in .continue }) { self.flow = flow }

      var receiver: WebSocketReceiver {
        WebSocketReceiver(
          response: { response in self.responses.update { $0.append(response) } },
          message: { message in
            self.notes.add(message.text ?? "\(message.byteCount) bytes")
            return self.flow(self.count.next())
          },
          closed: { result in
            XCTAssertNil(self.end.value, "closed twice")
            self.end.value = result
          })
      }

      var error: NetworkError? { if case .failure(let error)? = end.value { error } else { nil } }
      var close: WebSocketClose? { try? end.value?.get() }
    }

    private func connect(
      _ transport: CurlTransport, _ server: TestServer, _ listener: Listener, _ options: WebSocketOptions = .init(),
      path: String = "/", timeouts: Request.Timeouts = .init(), configure: (inout Request) -> Void = { _ in }
    ) -> any WebSocketControl {
      var request = Request(url: server.url(path), timeouts: timeouts)
      configure(&request)
      return transport.connect(request, options: options, receiver: listener.receiver)
    }

    /// Opens a socket against `script` and waits until it has ended.
    private func end(
      _ script: TestServer.WebSocketScript, _ options: WebSocketOptions = .init(),
      timeouts: Request.Timeouts = .init(),
      file: StaticString = #filePath, line: UInt = #line
    ) throws -> Listener {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(script) }
      // Keeps the server running, so that tests see the bytes it receives after the end.
      addTeardownBlock { server.stop() }
      let listener = Listener()
      let control = connect(transport, server, listener, options, timeouts: timeouts)
      until(file: file, line: line) { listener.end.value != nil }
      withExtendedLifetime(control) {}
      return listener
    }

    func test_theServersCloseIsDeliveredAfterItsMessages() throws {
      let listener = try end(Script(onOpen: [.text("a"), .ping([1]), .binary([1, 2]), .close(4001, "bye")]))
      XCTAssertEqual(listener.notes.all, ["a", "2 bytes"])
      XCTAssertEqual(listener.close, WebSocketClose(code: 4001, reason: "bye"))
      XCTAssertEqual(listener.responses.value.map(\.status), [101])
    }

    func test_invalidFramesFailTheSocketWithTheCorrectCode() throws {
      let cases: [([UInt8], Int, NetworkError.Kind, [UInt8])] = [
        (Script.frame(1, [0x61], reserved: 1), 1002, .socketClosed, [3, 0xEA]),
        (Script.frame(3, []), 1002, .socketClosed, [3, 0xEA]),
        (Script.frame(1, [0x61], isMasked: true), 1002, .socketClosed, [3, 0xEA]),
        (Script.frame(9, [UInt8](repeating: 0, count: 126)), 1002, .socketClosed, [3, 0xEA]),
        (Script.frame(9, [], isFinal: false), 1002, .socketClosed, [3, 0xEA]),
        (Script.frame(1, [0xC0, 0xAF]), 1007, .socketClosed, [3, 0xEF]),
        (Script.frame(2, [], length: 1 << 40), 1009, .tooLarge, [3, 0xF1]),
        (Script.frame(2, [], length: .max), 1002, .socketClosed, [3, 0xEA]),
      ]
      for (bytes, code, kind, expected) in cases {
        let closes = Box<[UInt8]?>(nil)
        let script = Script(
          onOpen: [.raw(bytes)],
          onControl: { opcode, payload in
            if opcode == 8 { closes.value = payload }
            return [.end]
          })
        let listener = try end(script)
        XCTAssertEqual(listener.error?.kind, kind)
        XCTAssertEqual(listener.error?.code, code, "\(bytes.prefix(12))")
        until { closes.value != nil }
        XCTAssertEqual(closes.value?.prefix(2), expected[...])
      }
    }

    func test_aConnectionThatEndsWithoutACloseFrameIsAnError() throws {
      for action in [Script.Action.end, .reset] {
        let listener = try end(Script(onOpen: [.text("a"), .wait(0.02), action]))
        XCTAssertEqual(listener.notes.all, ["a"])
        XCTAssertEqual(listener.error?.kind, .connection)
      }
    }

    func test_aWrongAcceptKeyAndAnIncompleteHandshakeAreErrors() throws {
      let wrong = try end(Script(accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
      XCTAssertEqual(wrong.error?.kind, .socketClosed)
      XCTAssertEqual(wrong.responses.value.count, 0)
      for (response, kind) in [
        (TestServer.Response.closeBeforeHead, NetworkError.Kind.connection), (.resetBeforeHead, .connection),
        (.init(body: .raw([.init("HTTP/1.1 101 S\r\nUpg")]), ending: .close), .connection),
        (.init(body: .raw([.init("SSH-2.0-x\r\n\r\n")]), ending: .close), .parse), (.neverResponding, .timeout),
        (.init(body: .raw([.init("HTTP/1.1 101 S\r\nUpg")]), ending: .hang), .timeout),
      ] {
        let transport = try CurlTransport()
        let server = try TestServer { _ in response }
        let listener = Listener()
        let control = connect(transport, server, listener, timeouts: .init(idle: .seconds(0.2)))
        until { listener.end.value != nil }
        XCTAssertEqual(listener.error?.kind, kind, listener.error?.reason ?? "")
        withExtendedLifetime(control) {}
      }
    }

    func test_aRefusedConnectionAndAnUnknownHostAreErrors() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(.echo) }
      server.stop()
      let refused = Listener()
      let first = connect(transport, server, refused)
      until { refused.end.value != nil }
      XCTAssertEqual(refused.error?.kind, .connection)
      XCTAssertTrue(refused.error?.reason.contains("127.0.0.1:\(server.port)") == true)
      let silent = try TestServer.silent()
      let late = Listener()
      let second = connect(transport, silent, late, timeouts: .init(attempt: .seconds(0.2)))
      until { late.end.value != nil }
      XCTAssertEqual(late.error?.kind, .timeout)
      withExtendedLifetime((first, second)) {}
    }

    func test_aRejectedHandshakeDeliversAResponseWithItsBody_andFailsWithKindStatus() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .json(#"{"message":"sign in"}"#, status: 401) }
      let listener = Listener()
      let control = connect(transport, server, listener)
      until { listener.end.value != nil }
      XCTAssertEqual(listener.responses.value.map(\.status), [401])
      XCTAssertEqual(listener.responses.value.first?.body, Data(#"{"message":"sign in"}"#.utf8))
      XCTAssertEqual(listener.error?.kind, .status)
      XCTAssertEqual(listener.error?.code, 401)
      withExtendedLifetime(control) {}
    }

    func test_aRedirectIsFollowedIfThePolicyAllows_withCookies() throws {
      let transport = try CurlTransport()
      let server = try TestServer { request in
        request.path == "/old"
          ? TestServer.Response.redirect(to: "/new").header("Set-Cookie", "a=1") : .socket(.echo, subprotocol: "v2")
      }
      let jar = CookieJar()
      let listener = Listener()
      let control = connect(transport, server, listener, WebSocketOptions(subprotocols: ["v1", "v2"]), path: "/old") {
        $0.options.cookies = jar
        $0.headers["Authorization"] = "Bearer x"
      }
      until { !listener.responses.value.isEmpty }
      XCTAssertEqual(listener.responses.value.first?.url.path, "/new")
      XCTAssertEqual(listener.responses.value.first?.redirects.count, 1)
      XCTAssertEqual(server.requests.last?.header("Cookie"), "a=1")
      XCTAssertEqual(server.requests.last?.header("Authorization"), "Bearer x")
      XCTAssertEqual(server.requests.last?.header("Sec-WebSocket-Protocol"), "v1, v2")
      let refused = Listener()
      let other = connect(transport, server, refused, path: "/old") { $0.options.redirects = .none }
      until { refused.end.value != nil }
      XCTAssertEqual(refused.error?.code, 302)
      withExtendedLifetime((control, other)) {}
    }

    func test_aRedirectToTheSchemeOfWebSocketsIsFollowed() throws {
      let target = try TestServer { _ in .socket(.echo) }
      let address = "ws://127.0.0.1:\(target.port)/end"
      let server = try TestServer { _ in .redirect(to: address) }
      let listener = Listener()
      let transport = try CurlTransport()
      let control = connect(transport, server, listener)
      until { !listener.responses.value.isEmpty }
      XCTAssertEqual(listener.responses.value.first?.status, 101)
      XCTAssertEqual(listener.responses.value.first?.redirects.count, 1)
      withExtendedLifetime((control, target)) {}
    }

    func test_aRedirectToAUnixSocketIsNotFollowed() throws {
      let server = try TestServer { _ in .redirect(to: "http://docker/attach") }
      let transport = try CurlTransport(.init(addresses: ["docker": .unixSocket(path: "/none")]))
      let listener = Listener()
      let control = connect(transport, server, listener)
      until { listener.end.value != nil }
      XCTAssertEqual(listener.error?.kind, .redirect)
      withExtendedLifetime(control) {}
    }

    func test_sendsCompleteInOrderAndFailAfterTheEnd() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(.echo) }
      let listener = Listener()
      let control = connect(transport, server, listener)
      let early = Box<NetworkError??>(nil)
      control.send(.text("early")) { early.value = .some($0) }
      until { !listener.responses.value.isEmpty }
      XCTAssertEqual(early.value??.kind, .connection)
      let sent = Box<[Int]>([])
      for index in 0..<1000 {
        control.send(.text("\(index)")) { error in
          XCTAssertNil(error)
          sent.update { $0.append(index) }
        }
      }
      until { listener.notes.all.count == 1000 }
      XCTAssertEqual(sent.value, Array(0..<1000))
      XCTAssertEqual(listener.notes.all, (0..<1000).map(String.init))
      control.close(.normal, reason: "done")
      until { listener.end.value != nil }
      XCTAssertEqual(listener.close, WebSocketClose(code: .normal, reason: "done"))
      let late = Box<NetworkError??>(nil)
      control.send(.text("late")) { late.value = .some($0) }
      until { late.value != nil }
      XCTAssertEqual(late.value??.kind, .connection)
      until { server.openConnectionCount == 0 }
    }

    func test_aMessageIsWrittenInTheTurnInWhichItIsSent() throws {
      let transport = try CurlTransport()
      let received = Notes()
      let script = Script { message in
        if case .text(let text) = message { received.add(text) }
        return []
      }
      let server = try TestServer { _ in .socket(script) }
      let listener = Listener()
      let control = connect(transport, server, listener)
      until { !listener.responses.value.isEmpty }
      for number in 1...3 {
        let sent = Counter()
        control.send(.text("\(number)")) { _ in sent.next() }
        until { sent.value == 1 }
        until { received.all.count == number }
      }
      XCTAssertEqual(received.all, ["1", "2", "3"])
      withExtendedLifetime(control) {}
    }

    func test_aSendWaitsForAServerThatDoesNotRead() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(Script(onOpen: [.text("go"), .stopReading])) }
      let listener = Listener()
      let control = connect(transport, server, listener)
      until { !listener.notes.all.isEmpty }
      let sent = Counter()
      let failed = Counter()
      control.send(.text("small")) { _ = $0 == nil ? sent.next() : failed.next() }
      until { sent.value == 1 }
      // More than the socket buffers on both sides hold.
      control.send(.binary(Data(repeating: 1, count: 16 << 20))) { _ = $0 == nil ? sent.next() : failed.next() }
      control.send(.text("behind it")) { _ = $0 == nil ? sent.next() : failed.next() }
      control.dispose()
      until { listener.end.value != nil }
      XCTAssertEqual(listener.error?.kind, .cancelled)
      until { sent.value + failed.value == 3 }
      XCTAssertEqual(sent.value, 1, "a message was complete though most of it had not gone")
    }

    func test_aPauseStopsTheServerWithoutLosingMessages() throws {
      let transport = try CurlTransport()
      let fragment = [UInt8](repeating: 7, count: 50_000)
      let server = try TestServer { _ in
        .socket(Script(onOpen: Array(repeating: .binary(fragment), count: 400) + [.close(1000, "")]))
      }
      let listener = Listener { count in count == 1 ? .pause : .continue }
      let control = connect(transport, server, listener)
      until { listener.count.value == 1 }
      XCTAssert(standsStill { server.sentByteCount })
      XCTAssertEqual(listener.count.value, 1)
      XCTAssertLessThan(server.sentByteCount, 400 * 50_000)
      control.resume()
      until { listener.end.value != nil }
      XCTAssertEqual(listener.count.value, 400)
      XCTAssertEqual(listener.close?.code, .normal)
    }

    func test_anUnresponsivePeerTimesOut() throws {
      let pings = Counter()
      let script = Script(onControl: { opcode, _ in
        if opcode == 9 { pings.next() }
        return []
      })
      let listener = try end(script, WebSocketOptions(pingInterval: .seconds(0.05), pongTimeout: .seconds(0.1)))
      XCTAssertEqual(listener.error?.kind, .timeout)
      XCTAssertEqual(pings.value, 1)
    }

    func test_aPausedSocketSurvivesTheDeadlinesOfItsPings() throws {
      let pings = Counter()
      let transport = try CurlTransport()
      let server = try TestServer { request in
        .socket(
          Script(
            onOpen: request.path == "/paused" ? [.text("a"), .text("b")] : [],
            onControl: { opcode, _ in
              if opcode == 9, request.path != "/paused" { pings.next() }
              return nil
            }))
      }
      let options = WebSocketOptions(pingInterval: .seconds(0.05), pongTimeout: .seconds(0.05))
      let paused = Listener { $0 == 1 ? .pause : .continue }
      let control = connect(transport, server, paused, options, path: "/paused")
      until { paused.count.value == 1 }
      // The deadlines of another socket, which pass later, show that those of the paused socket have passed.
      let other = Listener()
      let otherControl = connect(
        transport, server, other, WebSocketOptions(pingInterval: .seconds(0.2), pongTimeout: .seconds(5)))
      until { pings.value >= 2 }
      XCTAssertNil(paused.end.value)
      XCTAssertEqual(paused.notes.all, ["a"])
      control.resume()
      until { paused.count.value == 2 }
      XCTAssertEqual(paused.notes.all, ["a", "b"])
      withExtendedLifetime(otherControl) {}
    }

    func test_aPausedSocketEnds_thoughTheServerIgnoresItsClose() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in
        .socket(Script(onOpen: [.text("a"), .text("b")], onControl: { _, _ in [] }))
      }
      addTeardownBlock { server.stop() }
      let listener = Listener { _ in .pause }
      var options = WebSocketOptions()
      options.closeTimeout = .seconds(0.1)
      let control = connect(transport, server, listener, options)
      until { listener.count.value == 1 }
      control.close(.normal, reason: "")
      until { listener.end.value != nil }
      XCTAssertEqual(listener.close?.code, .abnormal)
    }

    func test_pongsKeepTheSocketOpen() throws {
      let pings = Counter()
      let transport = try CurlTransport()
      let server = try TestServer { _ in
        .socket(
          Script(onControl: { opcode, _ in
            if opcode == 9 { pings.next() }
            return nil
          }))
      }
      let listener = Listener()
      let control = connect(
        transport, server, listener, WebSocketOptions(pingInterval: .seconds(0.02), pongTimeout: .seconds(5)))
      until { pings.value >= 5 }
      XCTAssertNil(listener.end.value)
      control.dispose()
      until { listener.end.value != nil }
    }

    func test_disposingInAnyPhaseEndsTheSocketAndClosesItsConnection() throws {
      let transport = try CurlTransport()
      let server = try TestServer { request in
        request.path == "/never" ? .neverResponding : .socket(.echo)
      }
      for path in ["/", "/never"] {
        let phases: [(String, (Listener, Int) -> Bool)] = [
          ("at once", { _, _ in true }), ("connected", { _, _ in server.openConnectionCount > 0 }),
          ("requested", { _, before in server.requestCount > before }),
          ("answered", { listener, _ in path == "/never" || !listener.responses.value.isEmpty }),
        ]
        for (phase, isReached) in phases {
          until { server.openConnectionCount == 0 }
          let (listener, before) = (Listener(), server.requestCount)
          let control = connect(transport, server, listener, path: path)
          until { isReached(listener, before) }
          control.dispose()
          control.dispose()
          until { listener.end.value != nil }
          XCTAssertEqual(listener.error?.kind, .cancelled, "\(path), \(phase)")
        }
      }
      until { server.openConnectionCount == 0 }
    }

    func test_aShutdownClosesOpenSocketsWithGoingAwayAndRejectsNewOnes() async throws {
      let transport = try CurlTransport()
      let codes = Box<[[UInt8]]>([])
      let server = try TestServer { _ in
        .socket(
          Script(onControl: { opcode, payload in
            if opcode == 8 { codes.update { $0.append(payload) } }
            return nil
          }))
      }
      let listeners = (0..<5).map { _ in Listener() }
      let controls = listeners.map { connect(transport, server, $0) }
      until { listeners.allSatisfy { !$0.responses.value.isEmpty } }
      await transport.shutdownAndWait()
      XCTAssertEqual(listeners.map { $0.error?.kind }, Array(repeating: .cancelled, count: 5))
      until { codes.value.count == 5 }
      XCTAssertEqual(codes.value, Array(repeating: [3, 0xE9], count: 5))
      let late = Listener()
      let control = connect(transport, server, late)
      until { late.end.value != nil }
      XCTAssertEqual(late.error?.kind, .cancelled)
      withExtendedLifetime((controls, control)) {}
    }

    func test_aThousandConcurrentSocketsEcho() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(.echo) }
      let listeners = (0..<1000).map { _ in Listener() }
      let controls = listeners.map { connect(transport, server, $0) }
      until(60) { listeners.allSatisfy { !$0.responses.value.isEmpty } }
      XCTAssertEqual(server.openConnectionCount, 1000)
      for (index, control) in controls.enumerated() { control.send(.text("\(index)")) { XCTAssertNil($0) } }
      until(60) { listeners.allSatisfy { !$0.notes.all.isEmpty } }
      XCTAssertEqual(listeners.map { $0.notes.all }, (0..<1000).map { ["\($0)"] })
      for control in controls { control.close(.normal, reason: "") }
      until(60) { listeners.allSatisfy { $0.end.value != nil } }
      until(60) { server.openConnectionCount == 0 }
    }

    func test_closedSockets_areReleasedWhileTheTransportLives() throws {
      struct Socket {
        weak var object: AnyObject?
      }
      let transport = try CurlTransport()
      let server = try TestServer { request in
        request.path == "/no" ? .status(404) : .socket(Script(onOpen: [.text("a"), .close(1000, "")]))
      }
      var sockets: [Socket] = []
      for path in ["/", "/no", "/", "/disposed"] {
        let listener = Listener()
        let control = connect(transport, server, listener, path: path)
        sockets.append(Socket(object: control))
        if path == "/disposed" { control.dispose() }
        until { listener.end.value != nil }
      }
      until { sockets.allSatisfy { $0.object == nil } }
      withExtendedLifetime(transport) {}
    }

    func test_aSocketWithoutAThreadFails() throws {
      let transport = try CurlTransport()
      let server = try TestServer { _ in .socket(.echo) }
      let refused = Listener()
      let control = CurlThread.$begin.withValue({ _, _ in throw POSIXError(.EAGAIN) }) {
        connect(transport, server, refused)
      }
      until { refused.end.value != nil }
      XCTAssertEqual(refused.error?.kind, .connection)
      XCTAssert(refused.error?.reason.contains("the thread of the sockets can't be created") ?? false)
      XCTAssertEqual(server.connectionCount, 0)
      // The next one tries again.
      let listener = Listener()
      let next = connect(transport, server, listener)
      until { !listener.responses.value.isEmpty }
      withExtendedLifetime((control, next)) {}
    }
  }
#endif
