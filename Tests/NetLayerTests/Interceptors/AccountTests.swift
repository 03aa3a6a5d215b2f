import Foundation
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Separation of users when interceptors change, delay or retry a request before the cache or coalescing.
final class AccountTests: XCTestCase {
  private let host = "http://h/"

  private func authenticator(
    _ token: String?,
    apply: @escaping @Sendable (Token, inout Request) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" }
  ) throws -> AuthenticationInterceptor {
    let url = try XCTUnwrap(URL(string: host))
    let interceptor = AuthenticationInterceptor(for: [url], apply: apply) { _ in throw CancellationError() }
    interceptor.set(token.map { Token(access: $0) })
    return interceptor
  }

  /// Sends requests for another host to the host of the token.
  private struct Alias: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      if let url = URL(string: "http://h" + request.url.path) { request.url = url }
      return next(request)
    }
  }

  /// Runs `action` once, immediately before the request continues.
  private final class Before: Interceptor {
    let action = Box<(@Sendable () -> Void)?>(nil)

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      Observable.deferred {
        self.action.update { $0.take() }?()
        return next(request)
      }
    }
  }

  private static let echo: @Sendable (Request) -> StubTransport.StubbedResponse? = { request in
    let who = request.headers["Authorization"] ?? request.headers["X-Ticket"] ?? "nobody"
    return .response(headers: ["Cache-Control": "max-age=60"], body: Data(who.utf8))
  }

  func test_requestToAnotherHost_isSharedOnlyWithItsUser() throws {
    let virtual = VirtualNetwork(Self.echo)
    let authentication = try authenticator("ann")
    let coalescing = CoalescingInterceptor(window: .seconds(5))
    let network = virtual.network(Alias(), coalescing, authentication)
    for user in ["ann", "bob"] {
      authentication.set(Token(access: user))
      virtual.note("", network.responses(.get, "http://alias/me"))
      virtual.scheduler.advanceBy(1)
    }
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(14) }, ["200 Bearer ann", "200 Bearer bob"])
  }

  func test_delayedRequest_isNotSentAsAnotherUser_andReceivesNoStoredResponse() throws {
    let authentication = try authenticator("ann")
    let gate = Before()
    let fixture = CacheFixture(behind: [authentication], Self.echo)
    let network = fixture.network.with { $0.interceptors.insert(gate, at: 0) }
    XCTAssertEqual(fixture.get().bodies, ["Bearer ann"])
    gate.action.value = { authentication.set(Token(access: "bob")) }
    XCTAssertEqual(fixture.run(network.responses(.get, "/a")).bodies, [])
    XCTAssertEqual(fixture.get().bodies, ["Bearer bob"])
  }

  func test_twoAuthenticators_separateEntriesByBothTokens() throws {
    let user = try authenticator("ann") { $1.headers["X-Ticket"] = $0.access }
    let app = try authenticator("app")
    let fixture = CacheFixture(behind: [user, app]) { request in
      .response(headers: ["Cache-Control": "max-age=60"], body: Data((request.headers["X-Ticket"] ?? "guest").utf8))
    }
    XCTAssertEqual(fixture.get().bodies, ["ann"])
    XCTAssertEqual(fixture.get().origins, [.cache(age: .seconds(0), isStale: false)])
    user.set(nil)
    XCTAssertEqual(fixture.get().bodies, ["guest"])
    app.set(nil)
    XCTAssertEqual(fixture.get().bodies, ["guest"])
    XCTAssertEqual(fixture.requests, 3)
  }

  func test_credentialsReplacedAfterAnAuthenticator_areNotCachedForItsAccount() throws {
    struct Impersonate: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.headers["Authorization"] = "Bearer bob"
        return next(request)
      }
    }
    let fixture = CacheFixture(behind: [try authenticator("ann"), Impersonate()], Self.echo)
    XCTAssertEqual(fixture.get().bodies, ["Bearer bob"])
    XCTAssertEqual(fixture.get().origins, [.network])
  }

  func test_markOfAnEarlierRefresh_isRemoved() throws {
    let virtual = VirtualNetwork(Self.echo)
    let network = virtual.network(try authenticator("ann"))
    var request = Request(url: try XCTUnwrap(URL(string: host)))
    request.context[IsPartOfRefresh.self] = true
    virtual.note("", network.send(request))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["Authorization"] }, ["Bearer ann"])
  }

  func test_wrappedCall_usesTheURLOfItsTarget() throws {
    struct Place: URLConvertible {
      func url(below base: URL?) throws -> URL { try "/place".url(below: base) }
    }
    let virtual = VirtualNetwork(Self.echo)
    let network = virtual.network()
    let call = Call(.get, Place())
    virtual.note("", network.request(call.caching(.networkElseCache)) as Single<Response>)
    virtual.note("", network.request(call.as(String.self)).map { Response(request: Request(url: URL(filePath: $0))) })
    let typed = network.json(call.as(String.self)).subscribe()
    virtual.scheduler.start()
    typed.dispose()
    XCTAssertEqual(virtual.paths, ["/place", "/place", "/place"])
  }
}
