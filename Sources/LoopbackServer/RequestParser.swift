/// An incremental parser for requests: heads, bodies of known length, chunked bodies (RFC 9112).
struct RequestParser {
  enum Step {
    /// The request is not yet complete.
    case incomplete
    /// The client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    case awaitsContinue(TestServer.Request)
    /// A complete request, and whether the connection is kept.
    case request(TestServer.Request, keepAlive: Bool)
    /// The bytes are not an HTTP request. Respond with this status and close the connection.
    case malformed(status: Int)
  }

  /// The maximum number of bytes of a head, of the line before a chunk, and of the trailers. Real clients send heads of less
  /// than 8 KB.
  static let maxHead = 65_536
  /// The maximum number of bytes of a body, unless the server states one. Tests send bodies of a few MB.
  static let maxBody = 1 << 30

  private struct Head {
    var method = ""
    var target = ""
    var fieldLines: [UInt8] = []
    var length = 0
    var chunked = false
    var keepAlive = true
    var expectsContinue = false
    /// The number of bytes of the trailers so far; `nil` before the last chunk.
    var trailers: Int?
  }

  private var bytes: [UInt8] = []
  private var position = 0
  private var scanned = 0
  private var head: Head?
  /// The maximum number of bytes of the current body.
  private var limit = maxBody
  private var chunkedBody: [UInt8] = []

  mutating func append(_ new: UnsafeRawBufferPointer) {
    if position > 0, position == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      position = 0
      scanned = 0
    }
    bytes.append(contentsOf: new)
  }

  /// The number of bytes that have not been parsed.
  var waitingCount: Int { bytes.count - position }
  /// The number of bytes in memory, without the body of chunks.
  var bufferedCount: Int { bytes.count }

  /// Takes the bytes after the last request.
  mutating func takeRest() -> [UInt8] {
    defer { (bytes, position, scanned) = ([], 0, 0) }
    return Array(bytes[position...])
  }

  /// Parses the next request.
  ///
  /// - Parameters:
  ///   - limit: A closure that returns the maximum number of bytes of a body; `nil` for 1 GB.
  ///   - cut: A closure that returns the number of bytes of a body after which the request ends, because the server closes
  ///     the connection; `nil` for the whole body.
  mutating func next(
    connection: Int, limit: ((TestServer.Request) -> Int)? = nil, cut: (TestServer.Request) -> Int? = { _ in nil }
  ) -> Step {
    if head == nil {
      guard let end = endOfHead() else {
        // The bytes may be, for example, a TLS handshake, which may never contain an empty line.
        if position < bytes.count, bytes[position] <= 0x20 || bytes[position] >= 0x7f, bytes[position] != 13 {
          return .malformed(status: 400)
        }
        compact()
        return bytes.count - position > Self.maxHead ? .malformed(status: 431) : .incomplete
      }
      guard var parsed = parseHead(position..<end) else { return .malformed(status: 400) }
      let hasBody = parsed.length > 0 || parsed.chunked
      self.limit = hasBody ? limit?(request(parsed, body: [], connection: connection)) ?? Self.maxBody : Self.maxBody
      guard parsed.length <= self.limit else { return .malformed(status: 413) }
      position = end
      scanned = end
      if parsed.length > 0, let cut = cut(request(parsed, body: [], connection: connection)), cut < parsed.length {
        (parsed.length, parsed.keepAlive) = (Swift.max(0, cut), false)
      }
      head = parsed
      if parsed.expectsContinue {
        head?.expectsContinue = false
        return .awaitsContinue(request(parsed, body: [], connection: connection))
      }
    }
    guard let current = head else { return .incomplete }
    let body: [UInt8]
    if current.chunked {
      switch readChunks() {
      case .incomplete: return .incomplete
      case .malformed(let status): return .malformed(status: status)
      case .complete:
        body = chunkedBody
        chunkedBody = []
      }
    } else {
      guard bytes.count - position >= current.length else {
        // Doubling would copy more and leave it behind. At most eight times of what has arrived is reserved.
        if current.length > 1 << 20, bytes.count - position > current.length / 8 {
          bytes.reserveCapacity(position + current.length)
        }
        return .incomplete
      }
      body = current.length == 0 ? [] : Array(bytes[position..<(position + current.length)])
      position += current.length
    }
    head = nil
    compact()
    return .request(request(current, body: body, connection: connection), keepAlive: current.keepAlive)
  }

  private func request(_ head: Head, body: [UInt8], connection: Int) -> TestServer.Request {
    TestServer.Request(
      method: head.method, target: head.target, body: body, connection: connection, fieldLines: head.fieldLines)
  }

  /// Moves the remaining bytes to the front when the consumed part is larger.
  private mutating func compact() {
    if position == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.count <= 1 << 20)
    } else if position > 1 << 16, position > bytes.count / 2 {
      bytes.removeFirst(position)
    } else {
      return
    }
    scanned = Swift.max(0, scanned - position)
    position = 0
  }

  /// Returns the index after the empty line, or `nil`. Each byte is scanned once.
  private mutating func endOfHead() -> Int? {
    // A client may send an empty line before the request line (RFC 9112 §2.2).
    while position + 1 < bytes.count, bytes[position] == 13, bytes[position + 1] == 10 { position += 2 }
    var index = Swift.max(scanned, position)
    let found: Int? = bytes.withUnsafeBufferPointer { bytes in
      while index + 3 < bytes.count {
        if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
          return index + 4
        }
        index += 1
      }
      return nil
    }
    scanned = index
    return found
  }

  private func parseHead(_ range: Range<Int>) -> Head? {
    bytes.withUnsafeBufferPointer { buffer in
      let all = UnsafeBufferPointer(rebasing: buffer[range])
      guard let lineEnd = all.firstIndex(of: 13) else { return nil }
      let parts = all[..<lineEnd].split(separator: 32, omittingEmptySubsequences: false)
      guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, parts[2].starts(with: "HTTP/1.".utf8) else {
        return nil
      }
      var head = Head()
      head.method = String(decoding: parts[0], as: UTF8.self)
      head.target = String(decoding: parts[1], as: UTF8.self)
      head.keepAlive = parts[2].last == UInt8(ascii: "1")
      let fields = UnsafeBufferPointer(rebasing: all[(lineEnd + 2)..<(all.count - 2)])
      head.fieldLines = Array(fields)
      var start = 0
      while start < fields.count {
        guard let end = fields[start...].firstIndex(of: 13) else { return nil }
        guard Self.apply(UnsafeBufferPointer(rebasing: fields[start..<end]), to: &head) else { return nil }
        start = end + 2
      }
      return head
    }
  }

  /// Reads the framing fields. The first byte of a line rules out nearly all other fields.
  private static func apply(_ line: UnsafeBufferPointer<UInt8>, to head: inout Head) -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
    switch line[0] | 0x20 {
    case UInt8(ascii: "c"), UInt8(ascii: "t"), UInt8(ascii: "e"): break
    default: return true
    }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    func value() -> String {
      String(decoding: line[(colon + 1)...], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
    }
    switch name {
    case "content-length":
      guard let length = Int(value()), length >= 0 else { return false }
      head.length = length
    case "transfer-encoding": head.chunked = value().hasSuffix("chunked")
    case "connection":
      let options = value().split(separator: ",")
      if options.contains("close") { head.keepAlive = false }
      if options.contains("keep-alive") { head.keepAlive = true }
    case "expect": head.expectsContinue = value() == "100-continue"
    default: break
    }
    return true
  }

  private enum Chunks { case incomplete, complete, malformed(status: Int) }

  private mutating func readChunks() -> Chunks {
    // The lines of small chunks can be much longer than their bytes, which `limit` counts.
    defer { compact() }
    while true {
      let end = endOfLine()
      let trailers = head?.trailers ?? 0
      guard (end ?? bytes.count) - position <= Self.maxHead - trailers else { return .malformed(status: 431) }
      guard let end else { return .incomplete }
      let isEmpty = end == position
      if head?.trailers != nil {
        // The trailer section ends with an empty line. Its fields are ignored.
        head?.trailers = trailers + end + 2 - position
        position = end + 2
        if isEmpty { return .complete }
        continue
      }
      let line = String(decoding: bytes[position..<end], as: UTF8.self)
      let digits = line.prefix { $0 != ";" && $0 != " " }
      guard let size = Int(digits, radix: 16), size >= 0 else { return .malformed(status: 400) }
      guard size <= limit - chunkedBody.count else { return .malformed(status: 413) }
      let data = end + 2
      if size == 0 {
        head?.trailers = 0
        position = data
        continue
      }
      guard bytes.count - data - 2 >= size else { return .incomplete }
      chunkedBody.append(contentsOf: bytes[data..<(data + size)])
      guard bytes[data + size] == 13, bytes[data + size + 1] == 10 else { return .malformed(status: 400) }
      position = data + size + 2
    }
  }

  /// Returns the end of the line at `position`, or `nil`. Each byte is scanned once.
  private mutating func endOfLine() -> Int? {
    var index = Swift.max(scanned, position)
    let found: Int? = bytes.withUnsafeBufferPointer { bytes in
      while index + 1 < bytes.count {
        if bytes[index] == 13, bytes[index + 1] == 10 { return index }
        index += 1
      }
      return nil
    }
    scanned = index
    return found
  }
}
