import Foundation

/// The resources that the process holds, as far as the system reports them.
struct Resources {
  var descriptors: Int
  var transportThreads: Int
  var residentBytes: Int

  var ifKnown: Resources? { descriptors > 0 ? self : nil }

  static var now: Resources {
    let descriptors = list("/proc/self/fd").count
    let tasks = list("/proc/self/task")
    let names = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
      .first
    return Resources(
      descriptors: descriptors, transportThreads: names.filter { $0.hasPrefix("NetLayer.curl") }.count,
      residentBytes: (pages.flatMap { Int($0) } ?? 0) * 4096)
  }

  /// Returns the names in a folder, or an empty array if it does not exist. Retries, because an entry that disappears
  /// during the listing makes it fail.
  private static func list(_ folder: String) -> [String] {
    for _ in 0..<10 {
      if let names = try? FileManager.default.contentsOfDirectory(atPath: folder) { return names }
    }
    return []
  }
}
