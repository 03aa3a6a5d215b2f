#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import NetLayer
  import TestSupport
  import XCTest

  import HTTPTransport

  /// Tests of WebSockets with third-party servers: PyPI's `websockets`, and nginx as a proxy in front of a loopback
  /// server.
  final class WebSocketInteropTests: XCTestCase {
    /// Starts the servers of `sockets.py`. The environment variable `PYTHON` names a Python that has `websockets`.
    private func server() throws -> HostileServer {
      let server = try HostileServer(
        "sockets.py", python: ProcessInfo.processInfo.environment["PYTHON"] ?? "python3")
      addTeardownBlock { server.stop() }
      return server
    }

    private func network(_ configuration: CurlTransport.Configuration = .init()) throws -> Network {
      Network(Backend(transport: try CurlTransport(configuration)))
    }

    private func echo(_ messages: [WebSocketMessage], _ socket: WebSocket) async throws -> [WebSocketMessage] {
      var received: [WebSocketMessage] = []
      var iterator = socket.messages.makeAsyncIterator()
      for message in messages {
        try await socket.send(message)
        if let back = try await iterator.next() { received.append(back) }
      }
      return received
    }

    private static let messages: [WebSocketMessage] = [
      .text(""), .text("hello"), .text(String(repeating: "κόσμε ", count: 10_000)), .binary(Data()),
      .binary(Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0) })), .text("again"), .text("again"),
    ]

    func test_messagesAreEchoedOverPlainCompressedAndSecureSockets() async throws {
      let server = try server()
      let secure = CurlTransport.Configuration(tls: .init(trust: .pem(file: server.file("ca.pem"))))
      for (name, scheme) in [("ws", "ws"), ("deflate", "ws"), ("wss", "wss")] {
        for compression in [false, true] {
          let options = WebSocketOptions(subprotocols: ["other", "chat"], compression: compression)
          let url = "\(scheme)://127.0.0.1:\(try server.port(name))/path?x=1"
          try await network(secure).withWebSocket(.get(url), options: options) { socket in
            XCTAssertEqual(socket.subprotocol, "chat")
            let isCompressed = socket.response.headers["Sec-WebSocket-Extensions"] != nil
            XCTAssertEqual(isCompressed, compression && name != "ws", "\(name) \(compression)")
            let received = try await echo(Self.messages, socket)
            XCTAssertEqual(received, Self.messages)
          }
        }
      }
    }

    func test_aDecompressionBombFailsAtTheLimit_andAllowedZerosArrive() async throws {
      let server = try server()
      let url = "ws://127.0.0.1:\(try server.port("deflate"))/"
      try await network().withWebSocket(.get(url), options: WebSocketOptions(subprotocols: ["chat"], compression: true))
      {
        socket in
        let zeros = try await echo([.text("zeros")], socket)
        XCTAssertEqual(zeros.first?.byteCount, 900_000)
      }
      do {
        let options = WebSocketOptions(subprotocols: ["chat"], maxMessageSize: 100_000, compression: true)
        try await network().withWebSocket(.get(url), options: options) { socket in
          _ = try await echo([.text("zeros")], socket)
        }
        XCTFail("the bomb was accepted")
      } catch let error as NetworkError {
        XCTAssertEqual(error.kind, .tooLarge)
        XCTAssertEqual(error.code, 1009)
      }
    }

    func test_theServersCodeAndReasonArrive() async throws {
      let server = try server()
      do {
        try await network().withWebSocket(
          .get("ws://127.0.0.1:\(try server.port("ws"))/"), options: WebSocketOptions(subprotocols: ["chat"])
        ) { socket in
          try await socket.send("close")
          for try await _ in socket.messages {}
        }
        XCTFail("no error")
      } catch let error as NetworkError {
        XCTAssertEqual(error.kind, .socketClosed)
        XCTAssertEqual(error.code, 4001)
        XCTAssertTrue(error.reason.contains("as asked"))
      }
    }

    func test_anUntrustedOrUnpinnedCertificateFailsTheSocket() async throws {
      let server = try server()
      let url = "wss://127.0.0.1:\(try server.port("wss"))/"
      let trust = TLSOptions.Trust.pem(file: server.file("ca.pem"))
      let pin = try PublicKeyPin(Data(count: 32).base64EncodedString())
      for tls in [TLSOptions(), .init(trust: trust, pins: ["127.0.0.1": [pin]])] {
        do {
          try await network(.init(tls: tls)).withWebSocket(.get(url)) { _ in }
          XCTFail("the certificate was accepted")
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .tls)
        }
      }
    }

    func test_aSocketUsesATunnelThroughAProxy_alsoWithoutTLS() async throws {
      let server = try TestServer { _ in .socket(.echo) }
      let proxy = try LoopbackProxy(credentials: "user:pass")
      let through = CurlTransport.Configuration(proxy: .url(try proxy.url(user: "user:pass")))
      try await network(through).withWebSocket(.get("ws://127.0.0.1:\(server.port)/")) { socket in
        let received = try await echo([.text("hi")], socket)
        XCTAssertEqual(received, [.text("hi")])
      }
      XCTAssertEqual(proxy.heads.map { $0.prefix(8) }, ["CONNECT "])
      XCTAssertNil(server.requests.first?.header("Proxy-Authorization"))
      let refused = CurlTransport.Configuration(proxy: .url(try proxy.url()))
      do {
        try await network(refused).withWebSocket(.get("ws://127.0.0.1:\(server.port)/")) { _ in }
        XCTFail("the proxy was passed by")
      } catch let error as NetworkError {
        XCTAssertEqual(error.kind, .connection)
        XCTAssertTrue(error.reason.contains("407"), error.reason)
        XCTAssertTrue(error.reason.hasPrefix("the proxy \(try proxy.url().hostAndPort) for 127.0.0.1"), error.reason)
      }
    }

    func test_nginxForwardsASocket() async throws {
      let server = try TestServer { _ in .socket(.echo) }
      let nginx = try NginxServer(
        server: """
          location / { proxy_pass http://127.0.0.1:\(server.port); proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; }
          """, files: [:])
      defer { nginx.stop() }
      let network = try network()
      try await network.withWebSocket(.get(nginx.url.absoluteString)) { socket in
        let received = try await echo(Self.messages, socket)
        XCTAssertEqual(received, Self.messages)
      }
    }
  }
#endif
