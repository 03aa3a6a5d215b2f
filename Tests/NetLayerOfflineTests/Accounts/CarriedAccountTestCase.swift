import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// An interceptor that waits, on the backend's clock.
struct Pause: Interceptor {
  let time: @Sendable (Request) -> Duration

  init(_ time: @escaping @Sendable (Request) -> Duration) { self.time = time }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let time = time(request)
    guard time > .zero else { return next(request) }
    return Observable<Int>.timer(time, scheduler: next.clock).flatMap { _ in next(request) }
  }
}

/// A cache of an app that forgets whose a response is.
final class ForgetfulCache: Interceptor {
  private let stored = Box<[URL: Response]>([:])

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    .deferred { [stored] in
      if request.method == .get, let response = stored.value[request.url] { return .just(response) }
      return next(request).do(onNext: { response in
        if response.status == 200 { stored.update { $0[request.url] = response } }
      })
    }
  }
}

/// Calls that wait while the user changes, in virtual time.
class CarriedAccountTestCase: AccountTestCase {
  let home = URL(string: "http://h") ?? URL(filePath: "/")
  let clock = TestScheduler(resolution: .milliseconds(1))

  func network(_ stub: StubTransport, _ interceptors: [any Interceptor]) -> Network {
    Network(Backend(baseURL: home, transport: stub, clock: clock, mapping: clock, interceptors: interceptors))
  }

  func logins() -> [any Login] { logins(home, "ann") }

  /// Returns the user in the body, or the kind of the error, of a call that begins now.
  func result(_ network: Network, _ call: Call<Response> = .get("/me")) -> Box<String?> {
    let result = Box<String?>(nil)
    let running = network.response(to: CallContent(call)).subscribe(
      onSuccess: { result.value = String(decoding: $0.body, as: UTF8.self) },
      onError: { result.value = "\(NetworkError.wrapping($0).kind)" })
    addTeardownBlock { running.dispose() }
    return result
  }

  /// A server whose first response to `user` is a 503 with a pause of a second.
  func server(busyFor user: String = "ann 1") -> StubTransport {
    let isBusy = Box(true)
    return StubTransport(on: clock) { request in
      let who = request.headers["X-User"] ?? "-"
      if who == user, isBusy.update({ exchange(&$0, with: false) }) {
        return .response(status: 503, headers: ["Retry-After": "1"])
      }
      return .response(
        headers: ["Cache-Control": "max-age=600"], body: Data(who.utf8), after: .milliseconds(who == "bob 1" ? 900 : 10)
      )
    }
  }

  func users(_ stub: StubTransport) -> [String] { stub.requests.map { $0.headers["X-User"] ?? "-" } }

  /// A source that signs another user in while it is asked whether it covers a request.
  final class Switching: Interceptor, AccountSource {
    let login: OwnLogin
    let calls = Box(0)
    private let at: Int
    private let home: URL
    init(_ home: URL, at: Int) { (login, self.at, self.home) = (OwnLogin(.user("ann"), for: home), at, home) }
    var accountState: AccountState { login.accountState }
    var accountChanges: Observable<Void>? { login.accountChanges }
    func covers(_ request: Request) -> Bool {
      if calls.update({
        $0 += 1; return $0
      }) == at {
        login.set(.user("bob"))
      }
      return request.url.host == home.host
    }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      guard covers(request), let name = login.accountState.name else { return next(request) }
      return next(request, with: Request.Credentials(account: name, headers: ["X-User": "\(name) 1"]))
    }
  }

  /// A source in whom another user is signed in for some looks, and who signals nothing.
  final class Flickering: Interceptor, AccountSource {
    let looks = Box(0)
    private let away: Range<Int>
    init(_ away: Range<Int>) { self.away = away }
    var isBack: Bool { looks.value > away.upperBound }
    private var name: String {
      looks.update {
        $0 += 1
        return $0 < 0 || away.contains($0) ? "bob" : "ann"
      }
    }
    var accountState: AccountState { .user(name) }
    var accountChanges: Observable<Void>? { .never() }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      let name = name
      return next(request, with: Request.Credentials(account: name, headers: ["X-User": name]))
    }
  }
}
