import Foundation
import NetLayer
import Streams

@testable import HTTPTransport

/// One call of `OnceTests`: what is sent and what the server does, both of which follow from the call's number.
struct OnceCall: CustomStringConvertible {
  /// What the server does with the call's first request; every later one is answered.
  enum Script: String {
    /// Answers.
    case plain
    /// Answers 3 ms later.
    case late
    /// Processes the request and answers 503.
    case busy
    /// Answers 401 and processes nothing.
    case expired
    /// Redirects with 307, so that method and body go along.
    case redirected
    /// Redirects with 303, so that a GET follows.
    case turned
    /// Processes the request and closes the connection instead of answering.
    case dropped
    /// Processes the request and resets the connection.
    case lost
    /// Answers and then closes the connection unannounced.
    case closing
    /// Answers with `Connection: close`.
    case leaving
  }

  enum Body: Equatable {
    case none
    case data(Int)
    /// Made while it is sent, of a length that is announced or not.
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
  /// How many callers ask for the same at once.
  let callers: Int
  /// Milliseconds after which the caller cancels.
  let cancelsAfter: Double?

  init(_ id: Int, seed: UInt64) {
    self.id = id
    var random = Splitter(state: seed &+ UInt64(id) &* 0x9E37_79B9_7F4A_7C15)
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

  /// Whether the server may see it again: all else must reach it once.
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
        .stream(.init(once: Self.reader(id, count), count: isCounted ? Int64(count) : nil))
      }
    request.timeouts = .init(connect: 60, idle: 60, total: 120)
    return request
  }

  /// The body of the call `id`, and of no other.
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

  /// SplitMix64: the same numbers for the same seed, on the server's side, too.
  private struct Splitter: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
