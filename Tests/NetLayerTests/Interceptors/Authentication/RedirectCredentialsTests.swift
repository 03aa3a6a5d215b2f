import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The credentials of redirected requests, on a real server: each request to the origin has its own, and another origin
/// receives none.
final class RedirectCredentialsTests: XCTestCase {
  private struct Row {
    var method = HTTPMethod.get
    var task = HTTPTask.none
    let path: String
    /// The redirects by path.
    let redirects: [String: (status: Int, location: String)]
    /// The requests that the server receives, each with whether its credentials were those of its method and target.
    let received: [String]
  }

  private let rows: [Row] = [
    Row(path: "/dir", redirects: ["/dir": (301, "/dir/")], received: ["GET /dir valid", "GET /dir/ valid"]),
    Row(path: "/a?x=1", redirects: ["/a": (302, "/b?y=2")], received: ["GET /a?x=1 valid", "GET /b?y=2 valid"]),
    Row(path: "/a?x=1", redirects: ["/a": (307, "/a2")], received: ["GET /a?x=1 valid", "GET /a2 valid"]),
    Row(path: "/a", redirects: ["/a": (308, "b/../c")], received: ["GET /a valid", "GET /c valid"]),
    Row(
      method: .post, task: .json(["n": 1]), path: "/a", redirects: ["/a": (303, "/b")],
      received: ["POST /a valid", "GET /b valid"]),
    Row(
      method: .post, task: .json(["n": 1]), path: "/a", redirects: ["/a": (302, "/b")],
      received: ["POST /a valid", "GET /b valid"]),
    Row(
      method: .post, task: .json(["n": 1]), path: "/a", redirects: ["/a": (307, "/b")],
      received: ["POST /a valid", "POST /b valid"]),
    Row(
      method: .put, task: .data(Data("text".utf8)), path: "/a", redirects: ["/a": (301, "/b")],
      received: ["PUT /a valid", "PUT /b valid"]),
    Row(
      path: "/a", redirects: ["/a": (302, "/b"), "/b": (302, "/c?z=%20")],
      received: ["GET /a valid", "GET /b valid", "GET /c?z=%20 valid"]),
  ]

  /// A server that checks credentials with `isValid`, and responds with the redirects of a row.
  private func server(
    _ row: Row, log: Notes = Notes(), _ isValid: @escaping @Sendable (TestServer.Request) -> Bool?
  ) throws -> TestServer {
    try TestServer { request in
      guard let isValid = isValid(request) else {
        return .status(401).header("WWW-Authenticate", #"Digest realm="r", qop=auth, nonce="n", algorithm=SHA-256"#)
      }
      log.add("\(request.method) \(request.target) \(isValid ? "valid" : "invalid")")
      guard isValid else { return .text("the credentials belong to another request", status: 400) }
      return row.redirects[request.path].map { .redirect(to: $0.location, status: $0.status) } ?? .json("\"end\"")
    }
  }

  private static func digestIsValid(_ request: TestServer.Request) -> Bool? {
    guard let field = request.header("Authorization") else { return nil }
    let sent = Challenge.parameters(of: String(field.dropFirst(7)))
    func hex(_ text: String) -> String { Hash.hex(Hash.sha256(Data(text.utf8))) }
    let subject = hex("\(request.method):\(request.target)")
    let proof = hex("\(hex("ada:r:secret")):n:\(sent["nc"] ?? ""):\(sent["cnonce"] ?? ""):auth:\(subject)")
    return sent["uri"] == request.target && sent["response"] == proof
  }

  private func digest(_ server: TestServer) -> ChallengeInterceptor {
    ChallengeInterceptor(for: [server.url], user: "ada", password: "secret")
  }

  func test_digest_isComputedForEachRequestOfTheOrigin() async throws {
    for row in rows {
      let log = Notes()
      let server = try server(row, log: log, Self.digestIsValid)
      let network = Network(Backend(baseURL: server.url, interceptors: [digest(server)]))
      let response = try await network.response(Call(row.method, row.path, task: row.task))
      XCTAssertEqual(response.status, 200, row.path)
      XCTAssertEqual(log.all, row.received)
      XCTAssertEqual(response.redirects.map(\.status), row.redirects.sorted { $0.key < $1.key }.map(\.value.status))
      XCTAssertEqual(response.metrics?.redirects, row.redirects.count)
      XCTAssertEqual(response.request.method, row.method)
      XCTAssertEqual(response.request.url, server.url(row.path))
      XCTAssertEqual(
        response.url.absoluteString.hasSuffix(String(row.received.last?.split(separator: " ")[1] ?? "?")), true)
    }
  }

  /// A signature of the method, the path and the parameters, in a field or in a parameter.
  private static func signature(_ method: String, _ path: String, _ text: String) -> String {
    Hash.hex(Hash.sha256(Data("\(method) \(path) \(text)".utf8)))
  }

  private func signer(inParameter: Bool) -> ClosureSigner {
    ClosureSigner { content in
      let path = content.request.url.path(percentEncoded: true)
      let sign = Self.signature(content.request.method.rawValue, path, content.text)
      return inParameter ? RequestSignature(parameters: ["sign": sign]) : RequestSignature(headers: ["X-Sign": sign])
    }
  }

  private static func signatureIsValid(_ request: TestServer.Request) -> Bool {
    let isJSON = request.header("Content-Type")?.contains("json") == true
    let fields = isJSON ? (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any] ?? [:] : [:]
    let all = request.queryItems.map { ($0.name, $0.value) } + fields.map { ($0.key, "\($0.value)") }
    let signs = request.headerValues("X-Sign") + all.filter { $0.0 == "sign" }.map(\.1)
    let text = all.filter { $0.0 != "sign" }.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return signs == [signature(request.method, request.path, text)]
  }

  func test_signature_isComputedForEachRequestOfTheOrigin() async throws {
    for inParameter in [false, true] {
      for row in rows {
        let log = Notes()
        let server = try server(row, log: log, Self.signatureIsValid)
        let network = Network(Backend(baseURL: server.url, signer: signer(inParameter: inParameter)))
        let response = try await network.response(Call(row.method, row.path, task: row.task))
        XCTAssertEqual(response.status, 200, "\(row.method) \(row.path) \(log.all)")
        let received = log.all.map { $0.replacing(/[?&]sign=\w+/, with: "") }
        XCTAssertEqual(received, row.received)
      }
    }
  }

  func test_aCallWithTheContextOfASignedRequest_isNotSignedBehindARedirect() async throws {
    let log = Notes()
    let server = try TestServer { request in
      log.add("\(request.target) \(request.header("X-Sign") == nil ? "unsigned" : "signed")")
      return request.path == "/a" ? .redirect(to: "/b", status: 302) : .json("\"end\"")
    }
    let network = Network(Backend(baseURL: server.url, signer: signer(inParameter: false)))
    var call = Call<Response>.get("/a")
    call.context = try await network.response(call).request.context
    _ = try await network.with { $0.signer = nil }.response(call)
    XCTAssertEqual(log.all, ["/a signed", "/b signed", "/a unsigned", "/b unsigned"])
  }

  func test_signatureThatTheServerRepeats_isReplaced() async throws {
    let row = Row(
      path: "/a?x=1", redirects: ["/a": (307, "/b?a=1&sign=old")], received: ["GET /a?x=1 valid", "GET /b?a=1 valid"])
    let log = Notes()
    let server = try server(row, log: log, Self.signatureIsValid)
    let network = Network(Backend(baseURL: server.url, signer: signer(inParameter: true)))
    let response = try await network.response(.get(row.path))
    XCTAssertEqual(response.status, 200)
    XCTAssertEqual(log.all.map { $0.replacing(/[?&]sign=\w+/, with: "") }, row.received)
  }

  func test_signatureOfACompressedBody_coversThePlainBody() async throws {
    let row = Row(
      method: .post, task: .data(Data(repeating: 0x61, count: 4_096)), path: "/a", redirects: ["/a": (307, "/b")],
      received: ["POST /a valid", "POST /b valid"])
    let log = Notes()
    let server = try server(row, log: log) { request in
      request.header("X-Bytes") == "4096" && request.header("Content-Encoding") == "gzip" && request.body.count < 4_096
    }
    let signer = ClosureSigner { content in
      guard case .data(let body) = content.request.body else { return RequestSignature() }
      return RequestSignature(headers: ["X-Bytes": "\(body.count)"])
    }
    let network = Network(
      Backend(baseURL: server.url, signer: signer, interceptors: [CompressionInterceptor(minSize: 1)]))
    let response = try await network.response(Call(row.method, row.path, task: row.task))
    XCTAssertEqual(response.status, 200)
    XCTAssertEqual(log.all, row.received)
  }

  func test_digestAndSignature_areBothComputed() async throws {
    let row = rows[6]
    let log = Notes()
    let server = try server(row, log: log) { request in
      Self.digestIsValid(request).map { $0 && Self.signatureIsValid(request) }
    }
    let network = Network(
      Backend(baseURL: server.url, signer: signer(inParameter: false), interceptors: [digest(server)]))
    let call = Call(row.method, row.path, task: row.task)
    let status = try await network.response(call).status
    XCTAssertEqual(status, 200)
    XCTAssertEqual(log.all, row.received)
  }

  func test_anotherOrigin_receivesNoCredentials_alsoBehindARedirectOfTheOrigin() async throws {
    let fields = Notes()
    let other = try TestServer { request in
      fields.add(
        request.headers.map { $0.name.lowercased() }.filter { ["authorization", "x-sign"].contains($0) }.joined())
      return request.path == "/x" ? .redirect(to: "/y") : .json("1")
    }
    let row = Row(
      path: "/a", redirects: ["/a": (302, "/b"), "/b": (302, other.url("/x").absoluteString)],
      received: ["GET /a valid", "GET /b valid"])
    let log = Notes()
    let server = try server(row, log: log, Self.digestIsValid)
    let network = Network(
      Backend(baseURL: server.url, signer: signer(inParameter: false), interceptors: [digest(server)]))
    let response = try await network.response(.get("/a"))
    XCTAssertEqual(log.all, row.received)
    XCTAssertEqual(fields.all, ["", ""])
    XCTAssertEqual(response.redirects.map(\.url.path), ["/a", "/b", "/x"])
    XCTAssertEqual(response.url, other.url("/y"))
    XCTAssertEqual(response.metrics?.redirects, 3)
    do {
      _ = try await network.with { $0.options.redirects = .follow(limit: 2) }.response(.get("/a"))
      XCTFail("the limit counts the redirects of both origins")
    } catch {
      XCTAssertTrue(error.reason.hasPrefix("more than 2 redirects"), error.reason)
      XCTAssertEqual(error.response?.redirects.map(\.url.path), ["/a", "/b"])
    }
  }

  func test_policyAndLimitOfTheCall_apply() async throws {
    let row = Row(path: "/a", redirects: ["/a": (302, "/b"), "/b": (302, "/a")], received: [])
    let log = Notes()
    let server = try server(row, log: log, Self.digestIsValid)
    let network = Network(Backend(baseURL: server.url, interceptors: [digest(server)]))
    func failure(_ policy: RedirectPolicy) async -> String {
      let result = Notes()
      let changed = network.with { $0.options.redirects = policy }
      do {
        let response = try await changed.response(.get("/a"))
        result.add("\(response.status) \(response.redirects.count)")
      } catch {
        result.add(
          "\(NetworkError.wrapping(error).reason.prefix(21)) \(NetworkError.wrapping(error).request?.url.path ?? "")")
      }
      return result.all.joined()
    }
    var result = await failure(.follow(limit: 3))
    XCTAssertEqual(result, "more than 3 redirects /a")
    result = await failure(.none)
    XCTAssertEqual(result, "302 0")
    let counts = Notes()
    result = await failure(
      .custom { step in
        counts.add("\(step.count)")
        return step.count < 2
      })
    XCTAssertEqual(result, "302 2")
    XCTAssertEqual(counts.all, ["0", "1", "2"])
    let target = URL(string: "http://other.invalid/x")
    let step = RedirectPolicy.Step(
      request: Request(url: server.url), status: 302, target: try XCTUnwrap(target), count: 3)
    XCTAssertTrue(RedirectPolicy.follow().leavingOrigin(after: 3).follows(step))
    XCTAssertFalse(RedirectPolicy.sameOrigin.leavingOrigin(after: 3).follows(step))
  }

  func test_streamAndDownload_followTheSameRedirects() async throws {
    let row = rows[8]
    let server = try server(row, Self.digestIsValid)
    let network = Network(Backend(baseURL: server.url, interceptors: [digest(server)]))
    let text = try await network.withStream(.get("/a")) { streamed in
      var bytes = Data()
      for try await chunk in streamed.chunks { bytes += chunk }
      return String(decoding: bytes, as: UTF8.self)
    }
    XCTAssertEqual(text, "\"end\"")
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    _ = try await network.fetch(Call(.get, "/a", task: .download(to: file)))
    XCTAssertEqual(try Data(contentsOf: file), Data("\"end\"".utf8))
  }

  func test_nextNonceOfARedirect_isUsedForItsTarget() async throws {
    let log = Notes()
    let server = try TestServer { request in
      let nonce = Challenge.parameters(of: String((request.header("Authorization") ?? "").dropFirst(7)))["nonce"]
      log.add("\(request.path) \(nonce ?? "-")")
      switch (request.path, nonce) {
      case ("/a", "n1"): return .redirect(to: "/b").header("Authentication-Info", #"nextnonce="n2""#)
      case ("/b", "n2"): return .json("1")
      default: return .status(401).header("WWW-Authenticate", #"Digest realm="r", qop=auth, nonce="n1""#)
      }
    }
    let network = Network(Backend(baseURL: server.url, interceptors: [digest(server)]))
    let status = try await network.response(.get("/a")).status
    XCTAssertEqual(status, 200)
    XCTAssertEqual(log.all, ["/a -", "/a n1", "/b n2"])
  }

  func test_anErrorBehindARedirect_isThatOfTheCall() async throws {
    let server = try TestServer { $0.path == "/a" ? .redirect(to: "/b", status: 302) : .closeBeforeHead }
    let network = Network(Backend(baseURL: server.url, signer: signer(inParameter: false)))
    do {
      _ = try await network.response(.get("/a"))
      XCTFail("the target of the redirect closes the connection")
    } catch {
      XCTAssertEqual(error.kind, .connection)
      XCTAssertEqual(error.request?.url, server.url("/a"))
    }
  }

  func test_attemptLimit_includesItsRedirects() {
    let virtual = VirtualNetwork { request in
      .response(
        status: request.headers["X-Sign"] == "4" ? 200 : 302, headers: ["Location": "/next"], body: Data(),
        after: .seconds(4))
    }
    let limits = Notes()
    let numbers = Counter()
    let signer = ClosureSigner { _ in RequestSignature(headers: ["X-Sign": "\(numbers.next())"]) }
    let network = virtual.network().with { backend in
      backend.signer = signer
      backend.timeouts.attempt = .seconds(10)
    }
    virtual.note("", network.responses(.get, "/a"))
    virtual.scheduler.start()
    for request in virtual.stub.requests { limits.add("\(request.timeouts.attempt.map { $0.inSeconds } ?? -1)") }
    XCTAssertEqual(limits.all, ["10.0", "6.0", "2.0", "0.001"])
  }
}
