import LoopbackServer
import PortableFoundation

/// The additional routes of `Demo serve`, for trying the other commands.
enum PlayRoutes {
  static func add(to routes: inout TestServer.Routes) {
    routes.on("GET", "/cart") { _ in .json(#"{"code":200,"message":"ok","data":{"items":2,"total":59.90}}"#) }
    routes.on("GET", "/file") { file(for: $0) }
    routes.on("GET", "/events") { events(after: $0) }
  }

  /// 8 MB of constant content. `?ms=` sets the milliseconds between two chunks of 64 KB.
  private static let content: [UInt8] = {
    // Built from chunks, so that the first request does not wait for a loop over every byte.
    let chunk = [UInt8](repeating: 120, count: (64 << 10) - 1)
    return (0..<128).reduce(into: []) { content, number in content += [UInt8(number)] + chunk }
  }()
  private static let tag = "\"v1\""

  /// Returns the file, or the requested range up to its end (RFC 9110 §14).
  private static func file(for request: TestServer.Request) -> TestServer.Response {
    let pause = pause(for: request, otherwise: 40)
    var response = TestServer.Response(headers: [
      ("Content-Type", "application/octet-stream"), ("ETag", tag), ("Accept-Ranges", "bytes"),
    ])
    var start = 0
    let stillThere = request.header("If-Range").map { $0 == tag } ?? true
    if stillThere, let range = request.header("Range"), let match = range.wholeMatch(of: /bytes=(\d+)-/) {
      start = Int(match.1) ?? content.count
      guard start < content.count else {
        return TestServer.Response(status: 416, headers: [("Content-Range", "bytes */\(content.count)")])
      }
      response.status = 206
      response = response.header("Content-Range", "bytes \(start)-\(content.count - 1)/\(content.count)")
    }
    let chunks = stride(from: start, to: content.count, by: 64 << 10).map { offset in
      TestServer.Response.Chunk(
        Array(content[offset..<min(offset + 64 << 10, content.count)]), after: offset == start ? 0 : pause)
    }
    response.body = .promised(content.count - start, chunks)
    return response
  }

  /// Returns the time in seconds between two chunks.
  private static func pause(for request: TestServer.Request, otherwise milliseconds: Int) -> Double {
    Double(request.query("ms").flatMap { Int($0) } ?? milliseconds) / 1000
  }

  /// Returns five events after the last one that the client has received. The client reconnects for more. `?ms=` sets
  /// the milliseconds between two events.
  private static func events(after request: TestServer.Request) -> TestServer.Response {
    let last = request.header("Last-Event-ID").flatMap { Int($0) } ?? 0
    let names = ["photo", "like", "comment"]
    let pause = pause(for: request, otherwise: 200)
    let chunks = (1...5).map { step in
      let id = last &+ step
      let event = "id: \(id)\nevent: \(names[abs(id % 3)])\ndata: {\"n\":\(id)}\n\n"
      return TestServer.Response.Chunk((step == 1 ? "retry: 200\n\n" : "") + event, after: step == 1 ? 0 : pause)
    }
    return .stream(chunks, type: "text/event-stream")
  }
}
