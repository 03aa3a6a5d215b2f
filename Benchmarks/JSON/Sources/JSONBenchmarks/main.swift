import Foundation
import NetLayer
import Streams

// Options: --rounds N (number of rounds for the medians, default 7), --only NAME (rows whose names contain NAME),
// --json FILE, --ours (without Foundation, for profilers)
var rounds = 7
var only = ""
var file: String?
nonisolated(unsafe) var withPeers = true
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
  switch option {
  case "--ours": withPeers = false
  case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
  case "--only": only = arguments.popFirst() ?? only
  case "--json": file = arguments.popFirst()
  default:
    say("unknown option \(option)")
    exit(2)
  }
}

// Safe: set and read only on the thread that subscribes.
final class Flag: @unchecked Sendable {
  var value = false
}

func decoding<Payload: Codable & Sendable>(
  _ name: String, _ type: Payload.Type, _ bytes: Data, times: Int, least ratio: Double? = 3.5,
  configure: @escaping @Sendable (JSONDecoder) -> Void = { $0.dateDecodingStrategy = .secondsSince1970 }
) -> [Row] {
  let own = JSONModelDecoder(configure)
  let foundation = JSONDecoder()
  configure(foundation)
  let response = Response(request: Request(url: URL(filePath: "/")), body: bytes)
  let chain = Observable.just(response).common(Envelope()).data(Payload.self)
  func layer() -> Bool {
    let seen = Flag()
    _ = chain.subscribe(onNext: { _ in seen.value = true })
    return seen.value
  }
  func pass() -> Bool {
    guard withPeers else { return true }
    return (try? foundation.decode(Wrapped<Payload>.self, from: bytes))?.code == 200
  }
  return [
    Row(
      name: "\(name), decoded", bytes: bytes.count, times: times, target: ratio.map(Row.Target.ratio),
      ours: { (try? JSON(parsing: bytes).decode(Wrapped<Payload>.self, using: own))?.code == 200 }, foundation: pass),
    Row(name: "\(name), .common().data()", bytes: bytes.count, times: times, ours: layer, foundation: pass),
  ]
}

func scanning(_ name: String, _ bytes: Data, times: Int) -> Row {
  Row(
    name: "\(name), scanned", bytes: bytes.count, times: times, target: .speed(600),
    ours: { (try? JSON(parsing: bytes))?.exists == true },
    foundation: { !withPeers || (try? JSONSerialization.jsonObject(with: bytes)) != nil })
}

/// Encodes the model as the body of a request, as a call with `json:` does.
func encoding(_ name: String, _ value: some Encodable & Sendable, times: Int) -> Row {
  let own = JSONParameterEncoder(dates: .secondsSince1970)
  let foundation = JSONEncoder()
  foundation.dateEncodingStrategy = .secondsSince1970
  func body() -> Int {
    var request = Request(method: .post, url: URL(filePath: "/"))
    try? own.encode(Parameters(value), into: &request)
    if case .data(let data) = request.body { return data.count }
    return 0
  }
  return Row(
    name: "\(name), encoded", bytes: body(), times: times, target: .ratio(1), ours: { body() > 0 },
    foundation: { !withPeers || (try? foundation.encode(value)) != nil })
}

let seconds = JSONModelDecoder { $0.dateDecodingStrategy = .secondsSince1970 }
try Network.setDefault(Network(Backend(baseURL: URL(filePath: "/"), coding: .init(decoder: seconds))))

let small = Payloads.envelope(Payloads.user(7))
let large = Payloads.envelope((0..<1_500).map(Payloads.user))
let dated = Payloads.envelope((0..<1_500).map(Payloads.user), dates: .iso8601)
var rows: [Row] = []
rows += decoding("700 B", User.self, small, times: 4_000, least: 4)
rows += decoding("1 MB", [User].self, large, times: 4, least: 4)
rows += decoding("1 MB, ISO 8601", [User].self, dated, times: 4, least: 4) {
  $0.dateDecodingStrategy = .iso8601
}.prefix(1)
rows += decoding("twitter's shape", Timeline.self, Payloads.envelope(Timeline.make(400)), times: 10).prefix(1)
rows += decoding("citm's shape", Catalog.self, Payloads.envelope(Catalog.make(400)), times: 10).prefix(1)
rows += decoding("100 KB, 64 members", [Repository].self, try Repository.envelope(30), times: 40).prefix(1)
rows += decoding("1 MB, 64 members", [Repository].self, try Repository.envelope(300), times: 4).prefix(1)
rows += decoding("canada's shape", [[Double]].self, Payloads.envelope(Coordinates.make(20_000)), times: 4).prefix(1)
rows += decoding("texts", [String].self, Payloads.envelope(Texts.make(2_000)), times: 20).prefix(1)
rows += decoding("380 levels", Tree.self, Payloads.envelope(Tree.make(depth: 190)), times: 100, least: nil).prefix(1)
rows.append(encoding("700 B", Payloads.user(7), times: 4_000))
rows.append(encoding("1 MB", (0..<1_500).map(Payloads.user), times: 4))
rows.append(encoding("twitter's shape", Timeline.make(400), times: 10))
rows.append(encoding("citm's shape", Catalog.make(400), times: 10))
rows.append(encoding("100 KB, 18 members", Repository.make(200), times: 20))
rows.append(encoding("canada's shape", Coordinates.make(20_000), times: 4))
rows.append(encoding("texts", Texts.make(2_000), times: 20))
rows.append(encoding("380 levels", Tree.make(depth: 190), times: 100))
rows.append(scanning("1 MB", large, times: 20))
rows.append(scanning("700 B", small, times: 20_000))

say(
  "".padding(toLength: 34, withPad: " ", startingAt: 0)
    + "     bytes     ours µs  Foundation   ratio  MB/s ours  mallocs   theirs")
let results = rows.filter { only.isEmpty || $0.name.contains(only) }.map { $0.run(rounds: rounds) }
if let file { try JSONSerialization.data(withJSONObject: ["rows": results]).write(to: URL(filePath: file)) }
