import Foundation
import NetLayer
import Streams
import Synchronization

#if os(Linux)
  /// A measurement of the benefit of a second loop: one transport compared with two that alternate, over TLS, where the
  /// client has the most work.
  struct Loops {
    let nginx: Nginx
    let rounds: Int
    let seconds: Double

    static let largeName = "100kb"
    static let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private struct Figure {
      var rate: [Double] = []
      var client: [Double] = []
      var server: [Double] = []
    }

    func run() throws -> [[String: Any]] {
      guard let secure = nginx.secureURL, let certificate = nginx.certificate else {
        say("loops: skipped, openssl is not installed (Debian: apt-get install openssl)")
        return []
      }
      var rows: [[String: Any]] = []
      for (name, path, bytes, keeps) in [
        ("1 KB, a new connection each", "user.json", Payloads.small.count, false),
        ("100 KB, kept connections", Self.largeName, Self.large.count, true),
      ] {
        var request = Request(url: secure.appending(path: path))
        request.options.httpVersion = .http1
        if !keeps { request.headers["Connection"] = "close" }
        var figures = [Figure(), Figure()]
        for _ in 0..<rounds {
          for loops in 1...2 {
            let transports = try (0..<loops).map { _ in
              try CurlTransport(.init(tls: .init(trust: .pem(file: certificate)), maxConnectionsPerHost: 64))
            }
            let (rate, client, server) = measure(request, bytes, transports)
            figures[loops - 1].rate.append(rate)
            figures[loops - 1].client.append(client)
            figures[loops - 1].server.append(server)
            for transport in transports { transport.shutdown() }
          }
        }
        for loops in 1...2 {
          let figure = figures[loops - 1]
          guard let rate = figure.rate.median, let client = figure.client.median, let server = figure.server.median
          else { continue }
          rows.append([
            "name": "loops: \(loops), \(name)", "unit": "requests/s", "ours": rate, "cpuMicros": client,
            "serverCPUMicros": server,
          ])
          say(
            "\(loops) loop\(loops == 1 ? " " : "s"), \(name)".padded(38)
              + String(format: "%8.0f requests/s, CPU µs: client %.1f, nginx %.1f", rate, client, server))
        }
      }
      return rows
    }

    private func measure(
      _ request: Request, _ bytes: Int, _ transports: [CurlTransport]
    ) -> (rate: Double, client: Double, server: Double) {
      let turn = Atomic<Int>(0)
      let race = Race(64, until: .now + .seconds(seconds)) { done in
        let transport = transports[turn.add(1, ordering: .relaxed).newValue % transports.count]
        _ = transport.send(request) { result in
          if case .success(let response) = result { done(response.body.count == bytes) } else { done(false) }
        }
      }
      let (cpu, servers, start) = (Usage.cpuMicros, serverMicros, ContinuousClock.now)
      guard let count = race.run(), count > 0 else { return (.nan, .nan, .nan) }
      let time = (ContinuousClock.now - start) / Duration.seconds(1)
      return (
        Double(count) / time, (Usage.cpuMicros - cpu) / Double(count), (serverMicros - servers) / Double(count)
      )
    }

    /// The CPU time that nginx has used so far, in microseconds. A clock tick is 10 ms.
    private var serverMicros: Double {
      nginx.processes.reduce(0) { sum, process in
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return sum }
        return sum + (user + system) * 10_000
      }
    }
  }
#endif
