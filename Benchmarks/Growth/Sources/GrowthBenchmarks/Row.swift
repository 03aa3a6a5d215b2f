import Foundation

/// One kind of work, and the program that does it for n things.
struct Row: Sendable {
  let name: String
  /// The smallest n that tells anything.
  var least = 16
  /// The largest n that makes sense; the factor is smaller if 16 n is above it.
  var most = 1 << 20
  /// Prepares n things, and returns the work.
  let prepare: @Sendable (Int) async throws -> @Sendable () async throws -> Void

  struct Growth {
    let name: String
    let counts: (Int, Int)
    let times: (Double, Double)

    var exponent: Double { log(times.1 / times.0) / log(Double(counts.1) / Double(counts.0)) }

    var line: String {
      func text(_ seconds: Double) -> String { String(format: "%.1f ms", seconds * 1000) }
      return "| \(name) | \(counts.0) | \(text(times.0)) | \(counts.1) | \(text(times.1)) "
        + "| \(String(format: "%.2f", exponent)) |"
    }
  }

  /// The CPU time of the process, the least of some runs.
  private func time(_ count: Int, runs: Int) async throws -> Double {
    var least = Double.infinity
    for _ in 0..<runs {
      let work = try await prepare(count)
      let start = Self.processTime
      try await work()
      least = min(least, Self.processTime - start)
    }
    return least
  }

  func growth() async throws -> Growth {
    _ = try await time(16, runs: 1)
    var count = least
    var time = try await time(count, runs: 3)
    while time < 0.001, count * 32 <= most {
      count *= 2
      time = try await self.time(count, runs: 3)
    }
    let large = min(16 * count, most)
    return Growth(name: name, counts: (count, large), times: (time, try await self.time(large, runs: 2)))
  }

  private static var processTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
