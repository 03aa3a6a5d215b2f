import Foundation
import HTTPTransport
import NetLayer
import Streams
import TestSupport
import XCTest

/// The contexts of requests and responses.
final class ContextTests: XCTestCase {
  private enum TraceID: ContextKey { static let defaultValue: String? = nil }

  /// Appends a name to the value in the context of the request, and records the value.
  private struct Tracing: Interceptor {
    let notes: Notes

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      request.context[TraceID.self] = (request.context[TraceID.self] ?? "-") + "p"
      notes.add(request.context[TraceID.self] ?? "nothing")
      return next(request)
    }
  }

  func test_context_storesValuesByKeyType_andCopiesAreIndependent() {
    enum Other: ContextKey { static let defaultValue = 1 }
    var context = Context()
    XCTAssertTrue(context.isEmpty)
    XCTAssertNil(context[TraceID.self])
    XCTAssertEqual(context[Other.self], 1)
    context[TraceID.self] = "a"
    context[Other.self] = 2
    var copy = context
    copy[TraceID.self] = nil
    XCTAssertNil(copy[TraceID.self])
    XCTAssertEqual(copy[Other.self], 2)
    XCTAssertEqual(context[TraceID.self], "a")
  }

  func test_context_keepsTheOtherValues_whenOneIsReplacedOrTaken() {
    enum First: ContextKey { static let defaultValue = 0 }
    enum Second: ContextKey { static let defaultValue = 0 }
    enum Third: ContextKey { static let defaultValue = "" }
    func values(_ context: Context) -> String {
      "\(context[First.self]) \(context[Second.self]) \(context[Third.self])"
    }
    var context = Context()
    context[First.self] = 1
    context[Second.self] = 2
    context[Third.self] = "c"
    var copy = context
    for round in 1...3 {
      copy[First.self] = 10 * round
      copy[Second.self] = 20 * round
      copy[Third.self] += "d"
      XCTAssertEqual(values(copy), "\(10 * round) \(20 * round) c" + String(repeating: "d", count: round))
    }
    XCTAssertEqual(values(context), "1 2 c")
    var other = Context()
    other[Second.self] = 7
    other[Third.self] = "d"
    context.take(other)
    XCTAssertEqual(values(context), "1 7 d")
    XCTAssertEqual(values(other), "0 7 d")
    context.take(Context())
    XCTAssertEqual(values(context), "1 7 d")
  }

  func test_context_isVisibleToInnerInterceptorsAndRetries() throws {
    let virtual = VirtualNetwork { request in
      request.attempt < 3 ? .failure(.connection) : .response(status: 200)
    }
    let notes = Notes()
    let network = virtual.network(
      Tracing(notes: notes), RetryInterceptor(policy: RetryPolicy(scheduler: virtual.scheduler)), Tracing(notes: notes))
    let observer = virtual.scheduler.createObserver(Response.self)
    let subscription = network.responses(.get, "/x").subscribe(observer)
    virtual.scheduler.start()
    subscription.dispose()
    XCTAssertEqual(notes.all, ["-p", "-pp", "-pp", "-pp"])
    let response = try XCTUnwrap(observer.events.compactMap(\.value.element).first)
    XCTAssertEqual(response.request.context[TraceID.self], "-pp")
    XCTAssertEqual(response.request.attempt, 3)
  }

  func test_customAuthenticator_separatesUsers_ifItPassesItsCredentials() {
    final class Login: Interceptor, AccountSource {
      let user = Locked("ann")
      let says: Bool

      init(says: Bool) { self.says = says }

      var accountState: AccountState { says ? .user(user.withLock { $0 }) : .nobody }
      var accountChanges: Observable<Void>? { nil }
      func covers(_ request: Request) -> Bool { true }

      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        let name = user.withLock { $0 }
        if says {
          return next(
            request, with: Request.Credentials(account: name, headers: ["Authorization": "Custom \(name)"]))
        }
        request.headers["Authorization"] = "Custom \(name)"
        return next(request)
      }
    }
    for says in [true, false] {
      let login = Login(says: says)
      let fixture = CacheFixture(behind: [login]) { request in
        .response(
          headers: ["Cache-Control": "max-age=60"], body: Data((request.headers["Authorization"] ?? "").utf8))
      }
      XCTAssertEqual(fixture.get().bodies, ["Custom ann"])
      XCTAssertEqual(fixture.get().origins, [says ? .cache(age: .seconds(0), isStale: false) : .network])
      login.user.withLock { $0 = "bob" }
      XCTAssertEqual(fixture.get().bodies, ["Custom bob"])
    }
  }
}
