import CountMalloc
import Foundation

/// The number of allocations per request in the whole process, with one request in flight.
struct Allocations {
  let clients: [Client]

  func run() -> [[String: Any]] {
    var rows: [[String: Any]] = []
    for name in ["C loop", "CurlTransport", "NetLayer", "AsyncHTTPClient", "AsyncHTTPClient+JSONDecoder"] {
      guard let client = clients.first(where: { $0.name == name }) else { continue }
      _ = client.run(1, 0.2)
      count_start()
      let count = client.run(1, 0.5)
      let calls = count_stop()
      guard let count, count > 0 else { continue }
      let each = Double(calls) / Double(count)
      var row: [String: Any] = ["name": "allocations, \(name)", "unit": "allocations", "ours": each]
      if name == "NetLayer" { row["targets"] = [["target": "≤ 50", "met": each <= 50]] }
      rows.append(row)
      say("allocations a request, \(name)".padded(52) + String(format: "%6.1f", each))
    }
    return rows
  }
}
