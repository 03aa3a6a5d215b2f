import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private struct Tag: Interceptor {
  let name: String
  let notes: Notes

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    notes.add("\(name)>")
    var request = request
    request.headers.append("X-Way", name)
    return next(request).do(onNext: { _ in notes.add("<\(name)") })
  }
}

private struct Twice: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request).retry(2) }
}

private struct Canned: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    .just(Response(request: request, body: Data(#"{"code":7}"#.utf8)))
  }
}

private struct Before: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    next(request).startWith(Response(request: request, body: Data("old".utf8)))
  }
}

private struct Silent: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    next(request).filter { _ in false }
  }
}

final class InterceptorTests: XCTestCase {
  private func network(_ transport: any Transport, _ interceptors: [any Interceptor]) -> Network {
    Network(Backend(baseURL: URL(string: "http://h"), transport: transport, interceptors: interceptors))
  }

  func test_row_1_2_firstInterceptor_isTheOutermost() {
    let notes = Notes()
    let transport = StubTransport { _ in .json("{}") }
    let network = network(transport, [Tag(name: "a", notes: notes), Tag(name: "b", notes: notes)])
    _ = record(network.with { $0.interceptors.append(Tag(name: "call", notes: notes)) }.responses(.get, "/x"))
    XCTAssertEqual(notes.all, ["a>", "b>", "call>", "<call", "<b", "<a"])
    XCTAssertEqual(transport.requests[0].headers.values(of: "X-Way"), ["a", "b", "call"])
    _ = record(network.responses(.get, "/x"))
    XCTAssertEqual(transport.requests[1].headers.values(of: "X-Way"), ["a", "b"], "the call's own was for that call")
  }

  func test_interceptor_canSendTwice_andOnlyTheErrorOfTheCallIsReported() throws {
    let errors = Counter()
    let transport = StubTransport { _ in .failure(.timeout) }
    let network = network(transport, [Twice()]).with { $0.onError = { _ in errors.next() } }
    XCTAssertEqual(try failure(of: network.json(.get, "/x")).kind, .timeout)
    XCTAssertEqual(transport.requests.count, 2)
    XCTAssertEqual(errors.value, 1)
  }

  func test_interceptor_canRespond_byTheRulesOfTheBackend() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = network(transport, [Canned()]).with { $0.envelope = Envelope(success: 7) }
    XCTAssertEqual(record(network.json(.get, "/x").bool()).elements, [true])
    XCTAssertEqual(transport.requests.count, 0)
  }

  func test_streams_emitEveryResponseOfAnInterceptor_andSinglesTheLast() throws {
    let network = network(StubTransport { _ in .json("new") }, [Before()])
    XCTAssertEqual(record(network.string(.get, "/x")).elements, ["old", "new"])
    let single: Single<String> = network.request(.get("/x"))
    XCTAssertEqual(record(single.asObservable()).elements, ["new"])
  }

  func test_single_failsIfAnInterceptorEmitsNoResponse() throws {
    let network = network(StubTransport { _ in .json(#""new""#) }, [Silent()])
    XCTAssertEqual(record(network.string(.get, "/x")).elements, [])
    let whole: Single<Response> = network.request(.get("/x"))
    let typed: Single<String> = network.request(.get("/x"))
    for error in [record(whole).error, record(typed).error] {
      XCTAssertEqual(error?.kind, .other)
      XCTAssertEqual(
        error?.reason, "an interceptor completed without a response; it must emit a response or an error")
    }
  }

  func test_row_3_16_requestsInFlight_counts() {
    let scheduler = TestScheduler()
    let transport = StubTransport(on: scheduler) { _ in .never }
    let network = network(transport, [])
    let counts = Notes()
    let counting = network.requestsInFlight.subscribe(onNext: { counts.add("\($0)") })
    let first = network.json(.get, "/a").subscribe()
    let second = network.with { $0.timeouts.attempt = .seconds(5) }.json(.get, "/b").subscribe()
    first.dispose()
    second.dispose()
    scheduler.start()
    counting.dispose()
    XCTAssertEqual(counts.all, ["0", "1", "2", "1", "0"])
  }

  func test_row_3_16_call_canOverrideItsBackend() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = network(transport, [])
    let special = network.with {
      $0.headers["X"] = "y"
      $0.timeouts.attempt = .seconds(300)
    }
    _ = record(special.responses(.get, "/a"))
    _ = record(network.responses(.get, "/a"))
    XCTAssertEqual(transport.requests.map { $0.headers["X"] }, ["y", nil])
    XCTAssertEqual(transport.requests.map(\.timeouts.attempt), [.seconds(300), nil])
  }

  func test_requestsInFlight_returnsToZeroUnderLoad() {
    let network = network(StubTransport { _ in .json("{}") }, [])
    let all = Observable.range(start: 0, count: 500).flatMap { _ in network.responses(.get, "/a") }
    XCTAssertEqual(record(all).elements.count, 500)
    XCTAssertEqual(record(network.requestsInFlight.take(1)).elements, [0])
  }

  func test_row_3_16_events_reportTheResultOfEachRequest() {
    let scheduler = TestScheduler(resolution: .milliseconds(1))
    let notes = Notes()
    let stub = StubTransport(on: scheduler) { request in
      switch request.url.path {
      case "/ok": .json("{}", after: .seconds(0.25))
      case "/bad": .failure(.timeout, after: .seconds(1))
      default: .never
      }
    }
    let observer = CallEventHandler { event in
      let (path, duration) = (event.request.url.path, event.duration.map { "\($0)" } ?? "no duration")
      switch event.kind {
      case .started: notes.add("> \(path), \(duration)")
      case .received: notes.add("\(event.response?.status ?? 0) \(duration)")
      case .failed: notes.add("\(event.error?.kind ?? .other) \(duration)")
      case .cancelled: notes.add("\(event.kind) \(path) \(duration)")
      default: break
      }
    }
    let network = network(stub, [observer]).with { ($0.clock, $0.mapping) = (scheduler, scheduler) }
    let subscriptions = ["/ok", "/bad", "/never"].map { network.responses(.get, $0).subscribe(onError: { _ in }) }
    scheduler.advanceBy(2000)
    subscriptions.forEach { $0.dispose() }
    XCTAssertEqual(
      notes.all,
      [
        "> /ok, no duration", "> /bad, no duration", "> /never, no duration", "200 0.25 seconds",
        "timeout 1.0 seconds", "cancelled /never 2.0 seconds",
      ])
  }
}
