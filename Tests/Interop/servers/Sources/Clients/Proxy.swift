import Foundation
import NetLayer

/// A client behind a proxy that requires a password: forwarded requests, tunnels, WebSockets and failures.
@MainActor
struct Proxy {
  let url: URL
  let server: String
  let authority: URL
  let origin: URL
  let secure: URL

  /// Returns a network that sends every request through the proxy.
  func network(_ origin: URL, password: String = "p ü&=1", except hosts: [String] = []) throws -> Network {
    let proxy = URL(string: "http://ada:\(password.urlEscaped)@127.0.0.1:\(url.port ?? 0)") ?? url
    let transport = try CurlTransport(
      .init(tls: .init(trust: .pem(file: authority)), proxy: .url(proxy, except: hosts)))
    return Network(
      Backend(
        baseURL: origin, queryEncoding: URLParameterEncoder(arrays: .repeated, bools: .literal), transport: transport))
  }

  func run() async throws {
    let forwarded = try network(origin)
    let tunnelled = try network(secure)
    for (name, api) in [("http", forwarded), ("https through CONNECT", tunnelled)] {
      await check("\(name): a query, a form, lines") {
        let found = try await api.fetch(.get("/search", query: ["q": "ü&", "tag": ["a"]]), as: JSON.self)
        try equal(found["q"].string, "ü&")
        try equal(try await api.fetch(.post("/form", form: ["a": "ü"]), as: [String: String].self), ["a": "ü"])
        let rows = try await api.lines(.get("/lines?count=3"), as: FastAPI.Row.self).toArray().value
        try equal(rows.map(\.number), [0, 1, 2])
      }
      await check("\(name): a WebSocket") {
        let options = WebSocketOptions(expectedCloseCodes: [4001])
        let close = try await api.withWebSocket(.get("/chat"), options: options) { socket in
          try await socket.send("bye")
          for try await _ in socket.messages {}
          return socket.serverClose
        }
        try equal(close?.code.rawValue, 4001)
      }
      await check("\(name): 100 MB with withStream") {
        let size = 100 << 20
        let received = try await api.withStream(.get("/big", query: ["size": size])) { streamed in
          var received = 0
          for try await chunk in streamed.chunks { received += chunk.count }
          return received
        }
        try equal(received, size)
      }
      await check("\(name): a wrong password is an error that names the proxy's password and hides it") {
        let rejected = try network(api.backend.baseURL ?? origin, password: "wrong-secret")
        let error = try await failure { try await rejected.fetch(.get("/search?q=a")) }
        try expect(error.description.contains("407"), error.description)
        try expect(error.description.contains("proxy"), error.description)
        try expect(!"\(error)\(error.reason)".contains("wrong-secret"), "the password is shown")
      }
    }
    await check("a host that is excepted is called directly") {
      let direct = try network(origin, password: "wrong-secret", except: ["127.0.0.1"])
      try await direct.fetch(.get("/search?q=a"))
    }
    await check("a server that is down behind the proxy") {
      try Control.kill("origin")
      let error = try await failure { try await forwarded.fetch(.get("/search?q=a")) }
      try expect([502, 503].contains(error.status ?? 0), error.description)
      try Control.start("origin")
    }
    await check("a proxy that is down: the error names the proxy; after a restart, the call succeeds") {
      try Control.kill(server)
      for api in [forwarded, tunnelled] {
        let error = try await failure { try await api.fetch(.get("/search?q=a")) }
        try equal(error.kind, .connection)
        try expect(error.reason.contains("\(url.port ?? 0)"), error.reason)
      }
      try Control.start(server)
      for api in [forwarded, tunnelled] { try await api.fetch(.get("/search?q=a")) }
    }
  }
}
