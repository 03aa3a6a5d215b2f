import Foundation

/// A measurement of requests per second and CPU time per request. All clients alternate, so that a slow moment of the
/// machine affects all of them.
struct Throughput {
  struct Row {
    let client: String
    let server: String
    let inFlight: Int
    let requestsPerSecond: Double
    let cpuMicros: Double

    var json: [String: Any] {
      [
        "client": client, "server": server, "inFlight": inFlight, "requestsPerSecond": requestsPerSecond,
        "cpuMicros": cpuMicros,
      ]
    }
  }

  let options: Options
  let clients: [Client]
  /// The name of the server.
  var server = "nginx"

  /// Measures and prints a table for each number of requests in flight, and returns the rows and the targets.
  func run(_ numbers: [Int] = Options.inFlight) -> [[String: Any]] {
    let names = clients.map(\.name)
    var rows: [[String: Any]] = []
    for inFlight in numbers {
      let chosen = clients.filter { options.wants(inFlight: inFlight, client: $0.name, among: names) }
      rows += show(chosen, inFlight)
    }
    return rows
  }

  /// Measures the clients with `inFlight` requests in flight, and returns the rows and the targets.
  func run(inFlight: Int) -> [[String: Any]] {
    let names = options.only.intersection(clients.map(\.name))
    return show(clients.filter { names.isEmpty || names.contains($0.name) }, inFlight)
  }

  private func show(_ clients: [Client], _ inFlight: Int) -> [[String: Any]] {
    let chosen = clients.filter { !$0.isSingle || inFlight == 1 }
    guard !chosen.isEmpty else { return [] }
    let measured = measure(chosen, inFlight)
    Self.show(measured)
    return measured.map(\.json) + Target.report(measured, server: server, inFlight: inFlight)
  }

  private func measure(_ clients: [Client], _ inFlight: Int) -> [Row] {
    var rates: [String: [Double]] = [:]
    var costs: [String: [Double]] = [:]
    for client in clients { _ = client.run(inFlight, options.seconds / 4) }
    // Short turns, so that a slow moment of the machine affects all clients.
    for _ in 0..<3 * options.rounds {
      for client in clients {
        let cpu = Usage.cpuMicros
        let start = ContinuousClock.now
        guard let count = client.run(inFlight, options.seconds / 3), count > 0 else {
          say("\(client.name) failed with \(inFlight) in flight")
          continue
        }
        rates[client.name, default: []].append(Double(count) / ((ContinuousClock.now - start) / Duration.seconds(1)))
        costs[client.name, default: []].append((Usage.cpuMicros - cpu) / Double(count))
      }
    }
    return clients.compactMap { client in
      guard let rate = rates[client.name]?.median, let cost = costs[client.name]?.median else { return nil }
      return Row(client: client.name, server: server, inFlight: inFlight, requestsPerSecond: rate, cpuMicros: cost)
    }
  }

  private static func show(_ rows: [Row]) {
    guard let inFlight = rows.first?.inFlight else { return }
    let loop = rows.first { $0.client == "C loop" }
    let session = rows.first { $0.client == "URLSession" }
    let decoding = rows.first { $0.client == "URLSession+JSONDecoder" }
    let peer = rows.first { $0.client == "AsyncHTTPClient" }
    let peerDecoding = rows.first { $0.client == "AsyncHTTPClient+JSONDecoder" }
    say(
      "\(inFlight) in flight, \(rows[0].server)".padded(28)
        + "     req/s   CPU µs   × C loop   × URLSession   × the same, decoded"
        + "   × AHC   × AHC, decoded")
    for row in rows {
      func ratio(_ other: Row?, _ width: Int) -> String {
        String(repeating: " ", count: width - 8)
          + (other.map { String(format: "%8.2f", row.requestsPerSecond / $0.requestsPerSecond) } ?? "       –")
      }
      say(
        row.client.padded(28) + String(format: "%10.0f%9.1f", row.requestsPerSecond, row.cpuMicros) + ratio(loop, 11)
          + ratio(session, 15) + ratio(decoding, 21) + ratio(peer, 8) + ratio(peerDecoding, 17))
    }
    say("")
  }
}

enum Usage {
  /// The user and system time of the whole process so far.
  static var cpuMicros: Double {
    var usage = rusage()
    #if os(Linux)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    func micros(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
    return micros(usage.ru_utime) + micros(usage.ru_stime)
  }
}

extension [Double] {
  /// The median, or `nil` if the array is empty.
  var median: Double? { isEmpty ? nil : sorted()[count / 2] }
}

extension String {
  func padded(_ width: Int) -> String { padding(toLength: Swift.max(width, count), withPad: " ", startingAt: 0) }
}
