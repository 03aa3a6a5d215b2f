import PortableFoundation

/// A parser for the response to an opening request. It reads the body unless the status is 101.
struct WebSocketOpening {
  enum Step {
    case needsInput
    /// The socket is open; `rest` has the bytes after the head.
    case open(HTTPHeaders, rest: [UInt8])
    case response(status: Int, HTTPHeaders, body: Data)
  }

  struct Failure: Error { let reason: String }

  /// The maximum number of bytes of all heads together, including 1xx responses. Servers send far less.
  static let maxHead = 1 << 16
  /// The maximum number of bytes to keep of a body that explains a rejection.
  static let maxBody = 1 << 20
  /// The maximum number of bytes in the line with a chunk's size.
  private static let maxLine = 1024

  private var input: [UInt8] = []
  /// The index of the first unread byte. Bytes before it are removed in one step, because each removal moves all
  /// following bytes.
  private var start = 0
  private var searched = 0
  private var headBytes = 0
  private var head: (status: Int, headers: HTTPHeaders)?
  private var end = End.connection
  private var body: [UInt8] = []
  /// The number of bytes still missing from a chunk, including its line break.
  private var missing = 0

  private enum End: Equatable {
    case length(Int)
    case chunks
    case connection
  }

  var hasHead: Bool { head != nil }

  mutating func feed(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      input.removeFirst(start)
      (start, searched) = (0, Swift.max(0, searched - start))
    }
    input.append(contentsOf: bytes)
  }

  mutating func next() throws(Failure) -> Step {
    while head == nil {
      let end = headEnd()
      guard headBytes + (end ?? input.count) - start <= Self.maxHead else {
        throw Failure(reason: "the response header is larger than 64 KB")
      }
      guard let end else { return .needsInput }
      let found = try Self.read(input[start..<end])
      headBytes += end - start
      (start, searched) = (end, end)
      if found.status == 101 {
        defer { (input, start) = ([], 0) }
        return .open(found.headers, rest: Array(input[start...]))
      }
      // Informational responses may precede the final response (RFC 9110 §15.2).
      if found.status < 200 { continue }
      head = found
      self.end = Self.end(found.status, found.headers)
    }
    return try readBody() ? response() : .needsInput
  }

  /// Returns the response with the body received so far, when no more bytes will follow; `nil` without a head.
  ///
  /// The status is more useful than a connection error. It may, for example, trigger a token refresh.
  func ended() -> Step? { hasHead ? response() : nil }

  private func response() -> Step {
    .response(status: head?.status ?? 0, head?.headers ?? HTTPHeaders(), body: Data(body))
  }

  /// Returns the index after the head and its empty line.
  private mutating func headEnd() -> Int? {
    var index = Swift.max(start + 3, searched)
    while index < input.count {
      if input[index] == 0x0A, input[index - 1] == 0x0D, input[index - 2] == 0x0A, input[index - 3] == 0x0D {
        return index + 1
      }
      index += 1
    }
    searched = index
    return nil
  }

  private static func read(_ head: ArraySlice<UInt8>) throws(Failure) -> (status: Int, headers: HTTPHeaders) {
    let lines = head.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    let first = String(decoding: lines.first ?? [], as: UTF8.self)
    let parts = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", parts[1].utf8.count == 3,
      let status = Int(parts[1]), (100...999).contains(status)
    else {
      throw Failure(reason: "it did not respond with HTTP/1.1: \(first.prefix(100).debugDescription); check the port")
    }
    var fields: [UInt8] = []
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex, line.first != 0x20, line.first != 0x09
      else {
        throw Failure(reason: "a header line is not valid: \(String(decoding: line.prefix(100), as: UTF8.self))")
      }
      fields += line
      fields.append(0x0A)
    }
    return (status, HTTPHeaders(ReceivedFields(lines: fields)))
  }

  private static func end(_ status: Int, _ headers: HTTPHeaders) -> End {
    if status == 204 || status == 304 { return .length(0) }
    if let coding = headers["Transfer-Encoding"] {
      return coding.lowercased().hasSuffix("chunked") ? .chunks : .connection
    }
    guard let length = headers.values(of: "Content-Length").first else { return .connection }
    return .length(Int(digits: length) ?? Int.max)
  }

  /// Returns `true` when the body is complete, or has reached its maximum length.
  private mutating func readBody() throws(Failure) -> Bool {
    switch end {
    case .length(let length):
      take(length - body.count)
      return body.count >= Swift.min(length, Self.maxBody)
    case .connection:
      take(Int.max)
      return body.count >= Self.maxBody
    case .chunks: return try readChunks()
    }
  }

  private mutating func readChunks() throws(Failure) -> Bool {
    while body.count < Self.maxBody {
      if missing > 2 { missing -= take(missing - 2) }
      let end = Swift.min(missing, input.count - start)
      (start, missing) = (start + end, missing - end)
      guard missing == 0 else { return body.count >= Self.maxBody }
      let rest = input[start...].prefix(Self.maxLine)
      guard let line = rest.firstIndex(of: 0x0A) else {
        guard rest.count < Self.maxLine else { throw Failure(reason: "the size line of a chunk is too long") }
        return false
      }
      let digits = String(decoding: rest[..<line], as: UTF8.self).prefix { $0.isHexDigit }
      guard let size = Int(digits, radix: 16), (0...Int.max - 2).contains(size) else {
        throw Failure(reason: "the size of a chunk is not a number")
      }
      start = line + 1
      // Trailers are ignored.
      if size == 0 { return true }
      missing = size + 2
    }
    return true
  }

  /// Consumes up to `count` bytes of the body, and stores as many as the limit allows. Returns the number of consumed
  /// bytes.
  @discardableResult private mutating func take(_ count: Int) -> Int {
    let count = Swift.min(count, input.count - start)
    body += input[start..<start + Swift.min(count, Self.maxBody - body.count)]
    start += count
    return count
  }
}
