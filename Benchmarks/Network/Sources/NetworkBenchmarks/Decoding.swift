import Foundation
import NetLayer
import Streams

/// A comparison of `.common().data()` with one `JSONDecoder` pass over the same bytes, without a network.
struct Decoding {
  let rounds: Int

  func run() -> [[String: Any]] {
    say("decode".padded(26) + "     bytes  .common().data() µs   JSONDecoder µs   ratio   of it the scan µs")
    return [
      row("decode 1 KB", Payloads.small, User.self, times: 4_000),
      row("decode 1 MB", Payloads.large, [User].self, times: 8),
    ]
  }

  private func row<Payload: Codable & Sendable>(
    _ name: String, _ bytes: Data, _ type: Payload.Type, times: Int
  ) -> [String: Any] {
    let response = Response(request: Request(url: URL(filePath: "/")), body: bytes)
    let decoder = JSONDecoder()
    let chain = Observable.just(response).common(Envelope()).data(Payload.self)
    var ours: [Double] = []
    var theirs: [Double] = []
    var scans: [Double] = []
    func micros(_ work: () -> Bool) -> Double {
      var good = true
      let time = ContinuousClock().measure { for _ in 0..<times { good = work() && good } }
      if !good { say("\(name): decoding failed") }
      return time / Duration.microseconds(1) / Double(times)
    }
    func layer() -> Bool {
      let seen = Flag()
      _ = chain.subscribe(onNext: { _ in seen.value = true })
      return seen.value
    }
    func pass() -> Bool { (try? decoder.decode(Wrapped<Payload>.self, from: bytes))?.code == 200 }
    func scan() -> Bool { (try? JSON(parsing: bytes))?["code"].int == 200 }
    _ = (micros(layer), micros(pass), micros(scan))
    for _ in 0..<rounds {
      ours.append(micros(layer))
      theirs.append(micros(pass))
      scans.append(micros(scan))
    }
    let (mine, other, scanning) = (ours.median ?? .nan, theirs.median ?? .nan, scans.median ?? .nan)
    say(
      name.padded(26)
        + String(format: "%10d%21.1f%17.1f%8.2f%20.1f", bytes.count, mine, other, mine / other, scanning))
    return ["name": name, "unit": "µs", "bytes": bytes.count, "ours": mine, "jsonDecoder": other, "scan": scanning]
  }

  // Safe: set and read only on the thread that subscribes.
  private final class Flag: @unchecked Sendable {
    var value = false
  }
}
