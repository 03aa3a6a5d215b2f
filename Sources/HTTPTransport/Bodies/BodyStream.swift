import PortableFoundation
import Synchronization

extension Request {
  /// A body that is generated during the upload, chunk by chunk, at the pace of the socket.
  ///
  /// Its source is a function that may block, or an asynchronous sequence of `Data`:
  ///
  /// ```swift
  /// let body = Request.Body.stream(.init(once: microphone.chunks))
  /// ```
  /// The transport buffers at most 256 KB and one chunk. If the request ends early, by cancellation, a limit or an
  /// error, the source is not called again: the task that iterates a sequence is cancelled, and the result of a blocked
  /// function is dropped. `URLSessionTransport` writes the whole body to a temporary file before it sends the request.
  public struct BodyStream: Sendable {
    /// A function that returns the next chunk; `nil` at the end. It is called on a queue of the request, so it may
    /// block. An error that it throws fails the request with `invalidRequest`. Empty chunks are skipped.
    public typealias Reader = @Sendable () throws -> Data?

    /// Iterates a sequence and passes each chunk to `take`, which returns `false` to stop.
    typealias Pull = @Sendable (_ take: @Sendable (Data) async -> Bool) async throws -> Void

    enum Maker: Sendable {
      case reader(@Sendable () throws -> Reader)
      case sequence(Pull)
    }

    /// The length in bytes; `nil` sends the body with the chunked transfer coding, which HTTP/2 does not need.
    ///
    /// The request fails if the source produces fewer bytes, or if it has produced more when the last of these bytes is
    /// sent. After that byte, the source is not called again.
    public let count: Int64?
    /// Whether the body can be sent again, for redirects (307, 308), retries and lost connections.
    public let isRepeatable: Bool
    /// The maximum time to wait for the next chunk; `nil`, the default, for no limit. A source that takes longer fails
    /// the request with `timeout`. Empty chunks do not count. A limit of zero or less fails the request with
    /// `invalidRequest`.
    ///
    /// `Timeouts.attempt` still applies, but `Timeouts.idle` does not while the transport waits for the source. Set this
    /// limit if `Timeouts.attempt` is `nil`.
    public var chunkTimeout: Duration?
    let maker: Maker

    /// Creates a body that can be sent again. `open` is called for each attempt, and returns a reader that begins at
    /// the start.
    public init(count: Int64? = nil, open: @escaping @Sendable () throws -> Reader) {
      self.count = count
      maker = .reader(open)
      isRepeatable = true
    }

    /// Creates a body that can be sent only once. A retry or redirect that would send it again fails.
    public init(count: Int64? = nil, once reader: @escaping Reader) {
      self.count = count
      isRepeatable = false
      // Set by the first attempt, on a queue of its request.
      let isTaken = Atomic(false)
      maker = .reader {
        try Self.claim(isTaken)
        return reader
      }
    }

    /// Creates a body that can be sent again, from an asynchronous sequence. `sequence` is called for each attempt, and
    /// returns a sequence that begins at the start.
    ///
    /// An error thrown by the sequence fails the request with `invalidRequest`. Empty chunks are skipped.
    public init<Chunks: AsyncSequence & Sendable>(
      count: Int64? = nil, sequence: @escaping @Sendable () throws -> Chunks
    ) where Chunks.Element == Data {
      self.count = count
      maker = .sequence { take in try await Self.pull(sequence(), take) }
      isRepeatable = true
    }

    /// Creates a body that can be sent only once, from an asynchronous sequence. A retry or redirect that would send it
    /// again fails.
    ///
    /// An error thrown by the sequence fails the request with `invalidRequest`. Empty chunks are skipped.
    public init<Chunks: AsyncSequence & Sendable>(count: Int64? = nil, once sequence: Chunks)
    where Chunks.Element == Data {
      self.count = count
      isRepeatable = false
      // Set by the first attempt, in a task of its request.
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

    /// Claims a body that can be sent only once.
    ///
    /// - Throws: `NetworkError` of kind `invalidRequest` at the second call.
    private static func claim(_ isTaken: borrowing Atomic<Bool>) throws(NetworkError) {
      guard isTaken.exchange(true, ordering: .relaxed) else { return }
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "the body can be sent only once; use BodyStream(count:open:) or BodyStream(count:sequence:)")
    }
  }
}
