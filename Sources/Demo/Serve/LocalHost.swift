import LoopbackServer
import PortableFoundation

/// The check of the `Host` field against DNS rebinding: a page of another site can make its name resolve to 127.0.0.1,
/// and would then read the responses of this server.
enum LocalHost {
  /// Returns the response of `routes`, or status 421 if the request is for another host (RFC 9110 §15.5.20).
  static func respond(to request: TestServer.Request, _ routes: TestServer.Routes) -> TestServer.Response {
    let host = request.header("Host") ?? ""
    guard isLocal(host) else {
      return .text("this server is not \(host.debugDescription); use 127.0.0.1 or localhost", status: 421)
    }
    return routes.respond(to: request)
  }

  private static func isLocal(_ host: String) -> Bool {
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
    let port = host.dropFirst(name.count)
    guard port.isEmpty || port == ":" || port.first == ":" && port.dropFirst().isDigits else { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains(name.lowercased())
  }
}
