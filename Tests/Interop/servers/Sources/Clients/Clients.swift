import Foundation
import NetLayer

/// Runs the client of one server. Usage: Clients SERVER URL…
@main
struct Clients {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let urls = arguments.dropFirst().compactMap { URL(string: $0) }
    guard let name = arguments.first, let url = urls.first else {
      throw Mismatch("usage: Clients SERVER URL…")
    }
    switch name {
    case "fastapi": try await FastAPI(url: url, server: arguments.last ?? "").run()
    case "etcd": await Etcd(url: url).run()
    case "prometheus": await Prometheus(url: url).run()
    case "registry": await Registry(url: url, tokens: urls.last ?? url).run()
    case "jupyter": await Jupyter(url: url).run()
    case "proxy":
      let names = Array(arguments)
      let authority = Control.file(names[3])
      try await Proxy(url: url, server: names[2], authority: authority, origin: urls[3], secure: urls[4]).run()
    case "files": await Files(url: url, server: arguments.last ?? "").run()
    case "oauth": await OAuth(url: url).run()
    case "django": await Django(url: url).run()
    case "glewlwyd": await Glewlwyd(url: url).run()
    case "oauth-calls": try await OAuth.calls(url, arguments.last ?? "")
    case "synapse": await Synapse(url: url).run()
    default: throw Mismatch("unknown server \(name)")
    }
    if Checks.failed > 0 { exit(1) }
  }
}
