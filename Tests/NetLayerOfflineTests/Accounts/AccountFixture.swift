import Foundation
import LoopbackServer
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// A login of an app that is not one of this package.
final class OwnLogin: Interceptor, AccountSource {
  private let user: BehaviorRelay<AccountState>
  private let token = Box("1")
  /// The user whom an asynchronous store returns.
  private let stored: AccountState?
  private let origin: URL

  init(_ state: AccountState, for origin: URL, stored: AccountState? = nil) {
    (user, self.origin, self.stored) = (BehaviorRelay(value: state), origin, stored)
  }

  var accountState: AccountState { user.value }
  var accountChanges: Observable<Void>? { user.asObservable().skip(1).map { _ in } }
  func covers(_ request: Request) -> Bool { request.url.host == origin.host && request.url.port == origin.port }
  func loadAccount() async throws { if accountState == .unknown, let stored { user.accept(stored) } }
  func set(_ state: AccountState) { user.accept(state) }
  func renew() {
    token.value += "1"
    user.accept(user.value)
  }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    // The name once, because it may change between two looks.
    guard covers(request), let name = user.value.name else { return next(request) }
    return next(request, with: Request.Credentials(account: name, headers: ["X-User": "\(name) \(token.value)"]))
  }
}

/// Both kinds of login, which change users in the same way.
protocol Login: Sendable {
  var source: any Interceptor & AccountSource { get }
  func signIn(_ name: String?)
  /// Replaces the credentials of the present user.
  func renew()
}

extension Login {
  /// Waits until the store has been read.
  func waits() {
    let isLoaded = Flag()
    Task { [source] in
      try await source.loadAccount()
      isLoaded.raise()
    }
    XCTAssertTrue(holds { isLoaded.isRaised })
  }
}

struct OwnKind: Login {
  let login: OwnLogin
  var source: any Interceptor & AccountSource { login }
  func signIn(_ name: String?) { login.set(name.map { .user($0) } ?? .nobody) }
  func renew() { login.renew() }
}

struct TokenKind: Login {
  let login: AuthenticationInterceptor
  private let name = Box<String?>("ann")
  init(_ url: URL, _ name: String?) {
    let token = name.map { Token(access: "\($0) 1", account: $0) }
    login = AuthenticationInterceptor(
      for: [url], store: MemoryTokenStore(token), apply: { $1.headers["X-User"] = $0.access }
    ) { _ in .never() }
    self.name.value = name
  }
  var source: any Interceptor & AccountSource { login }
  func signIn(_ name: String?) {
    self.name.value = name
    login.set(name.map { Token(access: "\($0) 1", account: $0) })
  }
  func renew() { login.set(Token(access: "\(name.value ?? "") 11", account: name.value)) }
}

/// A server that records who asked.
final class AskedServer: Sendable {
  private let state = Box<[String]>([])
  let server: TestServer

  init(_ status: @escaping @Sendable (TestServer.Request) -> Int = { _ in 200 }) throws {
    server = try TestServer { [state] request in
      let user = request.header("X-User") ?? request.header("Authorization") ?? "-"
      state.update { $0.append("\(request.method) \(request.path) \(user)") }
      return .json("{\"user\":\"\(user)\"}", status: status(request))
    }
  }

  var url: URL { server.url }
  var seen: [String] { state.value }
  func clear() { state.value = [] }
}

/// Watchers, outboxes and uploads of a user.
class AccountTestCase: UploadTestCase {
  func logins(_ url: URL, _ name: String?) -> [any Login] {
    [OwnKind(login: OwnLogin(name.map { .user($0) } ?? .nobody, for: url)), TokenKind(url, name)]
  }

  /// A watcher, and what it has shown.
  func watch(_ network: Network, _ path: String = "/me") -> (shown: Notes, end: any Disposable) {
    let shown = Notes()
    let end = network.watch(Call<Response>.get(path).as(JSON.self)).subscribe(onNext: { snapshot in
      shown.add(snapshot.value?["user"].string ?? (snapshot.error == nil ? "none" : "error"))
    })
    return (shown, end)
  }

  func outbox(_ network: Network) throws -> (outbox: Outbox, states: Box<[String]>) {
    let states = Box<[String]>([])
    let outbox = try Outbox(
      storingIn: folder.appending(path: UUID().uuidString), on: network, reachability: TestReachability())
    _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.account ?? "-") \($0.state)" }
    })
    return (outbox, states)
  }

  /// Interrupts an upload.
  func pause(_ network: Network, _ server: UploadServer) {
    server.fail("PATCH", .cut(1000))
    server.fail("HEAD", .hang)
    let running = network.transfer(film, to: Call<Response>.post("/files"), by: .tus, retry: policy).subscribe(
      onError: { XCTFail("\($0)") })
    XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
    running.dispose()
    server.clearLog()
  }

  func kinds(_ server: UploadServer) -> [String] { server.requests.map(\.method) }
  var continued: [String] { ["HEAD", "PATCH"] }
  var another: [String] { ["POST", "PATCH"] }
}
