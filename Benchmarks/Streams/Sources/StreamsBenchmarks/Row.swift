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
  var loop: (() -> Void)?
  let target: String
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

  var line: String {
    func number(_ value: Double?) -> String { value.map { String(format: "%9.1f", $0) } ?? "        –" }
    func ratio(_ other: Double?) -> String { other.map { String(format: "%7.1f×", $0 / ours) } ?? "       –" }
    let overLoop = loop.map { String(format: "%7.1f×", ours / $0) } ?? "       –"
    let title = "\(row.name). \(row.title)".padding(toLength: 44, withPad: " ", startingAt: 0)
    return "\(title)\(number(ours))\(number(openCombine))\(number(loop))\(ratio(openCombine))\(overLoop)"
      + String(format: "%9.2f %7.0f", mallocs, bytes) + "   \(row.target)"
  }

  var json: [String: Any] {
    var object: [String: Any] = ["name": row.name, "unit": row.unit, "ours": ours, "mallocs": mallocs, "bytes": bytes]
    object["openCombine"] = openCombine
    object["loop"] = loop
    return object
  }

  static let header =
    "pipeline".padding(toLength: 44, withPad: " ", startingAt: 0)
    + "     ours  OpenComb     loop   OC/us us/loop   mallocs   bytes   target"
}
