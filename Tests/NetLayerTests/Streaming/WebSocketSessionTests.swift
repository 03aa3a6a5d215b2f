import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Sessions of WebSockets, in virtual time; one unit is a millisecond.
final class WebSocketSessionTests: XCTestCase {
  private typealias Script = StubTransport.WebSocketScript

  private func policy(_ virtual: VirtualNetwork, attempts: Int = 10) -> RetryPolicy {
    RetryPolicy(
      attempts: attempts, initialDelay: .seconds(1), maxDelay: .seconds(30), jitter: { $0.upperBound },
      scheduler: virtual.scheduler)
  }

  /// Records messages, events and terminations with their times.
  private func note(_ session: WebSocketSession, _ virtual: VirtualNetwork) -> any Disposable {
    let (notes, scheduler) = (virtual.notes, virtual.scheduler)
    let events = session.events.subscribe(onNext: { event in
      switch event.kind {
      case .opened: notes.add("opened @\(scheduler.clock)")
      case .reconnecting:
        guard let error = event.error, let delay = event.delay else { return notes.add("an incomplete event") }
        notes.add("\(error.kind), again in \(delay) @\(scheduler.clock)")
      default: notes.add("\(event.kind)")
      }
    })
    let messages = session.messages.subscribe(
      onNext: { notes.add("\($0.text ?? "binary") @\(scheduler.clock)") },
      onError: { notes.add("\(NetworkError.wrapping($0).kind) \(NetworkError.wrapping($0).code) @\(scheduler.clock)") },
      onCompleted: { notes.add("completed @\(scheduler.clock)") })
    return CompositeDisposable(messages, events)
  }

  private func sequence(_ replies: StubTransport.StubbedResponse...) -> VirtualNetwork {
    VirtualNetwork(.sequence(replies))
  }

  func test_messagesArriveAndANormalCloseCompletes() {
    let virtual = sequence(
      .socket(
        Script([
          .message(.text("a"), after: .seconds(1)), .message(.text("b"), after: .seconds(1)),
          .close(.normal, after: .seconds(1)),
        ]), after: .milliseconds(500))
    )
    let session = virtual.network().webSocket(.get("/chat"))
    XCTAssertEqual(virtual.paths, [], "nothing before the subscription")
    _ = note(session, virtual)
    virtual.scheduler.advanceBy(10000)
    XCTAssertEqual(virtual.notes.all, ["opened @500", "a @1500", "b @2500", "completed @3500"])
  }

  func test_lostConnectionIsReopenedAfterTheDelaysOfThePolicyAndSubscribesAgain() {
    let virtual = sequence(
      .socket(Script([.message(.text("a")), .failure(.connection, after: .seconds(5))]) { [.message($0)] }),
      .failure(.connection), .failure(.timeout),
      .socket(Script([.close(.goingAway, after: .seconds(5))]) { [.message($0)] }),
      .socket(Script([]) { [.message($0)] }))
    let session = virtual.network().webSocket(.get("/chat"), reconnect: policy(virtual)) { $0.sending("topic") }
    let subscription = note(session, virtual)
    virtual.scheduler.advanceBy(60000)
    XCTAssertEqual(
      virtual.notes.all,
      [
        "opened @0", "a @0", "topic @0", "connection, again in 1.0 seconds @5000",
        "connection, again in 2.0 seconds @6000", "timeout, again in 4.0 seconds @8000", "opened @12000",
        "topic @12000", "socketClosed, again in 1.0 seconds @17000", "opened @18000", "topic @18000",
      ])
    subscription.dispose()
  }

  func test_nothingIsRetriedWithoutAPolicyOrAfterPermanentFailures() {
    for (reply, end) in [
      (StubTransport.StubbedResponse.socket(Script([.failure(.connection)])), "connection -1212 @0"),
      (.socket(Script([.close(.policyViolation, reason: "no")])), "socketClosed 1008 @0"),
      (.json("{}", status: 401), "status 401 @0"), (.json("{}", status: 503), "status 503 @0"),
      (.json("{}", status: 200), "status 200 @0"), (.failure(.tls), "tls -1212 @0"),
    ] {
      let virtual = sequence(reply)
      let isTransient = end.hasPrefix("connection")
      _ = note(virtual.network().webSocket(.get("/"), reconnect: isTransient ? nil : policy(virtual)), virtual)
      virtual.scheduler.advanceBy(100000)
      XCTAssertEqual(virtual.notes.all.last, end)
      XCTAssertEqual(virtual.paths.count, 1)
    }
  }

  func test_statusOfARestartingServerIsRetriedAfterTheFirstSocket() {
    let virtual = sequence(
      .socket(Script([.close(.serviceRestart)])),
      .response(status: 503, headers: ["Retry-After": "20"]), .response(status: 408), .response(status: 425),
      .response(status: 501))
    _ = note(virtual.network().webSocket(.get("/"), reconnect: policy(virtual)), virtual)
    virtual.scheduler.advanceBy(100000)
    XCTAssertEqual(
      virtual.notes.all,
      [
        "opened @0", "socketClosed, again in 1.0 seconds @0", "status, again in 20.0 seconds @1000",
        "status, again in 4.0 seconds @21000", "status, again in 8.0 seconds @25000", "status 501 @33000",
      ])
  }

  func test_attemptsAreLimitedByThePolicyAndResetByALongConnection() {
    let short = Script([.failure(.connection, after: .seconds(1))])
    let long = Script([.failure(.connection, after: .seconds(30))])
    let virtual = sequence(.socket(short), .socket(long), .socket(short), .socket(short), .socket(short))
    _ = note(virtual.network().webSocket(.get("/"), reconnect: policy(virtual, attempts: 3)), virtual)
    virtual.scheduler.advanceBy(1000000)
    XCTAssertEqual(virtual.paths.count, 4)
    XCTAssertEqual(virtual.notes.all.last, "connection -1212 @37000")
  }

  func test_sendWithoutASocketWaitsUntilTheSubscriptionsAreSent() {
    let received = Notes()
    let script = Script([.failure(.connection, after: .seconds(1))]) {
      received.add($0.text ?? ""); return []
    }
    let virtual = sequence(
      .socket(script, after: .seconds(1)),
      .socket(
        Script([]) {
          received.add($0.text ?? ""); return []
        }))
    let session = virtual.network().webSocket(.get("/"), reconnect: policy(virtual)) { $0.sending("topic") }
    let sent = Notes()
    func send(_ text: String) -> any Disposable {
      session.sending(text).subscribe(onCompleted: { sent.add(text) }, onError: { _ in sent.add("not \(text)") })
    }
    _ = send("before")
    let subscription = note(session, virtual)
    _ = send("connecting")
    let withdrawn = send("withdrawn")
    withdrawn.dispose()
    virtual.scheduler.advanceBy(1500)
    XCTAssertEqual(received.all, ["topic", "before", "connecting"])
    XCTAssertEqual(sent.all, ["before", "connecting"])
    virtual.scheduler.advanceBy(1000)
    _ = send("lost")
    XCTAssertEqual(sent.all, ["before", "connecting"])
    virtual.scheduler.advanceBy(10000)
    XCTAssertEqual(received.all, ["topic", "before", "connecting", "topic", "lost"], "nothing is sent twice")
    subscription.dispose()
    virtual.scheduler.advanceBy(1000)
    _ = send("after")
    virtual.scheduler.advanceBy(1000)
    XCTAssertEqual(sent.all, ["before", "connecting", "lost", "not after"])
  }

  func test_subscriptionDisposedDuringOpeningStaysDisposed() {
    let virtual = sequence(.socket(Script([]), after: .seconds(1)))
    let subscription = SerialDisposable()
    let session = virtual.network().webSocket(.get("/")) { _ in
      subscription.dispose()
      return .empty()
    }
    subscription.disposable = note(session, virtual)
    virtual.scheduler.advanceBy(2000)
    let kinds = Notes()
    _ = session.sending("x").subscribe(onError: { kinds.add("\(NetworkError.wrapping($0).kind)") })
    virtual.scheduler.advanceBy(1000)
    XCTAssertEqual(kinds.all, ["cancelled"], "the late opening must not hide the end")
  }

  func test_eventsOfFormerConnectionsAndSubscriptionsAreIgnored() throws {
    let virtual = sequence(.socket(Script([])))
    let opened = Box<WebSocket?>(nil)
    _ = virtual.network().openSocket(CallContent(.get, "/"), WebSocketOptions()).subscribe(onSuccess: {
      opened.value = $0
    }
    )
    virtual.scheduler.advanceBy(1000)
    let socket = try XCTUnwrap(opened.value)
    let (state, steps) = (WebSocketSessionState(), Notes())
    func now() -> String? {
      _ = state.steps.take(1).subscribe(onNext: { step in
        switch step {
        case .waiting: steps.add("waiting")
        case .open: steps.add("open")
        case .ended(let error): steps.add("\(error.kind)")
        }
      })
      return steps.all.last
    }
    let first = state.subscribe()
    let old = state.connect(first)
    state.lose(old)
    state.open(socket, old)
    XCTAssertEqual(now(), "waiting", "a lost connection opened")
    let new = state.connect(first)
    state.open(socket, new)
    state.lose(old)
    XCTAssertEqual(now(), "open", "the new connection was lost with the old one")
    let second = state.subscribe()
    state.open(socket, state.connect(second))
    state.end(first, NetworkError(kind: .cancelled, reason: "left"))
    XCTAssertNil(state.connect(first))
    XCTAssertEqual(now(), "open", "an old subscription ended the new one")
    state.end(second, NetworkError(kind: .tls, reason: "first"))
    state.end(second, NetworkError(kind: .cancelled, reason: "second"))
    XCTAssertEqual(now(), "tls")
  }

  func test_waitingSendsFailWithTheSession() {
    let virtual = sequence(.failure(.tls, after: .seconds(1)))
    let session = virtual.network().webSocket(.get("/"), reconnect: policy(virtual))
    let kinds = Notes()
    _ = session.sending("x").subscribe(onError: { kinds.add("\(NetworkError.wrapping($0).kind)") })
    _ = note(session, virtual)
    virtual.scheduler.advanceBy(10000)
    XCTAssertEqual(kinds.all, ["tls"])
  }

  func test_subscribersShareAConnectionAndTheLastClosesIt() {
    let virtual = sequence(.socket(Script([.message(.text("a"), after: .seconds(1))])))
    let session = virtual.network().webSocket(.get("/"))
    let first = note(session, virtual)
    let second = note(session, virtual)
    virtual.scheduler.advanceBy(2000)
    XCTAssertEqual(virtual.paths.count, 1)
    XCTAssertEqual(virtual.notes.all.filter { $0.hasPrefix("a") }, ["a @1000", "a @1000"])
    first.dispose()
    second.dispose()
    virtual.scheduler.advanceBy(2000)
    _ = note(session, virtual)
    virtual.scheduler.advanceBy(2000)
    XCTAssertEqual(virtual.paths.count, 2)
  }

  func test_errorOfTheSubscriptionHookClosesTheConnection() {
    struct Refused: Error {}
    let virtual = sequence(.socket(Script([.message(.text("a"), after: .seconds(1))])))
    _ = note(virtual.network().webSocket(.get("/"), reconnect: policy(virtual)) { _ in .error(Refused()) }, virtual)
    virtual.scheduler.advanceBy(10000)
    XCTAssertEqual(virtual.notes.all, ["opened @0", "other -1212 @0"])
  }

  func test_tokenIsRefreshedAndTheSocketOpenedWithTheNewOne() {
    let virtual = VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer new"
        ? .socket(Script([.message(.text("in")), .close(.normal)])) : .json("{}", status: 401)
    }
    let authentication = AuthenticationInterceptor(
      for: [URL(string: "http://h/") ?? URL(filePath: "/")], store: MemoryTokenStore(Token(access: "old"))
    ) { (_: Token?) -> Single<Token> in .just(Token(access: "new")) }
    _ = note(virtual.network(authentication).webSocket(.get("ws://h/chat")), virtual)
    virtual.scheduler.advanceBy(1000)
    XCTAssertEqual(virtual.notes.all, ["opened @0", "in @0", "completed @0"])
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["Authorization"] ?? "" }, ["Bearer old", "Bearer new"])
  }

  func test_transportWithoutSocketsIsAnErrorThatNamesAnother() {
    let stub = StubTransport { _ in .json("{}") }
    let network = Network(Backend(baseURL: URL(string: "http://h/"), transport: PlainTransport(stub)))
    let ended = expectation(description: "ended")
    _ = network.webSocket(.get("/")).messages.subscribe(onError: { error in
      XCTAssertEqual(NetworkError.wrapping(error).kind, .invalidRequest)
      XCTAssertTrue("\(error)".contains("PlainTransport does not open WebSockets"), "\(error)")
      ended.fulfill()
    })
    wait(for: [ended], timeout: 60)
    XCTAssertEqual(stub.requests.count, 0)
  }
}
