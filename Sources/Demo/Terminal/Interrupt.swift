import PortableFoundation

/// Turns Ctrl-C into a call.
enum Interrupt {
  /// Keeps the signal from every thread, so that it waits for `handle`; called first of all, before there are threads.
  ///
  /// A dispatch source would have to ignore the signal first, and lose one that comes before it listens.
  static func hold() {
    var interrupt = Self.signals
    pthread_sigmask(SIG_BLOCK, &interrupt, nil)
  }

  /// Calls `action` once, on a thread of its own, when the process is or has been interrupted; a second interrupt kills
  /// it, should `action` hang.
  static func handle(_ action: @escaping @Sendable () -> Void) {
    do {
      try DetachedThread.start("Interrupt") {
        var interrupt = Self.signals
        var number: Int32 = 0
        guard sigwait(&interrupt, &number) == 0 else { return }
        release()
        action()
      }
    } catch {
      // Without a thread that waits for it, the signal ends the process.
      release()
    }
  }

  private static func release() {
    var interrupt = Self.signals
    signal(SIGINT, SIG_DFL)
    pthread_sigmask(SIG_UNBLOCK, &interrupt, nil)
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    return signals
  }
}
