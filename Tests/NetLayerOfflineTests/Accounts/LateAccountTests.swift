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
    for (limit, seconds) in [(Duration.seconds(7) as Duration?, 7), (nil, 60)] {
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let network = network(stub, [Silent(home)]).with { $0.timeouts.attempt = limit }
      let seen = Box<NetworkError?>(nil)
      let request = try network.builder.request(for: CallContent(Call<Response>.post("/note")))
      let waiting = network.knownAccounts(of: request).subscribe(onError: { seen.value = NetworkError.wrapping($0) })
      clock.advanceBy(seconds * 1000 - 1)
      XCTAssertNil(seen.value)
      clock.advanceBy(2)
      XCTAssertEqual(seen.value?.kind, .timeout)
      XCTAssertEqual(
        seen.value?.reason.contains("loadAccount() of Silent has not returned within \(seconds)"), true)
      waiting.dispose()
    }
  }

  /// A source in which another user is signed in from the second look on.
  private final class SignedInLate: Interceptor, AccountSource {
    private let looks = Counter()
    private let (first, name): (AccountState, String)
    init(_ first: AccountState, then name: String) { (self.first, self.name) = (first, name) }
    var accountState: AccountState { looks.next() == 1 ? first : .user(name) }
    var accountChanges: Observable<Void>? { .never() }
    func covers(_ request: Request) -> Bool { true }
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request, with: Request.Credentials(account: name, headers: ["X-User": name]))
    }
  }

  func test_uploadThatNobodyBegan_belongsToTheUserWhoSignsInWhileTheFileIsRead() async throws {
    let server = try UploadServer(.tus)
    let bytes = try write(1000)
    let network = network(server) { $0.interceptors = [SignedInLate(.nobody, then: "ann")] }
    let result = await upload(server, .tus, on: network)
    XCTAssertNil(result.kind, "\(result)")
    XCTAssertEqual(server.finished, [bytes])
    XCTAssertEqual(server.requests.map { $0.header("X-User") }, ["ann", "ann"])
  }

  func test_uploadAndCancelUpload_fail_ifAnotherUserSignsInWhileTheFileIsRead() async throws {
    let server = try UploadServer(.tus)
    try write(300_000)
    func network(_ first: String) -> Network {
      self.network(server) { $0.interceptors = [SignedInLate(.user(first), then: "bob")] }
    }
    // Bob has an upload of the same call, which Ann's calls neither continue nor delete.
    pause(network("bob"), server)
    XCTAssertEqual(notes.count, 1)
    let result = await upload(server, .tus, on: network("ann"))
    XCTAssertEqual(result.kind, .authentication, "\(result)")
    do {
      try await network("ann").cancelUpload(of: film, to: Call<Response>.post("/files"), by: .tus).value
      XCTFail("the upload of another user is cancelled")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .authentication)
    }
    XCTAssertEqual(server.log, [])
    XCTAssertEqual(notes.count, 1)
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
