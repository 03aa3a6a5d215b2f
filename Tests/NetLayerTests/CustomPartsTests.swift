// Without @testable, as users test the parts that they write.
import Foundation
import NetLayerTesting
import XCTest

private struct CountSigner: Signer {
  func sign(_ content: ContentToSign) -> RequestSignature {
    RequestSignature(headers: ["X-Text": content.text, "X-Path": content.request.url.path])
  }
}

private struct AccountSigner: Signer {
  let account: String?
  func sign(_ content: ContentToSign) -> RequestSignature { RequestSignature() }
}

/// An interceptor that sends the key that it would store a response under.
private struct KeyInterceptor: Interceptor {
  func intercept(_ request: NetLayer.Request, next: InterceptorChain) -> Observable<Response> {
    .deferred {
      var request = request
      request.headers["X-Key"] = try next.account(of: request)
      return next(request)
    }
  }
}

/// Tests of the initializers with which users test their own signers, redirect rules and readers.
final class CustomPartsTests: XCTestCase {
  private func request(_ path: String = "/a") throws -> NetLayer.Request {
    Request(url: try XCTUnwrap(URL(string: "http://h\(path)")))
  }

  func test_signer_isCalledWithoutANetwork() throws {
    let content = ContentToSign(
      request: try request(), parameters: [.init(name: "a", value: "1"), .init(name: "b", value: "x y")])
    XCTAssertEqual(CountSigner().sign(content).headers, ["X-Text": "a=1&b=x y", "X-Path": "/a"])
  }

  func test_signer_isPartOfTheKeysOfInterceptors() async throws {
    var keys: [String?] = []
    for account in ["ann", "bob", "ann", nil] {
      let transport = StubTransport { _ in .response() }
      let network = Network(
        Backend(
          baseURL: URL(string: "http://h"), transport: transport, signer: AccountSigner(account: account),
          interceptors: [KeyInterceptor()]))
      _ = try await network.fetch(.get("/a"))
      keys.append(transport.requests.first?.headers["X-Key"])
    }
    XCTAssertEqual(Set(keys.prefix(3)).count, 2)
    XCTAssertEqual(keys[0], keys[2])
    XCTAssertNotEqual(keys[0], keys[1])
    XCTAssertEqual(keys.map { $0?.count }, [64, 64, 64, nil])
  }

  func test_redirectRule_isCalledWithoutANetwork() throws {
    let rule: @Sendable (RedirectPolicy.Step) -> Bool = { $0.target.host() == $0.request.url.host() && $0.count < 2 }
    let target = try XCTUnwrap(URL(string: "http://h/b"))
    XCTAssertTrue(rule(.init(request: try request(), status: 302, target: target)))
    XCTAssertFalse(rule(.init(request: try request(), status: 302, target: target, count: 2)))
  }

  func test_cookie_isASessionCookieOfOneHostByDefault() {
    let cookie = CookieJar.Cookie(name: "a", value: "1", domain: "h")
    XCTAssertEqual(
      cookie,
      .init(name: "a", value: "1", domain: "h", isForSubdomains: false, path: "/", isSecure: false, expiresAt: nil))
  }

  func test_streamedResponse_hasTheChunksOfASequence() async throws {
    let head = Response(request: try request(), status: 201, headers: ["A": "b"], body: Data("dropped".utf8))
    let streamed = StreamedResponse(head, chunks: ["one", "two"].map { Data($0.utf8) })
    XCTAssertEqual(streamed.response.status, 201)
    XCTAssertEqual(streamed.response.headers, ["A": "b"])
    XCTAssertEqual(streamed.response.body, Data())
    var read: [String] = []
    for try await chunk in streamed.chunks { read.append(String(decoding: chunk, as: UTF8.self)) }
    XCTAssertEqual(read, ["one", "two"])
  }

  func test_streamedResponse_endsWithTheErrorAfterItsChunks() async throws {
    let head = Response(request: try request())
    let error = NetworkError(kind: .connection, reason: "cut")
    let body = StreamedResponse(head, chunks: [Data(count: 300_000)], error: error).body
    var count = 0
    do {
      for try await chunk in body.values { count += chunk.count }
      XCTFail("the body must fail")
    } catch {
      XCTAssertEqual((error as? NetworkError)?.kind, .connection)
      XCTAssertEqual((error as? NetworkError)?.response?.status, 200)
    }
    XCTAssertEqual(count, 300_000)
  }
}
