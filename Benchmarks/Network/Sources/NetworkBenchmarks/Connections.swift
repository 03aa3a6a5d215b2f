#if os(Linux)
  import Foundation
  import NetLayer

  /// A comparison of limits for the connections per host: requests per second by latency, requests in flight and limit.
  ///
  /// NETLAYER_PEERS can name other programs, separated by colons. Their arguments are the URL, the number of requests in
  /// flight and the seconds; they print the requests per second. Benchmarks/Languages has such programs.
  struct Connections {
    private static let limits = [6, 16, 32, 64, 128, 256]
    private static let latencies = [0.001, 0.02, 0.1]
    private static let inFlight = [1, 4, 16, 64, 256]

    let seconds: Double

    func run() throws -> [[String: Any]] {
      let peers = ProcessInfo.processInfo.environment["NETLAYER_PEERS"]?.split(separator: ":").map(String.init) ?? []
      var rows: [[String: Any]] = []
      for latency in Self.latencies {
        let server = try LateServer(delay: latency)
        defer { server.stop() }
        let url = server.url.appending(path: "user.json")
        say(
          "\(Int(latency * 1000)) ms".padded(12) + Self.limits.map { "limit \($0)".padded(11) }.joined()
            + peers.map { URL(filePath: $0).lastPathComponent.padded(11) }.joined())
        for count in Self.inFlight {
          var rates = try Self.limits.map { ($0, try rate(url, inFlight: count, limit: $0)) }
          rates += try peers.map { (0, try rate(ofPeer: $0, url, inFlight: count)) }
          say("\(count)".padded(12) + rates.map { String(format: "%.0f", $0.1).padded(11) }.joined())
          rows += rates.dropLast(peers.count).map { limit, rate in
            [
              "client": "CurlTransport", "latency": latency, "inFlight": count, "limit": limit,
              "requestsPerSecond": rate,
            ]
          }
        }
      }
      return rows
    }

    private func rate(_ url: URL, inFlight: Int, limit: Int) throws -> Double {
      let transport = try CurlTransport(.init(maxConnectionsPerHost: limit, maxConnections: limit))
      defer { transport.shutdown() }
      let request = Request(url: url)
      let start = ContinuousClock.now
      let race = Race(inFlight, until: start + .seconds(seconds)) { done in
        _ = transport.send(request) { result in done((try? result.get().status) == 200) }
      }
      guard let count = race.run() else { throw CocoaError(.fileReadUnknown) }
      return Double(count) / ((ContinuousClock.now - start) / Duration.seconds(1))
    }

    private func rate(ofPeer program: String, _ url: URL, inFlight: Int) throws -> Double {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: program)
      process.arguments = [url.absoluteString, "\(inFlight)", "\(seconds)"]
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
    }
  }
#endif
