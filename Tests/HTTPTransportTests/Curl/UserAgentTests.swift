#if canImport(CLibcurl)
  import HTTPTransport
  import LoopbackServer
  import PortableFoundation
  import XCTest

  @testable import HTTPTransport

  /// `User-Agent`: the default, a custom one, none, and that of a request.
  final class UserAgentTests: XCTestCase {
    private func sent(_ configuration: CurlTransport.Configuration, _ headers: HTTPHeaders = [:]) throws -> String? {
      let server = try TestServer { request in .json("\"\(request.header("User-Agent") ?? "none")\"") }
      defer { server.stop() }
      let transport = try CurlTransport(configuration)
      let result = Locked<Result<Response, NetworkError>?>(nil)
      let done = expectation(description: "response")
      _ = transport.send(Request(url: server.url("/"), headers: headers)) { received in
        result.withLock { $0 = received }
        done.fulfill()
      }
      wait(for: [done], timeout: 60)
      return try result.withLock { $0 }?.get().json().string
    }

    func test_default_namesProgramPackageAndSystem() throws {
      let agent = try XCTUnwrap(try sent(.init()))
      XCTAssertEqual(agent, UserAgent.standard)
      XCTAssertNotNil(agent.wholeMatch(of: /[\w.-]+ NetLayer\/[\d.]+ \(Linux\)/), agent)
    }

    func test_custom_none_andThatOfTheRequest() throws {
      XCTAssertEqual(try sent(.init(userAgent: "Shop/2 (a; b)")), "Shop/2 (a; b)")
      XCTAssertEqual(try sent(.init(userAgent: nil)), "none")
      XCTAssertEqual(try sent(.init(), ["user-agent": "mine"]), "mine")
    }

    func test_controlCharacters_areRejected() {
      for agent in ["a\r\nX: y", "a\u{0}", "\u{7F}"] {
        XCTAssertThrowsError(try CurlTransport(.init(userAgent: agent)), agent) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
        }
      }
    }

    func test_nameOfTheProgram_becomesAToken() {
      for (name, token) in [("My App/2", "MyApp2"), ("网店", nil), ("a_b-c.d", "a_b-c.d"), ("", nil)]
        as [(String, String?)]
      {
        XCTAssertEqual(UserAgent.token(name), token, name)
      }
      XCTAssertEqual(UserAgent.token(String(repeating: "x", count: 200))?.count, 64)
    }

    func test_webSocket_sendsItUnlessTheRequestHasOne() throws {
      let handshake = WebSocketHandshake(WebSocketOptions(), offersCompression: false)
      let url = try XCTUnwrap(URL(string: "http://h/"))
      func head(_ headers: HTTPHeaders, _ agent: String?) -> String {
        String(
          decoding: handshake.head(of: Request(url: url, headers: headers), cookies: nil, userAgent: agent),
          as: UTF8.self)
      }
      XCTAssertTrue(head([:], "a/1").contains("\r\nUser-Agent: a/1\r\n"))
      XCTAssertFalse(head([:], nil).contains("User-Agent"))
      XCTAssertEqual(head(["User-Agent": "b"], "a/1").components(separatedBy: "User-Agent").count, 2)
    }
  }
#endif
