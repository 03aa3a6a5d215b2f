import Foundation
import NetLayer
import Streams
import Synchronization

#if os(Linux)
  /// A measurement of a thousand concurrent requests over one HTTP/2 connection.
  struct HTTP2 {
    let nginx: Nginx
    let rounds: Int

    private static let count = 1000

    /// Returns whether this machine can measure HTTP/2, and prints the reason if not.
    static func isPossible(_ nginx: Nginx) -> Bool {
      guard nginx.secureURL != nil else {
        say("http2: skipped, openssl is not installed (Debian: apt-get install openssl)")
        return false
      }
      guard CurlTransport.capabilities?.http2 == true else {
        say("http2: skipped, libcurl 8.14 with HTTP/2 is not installed")
        return false
      }
      return true
    }

    func run() throws -> [[String: Any]] {
      guard Self.isPossible(nginx), let secure = nginx.secureURL, let certificate = nginx.certificate else { return [] }
      var times: [Double] = []
      var costs: [Double] = []
      for _ in 0..<rounds {
        let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: certificate))))
        let cpu = Usage.cpuMicros
        let start = ContinuousClock.now
        let (replies, connections) = Self.fetch(secure.appending(path: "user.json"), transport)
        times.append((ContinuousClock.now - start) / Duration.seconds(1))
        costs.append((Usage.cpuMicros - cpu) / Double(Self.count))
        transport.shutdown()
        guard replies == Self.count, connections == 1 else {
          say("http2: FAILED, \(replies) of \(Self.count) responses over HTTP/2, on \(connections) connections")
          exit(1)
        }
      }
      guard let time = times.median, let cost = costs.median else { return [] }
      say(
        String(
          format:
            "HTTP/2, 1,000 concurrent requests over one connection, with the TLS handshake: %.3f s, %.1f µs of CPU each",
          time, cost))
      return [["name": "HTTP/2, 1,000 requests", "unit": "s", "ours": time, "cpuMicros": cost]]
    }

    /// Returns the number of responses over HTTP/2, and the number of connections that the server counted.
    private static func fetch(_ url: URL, _ transport: CurlTransport) -> (Int, Int) {
      let seen = Mutex<(replies: Int, connections: Set<String>)>((0, []))
      let group = DispatchGroup()
      for _ in 0..<count {
        group.enter()
        var request = Request(url: url)
        request.options.httpVersion = .http2
        _ = transport.send(request) { result in
          if case .success(let response) = result, response.status == 200, response.metrics?.httpVersion == "2" {
            seen.withLock {
              $0.replies += 1
              $0.connections.insert(response.headers["X-Connection"] ?? "?")
            }
          }
          group.leave()
        }
      }
      group.wait()
      return seen.withLock { ($0.replies, $0.connections.count) }
    }
  }
#endif
