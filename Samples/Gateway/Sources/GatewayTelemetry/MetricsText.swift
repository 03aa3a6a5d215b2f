import Metrics
import Synchronization

/// A metrics backend that writes Prometheus' text format: a stand-in for swift-prometheus.
package final class MetricsText: MetricsFactory {
  private let series = Mutex<[String: Series]>([:])

  package init() {}

  /// The values of all metrics, one per line.
  package var text: String {
    series.withLock { series in series.values.flatMap(\.lines).sorted().map { $0 + "\n" }.joined() }
  }

  private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
    var key = label
    for (name, value) in dimensions { key += "\n\(name)\n\(value)" }
    return series.withLock { series in
      if let known = series[key] { return known }
      let labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
      let new = Series(name: Self.name(label), labels: labels, kind: kind)
      series[key] = new
      return new
    }
  }

  private static func name(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .value)
  }
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .value)
  }
  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .summary : .value)
  }
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label + ".seconds", dimensions, .summary)
  }
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}

/// The values of one metric with one set of dimensions.
private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler, Sendable {
  enum Kind { case value, summary }

  private let name: String
  private let labels: String
  private let kind: Kind
  private let state = Mutex((sum: 0.0, count: 0))

  init(name: String, labels: String, kind: Kind) { (self.name, self.labels, self.kind) = (name, labels, kind) }

  var lines: [String] {
    let (sum, count) = state.withLock { $0 }
    switch kind {
    case .value: return ["\(name){\(labels)} \(sum)"]
    case .summary: return ["\(name)_sum{\(labels)} \(sum)", "\(name)_count{\(labels)} \(count)"]
    }
  }

  func increment(by amount: Int64) { state.withLock { $0.sum += Double(amount) } }
  func increment(by amount: Double) { state.withLock { $0.sum += amount } }
  func decrement(by amount: Double) { state.withLock { $0.sum -= amount } }
  func reset() { state.withLock { $0 = (0, 0) } }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { state.withLock { $0.sum = value } }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) {
    guard kind == .summary else { return set(value) }
    state.withLock { ($0.sum, $0.count) = ($0.sum + value, $0.count + 1) }
  }
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
