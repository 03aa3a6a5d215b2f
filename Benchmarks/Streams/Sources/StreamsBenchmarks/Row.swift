import CountMalloc
import Foundation

/// One line of the table: the same work done in three ways.
struct Row {
  let name: String
  let title: String
  /// The number of elements (or of the given unit) per run.
  let count: Int
  var unit = "ns/element"
  let ours: () -> Void
  var openCombine: (() -> Void)?
  /// The plain loop, or the pipeline that the title names.
  var loop: (() -> Void)?
  var targets: [Target] = []
}

/// A target for a row.
enum Target {
  /// The maximum time in nanoseconds.
  case time(Double)
  /// The maximum time as a multiple of the loop's time.
  case loop(Double)
  /// The minimum speed as a multiple of OpenCombine's.
  case openCombine(Double)
  /// The maximum number of allocations per element, with a margin for those of the whole run.
  case mallocs(Double)

  var text: String {
    switch self {
    case .time(let limit): String(format: "≤ %g ns", limit)
    case .loop(let limit): String(format: "≤ %g × loop", limit)
    case .openCombine(let limit): String(format: "≥ %g × OC", limit)
    case .mallocs(let limit): String(format: "≤ %g mallocs", limit)
    }
  }

  /// Returns whether `measurement` meets the target, or `nil` if the other library did not run.
  func isMet(by measurement: Measurement) -> Bool? {
    switch self {
    case .time(let limit): measurement.ours <= limit
    case .loop(let limit): measurement.loop.map { measurement.ours / $0 <= limit }
    case .openCombine(let limit): measurement.openCombine.map { $0 / measurement.ours >= limit }
    case .mallocs(let limit): measurement.mallocs <= limit + 0.01
    }
  }
}

struct Measurement {
  let row: Row
  let ours: Double
  let openCombine: Double?
  let loop: Double?
  let mallocs: Double
  let bytes: Double

  /// Runs the ways alternately, so that a slow moment of the machine affects all of them, and takes the medians of
  /// `rounds`.
  init(_ row: Row, rounds: Int) {
    self.row = row
    let ways = [row.ours, row.openCombine, row.loop]
    var times: [[Double]] = [[], [], []]
    for way in ways { way?() }
    for _ in 0..<rounds {
      for (index, way) in ways.enumerated() {
        guard let way else { continue }
        let elapsed = ContinuousClock().measure(way)
        let (seconds, attoseconds) = elapsed.components
        times[index].append((Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(row.count))
      }
    }
    func median(_ values: [Double]) -> Double? {
      values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
    ours = median(times[0]) ?? .nan
    openCombine = median(times[1])
    loop = median(times[2])
    count_start()
    row.ours()
    mallocs = Double(count_stop()) / Double(row.count)
    bytes = Double(count_bytes()) / Double(row.count)
  }

  /// A description of the targets and their results.
  var verdict: String {
    row.targets.map { target in
      let met = target.isMet(by: self).map { $0 ? "met" : "MISSED" }
      return [target.text, met].compactMap { $0 }.joined(separator: ": ")
    }.joined(separator: ", ")
  }

  var line: String {
    func number(_ value: Double?) -> String { value.map { String(format: "%9.1f", $0) } ?? "        –" }
    func ratio(_ other: Double?) -> String { other.map { String(format: "%7.1f×", $0 / ours) } ?? "       –" }
    let overLoop = loop.map { String(format: "%7.1f×", ours / $0) } ?? "       –"
    let title = "\(row.name). \(row.title)".padding(toLength: 52, withPad: " ", startingAt: 0)
    return "\(title)\(number(ours))\(number(openCombine))\(number(loop))\(ratio(openCombine))\(overLoop)"
      + String(format: "%9.2f %7.0f", mallocs, bytes) + "   \(verdict)"
  }

  var json: [String: Any] {
    var object: [String: Any] = [
      "name": row.name, "title": row.title, "unit": row.unit, "ours": ours, "mallocs": mallocs, "bytes": bytes,
    ]
    object["openCombine"] = openCombine
    object["loop"] = loop
    object["targets"] = row.targets.map { target in
      var entry: [String: Any] = ["target": target.text]
      entry["met"] = target.isMet(by: self)
      return entry
    }
    return object
  }

  static let header =
    "pipeline".padding(toLength: 52, withPad: " ", startingAt: 0)
    + "     ours  OpenComb     loop   OC/us us/loop   mallocs   bytes   targets"
}
