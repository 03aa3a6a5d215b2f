#if canImport(CLibcurl)
  import PortableFoundation

  /// The head, body and trailers of one response, collected from libcurl's callbacks.
  struct CurlResponse {
    private(set) var status = 0
    /// Whether the body exceeded its limit, which ends the transfer.
    private(set) var isTooLarge = false
    let maxBodySize: Int
    /// The header fields, once the head is complete.
    private(set) var headers = HTTPHeaders()
    /// The lines of the head so far, then of the trailers. Each ends with a line feed.
    private var lines: [UInt8] = []
    /// Whether the final head has been received; 1xx heads do not count.
    private(set) var isHeadComplete = false
    /// The value of Content-Length; -1 without one.
    private var announced = -1
    private var isChunked = false
    /// Whether the transfer coding is `identity`, after which libcurl ignores the length and waits for the end of the
    /// connection.
    private var isIdentity = false
    /// Whether the last field determines the end of the body, so that another line must not continue it.
    private var isFraming = false
    /// The parameter `timeout` of a Keep-Alive field, in seconds (RFC 2068 §19.7.1.1).
    private(set) var keepAlive: Int?
    /// Whether the response has a Content-Encoding.
    private(set) var isCoded = false
    /// Whether the response uses HTTP/2 or later, where a stream ends instead of the connection.
    private(set) var isHTTP2 = false
    private let isHead: Bool
    /// The rule that the head violates, and that not all versions of libcurl check.
    private(set) var problem: String?
    private var headBytes = 0
    private var fieldCount = 0
    private var interimHeads = 0
    /// The number of bytes of the body received since the start, as sent on the wire.
    private(set) var size = 0

    private var bytes: UnsafeMutableRawPointer?
    private var count = 0
    private var capacity = 0

    /// The maximum number of bytes of the head with its trailers, and of all interim heads (1xx). Servers reject request heads
    /// above 8 to 64 KB. The head of a response may be larger, but not unlimited. libcurl has its own limit (300 KB)
    /// since 8.3.
    static let maxHeadSize = 256 << 10
    static let maxInterimHeads = 1_000
    /// The maximum number of field lines of a head with its trailers. Servers accept 100 (Apache, Tomcat) to 2,000 fields
    /// in a request; a response rarely has more than 50.
    static let maxFields = 500

    /// The maximum number of bytes to allocate based on Content-Length, which may be wrong.
    private static let largestPresize = 1 << 20

    init(maxBodySize: Int = 0, isHead: Bool = false) {
      self.maxBodySize = maxBodySize
      self.isHead = isHead
    }

    private mutating func startHead() {
      lines.removeAll(keepingCapacity: true)
      announced = -1
      isChunked = false
      isIdentity = false
      isFraming = false
      keepAlive = nil
      isCoded = false
      problem = nil
    }

    // MARK: The end of the body

    /// Whether the response has no body, regardless of its head (RFC 9112 §6.3).
    var hasNoBody: Bool { isHead || status == 204 || status == 304 }
    var isLengthKnown: Bool { announced >= 0 && !isChunked }
    /// Whether the announced number of bytes has been received.
    var isComplete: Bool { isLengthKnown && size == announced }
    /// Whether only the end of the connection ends the body.
    var endsWithConnection: Bool { !isHTTP2 && announced < 0 && !isChunked && !hasNoBody }

    /// Returns whether the head announces a body larger than `limit`, so that the body need not be read.
    func isAnnouncedTooLarge(_ limit: Int?) -> Bool {
      guard let limit, isLengthKnown, !isCoded, !hasNoBody else { return false }
      return announced > limit
    }

    /// Records that the body exceeded a limit that is checked elsewhere.
    mutating func noteTooLarge() { isTooLarge = true }

    /// Frees a body that was not taken.
    mutating func discard() {
      free(bytes)
      self = CurlResponse()
    }

    /// Processes one line of a head, line end included. A new head (after 1xx) replaces the previous one.
    ///
    /// - Returns: `false` if a head is too large or has too many fields, if there are too many heads, or if a response
    ///   begins inside another.
    mutating func headerLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      headBytes += line.count
      guard headBytes <= Self.maxHeadSize else { return false }
      let wasComplete = isHeadComplete
      take(line)
      if fieldCount > Self.maxFields || interimHeads > Self.maxInterimHeads { return false }
      return !wasComplete || problem == nil
    }

    /// Records received bytes of the body.
    mutating func noteReceived(_ length: Int) { size += length }

    private mutating func take(_ line: UnsafeBufferPointer<UInt8>) {
      // libcurl 8.23 also passes the start of a line on that the end of the connection has cut.
      guard line.last == 0x0a else { return }
      var end = line.count
      while end > 0, line[end - 1] == 0x0a || line[end - 1] == 0x0d { end -= 1 }
      guard end > 0 else {
        // Lines after the body are trailers (RFC 9112 §7.1.2).
        guard !isHeadComplete, status >= 200 else { return }
        isHeadComplete = true
        if isIdentity, announced >= 0, !hasNoBody {
          problem = problem ?? "the response has a Content-Length and the Transfer-Encoding identity (RFC 9112 §6.3)"
        }
        headers = HTTPHeaders(ReceivedFields(lines: lines))
        lines = []
        return
      }
      let line = UnsafeBufferPointer(rebasing: line[..<end])
      guard Self.isStatusLine(line) else { return takeField(line) }
      if isHeadComplete {
        // Some versions of libcurl resend a request by themselves if its expectation was rejected.
        guard status == 417 else {
          problem = "a second response began inside the first"
          return
        }
        isHeadComplete = false
        count = 0
      }
      if (100..<200).contains(status) { interimHeads += 1 }
      startHead()
      fieldCount = 0
      lines.reserveCapacity(512)
      isHTTP2 = line[5] >= 0x32
      // libcurl 7.74 accepts any version.
      if line[5] > 0x33 { problem = "it did not respond with HTTP/1, 2 or 3" }
      status = Self.statusCode(line)
      if status >= 200 { headBytes = line.count }
      if interimHeads > Self.maxInterimHeads { problem = "it has more than \(Self.maxInterimHeads) interim heads" }
    }

    private mutating func takeField(_ line: UnsafeBufferPointer<UInt8>) {
      fieldCount += 1
      guard fieldCount <= Self.maxFields else {
        problem = problem ?? "the response has more than \(Self.maxFields) header fields"
        return
      }
      if !isHeadComplete {
        let isContinuation = line[0] == 0x20 || line[0] == 0x09
        if isContinuation, isFraming { problem = problem ?? "the field that determines the end of the body is folded" }
        isFraming = isFraming && isContinuation
        switch line[0] | 0x20 {
        case 0x63:
          if let length = Self.value(line, of: "content-length:") {
            isFraming = true
            note(length)
          }
          if Self.value(line, of: "content-encoding:") != nil { isCoded = true }
        case 0x6b:
          if let value = Self.value(line, of: "keep-alive:") { keepAlive = Self.timeout(in: value) }
        case 0x74:
          if let coding = Self.value(line, of: "transfer-encoding:") {
            isFraming = true
            note(transferCoding: coding)
          }
        default: break
        }
        // libcurl before 7.84 accepts a line without a colon. Other versions accept a continuation line without a
        // previous field (RFC 9112 §2.2, §5).
        if isContinuation {
          if lines.isEmpty { problem = problem ?? "the first header field begins with whitespace" }
        } else if let colon = line.firstIndex(of: 0x3a) {
          // Servers may use such a field, and others ignore it (RFC 9112 §5.1).
          if colon > 0, line[colon - 1] == 0x20 || line[colon - 1] == 0x09 {
            problem = problem ?? "a header line has a space before its colon: \(Self.quoted(line))"
          }
        } else {
          problem = problem ?? "a header line has no colon: \(Self.quoted(line))"
        }
      }
      lines.append(contentsOf: line)
      lines.append(0x0a)
    }

    /// The trailer fields of a chunked response or an HTTP/2 response (RFC 9110 §6.5).
    var trailers: HTTPHeaders {
      isHeadComplete && !lines.isEmpty ? HTTPHeaders(ReceivedFields(lines: lines)) : HTTPHeaders()
    }

    /// Records the length. Several lengths, in one field or in several, must be equal (RFC 9112 §6.3).
    private mutating func note(_ value: UnsafeBufferPointer<UInt8>) {
      var rest = value
      while true {
        let end = rest.firstIndex(of: 0x2c) ?? rest.count
        guard let length = Self.number(ReceivedFields.trimmed(UnsafeBufferPointer(rebasing: rest[..<end]))) else {
          problem = "the response's Content-Length is not a valid length: \(Self.quoted(value))"
          return
        }
        if announced >= 0, length != announced {
          problem = "the response has contradictory Content-Length values"
        }
        announced = length
        guard end < rest.count else { return }
        rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
      }
    }

    /// Records a transfer coding. libcurl reads any value that contains `chunked` as it, and ignores others (RFC 9112 §6.1,
    /// §7).
    private mutating func note(transferCoding value: UnsafeBufferPointer<UInt8>) {
      switch String(decoding: value, as: UTF8.self).lowercased() {
      case "chunked" where !isChunked: isChunked = true
      case "identity": isIdentity = true
      default: problem = problem ?? "the response's Transfer-Encoding is not chunked: \(Self.quoted(value))"
      }
    }

    /// Appends bytes to the body. Returns `false` if it exceeds the limit.
    mutating func append(_ new: UnsafeRawPointer, _ length: Int) -> Bool {
      guard length <= maxBodySize - count else {
        isTooLarge = true
        return false
      }
      if count + length > capacity {
        let wanted = Swift.max(
          count + length, count == 0 ? Swift.min(Swift.max(0, announced), Self.largestPresize) : capacity * 2)
        guard let larger = realloc(bytes, wanted) else { return false }
        bytes = larger
        capacity = wanted
      }
      guard let bytes else { return length == 0 }
      memcpy(bytes + count, new, length)
      count += length
      return true
    }

    /// Returns the body without a copy, and removes it from this value.
    mutating func takeBody() -> Data {
      guard let taken = bytes, count > 0 else { return Data() }
      let length = count
      bytes = nil
      count = 0
      capacity = 0
      return Data(bytesNoCopy: taken, count: length, deallocator: .free)
    }

    private static func isStatusLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      line.count > 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54 && line[3] == 0x50 && line[4] == 0x2f
    }

    private static func statusCode(_ line: UnsafeBufferPointer<UInt8>) -> Int {
      guard let space = line.firstIndex(of: 0x20) else { return 0 }
      return number(UnsafeBufferPointer(rebasing: line[(space + 1)...].prefix(3))) ?? 0
    }

    /// Returns the value if the line is the field `name`, which is in lowercase and ends with a colon.
    private static func value(_ line: UnsafeBufferPointer<UInt8>, of name: StaticString) -> UnsafeBufferPointer<UInt8>?
    {
      guard line.count >= name.utf8CodeUnitCount else { return nil }
      for index in 0..<name.utf8CodeUnitCount where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
      return ReceivedFields.trimmed(UnsafeBufferPointer(rebasing: line[name.utf8CodeUnitCount...]))
    }

    private static func timeout(in parameters: UnsafeBufferPointer<UInt8>) -> Int? {
      let parameters = String(decoding: parameters, as: UTF8.self).lowercased().split(separator: ",")
      let value = parameters.lazy.map(\.trimmingBlanks).first { $0.hasPrefix("timeout=") }
      return value.flatMap { Int(digits: $0.dropFirst("timeout=".count)) }
    }

    private static func quoted(_ text: UnsafeBufferPointer<UInt8>) -> String {
      String(decoding: text.prefix(100), as: UTF8.self).debugDescription
    }

    /// Returns the number written in `digits`; `nil` if it is empty, not a number, or too large.
    private static func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int? {
      guard !digits.isEmpty else { return nil }
      var value = 0
      for digit in digits {
        guard digit.isDigit else { return nil }
        let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, isLarger) = tens.addingReportingOverflow(Int(digit - 0x30))
        guard !isTooLarge, !isLarger else { return nil }
        value = sum
      }
      return value
    }
  }
#endif
