import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Every modifier follows every verb, with a result by name or by inference. Most of this test is that it compiles.
final class VerbChainTests: XCTestCase {
  private struct New: Encodable, Sendable {
    var name = "x"
  }

  private struct Repo: Decodable, Sendable, Equatable {
    var id: Int
  }

  private struct GetRepo: Endpoint {
    typealias Output = Repo
    var path: String { "/repo" }
  }

  private let stub = StubTransport { _ in .json(#"{"id":7}"#) }
  private var network: Network { Network(Backend(baseURL: URL(string: "http://h"), transport: stub)) }

  func test_modifiersFollowVerbs_whereTheResultIsNamed() async throws {
    let (api, model, bytes, file) = (network, New(), Data("x".utf8), URL(filePath: #filePath))
    try await api.fetch(.get("/a", query: ["q": 1]).timeout(.seconds(5)))
    try await api.fetch(.head("/a").header("X-A", "1").priority(.high))
    try await api.fetch(.delete("/a").query(["q": 1]).httpVersion(.http1))
    try await api.fetch(.post("/a").timeout(.seconds(5)))
    let posted = try await api.fetch(.post("/a", json: model).timeout(.seconds(5)), as: Repo.self)
    let put = try await api.fetch(.put("/a", json: model).header("X-A", "1").query(["q": 1]), as: Repo.self)
    let patched = try await api.fetch(.patch("/a", json: model).priority(.high), as: Repo.self)
    let mixed = try await api.fetch(
      .post("/a", parameters: ["a": 1, "b": "c", "d": nil]).timeout(.seconds(5)), as: Repo.self)
    let form = try await api.fetch(.post("/a", form: ["a": 1]).caching(.networkOnly), as: Repo.self)
    let data = try await api.fetch(
      .post("/a", .data(bytes, contentType: "text/plain")).timeout(.seconds(5)), as: Repo.self)
    let uploaded = try await api.fetch(.post("/a", .upload(file)).timeout(.seconds(5)), as: Repo.self)
    XCTAssertEqual([posted, put, patched, mixed, form, data, uploaded], Array(repeating: Repo(id: 7), count: 7))
    XCTAssertEqual(stub.requests.count, 11)
  }

  func test_modifiersFollowVerbs_whereTheResultIsInferred() async throws {
    let (api, model) = (network, New())
    let posted: Repo = try await api.fetch(.post("/a", json: model).timeout(.seconds(5)).header("X-A", "1"))
    let text: String = try await api.fetch(.put("/a", parameters: ["a": 1]).timeout(.seconds(5)))
    let streamed = try await api.request(.post("/a", json: model).timeout(.seconds(5)), as: Repo.self).value
    let payload = try await api.json(.post("/a", json: model).header("X-A", "1")).data(Repo.self).asSingle().value
    let any = try await api.response(.post("/a", json: model).query(["q": 1]))
    XCTAssertEqual([posted, streamed, payload], Array(repeating: Repo(id: 7), count: 3))
    XCTAssertEqual(text, #"{"id":7}"#)
    XCTAssertEqual(any.status, 200)
  }

  func test_modifiersKeepTheResult() async throws {
    let repo = try await network.fetch(GetRepo().timeout(.seconds(5)).header("X-A", "1").query(["q": 1]))
    XCTAssertEqual(repo, Repo(id: 7))
    let named = try await network.fetch(Call.get("/a").as(Repo.self).caching(.networkOnly).priority(.low))
    XCTAssertEqual(named, Repo(id: 7))
    XCTAssertEqual(stub.requests.map { $0.headers["Accept"] }, ["application/json", "application/json"])
  }
}
