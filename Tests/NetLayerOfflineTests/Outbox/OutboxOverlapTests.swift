import Foundation
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Two entries of one user with different keys, whose rejections overlap.
final class OutboxOverlapTests: XCTestCase {
  /// An interceptor behind the token that sends the second entry while the first one is sent again with a new token.
  private struct Second: Interceptor {
    let number = Counter()
    let action: @Sendable () -> Void

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      number.next()
      if number.value == 2 { action() }
      return next(request)
    }
  }

  private func overlapping(
    accepts: @escaping @Sendable (Int) -> Bool, sendsSecond: Bool = true,
    refresh: @escaping @Sendable (Int) throws -> Token
  ) throws -> (OutboxFixture, Counter, AuthenticationInterceptor) {
    let fixture = try OutboxFixture(self)
    let refreshes = Counter()
    let login = AuthenticationInterceptor(
      for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a0", account: "a"))
    ) { _ in
      Single.deferred {
        refreshes.next()
        return .just(try refresh(refreshes.value))
      }
    }
    fixture.server.reject((0..<100).filter { !accepts($0) }.map { "a\($0)" })
    let outbox = Box<Outbox?>(nil)
    let second = Second { if sendsSecond { _ = try? outbox.value?.send(AddNote(text: "2"), lane: "l") } }
    outbox.value = try fixture.open(on: fixture.backend([login, second]))
    try outbox.value?.send(AddNote(text: "1"), lane: "k")
    return (fixture, refreshes, login)
  }

  func test_outbox_row_19_entriesWhoseNewTokensAreRejected_doNotEndEachOthersWait() throws {
    let (fixture, refreshes, login) = try overlapping(accepts: { _ in false }) { Token(access: "a\($0)") }
    fixture.waits(for: ["1: waitingForSignIn", "2: waitingForSignIn"])
    for _ in 0..<20 {
      fixture.pass(.seconds(100))
      _ = holds(within: 0.05) { false }
    }
    fixture.waits(for: ["1: waitingForSignIn", "2: waitingForSignIn"])
    XCTAssertLessThanOrEqual(refreshes.value, 2)
    XCTAssertLessThanOrEqual(fixture.server.seen.count, 6)
    fixture.server.reject()
    login.set(Token(access: "b", account: "a"))
    fixture.waits(for: [])
    XCTAssertEqual(Set(fixture.server.applied), [body("1"), body("2")])
  }

  func test_outbox_row_19_entriesWhoseRefreshesFail_wait() throws {
    let (fixture, refreshes, login) = try overlapping(accepts: { _ in false }, sendsSecond: false) { _ in
      throw NetworkError(kind: .status, reason: "the refresh token has expired")
    }
    try fixture.outbox?.send(AddNote(text: "2"), lane: "l")
    fixture.waits(for: ["1: waitingForSignIn", "2: waitingForSignIn"])
    fixture.pass(.seconds(100_000))
    XCTAssertLessThanOrEqual(refreshes.value, 2)
    login.set(Token(access: "a1", account: "a"))
    fixture.waits(for: ["1: waitingForSignIn", "2: waitingForSignIn"])
  }

  func test_outbox_row_18_entriesWhoseNewTokenIsAccepted_areSentOnce() throws {
    let (fixture, refreshes, _) = try overlapping(accepts: { $0 == 1 }) { Token(access: "a\($0)") }
    fixture.waits { fixture.results.all.count == 2 }
    XCTAssertEqual(Set(fixture.server.applied), [body("1"), body("2")])
    XCTAssertEqual(refreshes.value, 1)
    fixture.waits(for: [])
  }

  func test_outbox_row_20_refreshOfAnotherCallThatIsAccepted_endsTheWait() throws {
    for isEarly in [false, true] {
      let fixture = try OutboxFixture(self)
      let isDown = Box(true)
      let expiry = isEarly ? fixture.clock.now.addingTimeInterval(100) : nil
      let login = AuthenticationInterceptor(
        for: [fixture.server.url], store: MemoryTokenStore(Token(access: "a0", expiresAt: expiry, account: "a"))
      ) { _ in
        Single.deferred {
          if isDown.value { throw NetworkError(kind: .status, reason: "no such refresh token") }
          return .just(Token(access: "a1"))
        }
      }
      fixture.server.reject("a0")
      let network = fixture.backend([login])
      try fixture.open(on: network).send(AddNote(text: "tea"))
      fixture.waits(for: ["tea: waitingForSignIn"])
      isDown.value = false
      fixture.pass(.seconds(80))
      let call = network.responses(.get("/other")).asObservable().subscribe()
      fixture.waits(for: [])
      call.dispose()
      XCTAssertEqual(
        fixture.server.seen.map(\.token), ["Bearer a0"] + (isEarly ? [] : ["Bearer a0"]) + ["Bearer a1", "Bearer a1"])
    }
  }
}
