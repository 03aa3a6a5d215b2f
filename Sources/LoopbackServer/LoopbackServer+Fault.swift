import PortableFoundation
import Synchronization

extension LoopbackServer {
  /// What a server can do to a client, one of each; `response` does it.
  ///
  /// Two faults are none of an answer's: a refused connection is a server that was stopped, and one that is accepted and
  /// never read from is `LoopbackServer.silent()`.
  public enum Fault: String, CaseIterable, Sendable {
    /// The request is read, and nothing comes.
    case neverResponding
    /// The connection is closed instead of an answer.
    case closeBeforeHead
    /// The connection is reset instead of an answer.
    case resetBeforeHead
    /// The connection is closed in the middle of the head.
    case headCutShort
    /// The head begins, and nothing more comes.
    case headStalled
    /// The status line is none.
    case malformedStatusLine
    /// A line of the head has no colon.
    case headerWithoutColon
    /// The first field of the head begins with a blank, as if it continued another.
    case foldedFirstField
    /// A field of 1 MB.
    case hugeHeader
    /// 10,000 fields.
    case tenThousandHeaders
    /// The content ends before its Content-Length, in order.
    case lengthTooLong
    /// The content goes on behind its Content-Length.
    case lengthTooShort
    /// A Content-Length below zero.
    case negativeLength
    /// Two Content-Length fields with different values.
    case twoLengths
    /// A Content-Length beside the chunked transfer coding, which counts (RFC 9112 §6.3).
    case lengthAndChunks
    /// A chunk's size is no number.
    case brokenChunkSize
    /// A chunk ends before its size, in order.
    case chunkCutShort
    /// Content without end, as fast as it is taken.
    case endlessBody
    /// One byte each 100 ms.
    case dripping
    /// The content begins, and nothing more comes.
    case stalledBody
    /// The connection is reset at some byte of the answer; by `LOOPBACK_SEED` in the environment at the same ones again.
    case resetAtRandomByte
    /// Gzip that breaks in the middle.
    case corruptGzip
    /// Gzip that ends in the middle, as its Content-Length says.
    case truncatedGzip
    /// Gzip that ends in the middle, with the connection.
    case gzipCutByClose
    /// Gzip that becomes 158 times as large, without end.
    case gzipBomb
    /// Text that is announced as gzip.
    case wrongContentEncoding
    /// A content coding that there is not.
    case unknownContentEncoding
    /// A redirect to itself.
    case redirectLoop
    /// A redirect into the file system.
    case redirectToFile

    /// The answer that does it, to a request for `path`.
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

    /// Where all randomness of the faults begins: the number in `LOOPBACK_SEED`, with which a run that failed is repeated.
    package static let seed =
      ProcessInfo.processInfo.environment["LOOPBACK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...9_999_999)

    /// Each draw is another number, on whatever loop.
    private static let draws = Atomic<UInt64>(0)

    /// SplitMix64: well mixed from neighbouring numbers.
    private static func nextRandom() -> UInt64 {
      var value = seed &+ (draws.add(1, ordering: .relaxed).newValue &* 0x9e37_79b9_7f4a_7c15)
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }

    private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]

    /// One stored block, of two bytes (RFC 1951 §3.2.4), and no trailer.
    private static let halfGzip: [UInt8] = gzipHead + [1, 2, 0, 0xfd, 0xff] + Array("ok".utf8)

    private static var corrupt: Response {
      // A deflate block of the reserved type 3 (RFC 1951 §3.2.3).
      Response.bytes(gzipHead + [0x07, 0xff, 0xff, 0xff, 0xff]).header("Content-Encoding", "gzip")
    }

    /// One block of fixed codes (RFC 1951 §3.2.6): the byte 0, then for ever "the last byte 258 times more".
    private static var bomb: Response {
      // Length code 285 is 11000101, distance code 0 is 00000; eight such pairs fill 13 bytes.
      let pair: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
      let start: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0] + pair
      let unit = packed((0..<8).flatMap { _ in pair })
      var response = Response(
        body: .endless(first: gzipHead + packed(start), .init((0..<4_000).flatMap { _ in unit })))
      response.headers = [("Content-Encoding", "gzip")]
      return response
    }

    /// Bits in bytes, the first one lowest (RFC 1951 §3.1.1).
    private static func packed(_ bits: [UInt8]) -> [UInt8] {
      stride(from: 0, to: bits.count, by: 8).map { start in
        bits[start..<Swift.min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | $1 }
      }
    }
  }

  /// A server that lets the system accept connections, and never reads from one.
  public static func silent() throws -> LoopbackServer { try LoopbackServer(isSilent: true) }
}
