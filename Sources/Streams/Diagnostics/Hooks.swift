import PortableFoundation
import Synchronization

// Counted by the `init` and `deinit` of every subscription.
let liveSubscriptions = Atomic<Int>(0)

/// Process-wide hooks for what no stream can handle itself, and for tests.
public enum Hooks {
  /// Gets an error that reached a `subscribe` without an `onError`, with the place of that `subscribe`.
  public typealias UnhandledErrorHandler = @Sendable (_ error: any Error, _ file: StaticString, _ line: UInt) -> Void

  // Guards the handler, which is called outside.
  private static let handler = Locked<UnhandledErrorHandler>(Hooks.printToStandardError)

  /// What happens to errors nobody handles; by default one line on stderr (law 6). Called on the failing thread.
  public static var onUnhandledError: UnhandledErrorHandler {
    get { handler.withLock { $0 } }
    set {
      let former = handler.withLock { handler in
        let former = handler
        handler = newValue
        return former
      }
      withExtendedLifetime(former) {}  // released outside the lock
    }
  }

  /// How many subscriptions, operators' own included, are alive in this process: it returns to its former value when
  /// what was subscribed has ended or been disposed (law 28).
  public static var liveSubscriptionCount: Int { liveSubscriptions.load(ordering: .relaxed) }

  private static let printToStandardError: UnhandledErrorHandler = { error, file, line in
    StandardError.print("Unhandled stream error, subscribed at \(file):\(line): \(error)")
  }
}
