import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// One rule for payloads and one for statuses: the result of a call does not depend on the function that makes it.
final class OneRuleTests: XCTestCase {
  private struct User: Decodable, Equatable, Sendable {
    var id: Int
  }

  private struct GetUser: Endpoint {
    typealias Output = User
    var path: String { "/user" }
  }

  private struct Remove: Endpoint {
    typealias Output = Void
    var path: String { "/user" }
    var method: HTTPMethod { .delete }
  }

  private struct Whole: BaseResponse, Equatable {
    var code: Int
    var data: User?
    func makeCustomError() -> (any Error)? { nil }
  }

  private func network(_ body: String, status: Int = 200, _ envelope: Envelope = .standard) -> Network {
    let stub = StubTransport { _ in .response(status: status, body: Data(body.utf8)) }
    return Network(Backend(baseURL: URL(string: "http://h"), envelope: envelope, transport: stub))
  }

  /// All functions that return a model, an array of models, or nothing.
  private func models(_ network: Network) -> [(name: String, call: @Sendable () async throws -> User)] {
    let service = Service<GetUser>(network)
    let router = Router<GetUser>(network)
    return [
      ("fetch(_:as:)", { try await network.fetch(.get("/user"), as: User.self) }),
      ("fetch of a typed endpoint", { try await network.fetch(GetUser()) }),
      ("fetch of a typed call", { try await network.fetch(Call.get("/user").as(User.self)) }),
      ("request(_:as:)", { try await network.request(.get("/user"), as: User.self).value }),
      ("request of a typed endpoint", { try await network.request(GetUser()).value }),
      ("request(on:)", { try await GetUser().request(on: network).value }),
      ("json", { try await network.json(.get("/user")).data(User.self).asSingle().value }),
      ("response, common", { try await network.responses(.get, "/user").common().data(User.self).asSingle().value }),
      ("zip", { try await network.zip([GetUser()]).value[0] }),
      ("zip(_:as:)", { try await network.zip([Call.get("/user")], as: User.self).value[0] }),
      ("merge", { try await network.merge([GetUser()]).asSingle().value }),
      ("service", { try await service.request(GetUser()).value }),
      ("service(_:as:)", { try await service.request(GetUser(), as: User.self).value }),
      (
        "router",
        { try await withCheckedThrowingContinuation { done in router.request(GetUser()) { done.resume(with: $0) } } }
      ),
      (
        "router(_:as:)",
        {
          try await withCheckedThrowingContinuation { done in
            router.request(GetUser(), as: User.self) { done.resume(with: $0) }
          }
        }
      ),
    ]
  }

  /// All functions that succeed without a model.
  private func plainCalls(_ network: Network) -> [(name: String, call: @Sendable () async throws -> Void)] {
    let router = Router<Call<Response>>(network)
    return [
      ("fetch", { try await network.fetch(.delete("/user")) }),
      ("fetch of a typed endpoint", { try await network.fetch(Remove()) }),
      ("fetch as Void", { try await network.fetch(Call.delete("/user").as(Void.self)) }),
      ("fetch as NoContent", { _ = try await network.fetch(.delete("/user"), as: NoContent.self) }),
      ("request", { _ = try await network.request(.delete("/user")).value }),
      ("request as Void", { try await network.request(Call.delete("/user").as(Void.self)).value }),
      ("request(on:)", { _ = try await Call.delete("/user").request(on: network).asSingle().value }),
      (
        "router",
        {
          _ = try await withCheckedThrowingContinuation { done in
            router.request(.delete("/user")) { done.resume(with: $0) }
          }
        }
      ),
    ]
  }

  private func kind(_ call: () async throws -> some Any) async -> NetworkError.Kind? {
    do {
      _ = try await call()
      return nil
    } catch {
      return NetworkError.wrapping(error).kind
    }
  }

  func test_everyFunctionDecodesThePayload() async throws {
    for (name, call) in models(network(#"{"code":200,"data":{"id":7}}"#)) {
      let user = try await call()
      XCTAssertEqual(user, User(id: 7), name)
    }
    for (name, call) in models(network(#"{"id":7}"#, .none)) {
      let user = try await call()
      XCTAssertEqual(user, User(id: 7), name)
    }
    let json = try await network(#"{"code":200,"data":{"id":7}}"#).fetch(.get("/user"), as: JSON.self)
    XCTAssertEqual(json["id"].int, 7)
  }

  func test_theCodeDecidesInEveryFunction() async {
    let refusing = network(#"{"code":40301,"message":"no","data":null}"#)
    for (name, call) in models(refusing) {
      let kind = await kind(call)
      XCTAssertEqual(kind, .rejected, name)
    }
    for (name, call) in plainCalls(refusing) {
      let kind = await kind(call)
      XCTAssertEqual(kind, .rejected, name)
    }
    let json = await kind { try await refusing.fetch(.get("/user"), as: JSON.self) }
    XCTAssertEqual(json, .rejected)
    let optional = await kind { try await refusing.fetch(.get("/user"), as: User?.self) }
    XCTAssertEqual(optional, .rejected)
  }

  func test_theStatusDecidesInEveryFunction() async {
    for envelope in [Envelope.none, .standard] {
      let missing = network(#"{"code":200,"data":{"id":7}}"#, status: 404, envelope)
      for (name, call) in models(missing) {
        let kind = await kind(call)
        XCTAssertEqual(kind, .status, name)
      }
      for (name, call) in plainCalls(missing) {
        let kind = await kind(call)
        XCTAssertEqual(kind, .status, name)
      }
    }
  }

  func test_onlyResponseDeliversAnyStatus() async throws {
    let missing = network("gone", status: 404)
    let awaited = try await missing.response(.get("/x"))
    XCTAssertEqual(awaited.status, 404)
    let streamed: Observable<Response> = missing.responses(.get("/x"))
    let first = try await streamed.asSingle().value
    XCTAssertEqual(first.status, 404)
    let router = Router<Call<Response>>(missing)
    let completed = try await withCheckedThrowingContinuation { done in
      router.response(.get("/x")) { done.resume(with: $0) }
    }
    XCTAssertEqual(completed.status, 404)
    let url = try XCTUnwrap(URL(string: "http://h/x"))
    let sent = try await missing.send(Request(url: url)).value
    XCTAssertEqual(sent.status, 404)
  }

  func test_textBytesAndBaseResponsesReadTheWholeBody() async throws {
    let body = #"{"code":200,"data":{"id":7}}"#
    let text = try await network(body).fetch(.get("/user"), as: String.self)
    XCTAssertEqual(text, body)
    let bytes = try await network(body).fetch(.get("/user"), as: Data.self)
    XCTAssertEqual(bytes, Data(body.utf8))
    let whole = try await network(body).fetch(.get("/user"), as: Whole.self)
    XCTAssertEqual(whole, Whole(code: 200, data: User(id: 7)))
    let decoded: Whole = try await network(body).response(.get("/user")).decode()
    XCTAssertEqual(decoded, whole)
  }

  func test_anOptionalOfAnEmptyBodyIsNil() async throws {
    for (status, body) in [(204, ""), (205, ""), (200, ""), (204, "{}")] {
      for envelope in [Envelope.none, .standard] {
        let empty = network(body, status: status, envelope)
        let user = try await empty.fetch(.get("/x"), as: User?.self)
        XCTAssertNil(user, "\(status), \(body), \(envelope)")
        let text = try await empty.fetch(.get("/x"), as: String?.self)
        XCTAssertNil(text, "\(status), \(body), \(envelope)")
        let bytes = try await empty.fetch(.get("/x"), as: Data?.self)
        XCTAssertNil(bytes, "\(status), \(body), \(envelope)")
        let json = try await empty.fetch(.get("/x"), as: JSON?.self)
        XCTAssertNil(json, "\(status), \(body), \(envelope)")
        let requested = try await empty.request(.get("/x"), as: User?.self).value
        XCTAssertNil(requested, "\(status), \(body), \(envelope)")
        let implied: String? = try await empty.fetch(.get("/x"))
        XCTAssertNil(implied, "\(status), \(body), \(envelope)")
      }
    }
    let null = try await network("null", .none).fetch(.get("/x"), as: JSON?.self)
    XCTAssertNil(null)
    let none = try await network(#"{"code":200,"data":null}"#, .standard).fetch(.get("/x"), as: JSON?.self)
    XCTAssertNil(none)
    let text = try await network("null", .none).fetch(.get("/x"), as: String?.self)
    XCTAssertEqual(text, "null")
    for body in ["\n", " \r\n\t"] {
      for envelope in [Envelope.none, .standard] {
        let blank = network(body, envelope)
        let user = try await blank.fetch(.get("/x"), as: User?.self)
        XCTAssertNil(user)
        let text = try await blank.fetch(.get("/x"), as: String?.self)
        XCTAssertEqual(text, body)
        let kind = await kind { try await blank.fetch(.get("/x"), as: User.self) }
        XCTAssertEqual(kind, .parse)
        try await blank.fetch(.get("/x"))
      }
    }
    let user = try await network(#"{"id":7}"#, .none).fetch(.get("/x"), as: User?.self)
    XCTAssertEqual(user, User(id: 7))
    let kind = await kind { try await self.network("", .none).fetch(.get("/x"), as: User.self) }
    XCTAssertEqual(kind, .parse)
  }

  func test_aMistakenEnvelopeIsExplained() async {
    func reason(_ network: Network) async -> String {
      do {
        _ = try await network.fetch(.get("/user"), as: User.self)
        return ""
      } catch {
        return error.reason
      }
    }
    let unnamed = await reason(network(#"{"code":200,"message":"ok","data":{"id":7}}"#, .none))
    XCTAssertTrue(unnamed.contains("envelope: .standard"), unnamed)
    let absent = await reason(network(#"{"id":7}"#))
    XCTAssertTrue(absent.contains("envelope: .none"), absent)
    let other = await reason(network(#"{"name":"n"}"#, .none))
    XCTAssertFalse(other.contains("envelope"), other)
  }

  func test_anEnvelopeInPlaceOfTheBackendsIsTheOneThatWasNamed() async throws {
    let wrapped = network(#"{"id":7}"#)
    let plain = try await wrapped.responses(.get, "/user").common(.none).data(User.self).asSingle().value
    XCTAssertEqual(plain, User(id: 7))
    let kind = await kind { try await wrapped.responses(.get, "/user").common().asSingle().value }
    XCTAssertEqual(kind, .parse)
    let response = try await network(#"{"code":1}"#, .none).response(.get("/user"))
    XCTAssertNoThrow(try response.common())
    XCTAssertThrowsError(try response.common(.standard))
  }
}
