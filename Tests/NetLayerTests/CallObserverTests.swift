import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// Tests of the events that an observer receives, through the public interface only.
final class CallObserverTests: XCTestCase {
  /// Keeps all events, also those that refer to responses.
  private final class Trail: CallObserver {
    // Guards the events, which all threads of a call add.
    private let kept = Locked([CallEvent]())
    private let react: @Sendable (CallEvent) -> Void

    init(react: @escaping @Sendable (CallEvent) -> Void = { _ in }) { self.react = react }

    func observe(_ event: CallEvent) {
      kept.withLock { $0.append(event) }
      react(event)
    }

    var events: [CallEvent] { kept.withLock { $0 } }
    var kinds: [CallEvent.Kind] { events.map(\.kind) }
    /// The kinds of the events of each call, in the order of the calls.
    var calls: [[CallEvent.Kind]] {
      Dictionary(grouping: events, by: \.call).sorted { $0.key < $1.key }.map { $0.value.map(\.kind) }
    }
  }

  private struct Count: Endpoint {
    typealias Output = Int
    let path = "count"
  }

  private let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))

  func test_aCall_startsIsSentFinishesIsReceivedAndDecoded() throws {
    let virtual = VirtualNetwork(.json("7", after: .milliseconds(5)))
    let trail = Trail()
    _ = virtual.network(trail).request(Count()).subscribe(
      onSuccess: { XCTAssertEqual($0, 7) }, onError: { XCTFail("\($0)") })
    virtual.scheduler.start()
    XCTAssertEqual(trail.kinds, [.started, .sent, .finished, .received, .decoded])
    let events = trail.events
    XCTAssertEqual(Set(events.map(\.call)).count, 1)
    XCTAssertTrue(events[0].endpoint == Count.self)
    XCTAssertEqual(events[2].response?.status, 200)
    XCTAssertEqual(events[2].time - events[1].time, .milliseconds(5))
    XCTAssertEqual(events[3].response?.body, Data("7".utf8))
    XCTAssertEqual(events[3].sharedFrom, events[3].call)
    XCTAssertNotNil(events[4].duration)
    XCTAssertEqual("\(events[4].kind)", "decoded")
  }

  func test_aFetch_hasTheSameEvents() async throws {
    let trail = Trail()
    let network = Network(
      Backend(baseURL: URL(string: "http://h/"), transport: StubTransport { _ in .json("7") }, interceptors: [trail]))
    let value = try await network.fetch(Count())
    XCTAssertEqual(value, 7)
    XCTAssertEqual(trail.kinds, [.started, .sent, .finished, .received, .decoded])
  }

  func test_aSocketThatTheTransportDoesNotOpen_finishes() {
    let virtual = VirtualNetwork(.never)
    let trail = Trail()
    let network = virtual.network(trail).with { $0.transport = PlainTransport(virtual.stub) }
    _ = network.webSocket(.get("/s")).messages.subscribe(onError: { _ in })
    virtual.scheduler.start()
    XCTAssertEqual(trail.kinds, [.started, .sent, .finished, .failed])
    XCTAssertEqual(trail.events.last?.repeatsAttempt, true)
  }

  func test_aRetry_pausesBetweenItsAttempts() {
    let virtual = VirtualNetwork(
      .sequence([.json("", status: 503, after: .seconds(0.25)), .failure(.timeout), .json("7")]))
    let trail = Trail()
    virtual.note("", virtual.network(retry, trail).responses(.get("/a")))
    virtual.scheduler.start()
    XCTAssertEqual(
      trail.kinds, [.started, .sent, .finished, .pause, .sent, .finished, .pause, .sent, .finished, .received])
    func durations(_ kind: CallEvent.Kind) -> [Duration?] { trail.events.filter { $0.kind == kind }.map(\.duration) }
    XCTAssertEqual(durations(.pause), [.milliseconds(500), .seconds(1)])
    XCTAssertEqual(durations(.finished), [.milliseconds(250), .zero, .zero])
    XCTAssertEqual(durations(.received), [.milliseconds(1750)])
    XCTAssertEqual(trail.events.filter { $0.kind == .sent }.map(\.request.attempt), [1, 2, 3])
    XCTAssertEqual(trail.events.filter { $0.kind == .finished }.map { $0.error?.kind }, [nil, .timeout, nil])
    XCTAssertEqual(trail.calls.count, 1)
  }

  func test_aCacheHit_isReceivedWithoutAnAttempt() {
    let virtual = VirtualNetwork(.response(headers: ["Cache-Control": "max-age=60"], body: Data("7".utf8)))
    let trail = Trail()
    let network = virtual.network(trail, CacheInterceptor(ResponseCache(storingIn: nil)))
    for _ in 1...2 {
      virtual.note("", network.responses(.get("/a")))
      virtual.scheduler.start()
    }
    XCTAssertEqual(trail.calls, [[.started, .sent, .finished, .received], [.started, .received]])
    XCTAssertEqual(trail.events.last?.response?.source.kind, .cache)
    XCTAssertEqual(trail.events.last?.sharedFrom, trail.events.last?.call)
  }

  func test_aSharedCall_namesTheCallThatWasSent_andFailsOnItsOwn() {
    for reply in [StubTransport.StubbedResponse.json("7"), .failure(.connection)] {
      let virtual = VirtualNetwork(reply)
      let trail = Trail()
      let network = virtual.network(CoalescingInterceptor(), trail)
      for _ in 1...2 { _ = network.request(Count()).subscribe(onSuccess: { _ in }, onError: { _ in }) }
      virtual.scheduler.start()
      let received = trail.events.filter { $0.kind == .received }
      if received.isEmpty {
        XCTAssertEqual(trail.calls, [[.started, .sent, .finished, .failed], [.started, .failed]])
      } else {
        XCTAssertEqual(
          trail.calls, [[.started, .sent, .finished, .received, .decoded], [.started, .received, .decoded]])
        XCTAssertEqual(received.map(\.sharedFrom), [trail.events[0].call, trail.events[0].call])
      }
    }
  }

  func test_aDecodingFailure_followsItsDecoding() {
    let virtual = VirtualNetwork(.json("true"))
    let trail = Trail()
    _ = virtual.network(trail).request(Count()).subscribe(onSuccess: { _ in XCTFail() }, onError: { _ in })
    virtual.scheduler.start()
    XCTAssertEqual(trail.kinds, [.started, .sent, .finished, .received, .decoded, .failed])
    XCTAssertEqual(trail.events.last?.error?.kind, .parse)
  }

  func test_aCancelledCall_hasOneEnd() {
    let virtual = VirtualNetwork(.sequence([.never, .json("", status: 503)]))
    let trail = Trail()
    let network = virtual.network(retry, trail)
    for _ in 1...2 {
      let call = virtual.note("", network.responses(.get("/a")))
      virtual.scheduler.advanceTo(virtual.scheduler.clock + 100)
      call.dispose()
      virtual.scheduler.start()
    }
    XCTAssertEqual(
      trail.calls.map { $0.filter { $0 != .finished } },
      [
        [.started, .sent, .cancelled], [.started, .sent, .pause, .cancelled],
      ])
  }

  func test_aRequestThatIsSentAgain_isAnotherCall() throws {
    let virtual = VirtualNetwork(.json("7"))
    let trail = Trail()
    let network = virtual.network(trail)
    virtual.note("", network.responses(.get("/a")))
    virtual.scheduler.start()
    virtual.note("", network.send(try XCTUnwrap(trail.events.last).request))
    virtual.scheduler.start()
    XCTAssertEqual(trail.calls, Array(repeating: [.started, .sent, .finished, .received], count: 2))
  }

  /// An interceptor that ends each call with these responses.
  private struct Ending: Interceptor {
    let responses: Observable<Response>
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { responses }
  }

  func test_errorWithoutARequest_orOfAnotherCall_endsTheCall() throws {
    let virtual = VirtualNetwork(.failure(.timeout))
    let reported = Box<NetworkError?>(nil)
    _ = virtual.network().request(Count()).subscribe(
      onSuccess: { _ in }, onError: { reported.value = $0 as? NetworkError })
    virtual.scheduler.start()
    struct Other: Error {}
    let endings: [(Observable<Response>, NetworkError.Kind)] = [
      (.error(NetworkError(kind: .connection, reason: "none")), .connection), (.error(Other()), .other),
      (.error(CancellationError()), .cancelled), (.error(try XCTUnwrap(reported.value)), .timeout), (.empty(), .other),
    ]
    for (responses, kind) in endings {
      let trail = Trail()
      let network = virtual.network(Ending(responses: responses), trail)
      _ = network.request(Count()).subscribe(onSuccess: { _ in XCTFail() }, onError: { _ in })
      virtual.scheduler.start()
      XCTAssertEqual(trail.calls, [[.started, .failed]], "\(kind)")
      XCTAssertEqual(trail.events.last?.error?.kind, kind)
    }
  }

  /// The same for a task that awaits a transport which does not state the request.
  func test_errorOfATransportWithoutARequest_endsTheCall() async {
    struct Failing: Transport {
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable {
        completion(.failure(NetworkError(kind: .connection, reason: "none")))
        return Disposables.create()
      }
    }
    let trail = Trail()
    let network = Network(
      Backend(baseURL: URL(string: "http://h/"), transport: Failing(), interceptors: [trail]))
    do {
      _ = try await network.fetch(Count())
      XCTFail("the call must fail")
    } catch { XCTAssertEqual(error.kind, .connection) }
    XCTAssertEqual(trail.calls, [[.started, .sent, .finished, .failed]])
  }

  /// The same for a task that awaits a call which its interceptors end, on another thread and on the transport's.
  func test_errorOfAnInterceptorWithoutARequest_endsAnAwaitedCall() async throws {
    struct Other: Error {}
    let errors: [(any Error, NetworkError.Kind)] = [
      (NetworkError(kind: .connection, reason: "none"), .connection), (Other(), .other),
      (CancellationError(), .cancelled),
    ]
    let transport = try CurlTransport()
    for executor in [nil, transport.executor] {
      for (error, kind) in errors {
        let (trail, reported) = (Trail(), Box<[NetworkError.Kind]>([]))
        let network = Network(
          Backend(
            baseURL: URL(string: "http://h/"), transport: transport,
            interceptors: [trail, Ending(responses: .error(error))],
            onError: { error in reported.update { $0.append(error.kind) } }))
        let failure = await withTaskExecutorPreference(executor) { () async -> NetworkError? in
          do throws(NetworkError) { _ = try await network.fetch(Count()) } catch { return error }
          return nil
        }
        XCTAssertEqual(failure?.kind, kind)
        XCTAssertEqual(trail.calls, [[.started, .failed]], "\(kind), \(executor == nil)")
        XCTAssertEqual(reported.value, [kind])
      }
    }
  }

  func test_aCallThatCannotBeBuilt_hasNoEvents() {
    let virtual = VirtualNetwork(.json("7"))
    let trail = Trail()
    virtual.note("", virtual.network(trail).responses(.get("htp://x")))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["invalidRequest @0"])
    XCTAssertEqual(trail.kinds, [])
  }

  func test_allObservers_receiveAllEvents_atAnyPosition() {
    let virtual = VirtualNetwork(.sequence([.json("", status: 503), .json("7")]))
    let (first, last) = (Trail(), Trail())
    virtual.note("", virtual.network(first, retry, last).responses(.get("/a")))
    virtual.scheduler.start()
    XCTAssertEqual(first.kinds, [.started, .sent, .finished, .pause, .sent, .finished, .received])
    XCTAssertEqual(first.kinds, last.kinds)
    XCTAssertEqual(first.events.map(\.call), last.events.map(\.call))
  }

  func test_streams_haveAHeadAndChunks_andAnObserverThatKeepsEventsKeepsNoStreamOpen() {
    let virtual = VirtualNetwork(.chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(9)))
    let trail = Trail()
    let network = virtual.network(trail)
    _ = network.stream(.get("/a")).subscribe()
    virtual.scheduler.start()
    XCTAssertEqual(trail.kinds.filter { $0 != .received }, [.started, .sent, .head, .chunk, .chunk, .finished])
    XCTAssertEqual(trail.events.compactMap(\.data), [Data("a".utf8), Data("b".utf8)])
    let held = Locked<StreamedResponse?>(nil)
    _ = network.response(streaming: .get("/a")).subscribe(onSuccess: { response in held.withLock { $0 = response } })
    virtual.scheduler.advanceTo(virtual.scheduler.clock + 1_000)
    XCTAssertEqual(trail.kinds.last, .received)
    held.withLock { $0 = nil }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.cancelled.count, 1)
  }

  func test_eventsAndMessages_areReported() {
    let virtual = VirtualNetwork { request in
      request.url.path == "/events"
        ? .chunks([Data("id: 7\ndata: x\n\n".utf8)], headers: ["Content-Type": "text/event-stream"])
        : .socket(.init([.message(.text("hi"))]) { [.message($0), .close(.normal)] })
    }
    let trail = Trail()
    let network = virtual.network(trail)
    let events = network.events(.get("/events"), reconnect: RetryPolicy(attempts: 0)).subscribe(onError: { _ in })
    virtual.scheduler.advanceTo(100)
    events.dispose()
    let session = network.webSocket(.get("/socket"), reconnect: nil) { $0.sending("topic") }
    let messages = session.messages.subscribe()
    virtual.scheduler.advanceTo(200)
    messages.dispose()
    XCTAssertEqual(trail.events.compactMap(\.serverEvent), [ServerSentEvent(id: "7", data: "x")])
    let exchanged = trail.events.filter { $0.message != nil }
    XCTAssertEqual(exchanged.map { $0.message?.text }, ["hi", "topic", "topic"])
    XCTAssertEqual(exchanged.map(\.kind), [.messageReceived, .messageSent, .messageReceived])
    XCTAssertEqual(trail.events.filter { $0.kind == .closed }.map { $0.close?.code }, [.normal])
  }

  /// The observer is called by the caller, by `mapping` and by the transport, none of which may hold a lock that a call takes.
  func test_anObserverThatSendsCalls_doesNotDeadlock() async throws {
    let server = try TestServer { _ in .json("7") }
    let network = Locked<Network?>(nil)
    let nested = Locked(0)
    let trail = Trail { event in
      guard event.request.url.path == "/count" else { return }
      _ = network.withLock { $0 }?.request(.get("/nested"), as: Int.self)
        .subscribe(onSuccess: { _ in nested.withLock { $0 += 1 } }, onError: { XCTFail("\($0)") })
    }
    let interceptors: [any Interceptor] = [
      CoalescingInterceptor(), CacheInterceptor(ResponseCache(storingIn: nil)), retry, LimitInterceptor(maxPerHost: 2),
      trail,
    ]
    network.withLock { $0 = Network(Backend(baseURL: server.url, interceptors: interceptors)) }
    let made = try XCTUnwrap(network.withLock { $0 })
    for _ in 1...3 {
      let value = try await made.fetch(Count())
      XCTAssertEqual(value, 7)
    }
    let sent = trail.events.filter { $0.request.url.path == "/count" }.count
    try await eventually("every nested call has a result") { nested.withLock { $0 } == sent }
    network.withLock { $0 = nil }
  }

  func test_twoRecordersOfTwoNetworks_haveNoCallInCommon() {
    let virtual = VirtualNetwork(.json("7"))
    let (first, second) = (Trail(), Trail())
    for trail in [first, second, first] { virtual.note("", virtual.network(trail).responses(.get("/a"))) }
    virtual.scheduler.start()
    XCTAssertTrue(Set(first.events.map(\.call)).isDisjoint(with: second.events.map(\.call)))
    XCTAssertEqual(first.calls.count, 2)
  }
}
