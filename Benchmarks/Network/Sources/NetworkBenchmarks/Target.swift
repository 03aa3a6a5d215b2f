import Foundation

/// What was asked of a ratio at 64 in flight, and whether it is there; from figures that are not rounded.
struct Target {
  let name: String
  let ours: String
  let other: String
  /// Of CPU per request, where less is better; else of requests per second.
  var isOfCPU = false
  let asked: Double

  private static let all = [
    Target(name: "CurlTransport / C loop", ours: "CurlTransport", other: "C loop", asked: 0.8),
    Target(name: "CurlTransport / AsyncHTTPClient", ours: "CurlTransport", other: "AsyncHTTPClient", asked: 1.5),
    Target(
      name: "its CPU / AsyncHTTPClient's", ours: "CurlTransport", other: "AsyncHTTPClient", isOfCPU: true, asked: 0.35),
    Target(name: "CurlTransport / URLSession", ours: "CurlTransport", other: "URLSession", asked: 15),
    Target(
      name: "NetLayer / AsyncHTTPClient, decoded", ours: "NetLayer", other: "AsyncHTTPClient+JSONDecoder", asked: 1.2),
    Target(name: "NetLayer / URLSession, decoded", ours: "NetLayer", other: "URLSession+JSONDecoder", asked: 8),
  ]

  /// Prints a line for each target whose clients were measured.
  static func report(_ rows: [Throughput.Row]) {
    for target in all {
      guard let ours = rows.first(where: { $0.client == target.ours }),
        let other = rows.first(where: { $0.client == target.other })
      else { continue }
      let ratio =
        target.isOfCPU ? ours.cpuMicros / other.cpuMicros : ours.requestsPerSecond / other.requestsPerSecond
      let isMet = target.isOfCPU ? ratio <= target.asked : ratio >= target.asked
      let sign = target.isOfCPU ? "≤" : "≥"
      say(
        target.name.padded(38) + String(format: "%6.3f   asked: \(sign) %g   ", ratio, target.asked)
          + (isMet ? "met" : "MISSED"))
    }
    say("")
  }
}
