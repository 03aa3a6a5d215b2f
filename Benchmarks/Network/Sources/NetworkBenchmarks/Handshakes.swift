#if os(Linux)
  import CurlLoop
  import Foundation
  import NetLayer

  /// A measurement of new connections over TLS: the first request of a client, the next one, which resumes the session, and
  /// 500 concurrent ones.
  struct Handshakes {
    let resource: Resource
    let rounds: Int

    private static let repetitions = 20
    private static let crowd = 500

    private struct Peer {
      let name: String
      /// Creates a client without sessions. The second function ends it.
      let make: () throws -> (client: Client, end: () -> Void)?
    }

    func run() throws -> [[String: Any]] {
      var resource = resource
      resource.connections = .closed
      var rows: [[String: Any]] = []
      for (name, count, isFirst) in [
        ("first request, full handshake", 1, true), ("next connection, resumed session", 1, false),
        ("\(Self.crowd) concurrent new connections", Self.crowd, true),
      ] {
        var times: [String: [Double]] = [:]
        var costs: [String: [Double]] = [:]
        for _ in 0..<(count == 1 ? rounds * Self.repetitions : rounds) {
          for peer in peers(resource, isFirst: isFirst) {
            guard let (client, end) = try peer.make() else { continue }
            defer { end() }
            // The first request is made in this turn, so that it ends with the client.
            if !isFirst { _ = client.run(1, 0) }
            let (cpu, start) = (Usage.cpuMicros, ContinuousClock.now)
            guard client.run(count, 0) == count else {
              say("\(peer.name) failed: \(name)")
              continue
            }
            times[peer.name, default: []].append((ContinuousClock.now - start) / Duration.milliseconds(1))
            costs[peer.name, default: []].append((Usage.cpuMicros - cpu) / Double(count))
          }
        }
        for peer in peers(resource, isFirst: isFirst) {
          guard let time = times[peer.name]?.median, let cost = costs[peer.name]?.median else { continue }
          say("\(name), \(peer.name)".padded(52) + String(format: "%8.2f ms, CPU µs each: %.0f", time, cost))
          rows.append(["name": name, "client": peer.name, "unit": "ms", "ours": time, "cpuMicros": cost])
        }
      }
      return rows
    }

    private func peers(_ resource: Resource, isFirst: Bool) -> [Peer] {
      let use = isFirst ? CURL_LOOP_STARTS_OVER : CURL_LOOP_RESUMES
      var peers = [
        Peer(name: "C loop") { Clients.cLoops(resource, use: use).first.map { ($0, {}) } },
        Peer(name: "CurlTransport") {
          let transport = try Clients.transport(resource)
          return (Clients.curl(resource, on: transport), { (transport as? CurlTransport)?.shutdown() })
        },
      ]
      #if canImport(AsyncHTTPClient)
        peers.append(
          Peer(name: "AsyncHTTPClient") {
            let client = try AsyncHTTPClientPeer.client(resource)
            return AsyncHTTPClientPeer.clients(resource, on: client).first.map { ($0, { try? client.syncShutdown() }) }
          })
      #endif
      return peers
    }
  }
#endif
