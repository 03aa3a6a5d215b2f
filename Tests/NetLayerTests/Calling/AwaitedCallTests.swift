import Dispatch
import Foundation
import HTTPTransport
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

/// The threads of a call that a task awaits: the transport only resumes the task, which reads the response and reports
/// the error.
final class AwaitedCallTests: XCTestCase {
  /// A scheduler that counts what it runs, on a thread of its own.
  private final class CountingScheduler: ImmediateSchedulerType {
    private let base = SerialDispatchQueueScheduler(internalSerialQueueName: "CountingScheduler")
    let runs = Counter()

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      runs.next()
      return base.schedule(action)
    }
  }

  private struct PassingInterceptor: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
  }

  private struct Invalidating: Endpoint {
    var path: String { "/x" }
    var invalidates: Set<CacheTag> { ["x"] }
  }

  /// A result whose `read` calls the closure of the test.
  private struct Observed: ResponseReadable {
    @TaskLocal static var onRead: @Sendable () -> Void = {}

    static func read(_ response: Response) throws -> Observed {
      onRead()
      return Observed()
    }
  }

  /// A transport with one thread, which completes one request after the other.
  private final class OneThread: Transport {
    private let queue = DispatchQueue(label: "AwaitedCallTests.transport")
    private static let key = DispatchSpecificKey<Bool>()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    init() { queue.setSpecific(key: Self.key, value: true) }

    func send(
      _ request: Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      queue.async {
        let fails = request.url.path.hasSuffix("fails")
        if fails { return completion(.failure(NetworkError(kind: .connection, reason: "refused", request: request))) }
        completion(.success(Response(request: request, body: Data("{}".utf8))))
      }
      return Disposables.create()
    }
  }

  private func network(_ change: (inout Backend) -> Void = { _ in }) -> Network {
    var backend = Backend(baseURL: URL(string: "http://api.test"), messages: .english, transport: OneThread())
    change(&backend)
    return Network(backend)
  }

  /// Runs `work` in a task and waits for its end. Returns `nil` if it does not end.
  private func ended<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result? {
    let result = Box<Result?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    Task.detached {
      let value = await work()
      result.value = value
      isOver.signal()
    }
    return isOver.wait(timeout: .now() + 60) == .success ? result.value : nil
  }

  func test_fetch_returnsItsResultAndItsError_whileTheDefaultMappingQueueIsFull() throws {
    let server = try TestServer { request in
      request.path == "/fails" ? .json(#"{"why":"gone"}"#, status: 404) : .json("{}")
    }
    defer { server.stop() }
    let reports = Counter()
    let network = Network(Backend(baseURL: server.url, onError: { _ in reports.next() }))
    // The first call on the transport, before the queue is full.
    XCTAssertEqual(ended { (try? await network.fetch(.get("/x"), as: Data.self)) != nil }, true)
    let release = DispatchSemaphore(value: 0)
    let blocked = DispatchGroup()
    for _ in 0..<600 { DispatchQueue.global(qos: .userInitiated).async(group: blocked) { release.wait() } }
    defer {
      for _ in 0..<600 { release.signal() }
      XCTAssertEqual(blocked.wait(timeout: .now() + 60), .success)
    }
    XCTAssertEqual(ended { try? await network.fetch(.get("/x"), as: String.self) }, "{}")
    let refused = Network(Backend(baseURL: URL(string: "http://127.0.0.1:1"), onError: { _ in reports.next() }))
    let homeless = Network(Backend(onError: { _ in reports.next() }))
    for (network, path, kind) in [
      (network, "/fails", NetworkError.Kind.status), (refused, "/x", .connection), (homeless, "/x", .invalidRequest),
    ] {
      let error: NetworkError?? = ended {
        do throws(NetworkError) {
          _ = try await network.fetch(.get(path), as: String.self)
          return nil
        } catch { return error }
      }
      XCTAssertEqual(error??.kind, kind, path)
    }
    XCTAssertEqual(reports.value, 3)
  }

  func test_aDecoderThatWaitsForAnotherCall_returns() {
    let network = network()
    let other = DispatchSemaphore(value: 0)
    let didWait = Box(false)
    let isRead = ended {
      await Observed.$onRead.withValue({
        XCTAssertFalse(OneThread.isCurrent)
        Task.detached {
          _ = try? await network.fetch(.get("/other"), as: String.self)
          other.signal()
        }
        didWait.value = other.wait(timeout: .now() + 60) == .success
      }) { (try? await network.fetch(.get("/x"), as: Observed.self)) != nil }
    }
    XCTAssertEqual(isRead, true)
    XCTAssert(didWait.value)
  }

  func test_anErrorHandlerThatWaitsForAnotherCall_returns() {
    let other = DispatchSemaphore(value: 0)
    let notes = Notes()
    let network = network {
      let plain = Network($0)
      $0.mapError = { error in
        notes.add("mapped \(error.kind), \(error.message == "mapped" ? "twice" : "once")")
        XCTAssertFalse(OneThread.isCurrent)
        var error = error
        error.message = "mapped"
        return error
      }
      $0.onError = { error in
        notes.add("reported \(error.message)")
        XCTAssertFalse(OneThread.isCurrent)
        Task.detached {
          _ = try? await plain.fetch(.get("/other"), as: String.self)
          other.signal()
        }
        if other.wait(timeout: .now() + 60) == .success { notes.add("waited") }
      }
    }
    let message = ended {
      do throws(NetworkError) { return "\(try await network.response(.get("/fails")).status)" } catch {
        return error.message
      }
    }
    XCTAssertEqual(message, "mapped")
    XCTAssertEqual(notes.all, ["mapped connection, once", "reported mapped", "waited"])
  }

  func test_theMappingSchedulerRuns_onlyWithOtherCodeBetweenTheTransportAndTheTask() async throws {
    let call = Call<Response>.get("/x")
    let cases: [(String, Bool, (inout Backend) -> Void, @Sendable (Network) async throws -> Void)] = [
      ("fetch", false, { _ in }, { _ = try await $0.fetch(call) }),
      ("response", false, { _ in }, { _ = try await $0.response(call) }),
      ("interceptor", true, { $0.interceptors = [PassingInterceptor()] }, { _ = try await $0.fetch(call) }),
      ("progress", true, { _ in }, { _ = try await $0.fetch(call, progress: { _ in }) }),
      ("invalidation", true, { _ in }, { _ = try await $0.fetch(Invalidating()) }),
      ("single", true, { _ in }, { _ = try await $0.request(call).value }),
    ]
    for (name, maps, change, run) in cases {
      let mapping = CountingScheduler()
      try await run(
        network {
          $0.mapping = mapping
          change(&$0)
        })
      XCTAssertEqual(mapping.runs.value > 0, maps, name)
    }
  }

  func test_anErrorOfAFetch_isTheErrorOfARequest_andIsReportedOnce() async {
    func texts(_ path: String, _ change: (inout Backend) -> Void = { _ in }) async -> [String] {
      let notes = Notes()
      let network = network {
        change(&$0)
        $0.messages.network = "no server"
        $0.onError = { notes.add("\($0.kind) \($0.message) \($0.reason)") }
      }
      do throws(NetworkError) { _ = try await network.fetch(.get(path)) } catch {
        notes.add("\(error.kind) \(error.message) \(error.reason)")
      }
      do { _ = try await network.request(.get(path)).value } catch {
        let error = NetworkError.wrapping(error)
        notes.add("\(error.kind) \(error.message) \(error.reason)")
      }
      return notes.all
    }
    // Reported by `fetch`, thrown by it, and the same for `request`.
    for texts in [
      await texts("/fails"), await texts("/x") { $0.baseURL = nil },
      await texts("/x") {
        $0.transport = StubTransport { _ in .never }
        $0.timeouts.call = .milliseconds(1)
      },
    ] {
      XCTAssertEqual(texts.count, 4)
      XCTAssertEqual(Set(texts).count, 1, "\(texts)")
    }
    let first = await texts("/fails").first
    XCTAssertEqual(first, "connection no server refused")
  }

  func test_aTaskThatIsCancelledDuringItsResponse_getsTheResponseOrTheCancellation() async {
    let reports = Counter()
    let network = network { $0.onError = { _ in reports.next() } }
    for round in 0..<300 {
      let task = Task.detached { () async throws -> Int in try await network.response(.get("/x")).status }
      if round % 3 > 0 { await Task.yield() }
      task.cancel()
      switch await task.result {
      case .success(let status): XCTAssertEqual(status, 200)
      case .failure(let error): XCTAssertEqual((error as? NetworkError)?.kind, .cancelled)
      }
    }
    XCTAssertEqual(reports.value, 0, "a cancellation by the caller is not an error")
    XCTAssert(holds { network.requestsInFlightNow == 0 })
  }
}

extension Network {
  /// The number of requests in flight.
  fileprivate var requestsInFlightNow: Int? {
    let count = Box<Int?>(nil)
    requestsInFlight.subscribe(onNext: { count.value = $0 }).dispose()
    return count.value
  }
}
