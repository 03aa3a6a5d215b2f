import Foundation
import HTTPTransport
import NetLayer
import Races
import Streams

/// One call of `OnceTests`. Its number determines the request and the behavior of the server.
struct OnceCall: CustomStringConvertible {
  /// The server's behavior for the first request of the call. All later requests succeed.
  enum Script: String {
    /// Responds.
    case plain
    /// Responds after 3 ms.
    case late
    /// Processes the request and responds with 503.
    case busy
    /// Responds with 401 without processing the request.
    case expired
    /// Redirects with 307, which keeps the method and the body.
    case redirected
    /// Redirects with 303, which changes the method to GET.
    case turned
    /// Processes the request and closes the connection without a response.
    case dropped
    /// Processes the request and resets the connection.
    case lost
    /// Responds and then closes the connection without announcing it.
    case closing
    /// Responds with `Connection: close`.
    case leaving
  }

  enum Body: Equatable {
    case none
    case data(Int)
    /// A body that is generated during the upload, with or without a declared length.
    case repeated(Int, isCounted: Bool)
    case once(Int, isCounted: Bool)

    var count: Int {
      switch self {
      case .none: 0
      case .data(let count), .repeated(let count, _), .once(let count, _): count
      }
    }
  }

  let id: Int
  let method: HTTPMethod
  let body: Body
  let script: Script
  let hasKey: Bool
  /// The number of concurrent callers of the same request.
  let callers: Int
  /// The delay in milliseconds after which the caller cancels, or `nil`.
  let cancelsAfter: Double?

  init(_ id: Int, seed: UInt64) {
    self.id = id
    var random = SplitMix64(seed: seed &+ UInt64(id) &* 0x9E37_79B9_7F4A_7C15)
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    method =
      switch below(100) {
      case ..<20: .get
      case ..<30: .put
      case ..<35: .delete
      case ..<75: .post
      case ..<95: .patch
      default: "APPEND"
      }
    let size = below(100) == 0 ? 100_000 : below(2000)
    let isCounted = below(2) == 0
    let kind = below(20)
    body =
      method == .get || method == .delete
      ? .none
      : kind == 0 ? .once(size, isCounted: isCounted) : kind == 1 ? .repeated(size, isCounted: isCounted) : .data(size)
    let fate = below(100)
    script =
      switch fate {
      case ..<5: .busy
      case ..<10: .expired
      case ..<14: .redirected
      case ..<16: .turned
      case ..<19: .dropped
      case ..<21: .lost
      case ..<25: .closing
      case ..<28: .leaving
      case ..<31: .late
      default: .plain
      }
    hasKey = method == .post && below(20) == 0
    let isShared = method == .get && below(10) == 0
    callers = isShared ? 3 : 1
    cancelsAfter = below(20) == 0 ? Double(below(4)) : nil
  }

  var description: String { "call \(id), \(method) with \(body), \(script)\(hasKey ? ", with a key" : "")" }

  var isOneShot: Bool { if case .once = body { true } else { false } }

  /// Whether the server may process the request more than once.
  var isRepeatable: Bool { !isOneShot && (hasKey || method.isIdempotent) }

  func request(at url: URL) -> Request {
    let path = script == .redirected || script == .turned ? "turn" : "do"
    var request = Request(method: method, url: url.appending(path: path), headers: ["X-Call": "\(id)"])
    if hasKey { request.headers["Idempotency-Key"] = "\(id)" }
    request.body =
      switch body {
      case .none: .none
      case .data(let count): .data(Self.content(id, count))
      case .repeated(let count, let isCounted):
        .stream(.init(count: isCounted ? Int64(count) : nil, open: { [id] in Self.reader(id, count) }))
      case .once(let count, let isCounted):
        .stream(.init(count: isCounted ? Int64(count) : nil, once: Self.reader(id, count)))
      }
    request.timeouts = .init(connect: .seconds(60), idle: .seconds(60), attempt: .seconds(120))
    if url.scheme == "https" { request.options.httpVersion = .http2 }
    return request
  }

  /// Returns the body of the call `id`, which differs from that of any other call.
  static func content(_ id: Int, _ count: Int) -> Data {
    (Data("\(id) ".utf8) + Data(repeating: UInt8(truncatingIfNeeded: id), count: count)).prefix(count)
  }

  private static func reader(_ id: Int, _ count: Int) -> Request.BodyStream.Reader {
    let rest = Locked(content(id, count))
    return {
      rest.withLock { rest in
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(700) }
        return Data(rest.prefix(700))
      }
    }
  }
}
