#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Synchronization

  /// A job from another thread, in the inbox of the loop.
  // @unchecked Sendable: used by one thread at a time; the inbox passes it on.
  final class CurlJob: CurlInboxEntry, @unchecked Sendable {
    let job: UnownedJob
    var next: UInt = 0

    init(_ job: UnownedJob) { self.job = job }
  }

  /// The jobs that are ready, in the order of their arrival. Only the loop's thread uses them.
  struct CurlJobs {
    private var jobs: [UnownedJob] = []
    private var first = 0

    var isEmpty: Bool { first == jobs.count }

    mutating func append(_ job: UnownedJob) { jobs.append(job) }

    mutating func next() -> UnownedJob? {
      guard first < jobs.count else { return nil }
      defer {
        first += 1
        if first == jobs.count {
          jobs.removeAll(keepingCapacity: first <= 1024)
          first = 0
        } else if first >= 1024, first * 2 > jobs.count {
          jobs.removeFirst(first)
          first = 0
        }
      }
      return jobs[first]
    }
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
      if isCurrent, !ccurl_is_forked() {
        hasJobs = true
        return jobs.append(job)
      }
      guard !ccurl_is_forked(), inbox.submit(CurlJob(job)) else { return Self.hand(job) }
      wake()
    }

    private static func hand(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }

    /// Runs the jobs that are ready, at most those of one turn.
    func runJobs() {
      inbox.takeJobs { jobs.append($0.job) }
      var count = 0
      while count < Self.jobsPerTurn, let job = jobs.next() {
        count += 1
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      hasJobs = !jobs.isEmpty
    }

    /// Hands the jobs that are ready to the global executor. No further job is enqueued here.
    func handOverJobs() {
      thread.store(0, ordering: .relaxed)
      while let job = jobs.next() { Self.hand(job) }
    }
  }
#endif
