import Foundation
import Streams
import TestSupport

/// A proxy on 127.0.0.1 that forwards one request per connection and responds to CONNECT with a tunnel (RFC 9110
/// §9.3.6). It removes the fields that are intended for proxies (RFC 9110 §7.6.1).
final class LoopbackProxy: Sendable {
  private let server: RawServer
  private let seen: Seen

  private final class Seen: Sendable {
    let heads = Locked<[String]>([])
  }

  /// Requires `credentials`, as `user:password`, unless they are `nil`. Rejects tunnels with `tunnelStatus` unless it
  /// is 200.
  init(credentials: String? = nil, tunnelStatus: Int = 200) throws {
    let seen = Seen()
    self.seen = seen
    let wanted = credentials.map { "Proxy-Authorization: Basic \(Data($0.utf8).base64EncodedString())\r\n" }
    server = try RawServer { client, _ in
      guard let head = client.receiveHead() else { return }
      seen.heads.withLock { $0.append(head) }
      if let wanted, !head.contains(wanted) {
        client.send(
          "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"test\"\r\n"
            + "Content-Length: 0\r\nConnection: close\r\n\r\n")
      } else {
        Self.serve(client, head, tunnelStatus)
      }
    }
  }

  /// The heads of all requests so far.
  var heads: [String] { seen.heads.withLock { $0 } }

  /// Returns the proxy URL for a configuration, with `user` as its user info unless it is `nil`.
  func url(user: String? = nil) throws -> URL {
    guard let url = URL(string: "http://\(user.map { "\($0)@" } ?? "")127.0.0.1:\(server.port)") else {
      throw URLError(.badURL)
    }
    return url
  }

  private static func serve(_ client: RawClient, _ head: String, _ tunnelStatus: Int) {
    let target = head.split(separator: " ")[1]
    let isTunnel = head.hasPrefix("CONNECT ")
    guard !isTunnel || tunnelStatus == 200 else {
      return client.send("HTTP/1.1 \(tunnelStatus) No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }
    guard let place = URL(string: isTunnel ? "http://\(target)/" : String(target)),
      let port = place.port.flatMap({ UInt16(exactly: $0) }), let upstream = try? RawClient(port: port)
    else { return client.send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") }
    if isTunnel {
      client.send("HTTP/1.1 200 Established\r\n\r\n")
    } else {
      let fields = head.split(separator: "\r\n").dropFirst().filter { !$0.lowercased().hasPrefix("proxy-") }
      let method = head.prefix { $0 != " " }
      upstream.send(
        "\(method) \(place.path) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\nConnection: close\r\n\r\n")
    }
    Thread { upstream.pass(to: client) }.start()
    client.pass(to: upstream)
  }
}
