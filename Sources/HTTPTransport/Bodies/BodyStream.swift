import PortableFoundation
import Synchronization

extension Request {
  /// A body that is made while it is sent, chunk by chunk; only what fits a socket's pace is asked for.
  ///
  /// Its maker is a function that may block, or an asynchronous sequence of `Data`:
  ///
  /// ```swift
  /// let body = Request.Body.stream(.init(once: recorder.chunks))
  /// ```
  /// At most 256 KB and one chunk are made ahead. When the request ends early, by cancellation, a limit or an error,
  /// nothing more is asked for: the task that iterates a sequence is cancelled, and a function that blocks is
  /// abandoned, its result dropped. `URLSessionTransport` writes the whole body to a temporary file before it sends the
  /// request.
  public struct BodyStream: Sendable {
    /// Gives the next chunk, `nil` at the end. Called on a queue of the request's own, so it may block; what it throws fails
    /// the request with `invalidRequest`. Empty chunks are skipped.
    public typealias Reader = @Sendable () throws -> Data?

    /// Iterates a sequence, handing each chunk to `take`, which returns `false` when no more is wanted.
    typealias Pull = @Sendable (_ take: @Sendable (Data) async -> Bool) async throws -> Void

    enum Maker: Sendable {
      case reader(@Sendable () throws -> Reader)
      case sequence(Pull)
    }

    /// The length in bytes, to which the maker must keep: a request fails when it makes less, or more before the last
    /// of these bytes has gone, and what it makes behind them is not asked for. `nil` sends it in the chunked transfer
    /// coding (HTTP/2 needs none).
    public let count: Int64?
    /// Whether it can be sent again, as redirects (307, 308), retries and broken kept connections ask for.
    public let isRepeatable: Bool
    /// The maximum time in seconds that the transport waits for the next chunk; a maker that is silent for longer fails
    /// the request with `timeout`.
    ///
    /// 0, the default, sets no limit of its own: `Timeouts.total` still holds, but `Timeouts.idle` does not run while
    /// the transport waits for the maker. Set it where `Timeouts.total` is 0. Empty chunks do not count.
    public var chunkTimeout: Double = 0
    let maker: Maker

    /// A body that can be sent again: `open` is called for each time, and gives a reader that begins at the start.
    public init(count: Int64? = nil, open: @escaping @Sendable () throws -> Reader) {
      self.count = count
      maker = .reader(open)
      isRepeatable = true
    }

    /// A body that exists once: what would have to send it again fails instead.
    public init(once reader: @escaping Reader, count: Int64? = nil) {
      self.count = count
      isRepeatable = false
      // Set by the first who sends it, on a queue of that request's.
      let isTaken = Atomic(false)
      maker = .reader {
        try Self.claim(isTaken)
        return reader
      }
    }

    /// A body of the chunks of an asynchronous sequence that can be sent again: `sequence` is called for each time, and
    /// returns a sequence that begins at the start.
    ///
    /// What the sequence throws fails the request with `invalidRequest`; empty chunks are skipped.
    public init<Chunks: AsyncSequence & Sendable>(
      count: Int64? = nil, sequence: @escaping @Sendable () throws -> Chunks
    ) where Chunks.Element == Data {
      self.count = count
      maker = .sequence { take in try await Self.pull(sequence(), take) }
      isRepeatable = true
    }

    /// A body of the chunks of an asynchronous sequence that exists once: what would have to send it again fails
    /// instead.
    ///
    /// What the sequence throws fails the request with `invalidRequest`; empty chunks are skipped.
    public init<Chunks: AsyncSequence & Sendable>(once sequence: Chunks, count: Int64? = nil)
    where Chunks.Element == Data {
      self.count = count
      isRepeatable = false
      // Set by the first who sends it, in a task of that request's.
      let isTaken = Atomic(false)
      maker = .sequence { take in
        try Self.claim(isTaken)
        try await Self.pull(sequence, take)
      }
    }

    private static func pull<Chunks: AsyncSequence>(
      _ chunks: Chunks, _ take: @Sendable (Data) async -> Bool
    ) async throws where Chunks.Element == Data {
      for try await chunk in chunks {
        guard await take(chunk) else { return }
      }
    }

    /// Takes a body that exists once.
    ///
    /// - Throws: `NetworkError` of kind `invalidRequest` for the second time.
    private static func claim(_ isTaken: borrowing Atomic<Bool>) throws(NetworkError) {
      guard isTaken.exchange(true, ordering: .relaxed) else { return }
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "the body was sent before and can't be again; use BodyStream(count:open:) or BodyStream(count:sequence:)")
    }
  }
}
