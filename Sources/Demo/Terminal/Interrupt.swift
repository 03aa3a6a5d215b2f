import PortableFoundation

/// A handler of Ctrl-C.
enum Interrupt {
  /// Blocks the signal in all threads, so that it is pending until `handle`. Call it before any thread starts.
  ///
  /// A dispatch source requires that the signal be ignored first, so an early signal would be lost.
  static func hold() {
    var interrupt = Self.signals
    pthread_sigmask(SIG_BLOCK, &interrupt, nil)
  }

  /// Calls `action` once, on its own thread, when the process is interrupted, or immediately if it has been. A second
  /// interrupt ends the process, in case `action` hangs.
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
      // Without this thread, the signal ends the process.
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
