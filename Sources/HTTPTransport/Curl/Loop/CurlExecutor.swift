#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams
  import Synchronization

  /// A job from another thread, in the inbox of the loop.
  // @unchecked Sendable: used by one thread at a time; the inbox passes it on.
  final class CurlJob: CurlInboxEntry, @unchecked Sendable {
    let job: UnownedJob
    var next: UInt = 0

    init(_ job: UnownedJob) { self.job = job }
  }

  // The tasks that prefer the loop's thread keep the loop alive, not the transport.
  extension CurlLoop: TaskExecutor {
    /// The jobs of one turn: sockets, limits and cancellations must not wait for a loop of `Task.yield()`.
    static let jobsPerTurn = 64

    /// Whether the current thread is that of the loop.
    var isCurrent: Bool {
      let thread = thread.load(ordering: .relaxed)
      return thread != 0 && thread == Self.currentThread
    }

    /// The identity of a thread, a number or a pointer.
    static var currentThread: UInt {
      let thread = pthread_self()
      return withUnsafeBytes(of: thread) { $0.load(as: UInt.self) }
    }

    /// Runs `job` in a later turn, never in here; on the global executor if the loop has ended, or in a child process of
    /// `fork`, which has no loop.
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isForked = ccurl_is_forked()
      if !isForked, isCurrent {
        hasJobs = true
        return jobs.append(job)
      }
      guard !isForked, inbox.submit(CurlJob(job)) else { return Self.hand(job) }
      wake()
    }

    private static func hand(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }

    /// Runs the jobs that are ready, at most those of one turn.
    func runJobs() {
      inbox.takeJobs { jobs.append($0.job) }
      var count = 0
      while count < Self.jobsPerTurn, let job = jobs.popFirst() {
        count += 1
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      hasJobs = !jobs.isEmpty
    }

    /// Hands the jobs that are ready to the global executor. No further job is enqueued here.
    func handOverJobs() {
      thread.store(0, ordering: .relaxed)
      while let job = jobs.popFirst() { Self.hand(job) }
    }
  }
#endif
