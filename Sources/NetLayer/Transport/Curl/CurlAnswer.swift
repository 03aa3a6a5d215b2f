#if canImport(CCurl)
  import Foundation

  /// Collects head and body of one answer, as libcurl hands them over.
  struct CurlAnswer {
    private(set) var status = 0
    /// Whether the body outgrew the limit, which ends the transfer.
    private(set) var isTooLarge = false
    private(set) var maxBodySize = 0
    private var fields: [HTTPHeaders.Field] = []
    /// Whether the final head, not a 1xx one, has come in.
    private(set) var isHeadComplete = false
    private var announced = 0
    private var lengths = 0
    /// Whether two Content-Length fields contradict each other.
    private(set) var hasTwoLengths = false
    private var headBytes = 0

    private var bytes: UnsafeMutableRawPointer?
    private var count = 0
    private var capacity = 0

    /// Servers refuse heads above 8 to 64 KB; a response's may be larger, but not without end. libcurl has a limit of
    /// its own (300 KB) from 8.3 on.
    static let maxHeadSize = 256 << 10

    /// A Content-Length is believed up to here when memory is set aside: the server may lie.
    private static let largestPresize = 1 << 20

    var headers: HTTPHeaders { HTTPHeaders(fields) }

    mutating func start(maxBodySize: Int) {
      self.maxBodySize = maxBodySize
      status = 0
      isTooLarge = false
      isHeadComplete = false
      announced = 0
      lengths = 0
      hasTwoLengths = false
      headBytes = 0
      fields = []
    }

    /// Notes that a body outgrew its limit elsewhere.
    mutating func noteTooLarge() { isTooLarge = true }

    /// Frees what no one took.
    mutating func discard() {
      free(bytes)
      bytes = nil
      count = 0
      capacity = 0
      fields = []
    }

    /// One line of a head, line end included; each new head (after 1xx) replaces the one before.
    ///
    /// - Returns: `false` when the heads together are larger than allowed.
    mutating func headerLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      headBytes += line.count
      guard headBytes <= Self.maxHeadSize else { return false }
      take(line)
      return true
    }

    private mutating func take(_ line: UnsafeBufferPointer<UInt8>) {
      var end = line.count
      while end > 0, line[end - 1] == 0x0a || line[end - 1] == 0x0d { end -= 1 }
      guard end > 0 else {
        isHeadComplete = status >= 200
        return
      }
      let line = UnsafeBufferPointer(rebasing: line[..<end])
      // Some versions of libcurl send a request again by themselves whose expectation was refused.
      if isHeadComplete, status == 417, Self.isStatusLine(line) {
        isHeadComplete = false
        count = 0
      }
      // Lines behind the body are trailers (RFC 9112 §7.1.2), which no caller sees.
      guard !isHeadComplete else { return }
      if Self.isStatusLine(line) {
        fields = []
        fields.reserveCapacity(8)
        announced = 0
        lengths = 0
        hasTwoLengths = false
        status = Self.statusCode(line)
      } else if line[0] == 0x20 || line[0] == 0x09 {
        // A folded line continues the value before (RFC 9112 §5.2).
        guard let last = fields.indices.last else { return }
        fields[last].value += " " + Self.text(Self.trimmed(line))
      } else if let colon = line.firstIndex(of: 0x3a) {
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        let value = Self.trimmed(UnsafeBufferPointer(rebasing: line[(colon + 1)...]))
        if colon == 14, name[0] | 0x20 == 0x63, name[8] | 0x20 == 0x6c, name[7] == 0x2d {
          let length = Self.length(value)
          if lengths > 0, length != announced { hasTwoLengths = true }
          lengths += 1
          announced = length
        }
        fields.append(HTTPHeaders.Field(name: Self.text(name), value: Self.text(value)))
      }
    }

    /// `false` when the body is larger than allowed.
    mutating func append(_ new: UnsafeRawPointer, _ length: Int) -> Bool {
      guard length <= maxBodySize - count else {
        isTooLarge = true
        return false
      }
      if count + length > capacity {
        let wanted = Swift.max(
          count + length, count == 0 ? Swift.min(announced, Self.largestPresize) : capacity * 2)
        guard let larger = realloc(bytes, wanted) else { return false }
        bytes = larger
        capacity = wanted
      }
      guard let bytes else { return length == 0 }
      memcpy(bytes + count, new, length)
      count += length
      return true
    }

    /// The body, taken over without a copy.
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
      return length(UnsafeBufferPointer(rebasing: line[(space + 1)...].prefix(3)))
    }

    /// The decimal number, 0 when it is none.
    private static func length(_ digits: UnsafeBufferPointer<UInt8>) -> Int {
      var value = 0
      for digit in digits {
        guard digit >= 0x30, digit <= 0x39, value < 1 << 50 else { return 0 }
        value = value * 10 + Int(digit - 0x30)
      }
      return value
    }

    private static func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
      var start = 0
      var end = value.count
      while start < end, value[start] == 0x20 || value[start] == 0x09 { start += 1 }
      while end > start, value[end - 1] == 0x20 || value[end - 1] == 0x09 { end -= 1 }
      return UnsafeBufferPointer(rebasing: value[start..<end])
    }

    /// UTF-8 where it is, else Latin-1, in which every byte is a character (RFC 9110 §5.5).
    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
      // Nearly every header is ASCII, and the general check is generic code that does not specialise.
      if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
      if let text = String(validating: bytes, as: UTF8.self) { return text }
      return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
#endif
