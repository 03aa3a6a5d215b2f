import Foundation
import HTTPTransport
import NetLayer
import Streams

extension ResponseCache {
  /// Creates a cache that uses `clock` before a network does.
  package convenience init(
    storingIn directory: URL?, maxMemorySize: Int = 8 << 20, maxDiskSize: Int = 50 << 20, clock: any SchedulerType,
    onProblem: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) {
    self.init(storingIn: directory, maxMemorySize: maxMemorySize, maxDiskSize: maxDiskSize, onProblem: onProblem)
    follow(clock)
  }
}
