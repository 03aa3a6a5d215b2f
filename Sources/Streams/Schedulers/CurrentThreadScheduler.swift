import PortableFoundation

/// A scheduler that runs work on the calling thread, immediately or after the item that is running there (a
/// trampoline).
public final class CurrentThreadScheduler: ImmediateSchedulerType {
  /// The shared instance.
  public static let instance = CurrentThreadScheduler()

  private final class Items {
    var queue = Queue<ScheduledItem>()
  }

  // The items of the current thread while it runs `schedule`.
  private static let running = ThreadPointer()

  private init() {}

  /// Runs `action` on this thread: before returning if no item of this scheduler is running on it, otherwise after all
  /// items scheduled earlier.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let item = ScheduledItem(action)
    if let items = Self.running.value {
      Unmanaged<Items>.fromOpaque(items).takeUnretainedValue().queue.append(item)
      return item
    }
    let items = Items()
    Self.running.value = Unmanaged.passUnretained(items).toOpaque()
    withExtendedLifetime(items) {
      item.run()
      while let next = items.queue.popFirst() { next.run() }
    }
    Self.running.value = nil
    return item
  }
}
