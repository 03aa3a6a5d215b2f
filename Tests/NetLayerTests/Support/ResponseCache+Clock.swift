import Foundation
import Streams

@testable import NetLayer

extension ResponseCache {
  /// Creates a cache that uses `clock` before a network does.
  convenience init(
    directory: URL?, memoryLimit: Int = 8 << 20, diskLimit: Int = 50 << 20, clock: any SchedulerType,
    onProblem: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) {
    self.init(directory: directory, memoryLimit: memoryLimit, diskLimit: diskLimit, onProblem: onProblem)
    follow(clock)
  }
}
