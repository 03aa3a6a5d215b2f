/// An answer turned into bytes: pieces with the wait before each, and what happens behind the last.
struct ResponseScript {
  struct Piece {
    var delay: Double
    var bytes: [UInt8]
  }

  private(set) var pieces: [Piece] = []
  private(set) var ending: LoopbackServer.Response.Ending
  private var position = 0
  /// What follows the pieces, over and over.
  private var repeated: Piece?

  init(_ response: LoopbackServer.Response, head isHead: Bool, keepAlive: Bool) {
    ending = response.ending == .keepAlive && !keepAlive ? .close : response.ending
    if case .raw(let chunks) = response.body {
      pieces = chunks.map { Piece(delay: $0.delay, bytes: $0.bytes) }
      if pieces.isEmpty { pieces = [Piece(delay: 0, bytes: [])] }
      pieces[0].delay += response.delay
      return
    }
    var first = Piece(delay: response.delay, bytes: [])
    Self.writeHead(of: response, closing: ending == .close && response.ending == .keepAlive, to: &first.bytes)
    guard !isHead, Self.allowsContent(response.status) else {
      pieces = [first]
      return
    }
    switch response.body {
    case .bytes(let bytes):
      first.bytes.append(contentsOf: bytes)
      pieces = [first]
    case .promised(_, let chunks):
      pieces = [first] + chunks.map { Piece(delay: $0.delay, bytes: $0.bytes) }
    case .chunked(let chunks):
      pieces = [first]
      for chunk in chunks where !chunk.bytes.isEmpty { pieces.append(Self.coded(chunk)) }
      pieces.append(Piece(delay: 0, bytes: Array("0\r\n\r\n".utf8)))
    case .endless(let start, let chunk):
      pieces = [first]
      if !start.isEmpty { pieces.append(Self.coded(.init(start))) }
      repeated = Self.coded(chunk)
    case .raw: break
    }
  }

  private static func coded(_ chunk: LoopbackServer.Response.Chunk) -> Piece {
    let size = Array(String(chunk.bytes.count, radix: 16).utf8)
    return Piece(delay: chunk.delay, bytes: size + [13, 10] + chunk.bytes + [13, 10])
  }

  /// The wait before the next piece in seconds, or `nil` when all are out.
  var nextDelay: Double? { position < pieces.count ? pieces[position].delay : repeated?.delay }

  mutating func takeNext() -> [UInt8] {
    guard position < pieces.count else { return repeated?.bytes ?? [] }
    defer { position += 1 }
    return pieces[position].bytes
  }

  /// 1xx, 204 and 304 have no content (RFC 9110 §6.4.1).
  private static func allowsContent(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

  private static func writeHead(of response: LoopbackServer.Response, closing: Bool, to bytes: inout [UInt8]) {
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
      case .chunked, .endless: head += "Transfer-Encoding: chunked\r\n"
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
