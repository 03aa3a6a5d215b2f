import Foundation

/// Turns Ctrl-C into a call.
enum Interrupt {
  /// Calls `action` once, off the main thread, when the process is interrupted; a second interrupt kills it, should
  /// `action` hang.
  static func handle(_ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      signal(SIGINT, SIG_DFL)
      action()
    }
    source.resume()
    return source
  }
}
