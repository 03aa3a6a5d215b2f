import PortableFoundation
import Streams

/// The uploads of this process, by the path of their note: those that run, and those whose result was taken.
///
/// The note of a taken result remains for a second: the app has yet to record it, and a process that is killed meanwhile
/// would upload the file again. In this process it counts as removed, and a process that exits removes it.
final class UploadRegistry: Sendable {
  static let shared = UploadRegistry()

  /// The time that an app has to record a result.
  static let grace = Duration.seconds(1)

  private struct Runs {
    var running: [String: (run: ObjectIdentifier, cancel: @Sendable () -> Void)] = [:]
    var taken: [String: @Sendable () -> Void] = [:]
  }

  /// Guards the tables; functions of uploads are called outside the lock.
  private let runs = Locked(Runs())
  /// Held while notes are removed, so that a new upload does not find one whose removal has begun on another thread.
  private let removing = Locked(())

  private init() { atexit { UploadRegistry.shared.settle() } }

  func insert(_ path: String, _ run: ObjectIdentifier, _ cancel: @escaping @Sendable () -> Void) {
    runs.withLock { $0.running[path] = (run, cancel) }
  }

  func remove(_ path: String, _ run: ObjectIdentifier) {
    runs.withLock { if $0.running[path]?.run == run { $0.running[path] = nil } }
  }

  /// The closure that cancels a running upload.
  subscript(path: String) -> (@Sendable () -> Void)? { runs.withLock { $0.running[path]?.cancel } }

  /// Keeps the note at `path` for the grace time, then calls `remove`, which removes it.
  func keep(_ path: String, on clock: any SchedulerType, _ remove: @escaping @Sendable () -> Void) {
    runs.withLock { $0.taken[path] = remove }
    _ = clock.scheduleRelative(Self.grace) { [self] in settle(path) }
  }

  /// Removes the note at `path`, or all, whose results were taken.
  func settle(_ path: String? = nil) {
    removing.withLock { _ in
      let removals = runs.withLock { runs in
        guard let path else { return Array(exchange(&runs.taken, with: [:]).values) }
        return runs.taken.removeValue(forKey: path).map { [$0] } ?? []
      }
      for remove in removals { remove() }
    }
  }
}
