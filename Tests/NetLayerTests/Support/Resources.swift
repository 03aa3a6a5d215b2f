import Foundation

/// What the process holds, as far as the system tells.
struct Resources {
  var descriptors: Int
  var transportThreads: Int
  var residentBytes: Int

  var ifKnown: Resources? { descriptors > 0 ? self : nil }

  static var now: Resources {
    let files = FileManager.default
    let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    let tasks = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let names = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
      .first
    return Resources(
      descriptors: descriptors, transportThreads: names.filter { $0.hasPrefix("NetLayer.curl") }.count,
      residentBytes: (pages.flatMap { Int($0) } ?? 0) * 4096)
  }
}
