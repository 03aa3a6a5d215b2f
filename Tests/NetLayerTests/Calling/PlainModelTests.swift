import Foundation
import NetLayer
import NetLayerTesting
import TestSupport
import XCTest

/// Models and type parameters that are not `Sendable`.
final class PlainModelTests: XCTestCase {
  private class Base: Decodable {
    var id: Int
    var next: Base?
  }

  private struct Box: Decodable, Sendable, Equatable { var id: Int }

  /// Keeps a model that is not `Sendable`.
  private actor Store {
    var kept: Base?
    func load(_ network: Network) async throws -> Int? {
      kept = try await network.fetch(.get("/1"), as: Base.self)
      return kept?.id
    }
  }

  private func network(_ body: String, status: Int = 200, envelope: Envelope = .none) -> Network {
    let stub = StubTransport { _ in
      .response(status: status, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
    return Network(Backend(baseURL: URL(string: "http://h"), envelope: envelope, messages: .english, transport: stub))
  }

  private func generic<Model: Decodable & SendableMetatype>(_ network: Network) async throws(NetworkError) -> Model {
    try await network.fetch(.get("/1"))
  }

  private func failure(_ work: () async throws -> Void) async throws -> NetworkError {
    do { try await work() } catch let error as NetworkError { return error }
    throw CancellationError()
  }

  func test_openClass_isFetchedByAnActor_andOnTheMainActor() async throws {
    let id = try await Store().load(network(#"{"id":1}"#))
    XCTAssertEqual(id, 1)
    let base: Base = try await network(#"{"id":1,"next":{"id":2}}"#).fetch(.get("/1"))
    XCTAssertEqual(base.next?.id, 2)
    let decoded = try await network(#"{"id":3}"#).response(.get("/1")).decode(Base.self)
    let sent = Task { decoded.id }
    let value = await sent.value
    XCTAssertEqual(value, 3)
  }

  func test_typeParameter_needsNoSendable() async throws {
    let box: Box = try await generic(network(#"{"id":1}"#))
    let base: Base = try await generic(network(#"{"id":2}"#))
    let wrapped: Box = try await generic(network(#"{"code":200,"data":{"id":3}}"#, envelope: .standard))
    XCTAssertEqual([box.id, base.id, wrapped.id], [1, 2, 3])
    let nothing: Box? = try await generic(network("", status: 204))
    XCTAssertNil(nothing)
    let list: [Box] = try await generic(network(#"[{"id":1}]"#))
    XCTAssertEqual(list, [Box(id: 1)])
  }

  func test_typeParameter_failsAsAnyModel() async throws {
    let error = try await failure { let _: Box = try await self.generic(self.network(#"{"id":"x"}"#)) }
    XCTAssertEqual(error.kind, .parse)
    XCTAssertEqual(error.codingPath, ["id"])
    let refused = try await failure { let _: Box = try await self.generic(self.network("{}", status: 500)) }
    XCTAssertEqual(refused.status, 500)
  }
}
