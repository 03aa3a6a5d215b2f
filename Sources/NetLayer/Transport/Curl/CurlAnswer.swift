#if canImport(CCurl)
  import Foundation

  /// Collects head and body of one answer, as libcurl hands them over.
  struct CurlAnswer {
    private(set) var status = 0
    /// Whether the body outgrew the limit, which ends the transfer.
    private(set) var isTooLarge = false
    private(set) var maxBodySize = 0
    /// The header fields, once the head is complete.
    private(set) var headers = HTTPHeaders()
    /// The lines of the head so far, each with a line feed behind it.
    private var lines: [UInt8] = []
    /// Whether the final head, not a 1xx one, has come in.
    private(set) var isHeadComplete = false
    /// What Content-Length says; -1 where there is none.
    private var announced = -1
    /// Why it is in doubt where the body ends.
    private(set) var lengthProblem: String?
    private var headBytes = 0
    /// How many bytes of a body have come in since the start.
    private(set) var size = 0

    private var bytes: UnsafeMutableRawPointer?
    private var count = 0
    private var capacity = 0

    /// Servers refuse heads above 8 to 64 KB; a response's may be larger, but not without end. libcurl has a limit of
    /// its own (300 KB) from 8.3 on.
    static let maxHeadSize = 256 << 10

    /// A Content-Length is believed up to here when memory is set aside: the server may lie.
    private static let largestPresize = 1 << 20

    mutating func start(maxBodySize: Int) {
      self.maxBodySize = maxBodySize
      status = 0
      isTooLarge = false
      isHeadComplete = false
      announced = -1
      lengthProblem = nil
      headBytes = 0
      size = 0
    }

    /// Notes that a body outgrew its limit elsewhere.
    mutating func noteTooLarge() { isTooLarge = true }

    /// Frees what no one took.
    mutating func discard() {
      free(bytes)
      bytes = nil
      count = 0
      capacity = 0
      headers = HTTPHeaders()
      lines = []
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
        // Lines behind the body are trailers (RFC 9112 §7.1.2), which no caller sees.
        guard !isHeadComplete, status >= 200 else { return }
        isHeadComplete = true
        headers = HTTPHeaders(ReceivedFields(lines: lines))
        lines = []
        return
      }
      let line = UnsafeBufferPointer(rebasing: line[..<end])
      // Some versions of libcurl send a request again by themselves whose expectation was refused.
      if isHeadComplete, status == 417, Self.isStatusLine(line) {
        isHeadComplete = false
        count = 0
      }
      guard !isHeadComplete else { return }
      if Self.isStatusLine(line) {
        lines.removeAll()
        lines.reserveCapacity(512)
        announced = -1
        lengthProblem = nil
        status = Self.statusCode(line)
      } else {
        if let length = Self.contentLength(line) { note(length) }
        lines.append(contentsOf: line)
        lines.append(0x0a)
      }
    }

    /// Several lengths, in one field or in more, must be one and the same (RFC 9112 §6.3).
    private mutating func note(_ value: UnsafeBufferPointer<UInt8>) {
      var rest = value
      while true {
        let end = rest.firstIndex(of: 0x2c) ?? rest.count
        guard let length = Self.number(ReceivedFields.trimmed(UnsafeBufferPointer(rebasing: rest[..<end]))) else {
          let text = String(decoding: value.prefix(100), as: UTF8.self).debugDescription
          lengthProblem = "the answer's Content-Length is no length: \(text)"
          return
        }
        if announced >= 0, length != announced {
          lengthProblem = "the answer has two Content-Length values that contradict each other"
        }
        announced = length
        guard end < rest.count else { return }
        rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
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
          count + length, count == 0 ? Swift.min(Swift.max(0, announced), Self.largestPresize) : capacity * 2)
        guard let larger = realloc(bytes, wanted) else { return false }
        bytes = larger
        capacity = wanted
      }
      guard let bytes else { return length == 0 }
      memcpy(bytes + count, new, length)
      count += length
      size += length
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
      return number(UnsafeBufferPointer(rebasing: line[(space + 1)...].prefix(3))) ?? 0
    }

    /// The value, if the line is a Content-Length.
    private static func contentLength(_ line: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
      let name: StaticString = "content-length:"
      guard line.count >= name.utf8CodeUnitCount, line[0] | 0x20 == 0x63 else { return nil }
      for index in 0..<name.utf8CodeUnitCount where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
      return ReceivedFields.trimmed(UnsafeBufferPointer(rebasing: line[name.utf8CodeUnitCount...]))
    }

    /// The number that `digits` are; `nil` where they are none, or too many.
    private static func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int? {
      guard !digits.isEmpty else { return nil }
      var value = 0
      for digit in digits {
        guard digit >= 0x30, digit <= 0x39 else { return nil }
        let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, isLarger) = tens.addingReportingOverflow(Int(digit - 0x30))
        guard !isTooLarge, !isLarger else { return nil }
        value = sum
      }
      return value
    }
  }
#endif
