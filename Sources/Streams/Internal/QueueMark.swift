import Dispatch

/// A mark on dispatch queues, so that code can check whether it runs on one of them.
package struct QueueMark: @unchecked Sendable {  // safe: a constant, `Sendable` itself in newer toolchains
  private let key = DispatchSpecificKey<Bool>()

  package init() {}

  package func put(on queue: DispatchQueue) { queue.setSpecific(key: key, value: true) }

  /// Whether the current code runs on a marked queue, or on a queue that targets one.
  package var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}
