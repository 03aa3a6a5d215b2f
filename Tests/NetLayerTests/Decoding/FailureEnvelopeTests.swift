import Foundation
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Envelopes that report a failure by the presence of a member: GraphQL (§7.1), JSON-RPC 2.0 (§5).
final class FailureEnvelopeTests: XCTestCase {
  private struct User: Codable, Equatable, Sendable { var name: String }
  private struct Me: Codable, Equatable, Sendable { var me: User? }

  private func network(_ body: String, status: Int = 200, _ envelope: Envelope = .graphQL) -> Network {
    let stub = StubTransport { _ in .json(body, status: status) }
    return Network(Backend(baseURL: URL(string: "http://h"), envelope: envelope, transport: stub))
  }

  private func failure(_ work: () async throws -> Void) async -> NetworkError? {
    do {
      try await work()
      return nil
    } catch { return NetworkError.wrapping(error) }
  }

  func test_absentNullAndEmptyMembers_areSuccesses() async throws {
    for errors in ["", #","errors":null"#, #","errors":[]"#] {
      let graph = network(#"{"data":{"me":{"name":"Ada"}}\#(errors)}"#)
      let me = try await graph.fetch(.post("/graphql"), as: Me.self)
      XCTAssertEqual(me, Me(me: User(name: "Ada")), errors)
      try await graph.fetch(.post("/graphql"))
      let json = try await graph.fetch(.post("/graphql"), as: JSON.self)
      XCTAssertEqual(json["data"]["me"]["name"].string ?? json["me"]["name"].string, "Ada")
    }
    let rpc = network(#"{"jsonrpc":"2.0","result":19,"error":null,"id":1}"#, .jsonRPC)
    let sum = try await rpc.fetch(.post("/"), as: Int.self)
    XCTAssertEqual(sum, 19)
  }

  func test_errorInside200_hasTheServersWords_withAndWithoutAResultType() async {
    let graph = network(
      #"{"data":null,"errors":[{"message":"Sign in first","extensions":{"code":"UNAUTHENTICATED"}}]}"#)
    let errors = [
      await failure { _ = try await graph.fetch(.post("/graphql"), as: Me.self) },
      await failure { _ = try await graph.fetch(.post("/graphql"), as: Me?.self) },
      await failure { try await graph.fetch(.post("/graphql")) },
      await failure { _ = try await graph.json(.post("/graphql")).data(Me.self).asSingle().value },
      await failure { _ = try await graph.request(.post("/graphql"), as: Me.self).value },
    ]
    for error in errors {
      XCTAssertEqual(error?.kind, .rejected)
      XCTAssertEqual(error?.message, "Sign in first")
      XCTAssertEqual(error?.reason, #"the server reported "errors": Sign in first"#)
    }
  }

  func test_codeOfTheMember_isTheErrorsCode() async {
    let rpc = network(#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":"1"}"#, .jsonRPC)
    let error = await failure { _ = try await rpc.fetch(.post("/"), as: Int.self) }
    XCTAssertEqual(error?.code, -32601)
    XCTAssertEqual(error?.message, "Method not found")
    let list = network(#"{"errors":[{"code":"403","message":"no"}]}"#)
    let first = await failure { try await list.fetch(.post("/")) }
    XCTAssertEqual(first?.code, 403)
    let response = try? await list.response(.get("/"))
    XCTAssertEqual(response?.envelopeCode, 403)
    XCTAssertEqual(response?.isStorable, false)
    let silent = network(#"{"error":{"odd":[1]},"result":null}"#, .jsonRPC)
    let odd = await failure { try await silent.fetch(.post("/")) }
    XCTAssertEqual(odd?.reason, #"the server reported "error": {"odd":[1]}"#)
    XCTAssertEqual(odd?.kind, .rejected)
  }

  func test_partialData_isReachable() async throws {
    let graph = network(#"{"data":{"me":{"name":"Ada"}},"errors":[{"message":"one field failed"}]}"#)
    let error = await failure { _ = try await graph.fetch(.post("/graphql"), as: Me.self) }
    let partial = try error?.response?.decode(Me.self, at: "data")
    XCTAssertEqual(partial, Me(me: User(name: "Ada")))
    let response = try await graph.response(.post("/graphql"))
    XCTAssertEqual(try response.decode(Me.self, at: "data"), partial)
  }

  func test_unsuccessfulStatus_hasTheServersWords() async {
    let graph = network(#"{"errors":[{"message":"Syntax Error"}]}"#, status: 400)
    let error = await failure { _ = try await graph.fetch(.post("/graphql"), as: Me.self) }
    XCTAssertEqual(error?.kind, .status)
    XCTAssertEqual(error?.message, "Syntax Error")
  }

  func test_responseWithoutThePayload_isAParseError() async {
    for (body, reason) in [("{}", #"the envelope has no member "data""#), ("[1]", "the response is of type array")] {
      let error = await failure { _ = try await self.network(body).fetch(.post("/"), as: Me.self) }
      XCTAssertEqual(error?.kind, .parse)
      XCTAssertTrue(error?.reason.hasPrefix(reason) == true, error?.reason ?? "")
    }
  }

  func test_graphQLWithoutAnEnvelope_isExplained() async {
    let plain = network(#"{"errors":[{"message":"no"}]}"#, .none)
    let error = await failure { _ = try await plain.fetch(.post("/"), as: User.self) }
    XCTAssertTrue(error?.reason.hasSuffix("set envelope: .graphQL on the backend") == true, error?.reason ?? "")
    // A backend that has chosen its envelope needs no advice.
    let chosen = network(#"{"code":200,"data":{},"errors":[{"message":"no"}]}"#, .standard)
    let mismatch = await failure { _ = try await chosen.fetch(.post("/"), as: User.self) }
    XCTAssertEqual(mismatch?.kind, .parse)
    XCTAssertEqual(mismatch?.reason.contains("set envelope"), false, mismatch?.reason ?? "")
  }

  func test_placesMayBePaths() async throws {
    let influx = Envelope(failure: "results[0].error", data: "results[0].series[0]", cursor: "results[0].next")
    let rows = network(#"{"results":[{"series":[{"name":"temp"}]}]}"#, influx)
    let series = try await rows.fetch(.get("/query"), as: User.self)
    XCTAssertEqual(series, User(name: "temp"))
    let broken = network(#"{"results":[{"series":[{"name":7}]}]}"#, influx)
    let mismatch = await failure { _ = try await broken.fetch(.get("/query"), as: User.self) }
    XCTAssertEqual(mismatch?.codingPath, ["results", "0", "series", "0", "name"])
    let missing = network(#"{"results":[{}]}"#, influx)
    let none = try await missing.fetch(.get("/query"), as: User?.self)
    XCTAssertNil(none)
    let absent = await failure { _ = try await missing.fetch(.get("/query"), as: User.self) }
    XCTAssertEqual(absent?.reason, #"the envelope has no member "results[0].series[0]""#)

    let refused = network(#"{"results":[{"error":"database not found: home"}]}"#, influx)
    for error in [
      await failure { _ = try await refused.fetch(.get("/query"), as: User.self) },
      await failure { try await refused.fetch(.get("/query")) },
    ] {
      XCTAssertEqual(error?.kind, .rejected)
      XCTAssertEqual(error?.message, "database not found: home")
    }

    let nested = Envelope(code: "head.code", success: 0, message: "head.text", data: "body.item", cursor: "body.next")
    let found = network(#"{"head":{"code":0},"body":{"item":{"name":"Ada"}}}"#, nested)
    let user = try await found.fetch(.get("/"), as: User.self)
    XCTAssertEqual(user, User(name: "Ada"))
    let page = network(#"{"head":{"code":0},"body":{"item":[1,2],"next":"c2"}}"#, nested)
    let first = try await page.json(.get("/")).list(Int.self).asSingle().value
    XCTAssertEqual(first, Page(items: [1, 2], cursor: "c2"))
    let no = network(#"{"head":{"code":7,"text":"no"}}"#, nested)
    for error in [
      await failure { _ = try await no.fetch(.get("/"), as: User.self) },
      await failure { try await no.fetch(.get("/")) },
    ] {
      XCTAssertEqual([error?.message, error.map { "\($0.code)" }], ["no", "7"])
    }
  }

  func test_memberWithThisName_precedesThePath() async throws {
    let dotted = network(#"{"a.b":1,"a":{"b":2}}"#, Envelope(failure: "error", data: "a.b"))
    let value = try await dotted.fetch(.get("/"), as: Int.self)
    XCTAssertEqual(value, 1)
  }
}
