/// A scheduler that runs work immediately, inside `schedule`.
public final class ImmediateScheduler: ImmediateSchedulerType {
  /// The shared instance.
  public static let instance = ImmediateScheduler()

  private init() {}

  /// Runs `action` before returning.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    action()
    return Disposables.create()
  }
}
