import LoopbackServer
import TestSupport

/// The routes that the transport tests request.
enum TestRoutes {
  static let message = #"{"message":"hello, hello, hello, hello"}"#
  static let gzip = bytes(
    "1f8b0800000000000203ab56ca4d2d2e4e4c4f55b252ca48cdc9c9d751c04229d5020020df12f728000000")

  static func make() -> TestServer.Routes {
    var routes = TestServer.Routes()
    routes.on(nil, "/echo") { request in
      .bytes(request.body, type: request.header("Content-Type") ?? "none").header("X-Method", request.method)
        .header("X-Length", request.header("Content-Length") ?? "none")
        .header("X-Query", request.query("q") ?? "none")
    }
    routes.on(nil, "/text") { _ in .text("hello") }
    routes.on(nil, "/empty") { _ in .status(204) }
    routes.on(nil, "/status/:status") { .text("body", status: Int($0.parameters["status"] ?? "") ?? 500) }
    routes.on(nil, "/headers") { request in
      .text(request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
    }
    routes.on(nil, "/duplicates") { _ in
      TestServer.Response.text("two").header("Set-Cookie", "a=1; Path=/").header("X-Between", "x")
        .header("Set-Cookie", "b=2")
    }
    routes.on(nil, "/latin1") { _ in
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: caf"
      return .init(body: .raw([.init(Array(head.utf8) + [0xe9] + Array("\r\n\r\nok".utf8))]))
    }
    routes.on(nil, "/early-hints") { _ in
      let hints = "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
      return .init(body: .raw([.init(hints + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Late: 2\r\n\r\nok")]))
    }
    routes.on(nil, "/bytes/:count") { request in
      .bytes(pattern(Int(request.parameters["count"] ?? "") ?? 0))
    }
    routes.on(nil, "/chunked") { _ in .stream([.init("one,"), .init("two,"), .init("three")]) }
    routes.on(nil, "/gzip") { _ in TestServer.Response.bytes(gzip).header("Content-Encoding", "gzip") }
    routes.on(nil, "/basic") { _ in
      TestServer.Response.text("who are you", status: 401).header("WWW-Authenticate", #"Basic realm="test""#)
    }
    routes.on(nil, "/redirect/:status") { request in
      .redirect(to: request.query("to") ?? "/echo", status: Int(request.parameters["status"] ?? "") ?? 302)
    }
    routes.on(nil, "/loop") { _ in .redirect(to: "/loop") }
    routes.on(nil, "/hops/:left") { request in
      let left = Int(request.parameters["left"] ?? "") ?? 0
      return left == 0 ? .text("arrived") : .redirect(to: "/hops/\(left - 1)")
    }
    routes.on(nil, "/delay/:milliseconds") { request in
      TestServer.Response.text("late").delayed(by: (Double(request.parameters["milliseconds"] ?? "") ?? 0) / 1000)
    }
    routes.on(nil, "/drip/:milliseconds") { request in
      .drip([UInt8](repeating: 46, count: 400), every: (Double(request.parameters["milliseconds"] ?? "") ?? 0) / 1000)
    }
    routes.on(nil, "/cookies/set") { request in
      TestServer.Response.redirect(to: "/headers").header("Set-Cookie", "sid=1; Path=/; HttpOnly")
        .header("Set-Cookie", "theme=dark")
    }
    routes.on(nil, "/cookies/drop") { _ in
      TestServer.Response.text("bye").header("Set-Cookie", "sid=; Path=/; Max-Age=0")
    }
    routes.on(nil, "/close") { _ in .closeBeforeHead }
    routes.on(nil, "/reset") { _ in .resetBeforeHead }
    routes.on(nil, "/reset-body") { _ in .resetMidBody() }
    routes.on(nil, "/cut-body") { _ in .truncatedBody(promised: 1000, sent: 100) }
    routes.on(nil, "/stall") { _ in .stalledBody() }
    routes.on(nil, "/never") { _ in .neverResponding }
    routes.on(nil, "/nonsense") { _ in .init(body: .raw([.init("this is not HTTP\r\n\r\n")]), ending: .close) }
    return routes
  }

  static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  static func bytes(_ hex: String) -> [UInt8] {
    var rest = Substring(hex)
    var result: [UInt8] = []
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      result.append(byte)
      rest = rest.dropFirst(2)
    }
    return result
  }
}
