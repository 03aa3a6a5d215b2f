/// A response as bytes: parts with the delay before each, and the state of the connection after the last one.
struct ResponseScript {
  struct Part {
    var delay: Double
    var bytes: [UInt8]
  }

  private(set) var parts: [Part] = []
  private(set) var ending: TestServer.Response.Ending
  private var position = 0
  private var repeated: Part?
  /// The source of the chunks after the parts, and the seconds before it is asked, now and then again.
  private var source: (delay: Double, interval: Double, next: @Sendable () -> [UInt8]?)?

  init(_ response: TestServer.Response, head isHead: Bool, keepAlive: Bool) {
    ending = response.ending == .keepAlive && !keepAlive ? .close : response.ending
    if case .raw(let chunks) = response.body {
      parts = chunks.map { Part(delay: $0.delay, bytes: $0.bytes) }
      if parts.isEmpty { parts = [Part(delay: 0, bytes: [])] }
      parts[0].delay += response.delay
      return
    }
    var first = Part(delay: response.delay, bytes: [])
    Self.writeHead(of: response, closing: ending == .close && response.ending == .keepAlive, to: &first.bytes)
    guard !isHead, Self.allowsContent(response.status) else {
      parts = [first]
      return
    }
    switch response.body {
    case .bytes(let bytes):
      first.bytes.append(contentsOf: bytes)
      parts = [first]
    case .promised(_, let chunks):
      parts = [first] + chunks.map { Part(delay: $0.delay, bytes: $0.bytes) }
    case .chunked(let chunks):
      parts = [first]
      for chunk in chunks where !chunk.bytes.isEmpty { parts.append(Self.coded(chunk)) }
      parts.append(Part(delay: 0, bytes: Array("0\r\n\r\n".utf8)))
    case .endless(let start, let chunk):
      parts = [first]
      if !start.isEmpty { parts.append(Self.coded(.init(start))) }
      repeated = Self.coded(chunk)
    case .pulled(let interval, let next):
      parts = [first]
      // Without a minimum, a source without bytes would occupy the thread.
      source = (0, max(interval, 0.001), next)
    case .raw: break
    }
  }

  private static func coded(_ chunk: TestServer.Response.Chunk) -> Part {
    let size = Array(String(chunk.bytes.count, radix: 16).utf8)
    return Part(delay: chunk.delay, bytes: size + [13, 10] + chunk.bytes + [13, 10])
  }

  /// The delay in seconds before the next part; `nil` after the last one.
  var nextDelay: Double? {
    position < parts.count ? parts[position].delay : repeated?.delay ?? source?.delay
  }

  mutating func takeNext() -> [UInt8] {
    guard position < parts.count else { return repeated?.bytes ?? pull() }
    defer { position += 1 }
    return parts[position].bytes
  }

  /// Asks the source. An empty chunk is not sent, because its coding would end the body (RFC 9112 §7.1).
  private mutating func pull() -> [UInt8] {
    guard let source, let bytes = source.next() else {
      source = nil
      return Array("0\r\n\r\n".utf8)
    }
    self.source?.delay = source.interval
    return bytes.isEmpty ? [] : Self.coded(.init(bytes)).bytes
  }

  /// Returns whether a response may have content; 1xx, 204 and 304 do not (RFC 9110 §6.4.1).
  private static func allowsContent(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

  private static func writeHead(of response: TestServer.Response, closing: Bool, to bytes: inout [UInt8]) {
    var head = "HTTP/1.1 \(response.status) \(reason(response.status))\r\n"
    for field in response.headers {
      head += field.name
      head += ": "
      head += field.value
      head += "\r\n"
    }
    if allowsContent(response.status) {
      switch response.body {
      case .bytes(let content): head += "Content-Length: \(content.count)\r\n"
      case .promised(let count, _): head += "Content-Length: \(count)\r\n"
      case .chunked, .endless, .pulled: head += "Transfer-Encoding: chunked\r\n"
      case .raw: break
      }
    }
    if closing { head += "Connection: close\r\n" }
    head += "\r\n"
    bytes.append(contentsOf: head.utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
