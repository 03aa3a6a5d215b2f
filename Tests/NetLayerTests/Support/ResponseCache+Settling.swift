@testable import NetLayer

extension ResponseCache {
  /// Waits until all started writes are on disk, and returns the number of entries there and their bytes.
  func settle() -> (count: Int, bytes: Int) {
    // Each round may start more work: a lookup of variants, the file, its name, the directory.
    for _ in 0..<4 {
      queue.sync {}
      writing.sync {}
    }
    return queue.sync { disk?.size ?? (0, 0) }
  }
}
