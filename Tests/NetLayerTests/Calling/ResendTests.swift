import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The number of requests before one of the same call, for each cause that sends it again: in events, and in the attributes
/// of OpenTelemetry.
final class ResendTests: XCTestCase {
  private final class Trail: CallObserver {
    let all = Notes()
    func observe(_ event: CallEvent) { all.add("\(event.kind) \(event.resendCount)") }
    func numbers(of kind: String) -> [String] {
      all.all.filter { $0.hasPrefix(kind + " ") }.map { String($0.dropFirst(kind.count + 1)) }
    }
  }

  private struct Switch: Reachability {
    let state: BehaviorRelay<Bool>
    var isReachable: Observable<Bool> { state.asObservable() }
  }

  private struct Fixed: Signer {
    func sign(_ content: ContentToSign) -> RequestSignature { RequestSignature(headers: ["X-Sign": "1"]) }
  }

  /// An observer that notes the attribute of each event; `-` for none.
  private func attributes(_ notes: Notes) -> CallEventHandler {
    CallEventHandler { event in
      notes.add("\(event.kind) \(event.attributes()["http.request.resend_count"].map { "\($0)" } ?? "-")")
    }
  }

  private let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))
  private let url = URL(string: "http://h")

  private func login() throws -> AuthenticationInterceptor {
    AuthenticationInterceptor(
      for: [try XCTUnwrap(url)], store: MemoryTokenStore(Token(access: "old", account: "ann")),
      refresh: { _ in .just(Token(access: "new", account: "ann")) })
  }

  /// Returns the counts of the requests, and the attributes of their ends and of the call's.
  private func run(
    _ virtual: VirtualNetwork, _ interceptors: [any Interceptor], signer: (any Signer)? = nil,
    advance: (TestScheduler) -> Void = { $0.start() }
  ) -> (sent: [String], finished: [String], ends: [String]) {
    let (trail, notes) = (Trail(), Notes())
    let network = virtual.network().with {
      $0.interceptors = [attributes(notes), trail] + interceptors
      $0.signer = signer
    }
    virtual.note("", network.responses(.get, "/a"))
    advance(virtual.scheduler)
    XCTAssertEqual(virtual.notes.all.count, 1, "\(virtual.notes.all)")
    XCTAssertEqual(trail.numbers(of: "sent").count, virtual.stub.requests.count)
    func kinds(_ kinds: String...) -> [String] { notes.all.filter { kinds.contains(String($0.prefix { $0 != " " })) } }
    return (trail.numbers(of: "sent"), kinds("finished"), kinds("started", "received", "failed"))
  }

  func test_aCallThatIsSentOnce_hasNoResends() {
    let result = run(VirtualNetwork(.json("ok")), [retry])
    XCTAssertEqual(result.sent, ["0"])
    XCTAssertEqual(result.finished, ["finished -"])
    XCTAssertEqual(result.ends, ["started -", "received -"])
  }

  func test_aRetry_counts() {
    let result = run(VirtualNetwork(.sequence([.json("", status: 503), .failure(.timeout), .json("ok")])), [retry])
    XCTAssertEqual(result.sent, ["0", "1", "2"])
    XCTAssertEqual(result.finished, ["finished -", "finished 1", "finished 2"])
    XCTAssertEqual(result.ends, ["started -", "received 2"])
  }

  func test_aRefreshedToken_counts() throws {
    let virtual = VirtualNetwork { $0.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("", status: 401) }
    let result = run(virtual, [try login()])
    XCTAssertEqual(result.sent, ["0", "1"])
    XCTAssertEqual(result.finished, ["finished -", "finished 1"])
    XCTAssertEqual(result.ends, ["started -", "received 1"])
  }

  func test_aChallenge_counts() throws {
    let virtual = VirtualNetwork {
      $0.headers["Authorization"] == nil
        ? .response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]) : .json("ok")
    }
    let challenge = ChallengeInterceptor(
      for: [try XCTUnwrap(url)], user: "ada", password: "pass", allowsBasicWithoutTLS: true)
    let result = run(virtual, [challenge])
    XCTAssertEqual(result.sent, ["0", "1"])
    XCTAssertEqual(result.ends, ["started -", "received 1"])
  }

  func test_aNetworkThatIsBack_counts() {
    let virtual = VirtualNetwork(.sequence([.failure(.connection, after: .seconds(1)), .json("ok")]))
    let state = BehaviorRelay(value: true)
    virtual.scheduler.scheduleAt(500) { state.accept(false) }
    virtual.scheduler.scheduleAt(9000) { state.accept(true) }
    let result = run(virtual, [ReachabilityInterceptor(Switch(state: state))])
    XCTAssertEqual(result.sent, ["0", "1"])
    XCTAssertEqual(result.finished, ["finished -", "finished 1"])
  }

  func test_redirectsOfASignedRequest_count() {
    let virtual = VirtualNetwork {
      $0.url.path == "/c"
        ? .json("ok") : .response(status: 302, headers: ["Location": $0.url.path == "/a" ? "/b" : "/c"])
    }
    let result = run(virtual, [], signer: Fixed())
    XCTAssertEqual(result.sent, ["0", "1", "2"])
    XCTAssertEqual(result.ends, ["started -", "received 2"])
  }

  func test_redirectsThatTheTransportFollows_count() throws {
    let server = try TestServer { request in
      switch request.path {
      case "/a": .redirect(to: "/b")
      default: request.header("Authorization") == "Bearer new" ? .text("ok") : .status(401)
      }
    }
    let (trail, notes) = (Trail(), Notes())
    let login = AuthenticationInterceptor(
      for: [server.url], store: MemoryTokenStore(Token(access: "old", account: "ann")),
      refresh: { _ in .just(Token(access: "new", account: "ann")) })
    let network = Network(Backend(baseURL: server.url, interceptors: [attributes(notes), trail, login]))
    XCTAssertEqual(try network.responses(.get, "/a").toBlocking(timeout: .seconds(20)).last()?.status, 200)
    XCTAssertEqual(server.requestCount, 4)
    XCTAssertEqual(trail.all.all, ["started 0", "sent 0", "finished 1", "sent 2", "finished 3", "received 3"])
    XCTAssertEqual(notes.all, ["started -", "sent -", "finished 1", "sent 2", "finished 3", "received 3"])
  }

  func test_allCausesTogether_count() throws {
    let virtual = VirtualNetwork { request in
      guard request.headers["Authorization"] == "Bearer new" else { return .json("", status: 401) }
      return request.attempt == 1 ? .json("", status: 503) : .json("ok")
    }
    let result = run(virtual, [retry, try login()])
    XCTAssertEqual(result.sent, ["0", "1", "2"])
    XCTAssertEqual(result.ends, ["started -", "received 2"])
  }

  func test_reconnectionsOfEvents_count() {
    let virtual = VirtualNetwork { _ in
      .chunks([Data("data: 1\n\n".utf8)], headers: ["Content-Type": "text/event-stream"])
    }
    let trail = Trail()
    let reconnect = RetryPolicy(attempts: 3, initialDelay: .seconds(1), jitter: { $0.upperBound })
    for _ in 1...2 {
      _ = virtual.network(trail).events(.get("/e"), reconnect: reconnect).subscribe()
      virtual.scheduler.start()
    }
    XCTAssertEqual(trail.numbers(of: "sent"), ["0", "1", "2", "0", "1", "2"], "each subscription has its own count")
    XCTAssertEqual(trail.numbers(of: "started"), ["0", "1", "2", "0", "1", "2"])
    XCTAssertEqual(trail.numbers(of: "event"), ["0", "1", "2", "0", "1", "2"])
  }

  func test_reconnectionsOfASocket_count() {
    let virtual = VirtualNetwork(.socket(.init([.failure(.connection, after: .seconds(1))])))
    let trail = Trail()
    let reconnect = RetryPolicy(attempts: 3, initialDelay: .seconds(1), jitter: { $0.upperBound })
    _ = virtual.network(trail).webSocket(.get("/s"), reconnect: reconnect).messages.subscribe()
    virtual.scheduler.start()
    XCTAssertEqual(trail.numbers(of: "sent"), ["0", "1", "2"])
    XCTAssertEqual(trail.numbers(of: "closed"), ["0", "1", "2"])
  }

  func test_aPause_hasTheNumberOfTheNextRequest_andACancellationThatOfTheLast() {
    let virtual = VirtualNetwork(.sequence([.json("", status: 503), .never]))
    let (trail, notes) = (Trail(), Notes())
    let call = virtual.note("", virtual.network(attributes(notes), trail, retry).responses(.get, "/a"))
    virtual.scheduler.advanceTo(5000)
    call.dispose()
    XCTAssertEqual(trail.all.all, ["started 0", "sent 0", "finished 0", "pause 1", "sent 1", "cancelled 1"])
    XCTAssertEqual(notes.all.last, "cancelled 1")
  }

  func test_theRequestOfAnEarlierCall_andItsContext_startAtZero() throws {
    let virtual = VirtualNetwork(.sequence([.json("", status: 503), .json("ok")]))
    let trail = Trail()
    let network = virtual.network(trail, retry)
    virtual.note("", network.responses(.get, "/a"))
    virtual.scheduler.start()
    let request = try XCTUnwrap(virtual.stub.requests.last)
    virtual.note("", network.send(request))
    var call = Call<Response>.get("/a")
    call.context = request.context
    virtual.note("", network.responses(call))
    virtual.scheduler.start()
    XCTAssertEqual(trail.numbers(of: "sent"), ["0", "1", "0", "0"])
  }

  func test_eachPageIsACallOfItsOwn() {
    let virtual = VirtualNetwork { request in
      request.url.path == "/2"
        ? .json("[2]") : .response(headers: ["Link": "</2>; rel=\"next\""], body: Data("[1]".utf8))
    }
    let trail = Trail()
    _ = virtual.network(trail).pages(.get("/1"), of: Int.self).subscribe()
    virtual.scheduler.start()
    XCTAssertEqual(trail.numbers(of: "sent"), ["0", "0"])
  }
}
