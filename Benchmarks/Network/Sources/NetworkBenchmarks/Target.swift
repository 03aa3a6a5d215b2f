import Foundation

/// A target for the ratio between two clients, evaluated with unrounded values.
struct Target {
  let name: String
  var servers = ["nginx"]
  var inFlight = 64
  let ours: String
  let other: String
  /// Whether the ratio is of CPU time per request, where less is better, instead of requests per second.
  var isOfCPU = false
  let asked: Double

  private static let all = [
    Target(name: "CurlTransport / C loop", ours: "CurlTransport", other: "C loop", asked: 0.8),
    Target(name: "CurlTransport / AsyncHTTPClient", ours: "CurlTransport", other: "AsyncHTTPClient", asked: 1.5),
    Target(
      name: "its CPU / AsyncHTTPClient's", ours: "CurlTransport", other: "AsyncHTTPClient", isOfCPU: true, asked: 0.33),
    Target(name: "CurlTransport / URLSession", ours: "CurlTransport", other: "URLSession", asked: 15),
    Target(
      name: "NetLayer / AsyncHTTPClient, decoded", ours: "NetLayer", other: "AsyncHTTPClient+JSONDecoder", asked: 2.5),
    Target(
      name: "NetLayer / AsyncHTTPClient, decoded", inFlight: 1, ours: "NetLayer", other: "AsyncHTTPClient+JSONDecoder",
      asked: 1.2),
    Target(name: "NetLayer / CurlTransport", ours: "NetLayer", other: "CurlTransport", asked: 0.8),
    Target(
      name: "its CPU / CurlTransport's", ours: "NetLayer", other: "CurlTransport", isOfCPU: true, asked: 1.55),
    Target(
      name: "CurlTransport / C loop", servers: ["HTTPS", "HTTP/2"], ours: "CurlTransport", other: "C loop", asked: 0.85),
    Target(
      name: "NetLayer / AsyncHTTPClient, decoded", servers: ["HTTPS", "HTTP/2"], ours: "NetLayer",
      other: "AsyncHTTPClient+JSONDecoder", asked: 1.5),
    Target(
      name: "CPU of fetch / C loop on a thread", servers: ["nginx", "HTTPS"], inFlight: 1, ours: "NetLayer fetch",
      other: "C loop on a thread", isOfCPU: true, asked: 1.75),
    Target(name: "NetLayer / URLSession, decoded", ours: "NetLayer", other: "URLSession+JSONDecoder", asked: 8),
  ]

  /// Prints a line for each target whose clients were measured, and returns the targets for the file.
  static func report(_ rows: [Throughput.Row], server: String, inFlight: Int) -> [[String: Any]] {
    var results: [[String: Any]] = []
    for target in all where target.inFlight == inFlight && target.servers.contains(where: server.hasPrefix) {
      guard let ours = rows.first(where: { $0.client == target.ours }),
        let other = rows.first(where: { $0.client == target.other })
      else { continue }
      let ratio =
        target.isOfCPU ? ours.cpuMicros / other.cpuMicros : ours.requestsPerSecond / other.requestsPerSecond
      let isMet = target.isOfCPU ? ratio <= target.asked : ratio >= target.asked
      let sign = target.isOfCPU ? "≤" : "≥"
      results.append([
        "name": server == "nginx" ? target.name : "\(target.name), \(server)", "inFlight": inFlight, "ratio": ratio,
        "targets": [["target": "\(sign) \(target.asked)", "met": isMet]],
      ])
      say(
        target.name.padded(38) + String(format: "%6.3f   target: \(sign) %g   ", ratio, target.asked)
          + (isMet ? "met" : "MISSED"))
    }
    if !results.isEmpty { say("") }
    return results
  }
}
