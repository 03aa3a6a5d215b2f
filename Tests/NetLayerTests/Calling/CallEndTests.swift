import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The end of a call's limit: what interceptors see of it, and what it does to pauses.
final class CallEndTests: XCTestCase {
  /// Notes what passes its place in the chain.
  private struct Watch: Interceptor {
    let name: String
    let notes: Notes
    let clock: TestScheduler?

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      let isOver = Flag()
      @Sendable func note(_ text: String) {
        notes.add("\(name) \(text)\(clock.map { " @\($0.clock)" } ?? "")")
        isOver.raise()
      }
      return next(request).do(
        onNext: { note("\($0.status)") }, onError: { note("\(NetworkError.wrapping($0).kind)") },
        onDispose: { if !isOver.isRaised { note("left") } })
    }
  }

  private struct Switch: Reachability {
    let state: BehaviorRelay<Bool>
    var isReachable: Observable<Bool> { state.asObservable() }
  }

  private func retry(attempts: Int = 5) -> RetryInterceptor {
    RetryInterceptor(policy: RetryPolicy(attempts: attempts, jitter: { $0.upperBound }))
  }

  private func login(
    _ refresh: @escaping @Sendable (Token?) -> Single<Token> = { _ in .never() }
  ) throws -> AuthenticationInterceptor {
    AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old", account: "ann")),
      refresh: refresh)
  }

  /// The recommended chain, with a watch at each place.
  private func watched(_ notes: Notes, _ virtual: VirtualNetwork, _ limit: Duration) throws -> Network {
    let chain: [any Interceptor] = [
      CoalescingInterceptor(), CacheInterceptor(ResponseCache(storingIn: nil)), retry(), try login(),
      LimitInterceptor(maxPerHost: 4),
    ]
    var all: [any Interceptor] = [Watch(name: "0", notes: notes, clock: virtual.scheduler)]
    for (index, interceptor) in chain.enumerated() {
      all += [interceptor, Watch(name: "\(index + 1)", notes: notes, clock: virtual.scheduler)]
    }
    return virtual.network().with { [all] in
      $0.interceptors = all
      $0.timeouts.call = limit
    }
  }

  private func error(_ virtual: VirtualNetwork, _ network: Network) throws -> NetworkError {
    let found = Locked<NetworkError?>(nil)
    _ = network.responses(.get, "/x").subscribe(onError: { error in found.withLock { $0 = .wrapping(error) } })
    virtual.scheduler.start()
    return try XCTUnwrap(found.withLock { $0 })
  }

  // MARK: What interceptors see

  func test_aHangingServer_isATimeout_forEveryInterceptor() throws {
    let (virtual, notes) = (VirtualNetwork(.never), Notes())
    let network = try watched(notes, virtual, .seconds(2))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @2000"])
    XCTAssertEqual(notes.all, ["5", "4", "3", "2", "1", "0"].map { "\($0) timeout @2000" })
    XCTAssertEqual(virtual.stub.requests.count, 1)
    XCTAssertEqual(virtual.scheduler.clock, 2000, "no timer is left")
  }

  func test_aCallerWhoLeaves_isADisposal() throws {
    let (virtual, notes) = (VirtualNetwork(.never), Notes())
    let call = virtual.note("", try watched(notes, virtual, .seconds(2)).responses(.get, "/x"))
    virtual.scheduler.advanceTo(1000)
    call.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(Set(notes.all), Set((0...5).map { "\($0) left @1000" }))
    XCTAssertEqual(virtual.notes.all, [])
  }

  func test_allFormsOfACall_endAsATimeout() {
    let forms: [(String, (Network) -> any Disposable)] = [
      ("response", { $0.responses(.get("/x")).subscribe() }),
      ("lines", { ($0.lines(.get("/x")) as Observable<String>).subscribe() }),
      ("events", { $0.events(.get("/x"), reconnect: RetryPolicy(attempts: 1)).subscribe() }),
      ("socket", { $0.webSocket(.get("/x")).messages.subscribe() }),
      ("write", { $0.responses(.post("/x", json: ["a": 1])).subscribe() }),
    ]
    for (name, start) in forms {
      let (virtual, notes) = (VirtualNetwork(.never), Notes())
      let network = virtual.network(Watch(name: name, notes: notes, clock: virtual.scheduler))
        .with { $0.timeouts.call = .seconds(1) }
      let running = start(network)
      virtual.scheduler.start()
      XCTAssertEqual(notes.all, ["\(name) timeout @1000"])
      running.dispose()
    }
  }

  func test_aStreamWhoseHeadHasArrived_isNotCut() {
    let virtual = VirtualNetwork(
      .chunks((1...4).map { Data("\($0)\n".utf8) }, every: .seconds(1), headers: ["Content-Type": "text/plain"]))
    let lines = Notes()
    _ = virtual.network().with { $0.timeouts.call = .seconds(2) }.lines(.get("/x"))
      .subscribe(onNext: { (line: String) in lines.add(line) }, onError: { lines.add("\($0)") })
    virtual.scheduler.start()
    XCTAssertEqual(lines.all.count, 4, "\(lines.all)")
  }

  func test_aRealCall_endsAsATimeout_alsoAwaited() async throws {
    let server = try TestServer { _ in .neverResponding }
    let notes = Notes()
    let network = Network(
      Backend(
        baseURL: server.url, timeouts: .init(call: .milliseconds(50)),
        interceptors: [Watch(name: "own", notes: notes, clock: nil)]))
    for _ in 1...20 {
      do {
        _ = try await network.response(.get("/x"))
        XCTFail("a response")
      } catch { XCTAssertEqual(error.kind, .timeout) }
    }
    XCTAssertEqual(notes.all, Array(repeating: "own timeout", count: 20))
    XCTAssertTrue(holds { server.openConnectionCount == 0 }, "the requests were cancelled")
  }

  /// Responses arrive about when the limits end, on other threads.
  func test_limitsThatEndWithTheResponse_giveOneResult() throws {
    let server = try TestServer { _ in .init(body: .bytes(Array("ok".utf8)), delay: 0.01) }
    for shares in [false, true] {
      let (results, seen) = (Notes(), Notes())
      let inner = Watch(name: "", notes: seen, clock: nil)
      let network = Network(
        Backend(
          baseURL: server.url, interceptors: (shares ? [CoalescingInterceptor()] : []) + [inner, retry(attempts: 2)]))
      for number in 1...60 {
        _ = network.responses(Call<Response>.get("/x").timeout(.milliseconds(8 + number % 8))).take(1).subscribe(
          onNext: { results.add("\($0.status)") }, onError: { results.add("\(NetworkError.wrapping($0).kind)") })
      }
      XCTAssertTrue(holds(within: 20) { results.all.count == 60 }, "\(results.all.count)")
      XCTAssertEqual(Set(results.all).subtracting(["200", "timeout"]), [])
      XCTAssertEqual(Set(seen.all.map { $0.trimmingCharacters(in: .whitespaces) }).subtracting(["200", "timeout"]), [])
      // On a busy machine, a limit may end before its request begins, which no interceptor sees.
      XCTAssertLessThanOrEqual(seen.all.count, 60)
    }
  }

  func test_aTimeout_reachesAnAsynchronousInterceptor_whichMayRespond() async throws {
    let server = try TestServer { _ in .neverResponding }
    let spare = AsyncInterceptor { request, next in
      do {
        return try await next(request)
      } catch {
        guard NetworkError.wrapping(error).kind == .timeout else { throw error }
        return Response(request: request, status: 203)
      }
    }
    let network = Network(
      Backend(baseURL: server.url, timeouts: .init(call: .milliseconds(50)), interceptors: [spare]))
    let status = try await network.response(.get("/x")).status
    XCTAssertEqual(status, 203)
  }

  func test_observersReceiveAFailure_andNoCancellation() {
    let (virtual, events) = (VirtualNetwork(.never), Notes())
    let observer = CallEventHandler { events.add("\($0.kind)\($0.error.map { " \($0.kind)" } ?? "")") }
    virtual.note("", virtual.network(observer).with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(events.all, ["started", "sent", "failed timeout", "finished timeout"])
  }

  // MARK: Nothing in flight

  func test_aCallThatWaits_endsAtItsLimit() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let notes = Notes()
    let offline = ReachabilityInterceptor(Switch(state: BehaviorRelay(value: false)))
    let network = virtual.network(Watch(name: "own", notes: notes, clock: virtual.scheduler), offline)
      .with { $0.timeouts.call = .seconds(1) }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @1000"])
    XCTAssertEqual(notes.all, ["own left @1000"])
    XCTAssertEqual(virtual.stub.requests.count, 0)
  }

  func test_anInterceptorThatSendsAgain_endsTheCall_andSendsNothing() {
    struct Again: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request).retry() }
    }
    for interceptors in [[Again()], [Again(), CoalescingInterceptor()]] as [[any Interceptor]] {
      let virtual = VirtualNetwork(.never)
      let network = virtual.network().with {
        $0.interceptors = interceptors
        $0.timeouts.call = .seconds(1)
      }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["timeout @1000"])
      XCTAssertEqual(virtual.stub.requests.count, 1)
    }
  }

  func test_anInterceptorThatKeepsTheError_endsTheCallASecondLater() {
    struct Keeps: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).catchError { _ in .never() }
      }
    }
    let virtual = VirtualNetwork(.never)
    virtual.note("", virtual.network(Keeps()).with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @2000"])
  }

  func test_aResponseAtTheSameTime_isTooLate() {
    for _ in 1...3 {
      let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
      virtual.note("", virtual.network(retry()).with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["timeout @1000"])
    }
  }

  func test_aNetworkThatIsLost_isNotAwaitedAfterTheEnd() {
    let virtual = VirtualNetwork(.never)
    let state = BehaviorRelay(value: true)
    virtual.scheduler.scheduleAt(500) { state.accept(false) }
    let network = virtual.network(ReachabilityInterceptor(Switch(state: state))).with { $0.timeouts.call = .seconds(1) }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @1000"])
  }

  // MARK: Pauses

  func test_aPauseThatDoesNotFit_doesNotBegin() throws {
    let busy = StubTransport.StubbedResponse.response(
      status: 429, headers: ["Retry-After": "60"], body: Data("{\"detail\":\"throttled\"}".utf8))
    let rows: [(StubTransport.StubbedResponse, Duration, String, Int)] = [
      (busy, .seconds(2), "429 {\"detail\":\"throttled\"} @0", 1),
      (busy, .seconds(60), "429 {\"detail\":\"throttled\"} @0", 1),
      // The pause of half a second fits exactly, and leaves no time for a response.
      (.json("", status: 503), .milliseconds(500), "503  @0", 1),
      (.json("", status: 503), .milliseconds(501), "503  @500", 2),
      (.failure(.connection), .milliseconds(500), "connection @0", 1),
      (.failure(.connection, after: .seconds(1)), .milliseconds(1600), "timeout @1600", 2),
    ]
    for shares in [false, true] {
      // A sequence is used up.
      let last = (
        StubTransport.StubbedResponse.sequence([busy, .json("ok")]), Duration.seconds(61), "200 ok @60000", 2
      )
      for (index, (reply, limit, result, count)) in (rows + [last]).enumerated() {
        let virtual = VirtualNetwork(reply)
        let network = virtual.network().with {
          $0.interceptors = shares ? [CoalescingInterceptor(), retry()] : [retry()]
          $0.timeouts.call = limit
        }
        virtual.note("", network.responses(.get, "/x"))
        virtual.scheduler.start()
        XCTAssertEqual(virtual.notes.all, [result], "row \(index)")
        XCTAssertEqual(virtual.stub.requests.count, count, "row \(index)")
      }
    }
  }

  func test_aPauseThatDoesNotFit_usesNoBudget() {
    let virtual = VirtualNetwork(.json("", status: 503))
    let retry = RetryInterceptor(
      policy: RetryPolicy(attempts: 2, jitter: { $0.upperBound }), budget: RetryBudget(capacity: 1))
    virtual.note("", virtual.network(retry).with { $0.timeouts.call = .milliseconds(1) }.responses(.get, "/x"))
    virtual.scheduler.start()
    virtual.note("", virtual.network(retry).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 3, "the second call is retried")
  }

  func test_aTimeout_hasTheLastFailure() throws {
    let status = VirtualNetwork(.sequence([.json("{\"message\":\"later\"}", status: 503), .never]))
    let afterStatus = try error(status, status.network(retry()).with { $0.timeouts.call = .seconds(3) })
    XCTAssertEqual(afterStatus.kind, .timeout)
    XCTAssertEqual((afterStatus.underlying as? NetworkError)?.response?.status, 503)
    XCTAssertTrue(afterStatus.reason.contains("Timeouts.call"), afterStatus.reason)
    XCTAssertTrue(afterStatus.reason.contains("; the last attempt: "), afterStatus.reason)
    XCTAssertTrue(afterStatus.reason.contains("status 503"), afterStatus.reason)
    XCTAssertEqual(afterStatus.request?.attempt, 2)

    let lost = VirtualNetwork(.sequence([.failure(.connection), .never]))
    let afterLoss = try error(
      lost, lost.network(CoalescingInterceptor(), retry()).with { $0.timeouts.call = .seconds(3) })
    XCTAssertEqual((afterLoss.underlying as? NetworkError)?.kind, .connection)

    // In a refresh, nothing is in flight.
    let refresh = VirtualNetwork(.json("", status: 401))
    let afterRejection = try error(refresh, refresh.network(try login()).with { $0.timeouts.call = .seconds(3) })
    XCTAssertEqual(afterRejection.kind, .timeout)
    XCTAssertTrue(afterRejection.reason.contains("status 401"), afterRejection.reason)

    // A success before it is not a failure.
    struct Twice: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).flatMap { _ in next(request) }
      }
    }
    let good = VirtualNetwork(.sequence([.json("ok"), .never]))
    XCTAssertNil(try error(good, good.network(Twice()).with { $0.timeouts.call = .seconds(3) }).underlying)

    let first = VirtualNetwork(.never)
    let alone = try error(first, first.network(retry()).with { $0.timeouts.call = .seconds(3) })
    XCTAssertNil(alone.underlying)
    XCTAssertFalse(alone.reason.contains("last attempt"), alone.reason)
  }

  // MARK: Shared requests, caches and refreshes

  func test_sharedRequest_endsWithTheLastOfItsCalls() {
    let (virtual, notes) = (VirtualNetwork(.never), Notes())
    let coalescing = CoalescingInterceptor()
    let network = virtual.network(
      Watch(name: "outer", notes: notes, clock: virtual.scheduler), coalescing,
      Watch(name: "inner", notes: notes, clock: virtual.scheduler))
    for limit in [3, 1, 2, 3] {
      virtual.note("", network.with { $0.timeouts.call = .seconds(limit) }.responses(.get, "/x"))
    }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, [1, 2, 3, 3].map { "timeout @\($0)000" })
    XCTAssertEqual(
      notes.all,
      [
        "outer timeout @1000", "outer timeout @2000", "outer timeout @3000", "inner timeout @3000",
        "outer timeout @3000",
      ])
    XCTAssertEqual(virtual.stub.requests.count, 1)
    // Nothing is shared with a request that has ended.
    virtual.note("", network.with { $0.timeouts.call = .seconds(1) }.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_sharedPause_mayBeAsLongAsTheLongestLimit() {
    for (limits, ends) in [
      ([1, 10], ["timeout @1000", "200 ok @2000"]), ([1, nil], ["timeout @1000", "200 ok @2000"]),
      ([10, 1], ["timeout @1000", "200 ok @2000"]), ([1, 2], ["429  @500", "429  @500"]),
    ] as [([Int?], [String])] {
      let busy = StubTransport.StubbedResponse.response(
        status: 429, headers: ["Retry-After": "1"], after: .milliseconds(500))
      let virtual = VirtualNetwork(.sequence([busy, .json("ok", after: .milliseconds(500))]))
      let network = virtual.network(CoalescingInterceptor(), retry())
      for limit in limits {
        let limit = limit.map { Duration.seconds($0) }
        virtual.note(
          "",
          network.with { $0.timeouts.call = limit.map { $0 == .seconds(2) ? .milliseconds(1400) : $0 } }
            .responses(.get, "/x"))
      }
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ends, "\(limits)")
    }
  }

  func test_aCache_respondsAtTheLimit() {
    for policy in [CachePolicy.networkElseCache, .http] {
      let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-if-error=600"]
      let virtual = VirtualNetwork(.sequence([.response(headers: headers, body: Data("old".utf8)), .never]))
      let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil), policy: policy), retry())
        .with { $0.timeouts.call = .seconds(2) }
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      virtual.scheduler.advanceTo(5000)
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 old @0", "200 old @7000"], "\(policy)")
    }
  }

  func test_aRefreshOfTheCache_outlivesTheCall() {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=600"]
    let virtual = VirtualNetwork(
      .sequence([
        .response(headers: headers, body: Data("old".utf8)), .json("", status: 503, after: .seconds(5)),
        .response(headers: headers, body: Data("new".utf8)),
      ]))
    let network = virtual.network(CacheInterceptor(ResponseCache(storingIn: nil)), retry())
      .with { $0.timeouts.call = .seconds(2) }
    for time in [0, 3000, 9000] {
      virtual.scheduler.advanceTo(time)
      virtual.note("", network.responses(.get, "/x"))
    }
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(7) }, ["200 old", "200 old"], "before the scheduler moves on")
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last?.prefix(7), "200 new", "\(virtual.notes.all)")
  }

  func test_aRequestThatOutlivesItsCall_isSent() {
    /// Sends a second request for each first one that fails, whether the caller is still there or not.
    struct Reports: Interceptor {
      let clock: TestScheduler
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).do(onError: { _ in
          _ = clock.scheduleRelative(.seconds(10)) { _ = next(request).subscribe() }
        })
      }
    }
    let virtual = VirtualNetwork(.never)
    let network = virtual.network(Reports(clock: virtual.scheduler)).with { $0.timeouts.call = .seconds(1) }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @1000"])
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_aRefreshOfAToken_outlivesTheCall() throws {
    let virtual = VirtualNetwork { $0.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("", status: 401) }
    let (refreshes, clock) = (Notes(), virtual.scheduler)
    let login = try login { _ in
      refreshes.add("refresh")
      return Single.just(Token(access: "new", account: "ann")).delay(.seconds(5), scheduler: clock)
    }
    let network = virtual.network(login).with { $0.timeouts.call = .seconds(1) }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(2000)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(4500)
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["timeout @1000", "timeout @3000", "200 ok @5000"])
    XCTAssertEqual(refreshes.all.count, 1)
  }

  // MARK: Nothing is left

  private final class Mark: Sendable {}
  private enum MarkKey: ContextKey { static var defaultValue: Mark? { nil } }

  func test_theRequestOfACall_isReleasedWhenItEnds() {
    for (reply, result) in [
      (StubTransport.StubbedResponse.never, "timeout @1000"), (.json("ok"), "200 ok @0"),
      (.sequence([.json("", status: 503), .never]), "timeout @1000"),
    ] {
      for interceptors in [[retry()], [CoalescingInterceptor(), retry()]] as [[any Interceptor]] {
        weak var mark: Mark?
        let notes = Notes()
        do {
          let virtual = VirtualNetwork(reply)
          var call = Call<Response>.get("/x").timeout(.seconds(1))
          let new = Mark()
          mark = new
          call.context[MarkKey.self] = new
          let network = virtual.network().with { $0.interceptors = interceptors }
          virtual.note("", network.responses(call))
          virtual.scheduler.start()
          virtual.notes.all.forEach { notes.add($0) }
        }
        XCTAssertEqual(notes.all, [result])
        XCTAssertNil(mark, "\(result)")
      }
    }
  }
}
