import Foundation
import NetLayer

if CommandLine.arguments.dropFirst().first == "serve" {
  try LateServer.serve(delay: CommandLine.arguments.dropFirst(2).first.flatMap { Double($0) } ?? 0)
  exit(0)
}
let options = Options(Array(CommandLine.arguments.dropFirst()))
let path = "user.json"
// Exits with success if nginx is missing: nothing failed, and nothing was measured.
guard let nginx = Nginx(serving: [path: Payloads.small, Loops.largeName: Loops.large]) else { exit(0) }
do {
  let url = nginx.url.appending(path: path)
  let clients = try Clients.all(Resource(url: url, bytes: Payloads.small.count))
  let known =
    Options.inFlight.map(String.init) + [
      "https", "http2", "handshakes", "late", "decode", "memory", "allocations", "download", "loops", "connections",
      "awaited",
    ]
    + clients.map(\.name)
  let unknown = options.only.subtracting(known)
  guard unknown.isEmpty else {
    nginx.stop()
    say("unknown rows: \(unknown.sorted().joined(separator: ", ")); use \(known.joined(separator: ", "))")
    exit(2)
  }
  var rows: [[String: Any]] = []
  // The order matters only for memory: see `Memory.run()`.
  if options.only == ["awaited"] { rows += try Memory(clients: clients).awaited() }
  if options.wants("memory") { rows += try Memory(clients: clients).run() }
  rows += Throughput(options: options, clients: clients).run()
  if options.wants("allocations") { rows += Allocations(clients: clients).run() }
  if options.wants("late") { rows += try LateServer.measure(options) }
  if options.wants("decode") { rows += Decoding(rounds: options.rounds).run() }
  #if os(Linux)
    if options.wants("download") { rows += try Download(nginx: nginx, rounds: options.rounds).run() }
    if options.wants("loops") {
      rows += try Loops(nginx: nginx, rounds: options.rounds, seconds: options.seconds).run()
    }
    if options.only.contains("connections") { rows += try Connections(seconds: options.seconds).run() }
    if options.wants("http2") { rows += try HTTP2(nginx: nginx, rounds: options.rounds).run() }
    if let secure = nginx.secureURL?.appending(path: path), let certificate = nginx.certificate {
      var resource = Resource(url: secure, bytes: Payloads.small.count, certificate: certificate)
      if options.wants("handshakes") { rows += try Handshakes(resource: resource, rounds: options.rounds).run() }
      let version = CurlTransport.capabilities?.version ?? "?"
      for (name, server) in [("https", "HTTPS"), ("http2", "HTTP/2")] where options.wants(name) {
        resource.http2 = name == "http2"
        if resource.http2, !HTTP2.isPossible(nginx) { continue }
        let throughput = Throughput(
          options: options, clients: try Clients.all(resource), server: "\(server), libcurl \(version)")
        for inFlight in [1, 64] { rows += throughput.run(inFlight: inFlight) }
      }
    } else if options.wants("https") || options.wants("handshakes") {
      say("https, handshakes: skipped, openssl is not installed (Debian: apt-get install openssl)")
    }
  #endif
  if let file = options.file {
    let data = try JSONSerialization.data(withJSONObject: ["rows": rows], options: [.prettyPrinted, .sortedKeys])
    try data.write(to: URL(filePath: file))
  }
} catch {
  say("\(error)")
  nginx.stop()
  exit(1)
}
nginx.stop()
