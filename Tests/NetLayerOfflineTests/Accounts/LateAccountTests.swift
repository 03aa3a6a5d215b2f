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

/// Users who become known late, or not at all.
final class LateAccountTests: CarriedAccountTestCase {
  func test_entryWhoseUserIsStillUnknownAfterTheStoreWasRead_doesNotWaitForAnotherAccount() throws {
    let folder = folder.appending(path: UUID().uuidString)
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let known = network(stub, [OwnLogin(.user("ann"), for: home)])
    try Outbox(storingIn: folder, on: known, reachability: TestReachability()).send(Call<Response>.post("/note"))
    let login = OwnLogin(.unknown, for: home)
    let states = Box<[String]>([])
    let outbox = try Outbox(storingIn: folder, on: network(stub, [login]), reachability: TestReachability())
    _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.state)" } })
    outbox.start()
    clock.advanceBy(1)
    XCTAssertTrue(holds { states.value == ["waitingForRetry"] }, "\(states.value)")
    login.set(.user("ann"))
    clock.advanceBy(1)
    XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, ["ann 1"])
    XCTAssertEqual(states.value, [])
  }

  /// A login whose store never responds.
  private final class Silent: Interceptor, AccountSource {
    let login: OwnLogin
    let loads = Counter()
    private let fails: Bool
    init(_ home: URL, fails: Bool = false) { (login, self.fails) = (OwnLogin(.unknown, for: home), fails) }
    var accountState: AccountState { login.accountState }
    var accountChanges: Observable<Void>? { login.accountChanges }
    func covers(_ request: Request) -> Bool { login.covers(request) }
    func loadAccount() async throws {
      loads.next()
      if fails { throw POSIXError(.EAGAIN) }
      for await _ in AsyncStream<Void>.makeStream().stream {}
    }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      login.intercept(request, next: next)
    }
  }

  func test_loadAccountThatNeverReturns_endsWithTheSignIn() throws {
    for fails in [false, true] {
      let folder = folder.appending(path: UUID().uuidString)
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let known = network(stub, [OwnLogin(.user("ann"), for: home)])
      try Outbox(storingIn: folder, on: known, reachability: TestReachability()).send(Call<Response>.post("/note"))
      let login = Silent(home, fails: fails)
      let states = Box<[String]>([])
      let outbox = try Outbox(storingIn: folder, on: network(stub, [login]), reachability: TestReachability())
      _ = outbox.pending.subscribe(onNext: { entries in states.value = entries.map { "\($0.state)" } })
      outbox.start()
      clock.advanceBy(1)
      XCTAssertTrue(holds { login.loads.value == 1 && states.value == [fails ? "waitingForRetry" : "sending"] })
      XCTAssertEqual(stub.requests.count, 0)
      login.login.set(.user("ann"))
      // Far below the limit of the attempt, and below the pause.
      clock.advanceBy(20)
      XCTAssertEqual(states.value, [])
      XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, ["ann 1"])
    }
  }

  func test_loadAccountThatNeverReturns_endsAtTheLimitOfTheAttempt() throws {
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let network = network(stub, [Silent(home)]).with { $0.timeouts.attempt = .seconds(7) }
    let seen = Box<NetworkError?>(nil)
    let request = try network.builder.request(for: CallContent(Call<Response>.post("/note")))
    let waiting = network.knownAccounts(of: request).subscribe(onError: { seen.value = NetworkError.wrapping($0) })
    clock.advanceBy(6999)
    XCTAssertNil(seen.value)
    clock.advanceBy(2)
    XCTAssertEqual(seen.value?.kind, .timeout)
    XCTAssertEqual(seen.value?.reason.contains("loadAccount() of Silent has not returned within 7"), true)
    waiting.dispose()
  }

  func test_sourceWhoseChangesFail_keepsAnOutboxFromFollowingNoOther() throws {
    final class Failing: Interceptor, AccountSource {
      var accountState: AccountState { .nobody }
      var accountChanges: Observable<Void>? { .error(POSIXError(.EIO)) }
      func covers(_ request: Request) -> Bool { false }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
    }
    let login = OwnLogin(.user("ann"), for: home)
    let stub = StubTransport(on: clock) { _ in .response(status: 204) }
    let (outbox, states) = try outbox(network(stub, [Failing(), login]))
    try outbox.send(Call<Response>.post("/note"))
    login.set(.user("bob"))
    outbox.start()
    clock.advanceBy(100)
    XCTAssertEqual(states.value, ["ann otherUser"])
    login.set(.user("ann"))
    clock.advanceBy(100)
    XCTAssertEqual(states.value, [])
    XCTAssertEqual(users(stub), ["ann 1"])
  }
}
