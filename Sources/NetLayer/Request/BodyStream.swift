import Foundation
import Streams

extension Request {
  /// A body that is made while it is sent, chunk by chunk; only what fits a socket's pace is asked for.
  public struct BodyStream: Sendable {
    /// Gives the next chunk, `nil` at the end. Called on a queue of the request's own, so it may block; what it throws fails
    /// the request with `invalidRequest`. Empty chunks are skipped.
    public typealias Reader = @Sendable () throws -> Data?

    /// The length in bytes, to which the reader must keep: a request fails when it makes less, or more before the last
    /// of these bytes has gone, and what it makes behind them is not asked for. `nil` sends it in the chunked transfer coding (HTTP/2 needs none).
    public let count: Int64?
    /// Whether it can be sent again, as redirects (307, 308), retries and broken kept connections ask for.
    public let isRepeatable: Bool
    let open: @Sendable () throws -> Reader

    /// A body that can be sent again: `open` is called for each time, and gives a reader that begins at the start.
    public init(count: Int64? = nil, open: @escaping @Sendable () throws -> Reader) {
      self.count = count
      self.open = open
      isRepeatable = true
    }

    /// A body that exists once: what would have to send it again fails instead.
    public init(once reader: @escaping Reader, count: Int64? = nil) {
      self.count = count
      isRepeatable = false
      let isTaken = Flag()
      open = {
        guard !isTaken.exchange() else {
          throw NetworkError(
            kind: .invalidRequest, reason: "the body was sent before and can't be again; use BodyStream(count:open:)")
        }
        return reader
      }
    }

    private final class Flag: Sendable {
      private let state = Locked(false)

      /// Sets it, and gives what it was.
      func exchange() -> Bool {
        state.withLock { state in
          defer { state = true }
          return state
        }
      }
    }
  }
}

extension Request.Body {
  /// Whether it can be sent a second time.
  var isRepeatable: Bool {
    if case .stream(let stream) = self { stream.isRepeatable } else { true }
  }
}
