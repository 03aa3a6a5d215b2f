import Foundation
import NetLayer
import Synchronization

/// Some instances in this process, which call a real server in real time. `Benchmarks/Scale/real` starts several such
/// processes.
enum Instances {
  /// Prints a line of JSON with the calls of each second, and how many of them failed.
  ///
  /// - Parameter arguments: `URL INSTANCES SECONDS START SEED SETTING`; the start is in seconds since 1970.
  static func run(_ arguments: [String], _ settings: [Setting]) throws {
    guard arguments.count == 6, let url = URL(string: arguments[0]), let instances = Int(arguments[1]),
      let seconds = Int(arguments[2]), let start = Double(arguments[3]), let seed = UInt64(arguments[4]),
      let setting = settings.first(where: { $0.name == arguments[5] })
    else { fatalError("usage: ScaleBenchmarks instances URL INSTANCES SECONDS START SEED SETTING") }
    let calls = Calls()
    let group = DispatchGroup()
    var random = Generator(seed: seed)
    let networks = (0..<instances).map { _ in
      Network(
        Backend(
          baseURL: url, transport: makeTransport(), timeouts: .init(attempt: .seconds(2)),
          interceptors: setting.interceptors()))
    }
    for network in networks {
      let phase = Double.random(in: 0..<1, using: &random)
      for second in 0..<seconds {
        group.enter()
        let wait = max(0, start + Double(second) + phase - Date().timeIntervalSince1970)
        DispatchQueue.global().asyncAfter(deadline: .now() + wait) {
          _ = network.responses(.get, "/feed").subscribe(
            onNext: { calls.end(second, isFailed: $0.status != 200) },
            onError: { _ in calls.end(second, isFailed: true) }, onDisposed: { group.leave() })
        }
      }
    }
    group.wait()
    let lines = calls.counts.withLock { $0 }.reduce(into: [String: [Int]]()) { lines, count in
      lines["\(count.key)"] = [count.value.all, count.value.failed]
    }
    print(String(decoding: try JSONEncoder().encode(lines), as: UTF8.self))
  }

  #if os(Linux)
    /// One loop for all instances of the process.
    private static let shared = try? CurlTransport()
    private static func makeTransport() -> (any Transport)? { shared }
  #else
    private static func makeTransport() -> (any Transport)? { nil }
  #endif
}
