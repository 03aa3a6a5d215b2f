import CountMalloc
import Foundation

/// Two ways to decode the same models. They alternate, so that a slow moment of the machine affects both.
struct Row {
  enum Target {
    /// The minimum of Foundation's time divided by this package's.
    case ratio(Double)
    /// The minimum in megabytes per second.
    case speed(Double)
  }

  let name: String
  let bytes: Int
  /// The number of runs per round.
  let times: Int
  var target: Target?
  let ours: () -> Bool
  let foundation: () -> Bool

  func run(rounds: Int) -> [String: Any] {
    var mine: [Double] = []
    var theirs: [Double] = []
    _ = (micros(ours), micros(foundation))
    for _ in 0..<rounds {
      mine.append(micros(ours))
      theirs.append(micros(foundation))
    }
    let allocations = (Self.allocations(ours), Self.allocations(foundation))
    let (a, b) = (mine.median, theirs.median)
    let speed = Double(bytes) / a
    let judged: (target: String, met: Bool)? =
      switch target {
      case .ratio(let least)?: (String(format: "ratio ≥ %g", least), b / a >= least)
      case .speed(let least)?: (String(format: "≥ %g MB/s", least), speed >= least)
      case nil: nil
      }
    say(
      name.padding(toLength: 34, withPad: " ", startingAt: 0)
        + String(
          format: "%10d%12.1f%12.1f%8.2f%10.0f%9d%9d", bytes, a, b, b / a, speed, allocations.0, allocations.1)
        + (judged.map { "   \($0.target): " + ($0.met ? "met" : "MISSED") } ?? ""))
    return [
      "name": name, "bytes": bytes, "unit": "µs", "ours": a, "foundation": b, "ratio": b / a,
      "megabytesPerSecond": speed, "allocations": allocations.0, "foundationAllocations": allocations.1,
      "targets": judged.map { [["target": $0.target, "met": $0.met] as [String: Any]] } ?? [],
    ]
  }

  private func micros(_ work: () -> Bool) -> Double {
    var good = true
    let time = ContinuousClock().measure { for _ in 0..<times { good = work() && good } }
    if !good { say("\(name): decoding failed") }
    return time / Duration.microseconds(1) / Double(times)
  }

  private static func allocations(_ work: () -> Bool) -> Int {
    count_start()
    _ = work()
    return count_stop()
  }
}

extension [Double] {
  var median: Double { isEmpty ? .nan : sorted()[count / 2] }
}

/// Prints a line without buffering, also to a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
