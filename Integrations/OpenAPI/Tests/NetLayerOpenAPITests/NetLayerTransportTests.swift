import Foundation
import HTTPTypes
import LoopbackServer
import NetLayer
import NetLayerOpenAPI
import OpenAPIRuntime
import Synchronization
import XCTest

/// Calls that a generated client would make, to a loopback server.
final class NetLayerTransportTests: XCTestCase {
  /// Above what the sockets of both sides and the transport buffer, far below what an endless body would reach.
  private static let buffered = 32 << 20
  private var servers: [TestServer] = []

  override func tearDown() { servers.forEach { $0.stop() } }

  private func serve(_ handler: @escaping TestServer.Handler) throws -> TestServer {
    let server = try TestServer(handler: handler)
    servers.append(server)
    return server
  }

  private func client(_ server: TestServer, base: String = "", _ network: Network = Network()) throws -> Client {
    Client(
      serverURL: try XCTUnwrap(URL(string: "http://127.0.0.1:\(server.port)\(base)")),
      transport: NetLayerTransport(network))
  }

  func test_anOperationSendsItsMethodPathQueryFieldsAndBody() async throws {
    let server = try serve { request in .json(#"{"name":"\#(request.text)"}"#, status: 201) }
    for base in ["/v1", "/v1/", "/v1?ignored=1"] {
      let (status, name) = try await client(server, base: base).addUser("Ada")
      XCTAssertEqual(status, 201)
      XCTAssertEqual(name, "Ada")
    }
    XCTAssertEqual(server.requests.map(\.target), Array(repeating: "/v1/users?kind=a%20b&kind=c%2Fd", count: 3))
    for request in server.requests {
      XCTAssertEqual(request.method, "POST")
      XCTAssertEqual(request.header("content-type"), "text/plain")
      XCTAssertEqual(request.headerValues("x-tag"), ["1", "2"])
      XCTAssertEqual(request.header("content-length"), "3")
      XCTAssertEqual(request.text, "Ada")
    }
  }

  func test_aPathWithoutASlashIsRefused() async throws {
    let server = try serve { _ in .text("sent") }
    for path in ["@evil.example/", "users", ".evil.example/", ":1/"] {
      do {
        _ = try await NetLayerTransport().send(
          HTTPRequest(method: .get, scheme: nil, authority: nil, path: path), body: nil,
          baseURL: try XCTUnwrap(URL(string: "http://127.0.0.1:\(server.port)")), operationID: "x")
        XCTFail("sent \(path)")
      } catch let error as NetworkError {
        XCTAssertEqual(error.kind, .invalidRequest)
        XCTAssertTrue(error.reason.contains(path.debugDescription), error.reason)
      }
    }
    XCTAssertEqual(server.requestCount, 0)
  }

  func test_theBackendOfTheNetworkApplies() async throws {
    let count = Atomic(0)
    let server = try serve { _ in
      .json(#"{"name":"x"}"#, status: count.add(1, ordering: .relaxed).newValue < 3 ? 503 : 201)
    }
    let backend = Backend(
      headers: ["X-App": "shop"],
      interceptors: [RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))])
    let (status, _) = try await client(server, Network(backend)).put("Ada")
    XCTAssertEqual(status, 201)
    XCTAssertEqual(server.requests.map(\.text), ["Ada", "Ada", "Ada"])
    XCTAssertEqual(server.requests.map { $0.header("x-app") }, ["shop", "shop", "shop"])
  }

  func test_aResponseBodyIsStreamedWithBackpressureAndEndsWithItsReader() async throws {
    let chunk = [UInt8](repeating: 7, count: 64 << 10)
    let server = try serve { _ in .init(body: .endless(first: [], .init(chunk))) }
    let client = try client(server)
    do {
      let body = try await client.export()
      XCTAssertEqual(body.length, .unknown)
      var iterator = body.makeAsyncIterator()
      let first = try await iterator.next()
      XCTAssertEqual(first?.first, 7)
      let sent = try await standstill { server.sentByteCount }
      XCTAssertLessThan(sent, Self.buffered)
      for _ in 0..<100_000 where server.sentByteCount == sent { _ = try await iterator.next() }
      XCTAssertGreaterThan(server.sentByteCount, sent, "reading does not make the server go on")
    }
    try await eventually("the connection is closed") { server.openConnectionCount == 0 }
  }

  func test_aRequestBodyIsStreamedWithBackpressureAndEndsWithItsTask() async throws {
    let server = try TestServer.silent()
    servers.append(server)
    let made = Counter()
    let chunks = Chunks { made.add(64 << 10) }
    let client = try client(server)
    let task = Task { try await client.upload(HTTPBody(chunks, length: .unknown, iterationBehavior: .single)) }
    try await eventually("the body is read") { made.value > 0 }
    let count = try await standstill { made.value }
    XCTAssertLessThan(count, Self.buffered)
    task.cancel()
    do {
      _ = try await task.value
      XCTFail("not cancelled")
    } catch is CancellationError {
    } catch { XCTAssertEqual((error as? NetworkError)?.kind, .cancelled) }
    try await eventually("the connection is closed") { server.openConnectionCount == 0 }
    XCTAssertLessThan(made.value, Self.buffered)
  }

  func test_aLoopOverTheBodyIsCancelledWithItsTask() async throws {
    let server = try serve { _ in .stalledBody() }
    let client = try client(server)
    let isReading = Atomic(false)
    let task = Task {
      let body = try await client.export()
      XCTAssertEqual(body.length, .known(1000))
      for try await _ in body { isReading.store(true, ordering: .relaxed) }
    }
    try await eventually("the body is read") { isReading.load(ordering: .relaxed) }
    task.cancel()
    let result = await task.result
    XCTAssertThrowsError(try result.get())
    try await eventually("the connection is closed") { server.openConnectionCount == 0 }
  }

  func test_aBodyIsSentAgainOnlyIfItCanBeIteratedAgain() async throws {
    let server = try serve { $0.path == "/new" ? .text($0.text) : .redirect(to: "/new", status: 307) }
    let client = try client(server)
    let bytes = [ArraySlice("abc".utf8)]
    let echoed = try await client.upload(
      HTTPBody(Repeated(bytes), length: .known(3), iterationBehavior: .multiple))
    XCTAssertEqual(echoed, "abc")
    do {
      _ = try await client.upload(HTTPBody(Repeated(bytes), length: .known(3), iterationBehavior: .single))
      XCTFail("a body that can be iterated once was sent again")
    } catch let error as NetworkError { XCTAssertEqual(error.kind, .redirect, "\(error)") }
  }

  func test_aBodyThatFailsFailsItsOperation() async throws {
    let server = try serve { .text($0.text) }
    let client = try client(server)
    for length in [HTTPBody.Length.known(64 << 10), .unknown] {
      do {
        _ = try await client.upload(
          HTTPBody(Chunks { throw URLError(.cannotOpenFile) }, length: length, iterationBehavior: .single))
        XCTFail("a request with a failing body succeeded")
      } catch let error as NetworkError { XCTAssertEqual(error.kind, .invalidRequest, "\(error)") }
    }
  }

  func test_responsesWithoutABodyHaveNone() async throws {
    let server = try serve { $0.method == "HEAD" ? .text("abc") : .status(204) }
    let client = try client(server)
    for method in [HTTPRequest.Method.head, .delete] {
      let (response, body) = try await client.transport.send(
        HTTPRequest(method: method, scheme: nil, authority: nil, path: "/"), body: nil, baseURL: client.serverURL,
        operationID: "x")
      XCTAssertEqual(response.status.code, method == .head ? 200 : 204)
      XCTAssertNil(body)
    }
  }

  func test_aDecodedBodyHasNoKnownLength() async throws {
    // "hello" by gzip.
    let gzip: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0,
    ]
    let server = try serve { _ in .bytes(gzip).header("Content-Encoding", "gzip") }
    let body = try await client(server).export()
    XCTAssertEqual(body.length, .unknown)
    let text = try await body.text()
    XCTAssertEqual(text, "hello")
  }

  func test_anInvalidURLIsRefused() async throws {
    let transport = NetLayerTransport()
    for text in ["ftp://h/", "relative", "http:///path"] {
      do {
        _ = try await transport.send(
          HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/x"), body: nil,
          baseURL: try XCTUnwrap(URL(string: text)), operationID: "x")
        XCTFail("\(text) was accepted")
      } catch let error as NetworkError { XCTAssertEqual(error.kind, .invalidRequest, "\(error)") }
    }
  }
}
