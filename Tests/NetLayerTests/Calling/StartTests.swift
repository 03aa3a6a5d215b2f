import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private struct Get: Endpoint {
  typealias Output = Int
  var path: String { "/a" }
}

final class StartTests: XCTestCase {
  private func network(_ transport: any Transport) -> Network {
    Network(Backend(baseURL: URL(string: "http://h"), transport: transport, timeouts: .init(attempt: .seconds(5))))
  }

  func test_row_0_13_request_isStartedAndCancelledWithoutStreams() throws {
    let request = Request(url: try XCTUnwrap(URL(string: "http://h/a")))
    let replied = expectation(description: "answered")
    request.start(on: network(StubTransport { _ in .json("7") })) { result in
      if case .success(let response) = result, response.status == 200 { replied.fulfill() }
    }
    let cancelled = expectation(description: "cancelled")
    let transport = StubTransport { _ in .never }
    let running = request.start(on: network(transport)) { result in
      if case .failure(let error) = result, error.kind == .cancelled { cancelled.fulfill() }
    }
    running.cancel()
    running.cancel()
    XCTAssertTrue(running.isDisposed)
    wait(for: [replied, cancelled], timeout: 60)
    let refused = expectation(description: "refused")
    request.start(on: network(StubTransport { _ in .json("{}", status: 404) })) { result in
      if case .failure(let error) = result, error.kind == .status { refused.fulfill() }
    }
    wait(for: [refused], timeout: 60)
  }

  func test_row_2_21_endpoint_isStartedForAResult() {
    let routed = expectation(description: "routed")
    Router<Get>(network(StubTransport { _ in .json("8") })).request(Get()) { (result: Result<Int, NetworkError>) in
      if case .success(8) = result { routed.fulfill() }
    }
    wait(for: [routed], timeout: 60)
  }

  func test_row_0_12_synchronousCall_completes_whenItsDeliveryWouldBeBlocked() throws {
    let onMain = network(StubTransport { _ in .json("7") }).with {
      $0.delivery = MainScheduler.instance
      $0.mapping = MainScheduler.instance
    }
    XCTAssertTrue(MainThread.isCurrent)
    XCTAssertEqual(try onMain.wait(for: Get()), 7)
    let server = try TestServer { _ in .json("8") }
    XCTAssertEqual(try Network(Backend(baseURL: server.url)).wait(for: Get()), 8)
    for none in [nil, Duration.seconds(1_000_000_000_000), .seconds(Int64.max)] {
      let network = network(StubTransport { _ in .json("7") }).with { $0.timeouts.attempt = none }
      XCTAssertEqual(try network.wait(for: Get()), 7, "a limit of \(none as Any)")
    }
    XCTAssertThrowsError(try network(StubTransport { _ in .failure(.tls) }).wait(for: Get())) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .tls)
    }
  }

  func test_row_0_12_synchronousCalls_complete_onManyGlobalQueueThreads() throws {
    let server = try TestServer { _ in TestServer.Response.json("8").delayed(by: 0.05) }
    let transport = DefaultTransport.make()
    let network = Network(Backend(baseURL: server.url, transport: transport, timeouts: .init(attempt: .seconds(10))))
    let count = 100
    let failures = Locked<[String]>([])
    let done = expectation(description: "all callers are back")
    done.expectedFulfillmentCount = count
    for _ in 0..<count {
      // All of them block threads of the pool, which a concurrent mapping queue would need.
      DispatchQueue.global().async {
        do {
          let value = try network.wait(for: Get())
          if value != 8 { failures.withLock { $0.append("\(value)") } }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        done.fulfill()
      }
    }
    wait(for: [done], timeout: 120)
    XCTAssertEqual(failures.withLock { $0 }, [])
  }

  func test_row_0_12_callThatWouldWaitForItself_failsInsteadOfDeadlocking() throws {
    /// A transport that violates its contract: it completes on the main queue, which is blocked.
    struct OnMain: Transport {
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable {
        DispatchQueue.main.async { completion(.success(Response(request: request))) }
        return Disposables.create()
      }
    }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: OnMain(), timeouts: .init(attempt: .seconds(0.01))))
    XCTAssertThrowsError(try network.wait(for: Get())) { XCTAssertEqual(($0 as? NetworkError)?.kind, .timeout) }

    // Without a limit, a minute without a request in flight ends the wait, and a slow request does not.
    final class Advancing: Interceptor {
      let clock = TestScheduler()
      let isOver = Locked(false)
      let sends: Bool
      init(sends: Bool) { self.sends = sends }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        (sends ? next(request) : .never()).do(
          onSubscribed: { [self] in
            DispatchQueue.global().async { [self] in
              if sends { return clock.advanceBy(600) }
              while !isOver.withLock({ $0 }) { clock.advanceBy(61) }
            }
          })
      }
    }
    for sends in [true, false] {
      let advancing = Advancing(sends: sends)
      let slow = StubTransport(on: advancing.clock) { _ in .json("7", after: .seconds(600)) }
      let waiting = Network(
        Backend(
          baseURL: URL(string: "http://h"), transport: slow, clock: advancing.clock, interceptors: [advancing]))
      XCTAssertEqual(try? waiting.wait(for: Get()), sends ? 7 : nil)
      advancing.isOver.withLock { $0 = true }
    }

    let inner = self.network(StubTransport { _ in .json("1") })
    let nested = Locked<NetworkError.Kind?>(nil)
    let outer = self.network(StubTransport { _ in .failure(.tls) }).with { backend in
      backend.onError = { _ in
        do { _ = try inner.wait(for: Get()) } catch { nested.withLock { $0 = (error as? NetworkError)?.kind } }
      }
    }
    XCTAssertThrowsError(try outer.wait(for: Get()))
    XCTAssertEqual(nested.withLock { $0 }, .invalidRequest)
  }
}

/// Concurrent completions and cancellations on many threads.
final class RouterRaceTests: XCTestCase {
  private enum API: Endpoint {
    case a
    var path: String { "/a" }
  }

  func test_row_2_11_cancellingDuringResponses_callsEachCompletionOnce() {
    let router = Router<API>(
      Network(Backend(baseURL: URL(string: "http://h"), transport: StubTransport { _ in .json("1") })))
    let count = 200
    let called = Counter()
    let done = expectation(description: "all completed")
    done.expectedFulfillmentCount = count
    done.assertForOverFulfill = true
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let running = router.request(.a) { _ in
        called.next()
        done.fulfill()
      }
      if index % 3 == 0 { running.cancel() }
      if index % 50 == 0 { router.cancel() }
    }
    wait(for: [done], timeout: 20)
    XCTAssertEqual(called.value, count)
    router.cancel()
  }
}
