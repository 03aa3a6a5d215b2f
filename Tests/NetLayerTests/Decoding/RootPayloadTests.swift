import Foundation
import NetLayer
import NetLayerTesting
import Streams
import XCTest

/// Envelopes whose payload is the object itself: Slack (docs.slack.dev, "Evaluating responses") and WeChat
/// (developers.weixin.qq.com, `jscode2session`).
final class RootPayloadTests: XCTestCase {
  private struct Team: Codable, Equatable, Sendable { var team: String }
  private struct Session: Codable, Equatable, Sendable { var openid: String }

  private let slack = Envelope(
    code: "ok", success: true, message: "error", data: nil, cursor: "response_metadata.next_cursor")
  private let weChat = Envelope(failure: "errcode", message: "errmsg", data: nil)

  private func network(_ body: String, _ envelope: Envelope) -> Network {
    let stub = StubTransport { _ in .json(body) }
    return Network(Backend(baseURL: URL(string: "http://h"), envelope: envelope, transport: stub))
  }

  /// The errors of all kinds of calls.
  private func failures(_ body: String, _ envelope: Envelope) async -> [NetworkError?] {
    let network = network(body, envelope)
    let calls: [() async throws -> Void] = [
      { _ = try await network.fetch(.get("/"), as: Team.self) },
      { _ = try await network.fetch(.get("/"), as: Team?.self) },
      { _ = try await network.fetch(.get("/"), as: JSON.self) },
      { try await network.fetch(.get("/")) },
      { _ = try await network.json(.get("/")).bool().asSingle().value },
      { _ = try await network.json(.get("/")).list(Team.self, at: "items").asSingle().value },
    ]
    var errors: [NetworkError?] = []
    for call in calls {
      do {
        try await call()
        errors.append(nil)
      } catch { errors.append(NetworkError.wrapping(error)) }
    }
    return errors
  }

  func test_slack_success_isReadFromTheObject() async throws {
    let network = network(#"{"ok":true,"team":"Reds","cursor":{}}"#, slack)
    let team = try await network.fetch(.get("/"), as: Team.self)
    XCTAssertEqual(team, Team(team: "Reds"))
    let json = try await network.fetch(.get("/"), as: JSON.self)
    XCTAssertEqual(json["team"].string, "Reds")
    try await network.fetch(.get("/"))
    let isDone = try await network.json(.get("/")).bool().asSingle().value
    XCTAssertTrue(isDone)
    let mismatch = await failures(#"{"ok":true,"team":7}"#, slack).first
    XCTAssertEqual(mismatch??.codingPath, ["team"])
  }

  func test_slack_list_isAtAPath_withTheCursorOfTheEnvelope() async throws {
    let network = network(#"{"ok":true,"members":[1,2],"response_metadata":{"next_cursor":"c2"}}"#, slack)
    let page = try await network.json(.get("/")).list(Int.self, at: "members").asSingle().value
    XCTAssertEqual(page, Page(items: [1, 2], cursor: "c2"))
    do {
      _ = try await network.json(.get("/")).list(Int.self).asSingle().value
      XCTFail("an object is not a list")
    } catch {
      XCTAssertEqual(
        NetworkError.wrapping(error).reason.contains(#"list(at: "items")"#), true, "\(error)")
    }
    var none = slack
    none.cursor = nil
    let other = self.network(#"{"ok":true,"members":[3],"cursor":{}}"#, none)
    let last = try await other.json(.get("/")).list(Int.self, at: "members").asSingle().value
    XCTAssertEqual(last, Page(items: [3], cursor: nil))
  }

  func test_slack_failure_isRejectedWithTheServersMessage() async {
    for error in await failures(#"{"ok":false,"error":"not_authed"}"#, slack) {
      XCTAssertEqual(error?.kind, .rejected)
      XCTAssertEqual(error?.message, "not_authed")
      XCTAssertEqual(error?.reason, "the server rejected the request with ok false: not_authed")
    }
    // Without a message, too.
    for error in await failures(#"{"ok":false}"#, slack) { XCTAssertEqual(error?.kind, .rejected) }
  }

  func test_weChat_successWithAndWithoutACode_isReadFromTheObject() async throws {
    for code in [#""errcode":0,"errmsg":"ok","#, "", #""errcode":"0","#, #""errcode":null,"#, #""errcode":false,"#] {
      let network = network("{\(code)\"openid\":\"o1\"}", weChat)
      let session = try await network.fetch(.get("/"), as: Session.self)
      XCTAssertEqual(session, Session(openid: "o1"), code)
      try await network.fetch(.get("/"))
      let response = try await network.response(.get("/"))
      XCTAssertTrue(response.isStorable, code)
      XCTAssertNil(response.envelopeCode, code)
    }
  }

  func test_weChat_failure_hasItsCodeAndMessage() async throws {
    for error in await failures(#"{"errcode":40013,"errmsg":"invalid appid"}"#, weChat) {
      XCTAssertEqual(error?.kind, .rejected)
      XCTAssertEqual(error?.code, 40013)
      XCTAssertEqual(error?.message, "invalid appid")
      XCTAssertEqual(error?.reason, #"the server reported "errcode": invalid appid"#)
    }
    let response = try await network(#"{"errcode":"-1"}"#, weChat).response(.get("/"))
    XCTAssertEqual(response.envelopeCode, -1)
    XCTAssertFalse(response.isStorable)
  }

  func test_everyOtherMember_isAFailure() async {
    for member in ["1", "-1", "0.5", "true", #""""#, #""no""#, #""false""#, "{}", "[0]", "[false]"] {
      for error in await failures("{\"errcode\":\(member),\"team\":\"Reds\"}", weChat) {
        XCTAssertEqual(error?.kind, .rejected, member)
      }
    }
  }

  func test_textAsCode_isAFailure_evenWithoutAMessage() async {
    for error in await failures(#"{"status":"E1"}"#, Envelope(code: "status", success: 0, data: nil)) {
      XCTAssertEqual(error?.kind, .rejected)
    }
  }

  func test_codeThatOnlyFailuresHave_isExplained() async {
    let envelope = Envelope(code: "errcode", success: 0, data: nil)
    let error = await failures(#"{"openid":"o1"}"#, envelope).first
    XCTAssertEqual(
      error??.reason, #"the envelope has no member "errcode"; if only failures have it, use Envelope(failure:data:)"#)
  }

  func test_placesOfAnEnvelopeWithoutForm_areRead() async throws {
    var places = Envelope.none
    (places.data, places.cursor) = ("result", "next")
    let list = network(#"{"code":500,"error":"no","result":[1],"next":"c"}"#, places)
    let page = try await list.json(.get("/")).list(Int.self).asSingle().value
    XCTAssertEqual(page, Page(items: [1], cursor: "c"))
    let isOn = try await network(#"{"result":false}"#, places).json(.get("/")).bool().asSingle().value
    XCTAssertFalse(isOn)
  }
}
