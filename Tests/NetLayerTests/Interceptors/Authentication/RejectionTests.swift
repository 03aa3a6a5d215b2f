import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A token that the server rejects with a code in a 200, and authentication outside the cache.
final class RejectionTests: XCTestCase {
  private func interceptor(_ isRejected: (@Sendable (Response) -> Bool)?) -> AuthenticationInterceptor {
    let urls = [URL(string: "http://h")].compactMap { $0 }
    let store = MemoryTokenStore(Token(access: "old", account: "ada"))
    guard let isRejected else {
      return AuthenticationInterceptor(for: urls, store: store) { _ in Single.just(Token(access: "new")) }
    }
    return AuthenticationInterceptor(for: urls, store: store, isRejected: isRejected) { _ in
      Single.just(Token(access: "new"))
    }
  }

  private func network(
    _ interceptors: [any Interceptor], envelope: Envelope = .standard,
    _ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse
  ) -> (Network, StubTransport) {
    let stub = StubTransport { reply($0) }
    return (
      Network(
        Backend(baseURL: URL(string: "http://h"), envelope: envelope, transport: stub, interceptors: interceptors)),
      stub
    )
  }

  func test_codeInside200_isRefreshedAndRetried() async throws {
    for code in ["10401", "\"10401\""] {
      let (api, stub) = network([interceptor { $0.status == 401 || $0.envelopeCode == 10401 }]) { request in
        request.headers["Authorization"] == "Bearer new"
          ? .json(#"{"code":200,"data":7}"#) : .json("{\"code\":\(code),\"message\":\"expired\"}")
      }
      let value: Int = try await api.fetch(.get("/a"))
      XCTAssertEqual(value, 7)
      XCTAssertEqual(stub.requests.map { $0.headers["Authorization"] }, ["Bearer old", "Bearer new"])
    }
  }

  func test_codeThatIsNotNamed_isABusinessError() async {
    let (api, stub) = network([interceptor(nil)]) { _ in .json(#"{"code":10401,"message":"expired"}"#) }
    do {
      _ = try await api.fetch(.get("/a"), as: Int.self)
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error.kind, .rejected)
      XCTAssertEqual(error.code, 10401)
    }
    XCTAssertEqual(stub.requests.count, 1)
  }

  func test_newTokenThatIsRejectedToo_isTheServersError() async {
    let (api, stub) = network([interceptor { $0.envelopeCode == 10401 }]) { _ in
      .json(#"{"code":10401,"message":"expired"}"#)
    }
    do {
      _ = try await api.fetch(.get("/a"), as: Int.self)
      XCTFail("no error")
    } catch { XCTAssertEqual(error.code, 10401) }
    XCTAssertEqual(stub.requests.count, 2)
  }

  func test_envelopeCode_isReadOnlyFromAnEnvelope() async throws {
    let rows: [(String, Envelope, Int?)] = [
      (#"{"code":7}"#, .standard, 7), (#"{"code":"7"}"#, .standard, 7), (#"{"code":"x"}"#, .standard, nil),
      (#"{"code":7}"#, .none, nil), (#"{"status":7}"#, Envelope(code: "status"), 7), ("", .standard, nil),
      ("<html>", .standard, nil), ("[1]", .standard, nil),
    ]
    for (body, envelope, code) in rows {
      let (api, _) = network([], envelope: envelope) { _ in .json(body) }
      let response = try await api.response(.get("/a"))
      XCTAssertEqual(response.envelopeCode, code, body)
    }
  }

  func test_authenticationOutsideTheCache_findsTheUsersResponses() async throws {
    let cache = ResponseCache(storingIn: nil)
    let authentication = interceptor(nil)
    let (api, stub) = network([authentication, CacheInterceptor(cache)], envelope: .none) { request in
      .response(
        headers: ["Cache-Control": "private, max-age=60", "Vary": "Accept, Authorization"],
        body: Data((request.headers["Authorization"] ?? "nobody").utf8))
    }
    func get() async throws -> String { try await api.fetch(.get("/a"), as: String.self) }
    let first = try await (get(), get())
    XCTAssertEqual([first.0, first.1], ["Bearer old", "Bearer old"])
    XCTAssertEqual(stub.requests.count, 1, "the second is a hit")
    try await authentication.setToken(Token(access: "bob", account: "bob"))
    let other = try await get()
    XCTAssertEqual(other, "Bearer bob")
    XCTAssertEqual(stub.requests.count, 2)
  }

  func test_authenticationOutsideTheCache_keepsTheEntriesOfTheAccount() async throws {
    let (authentication, cache) = (interceptor(nil), ResponseCache(storingIn: nil))
    let (api, stub) = network([authentication, CacheInterceptor(cache)], envelope: .none) { request in
      .response(headers: ["Cache-Control": "max-age=60"], body: Data((request.headers["Authorization"] ?? "").utf8))
    }
    for (token, expected) in [
      (Token(access: "a1", account: "ann"), "Bearer a1"), (Token(access: "a2", account: "ann"), "Bearer a1"),
      (Token(access: "b", account: "bob"), "Bearer b"), (Token(access: "a3", account: "ann"), "Bearer a1"),
    ] {
      try await authentication.setToken(token)
      let seen = try await api.fetch(.get("/a"), as: String.self)
      XCTAssertEqual(seen, expected)
    }
    XCTAssertEqual(stub.requests.count, 2)
  }
}
