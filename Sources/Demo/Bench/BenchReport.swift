import PortableFoundation

struct BenchReport {
  private let figures: BenchFigures
  private let options: BenchOptions
  private let latencies: [Double]

  init(_ figures: BenchFigures, _ options: BenchOptions) {
    self.figures = figures
    self.options = options
    latencies = figures.sortedLatencies()
  }

  private var mean: Double { latencies.reduce(0, +) / Double(max(1, latencies.count)) }

  private static let shares = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]

  var json: String {
    var times = JSONLine().adding("min", latencies.first ?? 0).adding("mean", mean)
    for (name, share) in Self.shares { times = times.adding(name, latencies.percentile(share)) }
    times = times.adding("max", latencies.last ?? 0)
    var outcomes = JSONLine()
    for (outcome, count) in figures.outcomes.sorted(by: { $0.key < $1.key }) {
      outcomes = outcomes.adding(outcome, count)
    }
    return JSONLine().adding("url", options.url?.absoluteString).adding("requests", figures.count)
      .adding("concurrency", options.concurrency).adding("failed", figures.failed).adding("seconds", figures.seconds)
      .adding("requestsPerSecond", figures.requestsPerSecond).adding("bytes", figures.byteCount)
      .adding("cpuMicrosecondsPerRequest", figures.processTimePerRequest).adding("milliseconds", times)
      .adding("outcomes", outcomes).text
  }

  func text(_ style: Style) -> String {
    let outcomes = figures.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
    var lines = [
      "\(figures.count) requests, \(options.concurrency) concurrent, in \(Quantity.fixed(figures.seconds, digits: 2)) s: "
        + (figures.failed == 0 ? outcomes : style.red(outcomes)),
      style.bold("\(Int(figures.requestsPerSecond)) requests/s")
        + ", \(Quantity.bytes(figures.bytesPerSecond))/s, \(Int(figures.processTimePerRequest)) µs of CPU per request",
      "",
    ]
    var times = "latency in ms: min \(number(latencies.first ?? 0)), mean \(number(mean))"
    for (name, share) in Self.shares { times += ", \(name) \(number(latencies.percentile(share)))" }
    lines.append(times + ", max \(number(latencies.last ?? 0))")
    let buckets = latencies.histogram(buckets: 10)
    let most = max(1, buckets.map(\.count).max() ?? 1)
    for bucket in buckets {
      let eighths = Int((Double(bucket.count) * 320 / Double(most)).rounded(.up))
      let bar = String(repeating: "█", count: eighths / 8) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
      lines.append("\(padded(bucket.from)) – \(padded(bucket.to))  \(style.green(bar)) \(bucket.count)")
    }
    return lines.joined(separator: "\n")
  }

  private func number(_ value: Double) -> String { Quantity.fixed(value, digits: value < 100 ? 2 : 0) }

  private func padded(_ value: Double) -> String {
    let text = number(value)
    return String(repeating: " ", count: max(0, 8 - text.count)) + text
  }
}
