import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The cache before an authenticator, without an `account`: users are identified by their tokens.
final class CacheAuthenticationTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  private func authenticator(
    _ token: Token?, scheduler: TestScheduler? = nil, next: String = "new"
  ) throws -> AuthenticationInterceptor {
    AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(token)
    ) { _ in .just(Token(access: next)) }
  }

  func test_eachToken_hasItsOwnEntries() throws {
    let authentication = try authenticator(Token(access: "ann"))
    let fixture = CacheFixture(behind: [authentication], CacheFixture.counting(["Cache-Control": "max-age=60"]))
    XCTAssertEqual([fixture.get().bodies, fixture.get().bodies], [["1"], ["1"]])
    authentication.set(Token(access: "bob"))
    XCTAssertEqual([fixture.get().bodies, fixture.get().bodies], [["2"], ["2"]])
    authentication.set(nil)
    XCTAssertEqual([fixture.get().bodies, fixture.get().bodies], [["3"], ["3"]])
    authentication.set(Token(access: "ann"))
    XCTAssertEqual(fixture.get().bodies, ["1"])
    XCTAssertEqual(fixture.stub.requests.map { $0.headers["Authorization"] }, ["Bearer ann", "Bearer bob", nil])
  }

  func test_aResponseThatVariesByTheCredentials_isStoredForEachToken() throws {
    let authentication = try authenticator(Token(access: "ann"))
    let headers: HTTPHeaders = [
      "Cache-Control": "private, max-age=60, s-maxage=60", "ETag": "\"1\"",
      "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP",
    ]
    let fixture = CacheFixture(behind: [authentication], CacheFixture.counting(headers))
    XCTAssertEqual([fixture.get().bodies, fixture.get().bodies], [["1"], ["1"]])
    fixture.scheduler.advanceBy(61)
    XCTAssertEqual(fixture.get().origins, [.revalidated])
    authentication.set(Token(access: "bob"))
    XCTAssertEqual(fixture.get().origins, [.network])
    XCTAssertEqual(
      fixture.stub.requests.map { $0.headers["Authorization"] }, ["Bearer ann", "Bearer ann", "Bearer bob"])
    XCTAssertEqual(fixture.problems.all, [])
  }

  func test_aVaryThatPreventsStoring_isReportedOnce() throws {
    struct Language: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.headers["X-Language"] = "de"
        return next(request)
      }
    }
    for (vary, named) in [("X-Language", "varies by x-language"), ("*", "Vary: *")] {
      let fixture = CacheFixture(
        behind: [Language()], CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": vary]))
      XCTAssertEqual([fixture.get().bodies, fixture.get().bodies], [["1"], ["2"]])
      let problems = fixture.problems.all
      XCTAssertEqual(problems.count, 1, "\(problems)")
      XCTAssertTrue(problems.first?.contains(named) == true, "\(problems)")
    }
  }

  /// A name that logs hide may name something else than the account.
  func test_aVaryByAnotherSecretThanTheCredentials_isNotOfTheAccount() throws {
    final class Ticket: Interceptor {
      let ticket = Locked("SUP-1")
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.headers["X-Ticket"] = ticket.withLock { $0 }
        request.headers["Authorization"] = "Bearer ann"
        return next(request)
      }
    }
    for (vary, bodies) in [("Authorization", [["1"], ["1"]]), ("X-Ticket", [["1"], ["2"]])] {
      let ticket = Ticket()
      let fixture = CacheFixture(
        account: { _ in "ann" }, behind: [ticket],
        CacheFixture.counting(["Cache-Control": "max-age=60", "Vary": vary]))
      let first = fixture.get().bodies
      ticket.ticket.withLock { $0 = "SUP-2" }
      XCTAssertEqual([first, fixture.get().bodies], bodies, vary)
    }
  }

  func test_responseToARefreshedToken_isStoredForThatToken() throws {
    let authentication = try authenticator(Token(access: "old"))
    let fixture = CacheFixture(behind: [authentication]) { request in
      request.headers["Authorization"] == "Bearer new"
        ? .response(headers: ["Cache-Control": "max-age=60"]) : .response(status: 401)
    }
    XCTAssertEqual(fixture.get().origins, [.network])
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(0), isStale: false)])
    authentication.set(Token(access: "old"))
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
  }

  func test_responseOfOneUser_isNotStoredForAUserWhoHasSignedInMeanwhile() throws {
    let authentication = try authenticator(Token(access: "ann"))
    let fixture = CacheFixture(behind: [authentication]) { _ in
      .response(headers: ["Cache-Control": "max-age=60"], after: .seconds(2))
    }
    let call = fixture.network.responses(.get, "/a").subscribe()
    fixture.scheduler.advanceBy(1)
    authentication.set(Token(access: "bob"))
    fixture.scheduler.start()
    call.dispose()
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    authentication.set(Token(access: "ann"))
    XCTAssertNil(fixture.get(.cacheOnly).failure, "it was sent as her, so it is hers")
  }

  func test_a304WithAnotherToken_doesNotReuseTheOldEntry() throws {
    let authentication = try authenticator(Token(access: "ann"), next: "bob")
    let fixture = CacheFixture(behind: [authentication]) { request in
      switch (request.headers["Authorization"], request.headers["If-None-Match"]) {
      case ("Bearer ann", nil): .response(headers: ["ETag": "\"1\""], body: Data("ann's".utf8))
      case ("Bearer ann", _): .response(status: 401)
      case (_, nil): .response(headers: ["ETag": "\"1\""], body: Data("bob's".utf8))
      default: .response(status: 304, headers: ["ETag": "\"1\""])
      }
    }
    fixture.get()
    fixture.get()
    XCTAssertEqual(authentication.present?.access, "bob")
    XCTAssertEqual(fixture.get(.cacheOnly).failure, .notCached)
    XCTAssertEqual(fixture.get().bodies, ["bob's"])
  }

  func test_newCookie_preventsStoring_alsoWithAnAuthenticator() throws {
    let authentication = try authenticator(Token(access: "ann"))
    let jar = CookieJar()
    let fixture = CacheFixture(behind: [authentication]) { request in
      jar.store(["Set-Cookie": "session=1"], from: request.url)
      return .response(headers: ["Cache-Control": "max-age=60"])
    }
    let network = fixture.network.with { $0.options.cookies = jar }
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.network])
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.network])
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).origins, [.cache(age: .seconds(0), isStale: false)])
  }

  func test_endpoints_findTheEntriesOfTheToken() throws {
    let authentication = try authenticator(Token(access: "ann"))
    let fixture = CacheFixture(
      policy: .cacheFirst(maxAge: .seconds(60)), behind: [authentication], CacheFixture.counting([:]))
    fixture.get()
    func stored() -> String? {
      let response = record(Plain().cachedResponse(on: fixture.network), scheduler: fixture.scheduler)
      return response.map { String(decoding: $0.body, as: UTF8.self) }
    }
    XCTAssertEqual(stored(), "1")
    try Plain().removeCachedResponse(on: fixture.network)
    XCTAssertNil(stored())
    fixture.get()
    authentication.set(Token(access: "bob"))
    XCTAssertNil(stored())
  }

  private func record(_ single: Single<Response?>, scheduler: TestScheduler) -> Response? {
    let observer = scheduler.createObserver(Response?.self)
    let subscription = single.asObservable().subscribe(observer)
    scheduler.start()
    subscription.dispose()
    return observer.events.compactMap(\.value.element).first.flatMap { $0 }
  }
}
