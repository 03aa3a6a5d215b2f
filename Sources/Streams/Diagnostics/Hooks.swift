import PortableFoundation

/// Process-wide hooks for unhandled errors and for leak tests.
public enum Hooks {
  /// A closure that receives an unhandled error, with the file and line of the `subscribe` call that lacks `onError`.
  public typealias UnhandledErrorHandler = @Sendable (_ error: any Error, _ file: StaticString, _ line: UInt) -> Void

  // Guards the handler, which is called outside the lock.
  private static let handler = Locked<UnhandledErrorHandler>(Hooks.printToStandardError)

  /// The handler of unhandled errors; by default it prints one line to standard error (contract, law 6). It runs on the
  /// failing thread.
  public static var onUnhandledError: UnhandledErrorHandler {
    get { handler.withLock { $0 } }
    set { handler.release { exchange(&$0, with: newValue) } }
  }

  /// The number of live subscriptions in this process, including those made by operators.
  ///
  /// It returns to its previous value when new subscriptions have terminated or been disposed (contract, law 28). While
  /// other threads subscribe or dispose, it is an estimate.
  public static var liveSubscriptionCount: Int { liveSubscriptions.sum }

  private static let printToStandardError: UnhandledErrorHandler = { error, file, line in
    StandardError.print("Unhandled stream error, subscribed at \(file):\(line): \(error)")
  }
}
