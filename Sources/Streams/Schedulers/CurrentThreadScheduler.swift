import Foundation

/// A scheduler that runs work on the calling thread, immediately or after the item that is running there (a
/// trampoline).
public final class CurrentThreadScheduler: ImmediateSchedulerType {
  /// The shared instance.
  public static let instance = CurrentThreadScheduler()

  private final class Items {
    var queue = Queue<ScheduledItem>()
  }

  private static let key = "Streams.CurrentThreadScheduler"

  private init() {}

  /// Runs `action` on this thread: before returning if no item of this scheduler is running on it, otherwise after the
  /// items scheduled before.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    let item = ScheduledItem(action)
    let storage = Thread.current.threadDictionary
    if let items = storage[Self.key] as? Items {
      items.queue.append(item)
      return item
    }
    let items = Items()
    storage[Self.key] = items
    item.run()
    while let next = items.queue.popFirst() { next.run() }
    storage.removeObject(forKey: Self.key)
    return item
  }
}
