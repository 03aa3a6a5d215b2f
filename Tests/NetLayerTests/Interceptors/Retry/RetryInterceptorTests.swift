import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

private struct Upload: Endpoint {
  let form: MultipartForm
  var path: String { "/up" }
  var method: HTTPMethod { .put }
  var task: HTTPTask { .multipart(form) }
}

/// An interceptor that reads a value when it is called, such as a date or a nonce.
private struct Stamp: Interceptor {
  let scheduler: TestScheduler
  var seen = Notes()

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    var request = request
    request.headers["X-Time"] = "\(scheduler.clock)"
    seen.add("\(scheduler.clock)")
    return next(request)
  }
}

final class RetryInterceptorTests: XCTestCase {
  /// Returns a policy that always uses the longest delay, so that the times are known.
  private func policy(_ virtual: VirtualNetwork, attempts: Int = 3) -> RetryPolicy {
    RetryPolicy(attempts: attempts, jitter: { $0.upperBound }, scheduler: virtual.scheduler)
  }

  private func sequence(_ replies: StubTransport.StubbedResponse...) -> VirtualNetwork {
    VirtualNetwork(.sequence(replies))
  }

  func test_row_0_5_transientFailure_isRetriedWithIncreasingDelays() {
    let virtual = sequence(.failure(.connection), .json("busy", status: 503), .json("ok"))
    let network = virtual.network(RetryInterceptor(policy: policy(virtual)))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @1500"])
    XCTAssertEqual(virtual.stub.requests.map { $0.attempt }, [1, 2, 3])
  }

  func test_interceptorsBehind_readTheirValuesAfterThePause() {
    for reply in [StubTransport.StubbedResponse.failure(.connection), .json("busy", status: 503)] {
      let virtual = sequence(reply, reply, .json("ok"))
      let network = virtual.network(
        RetryInterceptor(policy: policy(virtual)), Stamp(scheduler: virtual.scheduler))
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.stub.requests.map { $0.headers["X-Time"] }, ["0", "500", "1500"])
    }
  }

  func test_retryThatIsDisposedInThePause_callsNoInterceptor() {
    let virtual = sequence(.failure(.connection), .json("ok"))
    let seen = Notes()
    let network = virtual.network(
      RetryInterceptor(policy: policy(virtual)), Stamp(scheduler: virtual.scheduler, seen: seen))
    let subscription = virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceBy(100)
    subscription.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(seen.all, ["0"])
  }

  func test_twoInterceptors_doNotMultiplyTheirAttempts() {
    for reply in [StubTransport.StubbedResponse.failure(.connection), .json("busy", status: 503)] {
      for (outer, inner, made) in [(3, 3, 3), (3, 2, 3), (2, 3, 3), (5, 2, 5)] {
        let virtual = VirtualNetwork(reply)
        let network = virtual.network(
          RetryInterceptor(policy: policy(virtual, attempts: outer)),
          RetryInterceptor(policy: policy(virtual, attempts: inner)))
        virtual.note("", network.responses(.get, "/x"))
        virtual.scheduler.start()
        XCTAssertEqual(virtual.stub.requests.map { $0.attempt }, Array(1...made), "\(outer) \(inner)")
      }
    }
  }

  func test_onlyTheListedStatuses_areRetried() {
    for status in 400...599 {
      let virtual = sequence(.json("bad", status: status), .json("ok"))
      virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
      virtual.scheduler.start()
      let isRepeated = [408, 425, 429, 500, 502, 503, 504].contains(status)
      XCTAssertEqual(virtual.notes.all, [isRepeated ? "200 ok @500" : "\(status) bad @0"])
    }
  }

  func test_lastResponseOrError_isReturnedWithTheNumberOfAttempts() throws {
    let virtual = VirtualNetwork(.json("busy", status: 503))
    let log = Notes()
    let logger = NetworkLogger { log.add($0) }
    let network = virtual.network(logger, RetryInterceptor(policy: policy(virtual)))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["503 busy @1500"])
    let notes = ["", " (attempt 2)", " (attempt 3)"]
    XCTAssertEqual(
      log.all, notes.flatMap { ["--> GET http://h/x\($0)", "<-- 503 GET http://h/x (0 ms, 4 bytes)\($0)"] })

    let failing = VirtualNetwork(.failure(.timeout))
    let errors = Notes()
    _ = failing.network(RetryInterceptor(policy: policy(failing, attempts: 2))).responses(.get, "/x")
      .subscribe(onError: { errors.add("\($0)") })
    failing.scheduler.start()
    XCTAssertEqual(errors.all, ["NetworkError(timeout, -1212): stubbed failure (attempt 2)"])
  }

  func test_innerLogger_logsEveryAttempt_andNoCancellation() {
    let virtual = sequence(.json("busy", status: 503), .json("ok"))
    let log = Notes()
    let network = virtual.network(
      RetryInterceptor(policy: policy(virtual)), NetworkLogger { log.add($0) })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(
      log.all,
      [
        "--> GET http://h/x", "<-- 503 GET http://h/x (0 ms, 4 bytes)", "--> GET http://h/x (attempt 2)",
        "<-- 200 GET http://h/x (0 ms, 2 bytes) (attempt 2)",
      ])
  }

  func test_onlyIdempotentRequests_areRetried() {
    let attempts: [(HTTPMethod, HTTPHeaders, Int)] = [
      (.get, [:], 2), (.head, [:], 2), (.put, [:], 2), (.delete, [:], 2), (.options, [:], 2), (.post, [:], 1),
      (.patch, [:], 1), (.post, ["Idempotency-Key": "7"], 2),
    ]
    for (method, headers, count) in attempts {
      let virtual = VirtualNetwork(.failure(.connection))
      let network = virtual.network(RetryInterceptor(policy: policy(virtual, attempts: 2)))
      virtual.note("", network.responses(method, "/x", headers: headers))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.stub.requests.count, count, "\(method) \(headers)")
    }
    let virtual = VirtualNetwork(.failure(.connection))
    let all = RetryInterceptor(policy: policy(virtual, attempts: 2), isRepeatable: { _ in true })
    virtual.note("", virtual.network(all).responses(.post, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 2, "the caller may allow more")
  }

  func test_oneTimeBody_isNotRetried() {
    struct Recording: Endpoint {
      let body: Request.BodyStream
      var path: String { "/x" }
      var method: HTTPMethod { .put }
      var task: HTTPTask { .stream(body) }
    }
    let once = Request.BodyStream(once: { nil })
    let repeatable = Request.BodyStream(open: { { nil } })
    for (body, count) in [(once, 1), (repeatable, 2)] {
      for reply in [StubTransport.StubbedResponse.failure(.connection), .json("busy", status: 503)] {
        let virtual = VirtualNetwork(reply)
        let network = virtual.network(RetryInterceptor(policy: policy(virtual, attempts: 2)))
        let response: Single<Response> = network.request(Recording(body: body))
        virtual.note("", response)
        virtual.scheduler.start()
        XCTAssertEqual(virtual.stub.requests.count, count, "\(reply)")
      }
    }
  }

  func test_permanentFailure_isNotRetried() {
    for kind in [NetworkError.Kind.tls, .cancelled, .redirect, .invalidRequest, .file, .other] {
      let virtual = VirtualNetwork(.failure(kind))
      virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["\(kind) @0"])
      XCTAssertEqual(virtual.stub.requests.count, 1)
    }
  }

  func test_policy_canRefuseARetry() {
    let virtual = VirtualNetwork(.json("busy", status: 503))
    var policy = policy(virtual)
    policy.shouldRetry = { ($0 as? NetworkError)?.code != 503 }
    virtual.note("", virtual.network(RetryInterceptor(policy: policy)).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["503 busy @0"])
  }

  func test_retryAfter_isReadAsSecondsOrDate() {
    // The virtual clock starts at the reference date, 1 January 2001.
    for (value, time) in [
      ("7", 7000), ("0", 0), ("Mon, 01 Jan 2001 00:00:09 GMT", 9000), ("Monday, 01-Jan-01 00:00:09 GMT", 9000),
      ("Mon Jan  1 00:00:09 2001", 9000), ("60", 60_000), ("Sun, 31 Dec 2000 00:00:00 GMT", 0), ("soon", 500),
      ("-1", 500), ("0.25", 250), ("1.0", 1000), ("0.0001", 1), ("1e1", 500), (".", 500), ("1.2.3", 500), ("٣.٥", 500),
    ] {
      let virtual = sequence(
        .response(status: 429, headers: ["Retry-After": value]), .json("ok"))
      virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 ok @\(time)"], value)
    }
  }

  func test_budgetsOfManyOrigins_areIndependent() throws {
    let budget = RetryBudget(capacity: 1)
    let origins = try (0..<100).map { Origin(try XCTUnwrap(URL(string: "http://h\($0)/"))) }
    XCTAssertEqual(origins.filter { budget.spend($0) }.count, 100)
    XCTAssertEqual(origins.filter { budget.spend($0) }.count, 0)
  }

  func test_retryAfterAboveTheLimit_endsTheRetries() {
    let virtual = sequence(.response(status: 503, headers: ["Retry-After": "61"]), .json("ok"))
    virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["503  @0"])
  }

  func test_retryAfterDate_isRelativeToTheDateOfTheResponse() {
    // The clock of the client starts on 1 January 2001, so it is years behind.
    for (asked, sent, time) in [
      ("Fri, 20 Nov 2026 08:00:09 GMT", "Fri, 20 Nov 2026 08:00:02 GMT", 7000),
      ("Fri, 20 Nov 2026 08:00:00 GMT", "Fri, 20 Nov 2026 08:00:02 GMT", 0),
      ("Mon, 01 Jan 2001 00:00:09 GMT", "no date", 9000), ("3", "Fri, 20 Nov 2026 08:00:02 GMT", 3000),
    ] {
      let virtual = sequence(.response(status: 503, headers: ["Retry-After": asked, "Date": sent]), .json("ok"))
      virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["200 ok @\(time)"], asked)
    }
  }

  func test_retryAfterWithTooManyDigits_endsTheRetries() {
    for value in ["99999999999999999999", "9223372036854775807", "00000000000000000000000061"] {
      let virtual = sequence(.response(status: 503, headers: ["Retry-After": value]), .json("ok"))
      virtual.note("", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["503  @0"], value)
    }
  }

  func test_tooLargeBody_isNotRetried() throws {
    var transports: [any Transport] = [DefaultTransport.make()]
    #if HAS_URLSESSION
      transports.append(URLSessionTransport())
    #endif
    for transport in transports {
      let server = try TestServer { _ in .init(body: .bytes(Array(repeating: 0x20, count: 5000))) }
      defer { server.stop() }
      let network = Network(
        Backend(
          baseURL: server.url, transport: transport, options: Request.Options(maxBodySize: 100),
          interceptors: [RetryInterceptor(policy: RetryPolicy(jitter: { $0.lowerBound }))]))
      let error = try failure(of: network.responses(.get, "/x"))
      XCTAssertEqual(error.kind, .tooLarge)
      XCTAssertEqual(server.requests.count, 1)
    }
  }

  func test_budget_stopsRetriesDuringAnOutage() {
    let virtual = VirtualNetwork { $0.url.host == "h" ? .json("busy", status: 503) : .json("busy", status: 500) }
    let network = virtual.network(RetryInterceptor(policy: policy(virtual), budget: RetryBudget(capacity: 10)))
    for _ in 0..<1000 {
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
    }
    XCTAssertEqual(virtual.notes.all.count, 1000)
    let extra = virtual.stub.requests.count - 1000
    XCTAssertEqual(extra, 10, "the bucket, and nothing until the server responds")
    virtual.note("", network.responses(.get, "http://other/x"))
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.stub.requests.suffix(3).map(\.url.host), ["other", "other", "other"], "a bucket for each host")
  }

  func test_goodResponses_refillTheBudget() {
    for (status, statuses, isGood) in [
      (200, RetryInterceptor.defaultStatuses, true), (404, RetryInterceptor.defaultStatuses, true),
      (429, RetryInterceptor.defaultStatuses, false), (503, [429], false), (500, [], false), (404, [404], false),
    ] as [(Int, Set<Int>, Bool)] {
      let virtual = VirtualNetwork { $0.url.path == "/down" ? .failure(.connection) : .json("", status: status) }
      let retry = RetryInterceptor(
        policy: policy(virtual, attempts: 2), statuses: statuses, budget: RetryBudget(capacity: 1))
      let network = virtual.network(retry)
      func requests(_ method: HTTPMethod, _ path: String) -> Int {
        let before = virtual.stub.requests.count
        virtual.note("", network.responses(method, path))
        virtual.scheduler.start()
        return virtual.stub.requests.count - before
      }
      XCTAssertEqual(requests(.get, "/down"), 2)
      for _ in 0..<9 { _ = requests(.post, "/x") }
      XCTAssertEqual(requests(.get, "/down"), 1, "nine good responses allow no retry")
      _ = requests(.post, "/x")
      XCTAssertEqual(requests(.get, "/down"), isGood ? 2 : 1, "\(status) \(statuses)")
    }
  }

  func test_errorBehindTheBudget_namesIt() {
    for (capacity, attempts) in [(2.0, 3), (20, 5)] {
      let virtual = VirtualNetwork { _ in .failure(.connection) }
      let retry = RetryInterceptor(policy: policy(virtual, attempts: 5), budget: RetryBudget(capacity: capacity))
      let reasons = Notes()
      let subscription = virtual.network(retry).responses(.get, "/x")
        .subscribe(onError: { reasons.add(NetworkError.wrapping($0).reason) })
      virtual.scheduler.start()
      subscription.dispose()
      XCTAssertEqual(virtual.stub.requests.count, attempts)
      let remedy = "the retry budget of http://h is used up: pass a larger RetryBudget"
      XCTAssertEqual(reasons.all.map { $0.contains(remedy) }, [attempts == 3], "\(reasons.all)")
    }
  }

  func test_budget_isAtMostItsCapacity() throws {
    let budget = RetryBudget(capacity: 2)
    let origin = Origin(try XCTUnwrap(URL(string: "http://h/")))
    XCTAssertEqual((0..<4).map { _ in budget.spend(origin) }, [true, true, false, false])
    for _ in 0..<10 { budget.earn(origin) }
    XCTAssertEqual((0..<2).map { _ in budget.spend(origin) }, [true, false])
  }

  func test_disposing_endsTheDelay_andNothingIsSent() {
    let virtual = VirtualNetwork(.failure(.connection))
    let subscription = virtual.note(
      "", virtual.network(RetryInterceptor(policy: policy(virtual))).responses(.get, "/x"))
    virtual.scheduler.advanceTo(499)
    subscription.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 1)
    XCTAssertEqual(virtual.notes.all, [])
  }

  func test_multipartUpload_isRetriedUnchanged() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("retry-\(UUID().uuidString)")
    try Data(repeating: 7, count: 100_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let bodies = Locked<[[UInt8]]>([])
    let server = try TestServer(handler: { request in
      let count = bodies.withLock { bodies in
        bodies.append(request.body)
        return bodies.count
      }
      return count == 1 ? .init(status: 503) : .init(status: 200)
    })
    defer { server.stop() }
    let form = MultipartForm([.file(file, name: "f")])
    let network = Network(
      Backend(
        baseURL: server.url,
        interceptors: [RetryInterceptor(policy: RetryPolicy(initialDelay: .milliseconds(1)))]))
    let single: Single<Response> = network.request(Upload(form: form))
    XCTAssertEqual(record(single.asObservable()).elements.map(\.status), [200])
    let sent = bodies.withLock { $0 }
    XCTAssertEqual(sent.count, 2)
    XCTAssertEqual(sent.first, sent.last)
    XCTAssertGreaterThan(sent.first?.count ?? 0, 100_000)
  }

  func test_budgetOfVeryManyOrigins_hasALimitedTable() throws {
    let budget = RetryBudget(capacity: 1)
    func origin(_ number: Int) throws -> Origin { Origin(try XCTUnwrap(URL(string: "http://h\(number)"))) }
    for number in 0..<4096 { XCTAssertTrue(budget.spend(try origin(number))) }
    XCTAssertFalse(budget.spend(try origin(0)), "the table is full, and has all origins")
    XCTAssertTrue(budget.spend(try origin(4096)))
    XCTAssertTrue(budget.spend(try origin(0)), "the table was emptied")
  }
}
