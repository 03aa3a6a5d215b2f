import PortableFoundation

struct BenchFigures {
  struct Sample: Sendable {
    var milliseconds: Double
    var byteCount: Int
    /// The status, or the kind of the error.
    var outcome: String
    var isFailure: Bool
  }

  private var latencies: [Double] = []
  private(set) var outcomes: [String: Int] = [:]
  private(set) var failed = 0
  private(set) var byteCount = 0
  /// The duration of the benchmark, in seconds.
  var seconds = 0.0
  /// The CPU time of the benchmark, in seconds.
  var processTime = 0.0

  var count: Int { latencies.count }
  var requestsPerSecond: Double { Double(count) / max(seconds, 1e-9) }
  var bytesPerSecond: Double { Double(byteCount) / max(seconds, 1e-9) }
  /// The CPU time per request, in microseconds.
  var processTimePerRequest: Double { processTime * 1e6 / Double(max(1, count)) }

  mutating func add(_ sample: Sample) {
    latencies.append(sample.milliseconds)
    outcomes[sample.outcome, default: 0] += 1
    byteCount += sample.byteCount
    if sample.isFailure { failed += 1 }
  }

  /// Returns all latencies in milliseconds, the shortest first.
  func sortedLatencies() -> [Double] { latencies.sorted() }
}

extension [Double] {
  /// Returns the percentile of these sorted numbers at `share`, from 0 to 1.
  func percentile(_ share: Double) -> Double {
    guard !isEmpty else { return 0 }
    return self[Swift.min(count - 1, Swift.max(0, Int((share * Double(count)).rounded(.up)) - 1))]
  }

  /// Counts these sorted numbers in `buckets` intervals of equal ratio between the first and the last.
  func histogram(buckets: Int) -> [(from: Double, to: Double, count: Int)] {
    guard let first, let last, last > first else { return first.map { [($0, $0, count)] } ?? [] }
    let low = Swift.max(first, 1e-3)
    let ratio = Swift.max(last / low, 1)
    var edges = (0...buckets).map { low * pow(ratio, Double($0) / Double(buckets)) }
    (edges[0], edges[buckets]) = (first, last)
    var index = 0
    return (0..<buckets).map { bucket in
      let start = index
      while index < count, bucket == buckets - 1 || self[index] < edges[bucket + 1] { index += 1 }
      return (edges[bucket], edges[bucket + 1], index - start)
    }
  }
}
