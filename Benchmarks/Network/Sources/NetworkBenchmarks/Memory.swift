import Foundation
import NetLayer
import Streams

/// A measurement of the memory per request in flight, and of the memory that remains after few and after many requests.
struct Memory {
  let clients: [Client]

  func run() throws -> [[String: Any]] {
    guard Self.resident != nil else { return [] }
    // Runs first, because memory that earlier work has freed would hide new allocations.
    var rows =
      try inFlight("10,000 in flight, 256 on connections", 10_000, connections: 256, target: 5)
      + inFlight("4,000 in flight, each on a connection", 4_000, connections: 4_000)
    guard let netLayer = clients.first(where: { $0.name == "NetLayer" }),
      let few = repeated(netLayer, 1_000), let many = repeated(netLayer, 100_000)
    else { return rows }
    say(
      String(
        format: "memory: %.1f MB after %d requests, %.1f MB after %d more: %+.1f %%", few.bytes / 1e6, few.count,
        many.bytes / 1e6, many.count, (many.bytes / few.bytes - 1) * 100))
    rows.append(["name": "memory after 1,000", "unit": "bytes", "ours": few.bytes])
    rows.append(["name": "memory after 100,000", "unit": "bytes", "ours": many.bytes])
    return rows
  }

  /// Measures calls that tasks await. It must be the only measurement of the process, as `run()` must be the first.
  func awaited() throws -> [[String: Any]] {
    try inFlight("10,000 awaited, 256 on connections", 10_000, connections: 256, awaited: true, target: 5)
  }

  /// Runs at least `least` requests.
  private func repeated(_ client: Client, _ least: Int) -> (count: Int, bytes: Double)? {
    var count = 0
    while count < least {
      guard let more = client.run(64, least > 10_000 ? 0.5 : 0.02), more > 0 else { return nil }
      count += more
    }
    return Self.resident.map { (count, $0) }
  }

  /// Returns the memory that each of `count` concurrent requests adds, sent to a server that never responds, and the CPU
  /// time of the loop that waits for them.
  ///
  /// - Parameter target: The maximum memory of each request in KB.
  private func inFlight(
    _ name: String, _ count: Int, connections: Int, awaited: Bool = false, target: Double? = nil
  ) throws -> [[String: Any]] {
    #if os(Linux)
      guard Self.allowDescriptors(connections + 100), let server = SilentServer() else {
        say("memory: \(name): skipped, the limit of file descriptors is too low")
        return []
      }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: connections, maxConnections: connections))
      let network = Network(Backend(baseURL: server.url, envelope: .standard, transport: transport))
      let bag = CompositeDisposable()
      guard let before = Self.resident else { return [] }
      for _ in 0..<count {
        if awaited {
          let task = Task { try? await network.fetch(.get("/user.json"), as: User.self) }
          _ = bag.insert(Disposables.create { task.cancel() })
        } else {
          _ = bag.insert(network.json(.get, "/user.json").data(User.self).subscribe(onNext: { _ in }))
        }
      }
      // Waits for the connections. The memory that grows with the number of connections belongs to libcurl.
      Thread.sleep(forTimeInterval: 3)
      let each = ((Self.resident ?? before) - before) / Double(count) / 1024
      let start = Usage.cpuMicros
      Thread.sleep(forTimeInterval: 2)
      let idle = (Usage.cpuMicros - start) / 2
      say(String(format: "memory: %.1f KB per request, %.0f µs of CPU per second: \(name)", each, idle))
      bag.dispose()
      transport.shutdown()
      Thread.sleep(forTimeInterval: 0.5)
      var memory: [String: Any] = ["name": "memory: KB per request, \(name)", "unit": "KB/request", "ours": each]
      if let target { memory["targets"] = [["target": "≤ \(target) KB", "met": each <= target]] }
      return [
        memory,
        [
          "name": "memory: idle CPU, \(name)", "unit": "µs/s", "ours": idle,
          // The timer of the measuring thread.
          "targets": [["target": "0 (< 100 µs per second)", "met": idle < 100]],
        ],
      ]
    #else
      return []
    #endif
  }

  /// The resident memory in bytes, as reported by the kernel.
  static var resident: Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
    return pages * Double(getpagesize())
  }

  #if os(Linux)
    private static func allowDescriptors(_ count: Int) -> Bool {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
      if limit.rlim_cur >= rlim_t(count) { return true }
      guard limit.rlim_max >= rlim_t(count) else { return false }
      limit.rlim_cur = rlim_t(count)
      return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }
  #endif
}
