#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import NetLayer
  import Streams
  import Synchronization
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  /// The transport's thread as the executor of tasks.
  final class ExecutorTests: XCTestCase {
    private func transport() throws -> CurlTransport {
      try XCTSkipIf(CurlTransport.capabilities == nil, "requires libcurl")
      return try CurlTransport()
    }

    private final class Tally: Sendable {
      private let count = Atomic(0)
      var value: Int { count.load(ordering: .relaxed) }
      func next() { count.add(1, ordering: .relaxed) }
    }

    private struct Item: Codable, Sendable, Equatable { var id: Int }

    private func server() throws -> TestServer { try TestServer { _ in .json(#"{"id":1}"#) } }

    func test_jobs_runOnTheTransportsThread_andComeBackToIt() async throws {
      let (transport, server) = (try transport(), try server())
      let network = Network(Backend(baseURL: server.url, transport: transport))
      XCTAssertFalse(transport.isCurrentThread)
      let seen = try await withTaskExecutorPreference(transport.executor) {
        var seen = [transport.isCurrentThread]
        _ = try await network.fetch(.get("/"), as: Item.self)
        seen.append(transport.isCurrentThread)
        try await Task.sleep(for: .milliseconds(1))
        seen.append(transport.isCurrentThread)
        await Task.yield()
        seen.append(transport.isCurrentThread)
        await MainActor.run {}
        seen.append(transport.isCurrentThread)
        async let child = transport.isCurrentThread
        seen.append(await child)
        seen.append(
          await withTaskGroup(of: Bool.self) { group in
            group.addTask { transport.isCurrentThread }
            return await group.next() ?? false
          })
        return seen
      }
      XCTAssertEqual(seen, Array(repeating: true, count: 7))
      let unstructured = await withTaskExecutorPreference(transport.executor) {
        await Task { transport.isCurrentThread }.value
      }
      XCTAssertFalse(unstructured)
      let preferring = await Task(executorPreference: transport.executor) { transport.isCurrentThread }.value
      XCTAssertTrue(preferring)
    }

    func test_mainActorAndActors_keepTheirIsolation() async throws {
      let transport = try transport()
      actor Counter {
        private var isInside = false
        private(set) var count = 0
        func next() {
          XCTAssertFalse(isInside)
          isInside = true
          count += 1
          isInside = false
        }
      }
      let counter = Counter()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<16 {
          group.addTask(executorPreference: number.isMultiple(of: 2) ? transport.executor : nil) {
            for _ in 0..<100 { await counter.next() }
            await MainActor.run { XCTAssertTrue(Thread.isMainThread) }
          }
        }
      }
      let count = await counter.count
      XCTAssertEqual(count, 1600)
    }

    func test_callWithInterceptors_staysOnTheThread() async throws {
      let (transport, server) = (try transport(), try server())
      let mapping = Counting()
      let network = Network(
        Backend(baseURL: server.url, transport: transport, mapping: mapping, interceptors: [RetryInterceptor()]))
      try await withTaskExecutorPreference(transport.executor) {
        for _ in 0..<10 { _ = try await network.fetch(.get("/"), as: Item.self) }
      }
      XCTAssertEqual(mapping.count, 0, "the response does not cross threads")
      _ = try await network.fetch(.get("/"), as: Item.self)
      XCTAssertGreaterThan(mapping.count, 0)
    }

    /// A scheduler that counts its actions.
    private final class Counting: ImmediateSchedulerType {
      private let base = ConcurrentDispatchQueueScheduler(qos: .default)
      private let actions = Tally()
      var count: Int { actions.value }
      func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
        actions.next()
        return base.schedule(action)
      }
    }

    func test_shutdownInAJob_endsEveryTask() async throws {
      let transport = try transport()
      let steps = Tally()
      await withTaskExecutorPreference(transport.executor) {
        await transport.shutdownAndWait()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<100 {
            group.addTask {
              await Task.yield()
              steps.next()
            }
          }
        }
      }
      XCTAssertEqual(steps.value, 100)
    }

    /// In the child, Swift's own executor may not run the job, either.
    func test_childOfFork_doesNotWait_andItsParentContinues() async throws {
      let transport = try transport()
      let status = try statusOfAChild { Task(executorPreference: transport.executor) {} }
      XCTAssertEqual(status, 7 << 8, "an alarm ends a child that waits")
      let ran = Tally()
      await withTaskExecutorPreference(transport.executor) { ran.next() }
      XCTAssertEqual(ran.value, 1)
    }

    /// Returns the status of a child process of `fork`, which Swift hides, that calls `body` and exits with 7.
    private func statusOfAChild(_ body: () -> Void) throws -> Int32 {
      typealias Fork = @convention(c) () -> pid_t
      let fork = unsafeBitCast(try XCTUnwrap(dlsym(nil, "fork")), to: Fork.self)
      let child = fork()
      if child == 0 {
        alarm(10)
        body()
        _exit(7)
      }
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      return status
    }

    func test_releasedTransports_leaveNoTaskBehind() async throws {
      _ = try transport()
      let steps = Tally()
      for _ in 0..<20 {
        let task: Task<Void, Never>
        do {
          let transport = try CurlTransport()
          task = Task(executorPreference: transport.executor) {
            for _ in 0..<50 {
              await Task.yield()
              steps.next()
            }
          }
        }
        await task.value
      }
      XCTAssertEqual(steps.value, 1000)
    }

    func test_firstJobOfTheCreator_isNotLost() async throws {
      _ = try transport()
      for _ in 0..<50 {
        let transport = try CurlTransport()
        let isOn = await Task(executorPreference: transport.executor) { transport.isCurrentThread }.value
        XCTAssertTrue(isOn)
      }
    }

    func test_shutdownAgainstEnqueuingThreads_losesNoJob() async throws {
      _ = try transport()
      for _ in 0..<30 {
        let transport = try CurlTransport()
        let steps = Tally()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<8 {
            group.addTask {
              for _ in 0..<20 {
                await Task(executorPreference: transport.executor) { steps.next() }.value
              }
            }
          }
          group.addTask { transport.shutdown() }
        }
        XCTAssertEqual(steps.value, 160)
      }
    }

    func test_endlessYields_stopNoOtherRequest() async throws {
      let (transport, server) = (try transport(), try server())
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let isOver = Flag()
      let spinning = (0..<100).map { _ in
        Task(executorPreference: transport.executor) { while !isOver.isRaised { await Task.yield() } }
      }
      for _ in 0..<20 {
        let item: Item = try await network.fetch(.get("/").timeout(.seconds(20)))
        XCTAssertEqual(item, Item(id: 1))
      }
      isOver.raise()
      for task in spinning { await task.value }
    }

    func test_jobsOfOneTurn_areLimited() async throws {
      let transport = try transport()
      var jobs = Queue<UnownedJob>()
      XCTAssertTrue(jobs.isEmpty)
      XCTAssertNil(jobs.popFirst())
      // A limit of 50 ms is reached while thousands of jobs wait.
      let server = try TestServer { _ in .init(delay: 60) }
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let done = Tally()
      let tasks = (0..<5000).map { _ in
        Task(executorPreference: transport.executor) {
          usleep(100)
          done.next()
        }
      }
      do throws(NetworkError) {
        try await network.fetch(.get("/").timeout(.milliseconds(50)))
        XCTFail("the call must time out")
      } catch {
        XCTAssertEqual(error.kind, .timeout)
        XCTAssertLessThan(done.value, 5000, "the limit has not waited for all jobs")
      }
      for task in tasks { await task.value }
    }

    func test_blockingCallOnTheThread_isAnError() async throws {
      let (transport, server) = (try transport(), try server())
      let network = Network(Backend(baseURL: server.url, transport: transport))
      @Sendable func blocks() -> NetworkError? {
        do {
          _ = try network.wait(for: Call<Response>.get("/"))
          return nil
        } catch { return error }
      }
      let error = await withTaskExecutorPreference(transport.executor) { blocks() }
      XCTAssertEqual(error?.kind, .invalidRequest)
      XCTAssertEqual(error?.reason.contains("would stop every request"), true, error?.reason ?? "")
      let completion = XCTestExpectation(description: "the completion")
      let control = transport.send(Request(url: server.url)) { _ in
        XCTAssertEqual(blocks()?.kind, .invalidRequest)
        completion.fulfill()
      }
      await fulfillment(of: [completion], timeout: 20)
      control.dispose()
    }

    func test_aThousandChildren_haveTheirResponses() async throws {
      let (transport, server) = (try transport(), try server())
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let sum = try await withTaskExecutorPreference(transport.executor) {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<1000 { group.addTask { try await network.fetch(.get("/"), as: Item.self).id } }
          return try await group.reduce(0, +)
        }
      }
      XCTAssertEqual(sum, 1000)
    }

    func test_cancellationFromAnotherThread_endsTheCall() async throws {
      let transport = try transport()
      let server = try TestServer { _ in .init(body: .bytes([]), delay: 60) }
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let task = Task(executorPreference: transport.executor) { () -> NetworkError.Kind? in
        do throws(NetworkError) {
          try await network.fetch(.get("/"))
          return nil
        } catch { return error.kind }
      }
      XCTAssertTrue(holds { server.requests.count == 1 })
      task.cancel()
      let kind = await task.value
      XCTAssertEqual(kind, .cancelled)
    }

    func test_streamedBody_isReadOnTheThread() async throws {
      let (transport, body) = (try transport(), String(repeating: "a", count: 300_000))
      let server = try TestServer { _ in .text(body) }
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let count = try await withTaskExecutorPreference(transport.executor) {
        try await network.withStream(.get("/")) { stream in
          var count = 0
          for try await chunk in stream.chunks { count += chunk.count }
          return count
        }
      }
      XCTAssertEqual(count, body.utf8.count)
    }
  }
#endif
