import CountMalloc
import Foundation

/// One line of the table: the same work in three ways.
struct Row {
  let name: String
  let title: String
  /// How many elements (or whatever the unit names) one run handles.
  let count: Int
  var unit = "ns/element"
  let ours: () -> Void
  var openCombine: (() -> Void)?
  /// The plain loop, or the pipeline that the title names.
  var loop: (() -> Void)?
  var targets: [Target] = []
}

/// A limit that a row is to keep.
enum Target {
  /// At most so many nanoseconds.
  case time(Double)
  /// At most so many times the loop's time.
  case loop(Double)
  /// At least so many times as fast as OpenCombine.
  case openCombine(Double)
  /// At most so many allocations for each element, with room for those of the whole run.
  case mallocs(Double)

  var text: String {
    switch self {
    case .time(let limit): String(format: "≤ %g ns", limit)
    case .loop(let limit): String(format: "≤ %g × loop", limit)
    case .openCombine(let limit): String(format: "≥ %g × OC", limit)
    case .mallocs(let limit): String(format: "≤ %g mallocs", limit)
    }
  }

  /// Whether `measurement` keeps it; a comparison with something that did not run is not judged.
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

  /// Runs the ways in turn, so that a slow moment of the machine hits all of them; medians of `rounds`.
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
    let (calls, asked) = (count_malloc(), count_bytes())
    row.ours()
    mallocs = Double(count_malloc() - calls) / Double(row.count)
    bytes = Double(count_bytes() - asked) / Double(row.count)
  }

  /// Each target, and whether it is met.
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
