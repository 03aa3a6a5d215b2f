#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams

  /// The thread of an event loop that drives libcurl.
  // @unchecked Sendable: other threads use only `end` and wake `multi`; everything else belongs to the loop's thread.
  class CurlThread: @unchecked Sendable {
    final let multi: OpaquePointer
    final let share = ccurl_share_init()
    final let configuration: CurlTransport.Configuration
    /// The earliest time at which a limit may expire. Then all limits are checked.
    final var nextCheck = Deadline.never
    /// The time at the start of the turn, which is precise enough for limits and cheaper than a call per callback.
    final var now = Deadline.now()
    final var turn: UInt64 = 0

    /// The actions to run after the end. Any thread appends; the loop takes them once and calls them outside the lock.
    private final let end = Locked((isOver: false, actions: [@Sendable () -> Void]()))

    init?(_ configuration: CurlTransport.Configuration) {
      guard let multi = ccurl_multi_init() else {
        if let share { ccurl_share_cleanup(share) }
        return nil
      }
      (self.multi, self.configuration) = (multi, configuration)
    }

    func run() {}

    /// Ends everything in flight, and then calls `cleanUp`.
    func endAll() {}

    /// The function that starts a thread. Tests replace it.
    @TaskLocal static var begin: @Sendable (_ name: String, _ work: @escaping @Sendable () -> Void) throws -> Void =
      DetachedThread.start

    /// Starts the thread. Returns 0, or the system's error code if it can't be started.
    final func start(_ name: String) -> Int32 {
      do {
        try Self.begin(name) { [self] in runToEnd() }
        return 0
      } catch {
        endAll()
        return SystemError.code(of: error) ?? EAGAIN
      }
    }

    private final func runToEnd() {
      // TLS libraries write without MSG_NOSIGNAL. A blocked SIGPIPE remains pending on this thread without effect.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      run()
      endAll()
    }

    /// Returns the wait in milliseconds, at most a minute, which limits the effect of a missed wake-up.
    final func milliseconds(until time: UInt64) -> Int32 {
      let wait = time == Deadline.never ? 60_000 : time <= now ? 0 : (time - now + 999_999) / 1_000_000
      return Int32(Swift.min(wait, 60_000))
    }

    /// Calls `action` on the loop's thread when the loop has ended; immediately if it has already ended.
    final func whenEnded(_ action: @escaping @Sendable () -> Void) {
      let hasEnded = end.withLock { end in
        if !end.isOver { end.actions.append(action) }
        return end.isOver
      }
      if hasEnded { action() }
    }

    /// Releases libcurl's objects, and then runs the actions.
    final func cleanUp() {
      ccurl_multi_cleanup(multi)
      if let share { ccurl_share_cleanup(share) }
      let former = end.withLock { exchange(&$0, with: (isOver: true, actions: [])) }
      for action in former.actions { action() }
    }
  }
#endif
