import Foundation
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// The rows of the semantics about users: no entry is sent with another user's token.
final class OutboxAccountTests: XCTestCase {
  /// A fixture whose network signs in; `refresh` returns the next token, or fails.
  private func fixture(
    _ token: Token?,
    refresh: @escaping @Sendable (Token?) throws -> Token = { _ in
      throw NetworkError(kind: .status, reason: "the refresh token has expired")
    }
  ) throws -> (OutboxFixture, AuthenticationInterceptor) {
    let fixture = try OutboxFixture(self)
    let interceptor = AuthenticationInterceptor(for: [fixture.server.url], store: MemoryTokenStore(token)) { old in
      Single.deferred { .just(try refresh(old)) }
    }
    return (fixture, interceptor)
  }

  private static func token(_ name: String, of account: String?) -> Token { Token(access: name, account: account) }

  func test_outbox_row_18_401_refreshWorks_sentAgainWithTheNewToken() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a")) { _ in Token(access: "a2") }
    fixture.server.reject("a1")
    try fixture.open(on: fixture.backend([interceptor])).send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer a1", "Bearer a2"])
    XCTAssertEqual(Set(fixture.server.keys).count, 1)
  }

  func test_outbox_row_19_20_401_refreshFails_allOfTheUserWait_untilTheSignIn() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a"))
    fixture.server.reject("a1")
    let outbox = try fixture.open(on: fixture.backend([interceptor]), starts: false)
    for text in ["1", "2", "3"] { try outbox.send(AddNote(text: text), lane: "k") }
    try outbox.send(AddNote(text: "4"), lane: "l")
    outbox.start()
    fixture.waits(for: ["1: waitingForSignIn", "2: earlierEntry", "3: earlierEntry", "4: waitingForSignIn"])
    fixture.pass(.seconds(100_000))
    XCTAssertLessThanOrEqual(fixture.server.seen.count, 2)
    interceptor.set(Self.token("a2", of: "a"))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.applied.filter { $0 != body("4") }, ["1", "2", "3"].map(body))
    XCTAssertEqual(fixture.results.all.count, 4)
  }

  func test_outbox_row_19_refreshWithoutAConnection_isNotASignOut() throws {
    let isDown = Box(true)
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a")) { _ in
      if isDown.value { throw NetworkError(kind: .connection, reason: "no server of tokens") }
      return Token(access: "a2")
    }
    fixture.server.reject("a1")
    try fixture.open(on: fixture.backend([interceptor])).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForRetry"])
    isDown.value = false
    fixture.pass(.seconds(1))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_19_401AfterASuccessfulRefresh_waitsForTheSignIn() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a")) { _ in Token(access: "a2") }
    fixture.server.reject("a1", "a2")
    try fixture.open(on: fixture.backend([interceptor])).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: waitingForSignIn"])
    fixture.pass(.seconds(100_000))
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer a1", "Bearer a2"])
    XCTAssertEqual(fixture.pending, ["tea: waitingForSignIn"])
    interceptor.set(Self.token("a3", of: "a"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
  }

  func test_outbox_row_21_401OfAnOldToken_afterTheSignIn_isSentAgain() throws {
    let signIn = Box<(@Sendable () -> Void)?>(nil)
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a")) { _ in
      // The user signs in while the request with the old token is in flight; then its refresh fails.
      signIn.value?()
      throw NetworkError(kind: .status, reason: "the refresh token has expired")
    }
    signIn.value = { interceptor.set(Token(access: "a2", account: "a")) }
    fixture.server.reject("a1")
    try fixture.open(on: fixture.backend([interceptor])).send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.last?.token, "Bearer a2")
  }

  func test_outbox_row_21_401OfARefreshedToken_afterTheSignIn_isSentAgain() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a")) { _ in Token(access: "a2") }
    // The user signs in while the request with the refreshed token is in flight.
    let swap = Swap(before: 2) { interceptor.set(Self.token("a3", of: "a")) }
    fixture.server.reject("a1", "a2")
    try fixture.open(on: fixture.backend([interceptor, swap])).send(AddNote(text: "tea"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer a1", "Bearer a2", "Bearer a3"])
  }

  func test_outbox_row_22_signOutAndAnotherUser_onlyTheOthersEntriesGo() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a"))
    fixture.reachability.set(false)
    let outbox = try fixture.open(on: fixture.backend([interceptor]))
    try outbox.send(AddNote(text: "of a"), lane: "k")
    interceptor.set(nil)
    interceptor.set(Self.token("b1", of: "b"))
    try outbox.send(AddNote(text: "of b"), lane: "k")
    fixture.reachability.set(true)
    fixture.waits(for: ["of a: otherUser"])
    XCTAssertEqual(fixture.server.seen.map(\.text), [body("of b")])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer b1"])
    fixture.pass(.seconds(100_000))
    XCTAssertEqual(fixture.errors.all, [], "waiting for a user is not an error")
    interceptor.set(Self.token("a2", of: "a"))
    fixture.waits(for: [])
    XCTAssertEqual(fixture.server.seen.last?.token, "Bearer a2")
    XCTAssertEqual(fixture.entries.map(\.account), [])
  }

  func test_outbox_row_22_signedOut_sendsNothing_notEvenWithoutAToken() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a"))
    fixture.reachability.set(false)
    try fixture.open(on: fixture.backend([interceptor])).send(AddNote(text: "tea"))
    interceptor.set(nil)
    fixture.reachability.set(true)
    fixture.waits(for: ["tea: otherUser"])
    XCTAssertEqual(fixture.server.seen, [])
  }

  func test_outbox_row_23_tokenChangesBetweenCheckAndSending_nothingIsSent() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a"))
    // An interceptor before the one with the token runs after the outbox has checked the user.
    let network = fixture.backend([Swap { interceptor.set(Self.token("b1", of: "b")) }, interceptor])
    try fixture.open(on: network).send(AddNote(text: "tea"))
    fixture.waits(for: ["tea: otherUser"])
    XCTAssertEqual(fixture.server.seen, [])
    interceptor.set(Self.token("a2", of: "a"))
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Bearer a2"])
  }

  /// Runs a closure before one of the requests, by default before the first one.
  private final class Swap: Interceptor {
    private let number: Int
    private let work: @Sendable () -> Void
    private let count = Box(0)
    init(before number: Int = 1, _ work: @escaping @Sendable () -> Void) { (self.number, self.work) = (number, work) }

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      let count = count.update { count in
        count += 1
        return count
      }
      if count == number { work() }
      return next(request)
    }
  }

  func test_outbox_row_24_tokenWithoutAccount_orNoUser_isAnErrorOfSend() throws {
    for token in [Token(access: "x"), nil] {
      let (fixture, interceptor) = try fixture(token)
      let outbox = try fixture.open(on: fixture.backend([interceptor]))
      XCTAssertThrowsError(try outbox.send(AddNote(text: "tea"))) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .authentication)
        XCTAssert("\(error)".contains("sign in with a Token that has an account"), "\(error)")
      }
      XCTAssertEqual(fixture.files, [])
      // Another origin gets no token.
      try outbox.send(.post("http://127.0.0.1:9/other"))
      XCTAssertEqual(fixture.files.count, 1)
    }
  }

  func test_outbox_entryWithoutAccount_isNotSentWithTheTokenOfALaterUser() throws {
    let (fixture, interceptor) = try fixture(Self.token("a1", of: "a"))
    fixture.reachability.set(false)
    // A version of the app that had no users.
    try fixture.open().send(AddNote(text: "tea"))
    fixture.close()
    fixture.reachability.set(true)
    try fixture.open(on: fixture.backend([interceptor]))
    fixture.waits(for: ["tea: otherUser"])
    XCTAssertEqual(fixture.server.seen, [])
  }

  func test_outbox_ownCredentials_areRefused() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open()
    XCTAssertThrowsError(try outbox.send(AddNote(text: "tea").header("Authorization", "Bearer x"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      XCTAssert("\(error)".contains("use an AuthenticationInterceptor"), "\(error)")
    }
    XCTAssertEqual(fixture.files, [])
  }

  func test_outbox_passwordOfTheBackend_isSent_andNotStored() throws {
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    let outbox = try fixture.open(on: fixture.backend { $0.headers = .basic(user: "ada", password: "secret") })
    try outbox.send(AddNote(text: "tea"))
    let files = fixture.files
    XCTAssertEqual(files.count, 1)
    for file in files {
      let stored = try Data(contentsOf: fixture.folder.appending(path: file))
      XCTAssertFalse(String(decoding: stored, as: UTF8.self).contains("Authorization"))
    }
    fixture.reachability.set(true)
    fixture.waits(forResults: ["200 \(body("tea"))"])
    XCTAssertEqual(fixture.server.seen.map(\.token), ["Basic YWRhOnNlY3JldA=="])
  }
}
