/// Runs work at once, inside `schedule`.
public final class ImmediateScheduler: ImmediateSchedulerType {
  /// The scheduler.
  public static let instance = ImmediateScheduler()

  private init() {}

  /// Runs `action` before it returns.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    action()
    return Disposables.create()
  }
}
