import Foundation
import Races
import Streams
import StreamsTesting
import Synchronization
import XCTest

@testable import HTTPTransport

/// The places at which a thread hands bytes or transfers over to another: two threads meet there again and again, and
/// nothing may be lost or sleep forever.
final class TransportHandOverTests: XCTestCase {
  private final class Control: StreamControl {
    let resumes = Atomic<Int>(0)
    var isDisposed: Bool { false }

    func resume() { resumes.add(1, ordering: .sequentiallyConsistent) }
    func dispose() {}
  }

  private typealias Buffer = FlowBuffer<Data, NetworkError?, any StreamControl>

  /// One buffer, and what its two sides have seen.
  private final class Flow: Sendable {
    let buffer: Buffer
    let control = Control()
    let paused = Atomic<Bool>(false)
    let taken = Atomic<Int>(0)

    init(limit: Int) {
      buffer = Buffer(ImmediateScheduler.instance, limit: limit, cost: \.count, asControl: { $0 })
    }

    func push(_ size: Int) {
      if buffer.push(Data(count: size)) == .pause { paused.store(true, ordering: .sequentiallyConsistent) }
    }

    /// Takes elements until there are none, and registers `ready` for the next one.
    func drain(orCall ready: @escaping @Sendable () -> Void = {}) {
      while true {
        guard case .element = buffer.take(isTask: true, orCall: ready) else { return }
        taken.add(1, ordering: .sequentiallyConsistent)
      }
    }
  }

  func test_flowBuffer_deliversAllToAWaitingConsumer() {
    let flow = Held<Flow>()
    let failures = failures(
      inRounds: 5000,
      prepare: {
        let new = Flow(limit: 100)
        new.buffer.attach(new.control)
        flow.value = new
      },
      { flow.value?.push(1) },
      { if let flow = flow.value { flow.drain { flow.drain() } } },
      check: { flow.value?.taken.load(ordering: .sequentiallyConsistent) == 1 })
    XCTAssertEqual(failures, 0)
  }

  func test_flowBuffer_resumesWhatItHasPaused() {
    let flow = Held<Flow>()
    let failures = failures(
      inRounds: 5000,
      prepare: {
        let new = Flow(limit: 2)
        new.buffer.attach(new.control)
        new.push(1)
        flow.value = new
      },
      { flow.value?.push(1) }, { flow.value?.drain() },
      check: {
        guard let flow = flow.value else { return false }
        flow.drain()
        return !flow.paused.load(ordering: .relaxed) || flow.control.resumes.load(ordering: .relaxed) == 1
      })
    XCTAssertEqual(failures, 0)
  }

  func test_flowBuffer_passesTheEndToAControlThatIsAttachedMeanwhile() {
    let flow = Held<Flow>()
    let over = Atomic<Int>(0)
    let failures = failures(
      inRounds: 5000,
      prepare: {
        let new = Flow(limit: 2)
        over.store(0, ordering: .relaxed)
        new.push(2)
        new.buffer.whenAttached { over.add(1, ordering: .relaxed) }
        flow.value = new
      },
      { if let flow = flow.value { flow.buffer.attach(flow.control) } },
      {
        flow.value?.drain()
        flow.value?.buffer.whenAttached { over.add(1, ordering: .relaxed) }
      },
      check: {
        // The consumer made room before or after the control was attached: it is resumed either way.
        flow.value?.control.resumes.load(ordering: .relaxed) == 1 && over.load(ordering: .relaxed) == 2
      })
    XCTAssertEqual(failures, 0)
  }
}

#if canImport(CLibcurl)
  extension TransportHandOverTests {
    /// An inbox, its loop, and the transfers that pass through it.
    private final class Post: @unchecked Sendable {  // safe: the two threads of a round use different properties
      let inbox = CurlInbox()
      let transfers: [CurlTransfer]
      let woken = Atomic<Int>(0)
      let accepted = Atomic<Int>(0)
      var taken = 0
      var sleeps = false

      init(_ transfers: [CurlTransfer]) { self.transfers = transfers }

      func send(_ transfer: CurlTransfer) {
        if inbox.submit(transfer) { accepted.add(1, ordering: .sequentiallyConsistent) }
        wake()
      }

      func resume(_ transfer: CurlTransfer) {
        inbox.resume(transfer)
        wake()
      }

      func wake() { inbox.waker.wakeIfAsleep { woken.add(1, ordering: .sequentiallyConsistent) } }

      func send(_ job: CurlJob) {
        if inbox.submit(job) { accepted.add(1, ordering: .sequentiallyConsistent) }
        wake()
      }

      func takeAll() {
        inbox.takeJobs(count)
        inbox.takeAll(submitted: count, cancelled: count, resumed: count)
      }

      func count(_ entry: some CurlInboxEntry) { taken += 1 }
    }

    /// Keeps the job of a task, which is never run before the end of the test.
    private final class Keeper: TaskExecutor {
      let job = Held<UnownedJob>()
      func enqueue(_ job: consuming ExecutorJob) { self.job.value = UnownedJob(job) }

      static func job(_ test: XCTestCase) throws -> UnownedJob {
        let keeper = Keeper()
        Task(executorPreference: keeper) {}
        let job = try XCTUnwrap(keeper.job.value)
        test.addTeardownBlock { job.runSynchronously(on: keeper.asUnownedTaskExecutor()) }
        return job
      }
    }

    private func post() throws -> @Sendable () -> Post {
      try XCTSkipIf(CurlTransport.capabilities == nil, "requires libcurl")
      // Its thread does not run.
      let loop = try XCTUnwrap(CurlLoop(CurlTransport.Configuration()))
      let request = Request(url: try XCTUnwrap(URL(string: "http://h/")))
      return { Post((0..<2).map { _ in CurlTransfer(request, loop: loop) { _ in } }) }
    }

    func test_inbox_losesNoTransferOfTwoSenders() throws {
      let make = try post()
      let post = Held<Post>()
      let failures = failures(
        inRounds: 5000, prepare: { post.value = make() },
        { if let post = post.value { post.send(post.transfers[0]) } },
        { if let post = post.value { post.send(post.transfers[1]) } },
        check: {
          post.value?.takeAll()
          return post.value?.taken == 2
        })
      XCTAssertEqual(failures, 0)
    }

    func test_inbox_doesNotSleepOverATransfer() throws {
      let job = try Keeper.job(self)
      for kind in ["submit", "resume", "job", "close"] {
        let make = try post()
        let post = Held<Post>()
        let failures = failures(
          inRounds: 3500, prepare: { post.value = make() },
          {
            // The loop.
            post.value?.takeAll()
            if let post = post.value { post.sleeps = post.inbox.fallAsleep() }
          },
          {
            guard let post = post.value else { return }
            switch kind {
            case "submit": post.send(post.transfers[0])
            case "resume": post.resume(post.transfers[0])
            case "job": post.send(CurlJob(job))
            default:
              post.inbox.close()
              post.wake()
            }
          },
          check: {
            guard let post = post.value else { return false }
            // A loop that sleeps has been woken, unless it took the transfer before.
            let isDone = !post.sleeps || post.woken.load(ordering: .relaxed) == 1 || post.taken == 1
            post.takeAll()
            return isDone
          })
        XCTAssertEqual(failures, 0, kind)
      }
    }

    func test_inbox_takesAResumptionThatArrivesWhileAnotherIsTaken() throws {
      let make = try post()
      let post = Held<Post>()
      let failures = failures(
        inRounds: 5000,
        prepare: {
          let new = make()
          new.inbox.resume(new.transfers[0])
          post.value = new
        },
        { post.value?.takeAll() },
        { if let post = post.value { post.resume(post.transfers[0]) } },
        check: {
          guard let post = post.value else { return false }
          // Either the first taking includes the second resumption, or it is still in the queue.
          let before = post.taken
          post.takeAll()
          return before == 1 && post.taken <= 2 && !post.transfers[0].isResuming.load(ordering: .relaxed)
        })
      XCTAssertEqual(failures, 0)
    }

    func test_inbox_acceptsATransferOrRejectsIt_whenTheLoopEnds() throws {
      let make = try post()
      let job = try Keeper.job(self)
      let post = Held<Post>()
      for isJob in [false, true] {
        let failures = failures(
          inRounds: 5000, prepare: { post.value = make() },
          { if let post = post.value { post.inbox.end(post.count, jobs: post.count) } },
          {
            guard let post = post.value else { return }
            if isJob { post.send(CurlJob(job)) } else { post.send(post.transfers[0]) }
          },
          check: { post.value.map { $0.accepted.load(ordering: .relaxed) == $0.taken } ?? false })
        XCTAssertEqual(failures, 0)
      }
    }
  }
#endif
