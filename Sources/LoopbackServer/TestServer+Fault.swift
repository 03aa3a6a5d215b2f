import PortableFoundation
import Synchronization

extension TestServer {
  /// The faults of a server, for the tests and the soak of this package. `response` returns a response with the fault.
  ///
  /// Two faults do not belong to a response. For a refused connection, stop the server. For a connection that is
  /// accepted and never read from, use `TestServer.silent()`.
  @_spi(Faults) public enum Fault: String, CaseIterable, Sendable {
    /// The request is read, and no response is sent.
    case neverResponding
    /// The connection is closed without a response.
    case closeBeforeHead
    /// The connection is reset without a response.
    case resetBeforeHead
    /// The connection is closed in the middle of the head.
    case headCutShort
    /// The response stops in the middle of its head.
    case headStalled
    /// The status line is malformed.
    case malformedStatusLine
    /// A line of the head has no colon.
    case headerWithoutColon
    /// The first field of the head begins with a space, as if it continued another field.
    case foldedFirstField
    /// A field of 1 MB.
    case hugeHeader
    /// 10,000 fields.
    case tenThousandHeaders
    /// The body is truncated: it ends before its Content-Length, and the connection is closed gracefully.
    case lengthTooLong
    /// The body continues after its Content-Length.
    case lengthTooShort
    /// A negative Content-Length.
    case negativeLength
    /// Two Content-Length fields with different values.
    case twoLengths
    /// A Content-Length in addition to the chunked transfer coding, which takes precedence (RFC 9112 §6.3).
    case lengthAndChunks
    /// The size of a chunk is not a number.
    case brokenChunkSize
    /// A chunk is shorter than its size, and the connection is closed gracefully.
    case chunkCutShort
    /// An endless body, sent as fast as the client reads it.
    case endlessBody
    /// A body of one byte every 100 ms.
    case dripping
    /// The body is started, and nothing more is sent.
    case stalledBody
    /// The connection is reset at a random byte of the response. `LOOPBACK_SEED` in the environment reproduces the same
    /// bytes.
    case resetAtRandomByte
    /// Gzip data that is invalid in the middle.
    case corruptGzip
    /// Gzip data that is truncated, with a matching Content-Length.
    case truncatedGzip
    /// Gzip data that is truncated by the end of the connection.
    case gzipCutByClose
    /// Endless gzip data that expands by a factor of 158.
    case gzipBomb
    /// Plain text that is declared as gzip.
    case wrongContentEncoding
    /// An unknown content coding.
    case unknownContentEncoding
    /// A redirect to itself.
    case redirectLoop
    /// A redirect to a file URL.
    case redirectToFile

    /// Returns a response with the fault to a request for `path`.
    public func response(to path: String = "/") -> Response {
      switch self {
      case .neverResponding: .neverResponding
      case .closeBeforeHead: .closeBeforeHead
      case .resetBeforeHead: .resetBeforeHead
      case .headCutShort: Self.raw("HTTP/1.1 200 OK\r\nContent-Le", .close)
      case .headStalled: Self.raw("HTTP/1.1 200 OK\r\nContent-Le", .hang)
      case .malformedStatusLine: Self.raw("HTTP/1.1 two hundred\r\nContent-Length: 0\r\n\r\n", .close)
      case .headerWithoutColon: Self.raw("HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nok", .close)
      case .foldedFirstField: Self.raw("HTTP/1.1 200 OK\r\n X-Folded: 1\r\nContent-Length: 2\r\n\r\nok", .close)
      case .hugeHeader: Response.text("ok").header("X-Huge", String(repeating: "x", count: 1 << 20))
      case .tenThousandHeaders: Self.manyHeaders
      case .lengthTooLong: .truncatedBody()
      case .lengthTooShort: Self.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", .keepAlive)
      case .negativeLength: Self.raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok", .close)
      case .twoLengths: Self.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokay", .close)
      case .lengthAndChunks: Self.chunked("2\r\nok\r\n0\r\n\r\n", "Content-Length: 5\r\n", .keepAlive)
      case .brokenChunkSize: Self.chunked("2\r\nok\r\nzz\r\nno\r\n0\r\n\r\n", ending: .close)
      case .chunkCutShort: Self.chunked("2\r\nok\r\n1000\r\nno", ending: .close)
      case .endlessBody: .endless(.init([UInt8](repeating: 120, count: 50_000)))
      case .dripping: .drip([UInt8](repeating: 46, count: 1000), every: 0.1)
      case .stalledBody: .stalledBody()
      case .resetAtRandomByte: Self.cut
      case .corruptGzip: Self.corrupt
      case .truncatedGzip: Response.bytes(Self.halfGzip).header("Content-Encoding", "gzip")
      case .gzipCutByClose:
        Response(
          body: .raw([.init(Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8) + Self.halfGzip)]),
          ending: .close)
      case .gzipBomb: Self.bomb
      case .wrongContentEncoding: Response.text("plain").header("Content-Encoding", "gzip")
      case .unknownContentEncoding: Response.text("plain").header("Content-Encoding", "no-such-coding")
      case .redirectLoop: .redirect(to: path)
      case .redirectToFile: .redirect(to: "file:///etc/passwd")
      }
    }

    private static func raw(_ text: String, _ ending: Response.Ending) -> Response {
      Response(body: .raw([.init(text)]), ending: ending)
    }

    private static func chunked(_ text: String, _ field: String = "", _ ending: Response.Ending = .keepAlive)
      -> Response
    {
      raw("HTTP/1.1 200 OK\r\n\(field)Transfer-Encoding: chunked\r\n\r\n\(text)", ending)
    }

    private static func chunked(_ text: String, ending: Response.Ending) -> Response { chunked(text, "", ending) }

    private static var manyHeaders: Response {
      var response = Response.text("ok")
      for index in 0..<10_000 { response.headers.append(("X-Field-\(index)", "a value of twenty by")) }
      return response
    }

    private static var cut: Response {
      let whole = Array("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n".utf8) + [UInt8](repeating: 120, count: 500)
      return Response(body: .raw([.init(Array(whole[..<Int(nextRandom() % UInt64(whole.count))]))]), ending: .reset)
    }

    /// The seed of all random faults: the number in `LOOPBACK_SEED`, which reproduces a failed run.
    package static let seed =
      ProcessInfo.processInfo.environment["LOOPBACK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...9_999_999)

    /// The number of random numbers generated so far, by all servers.
    private static let draws = Atomic<UInt64>(0)

    /// Returns a random number (SplitMix64, which mixes consecutive numbers well).
    private static func nextRandom() -> UInt64 {
      var value = seed &+ (draws.add(1, ordering: .relaxed).newValue &* 0x9e37_79b9_7f4a_7c15)
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }

    private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]

    /// One stored block of two bytes (RFC 1951 §3.2.4), without a trailer.
    private static let halfGzip: [UInt8] = gzipHead + [1, 2, 0, 0xfd, 0xff] + Array("ok".utf8)

    private static var corrupt: Response {
      // A deflate block of the reserved type 3 (RFC 1951 §3.2.3).
      Response.bytes(gzipHead + [0x07, 0xff, 0xff, 0xff, 0xff]).header("Content-Encoding", "gzip")
    }

    /// One block of fixed codes (RFC 1951 §3.2.6): the byte 0, then an endless series of "repeat the last byte 258
    /// times".
    private static var bomb: Response {
      // Length code 285 is 11000101, and distance code 0 is 00000. Eight of these pairs fill 13 bytes.
      let pair: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
      let start: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0] + pair
      let unit = packed((0..<8).flatMap { _ in pair })
      var response = Response(
        body: .endless(first: gzipHead + packed(start), .init((0..<4_000).flatMap { _ in unit })))
      response.headers = [("Content-Encoding", "gzip")]
      return response
    }

    /// Packs bits into bytes, the first bit lowest (RFC 1951 §3.1.1).
    private static func packed(_ bits: [UInt8]) -> [UInt8] {
      stride(from: 0, to: bits.count, by: 8).map { start in
        bits[start..<Swift.min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | $1 }
      }
    }
  }

  /// Creates a server whose connections are accepted by the system and never read from.
  public static func silent() throws -> TestServer { try TestServer(isSilent: true) }
}
