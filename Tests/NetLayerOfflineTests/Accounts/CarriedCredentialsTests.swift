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

/// Credentials of another user, while a call waits.
final class CarriedCredentialsTests: CarriedAccountTestCase {
  /// Sends requests for another host to the host of the login.
  private struct Alias: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      var request = request
      if let url = URL(string: "http://h" + request.url.path) { request.url = url }
      return next(request)
    }
  }

  func test_userWhoIsBack_sendsNothingWithTheCredentialsOfAnother() {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = server()
      let network = network(stub, [RetryInterceptor(), login.source, LimitInterceptor(maxPerHost: 1)])
      let ann = result(network, Call(.put, "/note", task: .data(Data("secret of ann".utf8))))
      clock.advanceBy(500)
      login.signIn("bob")
      let bob = result(network, .get("/slow"))
      // The retry would take Bob's token, and wait for his request.
      clock.advanceBy(700)
      login.signIn("ann")
      clock.advanceBy(5000)
      XCTAssertEqual(ann.value, "authentication")
      XCTAssertEqual(bob.value, "bob 1")
      XCTAssertEqual(stub.requests.filter { $0.url.path == "/note" }.map { $0.headers["X-User"] }, ["ann 1"])
    }
  }

  func test_sourceThatPassesNoCredentials_sendsNothingOfAUserWhoIsBackThen() {
    let login = OwnLogin(.user("ann"), for: home)
    let stub = server(busyFor: "none")
    let pause = Pause { _ in .milliseconds(100) }
    let ann = result(
      network(stub, [pause, login, pause]), Call(.post, "/note", task: .data(Data("secret of ann".utf8))))
    clock.advanceBy(50)
    login.set(.nobody)
    clock.advanceBy(100)
    login.set(.user("ann"))
    clock.advanceBy(1000)
    XCTAssertEqual(ann.value, "authentication")
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_sourceThatIsATransport_isFollowed() {
    // Its credentials are where no comparison finds them, such as in a certificate.
    final class Certificate: Transport, AccountSource {
      let user = BehaviorRelay(value: "ann")
      let stub: StubTransport
      init(_ stub: StubTransport) { self.stub = stub }
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
      func covers(_ request: Request) -> Bool { true }
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable {
        var request = request
        request.headers["X-User"] = "\(user.value) 1"
        return stub.send(request, progress: progress, completion: completion)
      }
    }
    for isBack in [false, true] {
      let transport = Certificate(server())
      let network = Network(
        Backend(
          baseURL: home, transport: transport, clock: clock, mapping: clock, interceptors: [RetryInterceptor()]))
      let ann = result(network)
      clock.advanceBy(500)
      transport.user.accept("bob")
      if isBack { transport.user.accept("ann") }
      clock.advanceBy(5000)
      XCTAssertEqual(ann.value, isBack ? "ann 1" : "authentication")
      XCTAssertEqual(users(transport.stub), isBack ? ["ann 1", "ann 1"] : ["ann 1"])
    }
  }

  func test_entryOfNobody_carriesNoCredentials_ofASourceThatDidNotCoverIt() throws {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let (outbox, states) = try outbox(network(stub, [Alias(), login.source]))
      outbox.start()
      try outbox.send(Call<Response>.post("http://alias/note"))
      clock.advanceBy(10_000)
      XCTAssertEqual(users(stub), [], "login \(number)")
      XCTAssertEqual(states.value, ["- otherUser"])
    }
  }

  func test_upload_isSentAsItsUser_orNotAtAll_whenTheUserChangesAtAnyLook() throws {
    for at in 1...40 {
      let source = Switching(home, at: at)
      let stub = StubTransport(on: clock) { request in
        switch request.method {
        case .post: .response(status: 201, headers: ["Location": "/up/1", "Tus-Resumable": "1.0.0"])
        case .head: .response(headers: ["Upload-Offset": "0", "Upload-Length": "10", "Tus-Resumable": "1.0.0"])
        default: .response(status: 204, headers: ["Upload-Offset": "10", "Tus-Resumable": "1.0.0"])
        }
      }
      try write(10)
      let upload = network(stub, [source]).transfer(film, to: Call<Response>.post("/files"), by: .tus).subscribe(
        onError: { _ in })
      clock.advanceBy(10_000)
      upload.dispose()
      let users = users(stub)
      XCTAssertEqual(Set(users).count, users.isEmpty ? 0 : 1, "at look \(at): \(users)")
      try removeNotes()
    }
  }

  func test_outboxEntry_isNotSentWithTheCredentialsOfAnother_whoseUserIsBackThen() throws {
    for number in 0..<2 {
      let login = logins()[number]
      login.waits()
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let pause = Pause { _ in .milliseconds(100) }
      let network = network(stub, [pause, login.source, pause])
      let (outbox, states) = try outbox(network)
      outbox.start()
      try outbox.send(Call<Response>.post("/note"))
      clock.advanceBy(50)
      login.signIn("bob")
      clock.advanceBy(100)
      login.signIn("ann")
      clock.advanceBy(200)
      XCTAssertEqual(users(stub).filter { $0 != "ann 1" }, [])
      clock.advanceBy(200_000)
      XCTAssertEqual(users(stub), ["ann 1"])
      XCTAssertEqual(states.value, [])
    }
  }

  func test_outboxEntry_isSentAsItsUser_orNotAtAll_whenTheUserChangesAtAnyLook() throws {
    for at in 1...10 {
      let source = Switching(home, at: at)
      let stub = StubTransport(on: clock) { _ in .response(status: 204) }
      let (outbox, states) = try outbox(network(stub, [source]))
      source.calls.value = -1_000_000
      try outbox.send(Call<Response>.post("/note"))
      source.calls.value = 0
      outbox.start()
      clock.advanceBy(10_000)
      XCTAssertEqual(users(stub).filter { $0 != "ann 1" }, [], "at look \(at)")
      XCTAssertEqual(states.value, users(stub).isEmpty ? ["ann otherUser"] : [], "at look \(at)")
    }
  }

  func test_signerThatWaits_signsNothingWithTheKeyOfAnother() async throws {
    final class Keys: Signer, AccountSource {
      let user = BehaviorRelay(value: "ann")
      let isWaiting = Flag()
      let mayContinue = AsyncStream<Void>.makeStream()
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
      func covers(_ request: Request) -> Bool { true }
      func sign(_ content: ContentToSign) async throws -> RequestSignature {
        isWaiting.raise()
        for await _ in mayContinue.stream { break }
        let name = user.value
        isWaiting.raise()
        user.accept("ann")
        return RequestSignature(headers: ["X-User": name], account: name)
      }
    }
    let keys = Keys()
    let stub = StubTransport { _ in .response() }
    let network = Network(Backend(baseURL: home, transport: stub, signer: keys))
    let call = Task { try await network.fetch(Call<Response>.post("/note")) }
    XCTAssertTrue(holds { keys.isWaiting.isRaised })
    keys.user.accept("bob")
    keys.mayContinue.continuation.yield()
    do {
      _ = try await call.value
      XCTFail("sent as bob")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .authentication)
    }
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_sourceThatPassesAnotherAccountThanItNames_isRefused_withTheRemedy() {
    final class Misnamed: Interceptor, AccountSource {
      var accountState: AccountState { .user("ann") }
      var accountChanges: Observable<Void>? { nil }
      func covers(_ request: Request) -> Bool { true }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request, with: Request.Credentials(account: "key-s3cret", headers: ["X-Key": "key-s3cret"]))
      }
    }
    let stub = server()
    let seen = Box<NetworkError?>(nil)
    _ = network(stub, [Misnamed()]).response(to: CallContent(Call<Response>.get("/me"))).subscribe(
      onError: { seen.value = NetworkError.wrapping($0) })
    clock.start()
    XCTAssertEqual(seen.value?.kind, .authentication)
    XCTAssertEqual(seen.value?.reason.contains("Misnamed has passed credentials of another account"), true)
    XCTAssertEqual(seen.value?.reason.contains("s3cret"), false)
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_interceptorThatIsNotASource_mayPassCredentialsOfAConstantUser() {
    let stub = server(busyFor: "none")
    struct Key: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request, with: Request.Credentials(account: "app", headers: ["X-User": "app"]))
      }
    }
    let stamp = AsyncInterceptor { request, next in
      try await next(request, with: Request.Credentials(account: "stamp", headers: ["X-Stamp": "s"]))
    }
    let signed = result(network(stub, [Key()]))
    clock.start()
    XCTAssertEqual(signed.value, "app")
    let stamped = result(Network(Backend(baseURL: home, transport: stub, mapping: clock, interceptors: [stamp])))
    XCTAssertTrue(
      holds {
        clock.start()
        return stamped.value != nil
      })
    XCTAssertEqual(stub.requests.last?.headers["X-Stamp"], "s")
    XCTAssertEqual(stub.requests.last?.originBoundHeaders["X-Stamp"], "s")
  }
}
