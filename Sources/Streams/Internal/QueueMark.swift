import Dispatch

/// A mark on dispatch queues, by which code finds out whether it runs on one of them.
package struct QueueMark: @unchecked Sendable {  // safe: a constant, `Sendable` itself in newer toolchains
  private let key = DispatchSpecificKey<Bool>()

  package init() {}

  /// Marks `queue`.
  package func put(on queue: DispatchQueue) { queue.setSpecific(key: key, value: true) }

  /// Whether the caller runs on a marked queue, or on one that targets it.
  package var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}
