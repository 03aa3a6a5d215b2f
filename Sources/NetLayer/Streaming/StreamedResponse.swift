import PortableFoundation
import Streams

/// A response whose body is still arriving, for bodies that are endless or larger than memory.
///
/// The body can be read only once, as `body` or as `chunks`. Slow reading applies backpressure to the server: at most
/// 256 KB are buffered. Releasing the response unread, or stopping early, cancels the request.
public struct StreamedResponse: Sendable {
  /// The status and header fields, with an empty body.
  public let response: Response
  private let reader: BodyReader

  init(_ response: Response, _ reader: BodyReader) {
    self.response = response
    self.reader = reader
  }

  /// The metrics of the transfer; `nil` until the transport has finished the body, or if the transport does not measure
  /// them.
  public var metrics: TransferMetrics? { reader.buffer.metrics }

  /// The trailer fields (RFC 9110 §6.5); empty until the transport has finished the body.
  public var trailers: HTTPHeaders { reader.buffer.trailers }

  /// The chunks of the body, emitted on the backend's `mapping` scheduler. Each chunk is emitted after the previous one
  /// has been processed and, in a loop over `values`, when the loop requests it.
  ///
  /// Operators that deliver elements later or on another thread, such as `observeOn`, disable backpressure.
  public var body: Observable<Data> {
    let (reader, response) = (reader, response)
    return Observable(push: { subscription, next in
      guard reader.buffer.claim() else { return subscription.fail(Self.claimedTwice(response)) }
      subscription.own(Disposables.create { reader.buffer.cancel() })
      reader.pump(response, into: subscription, next)
    })
  }

  /// The chunks of the body for a `for try await` loop, which reads each chunk when it requests it. Cancelling the task
  /// cancels the request and ends the loop with an error of kind `cancelled`.
  public var chunks: Chunks { Chunks(reader: reader, response: response) }

  /// The chunks of a body as an async sequence.
  public struct Chunks: AsyncSequence, Sendable {
    let reader: BodyReader
    let response: Response

    /// Starts reading. The first step of a second iterator throws, because a body can only be read once.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(reader: reader, response: response, isOwner: reader.buffer.claim())
    }

    /// An iterator that reads the chunks one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let reader: BodyReader
      let response: Response
      let isOwner: Bool

      /// Returns the next chunk, or `nil` at the end.
      ///
      /// - Throws: `NetworkError`: the transfer's error, or one of kind `cancelled` or `other`.
      public mutating func next() async throws -> Data? {
        guard isOwner else { throw claimedTwice(response) }
        return try await reader.next(response)
      }
    }
  }

  func cancel() { reader.buffer.cancel() }

  fileprivate static func claimedTwice(_ response: Response) -> NetworkError {
    NetworkError(
      kind: .other, reason: "the body of a streamed response can be read only once; open the endpoint again",
      response: response)
  }
}

extension StreamedResponse {
  /// Creates a response whose body consists of `chunks`, to test code that reads streamed responses. The body of
  /// `response` is ignored. `body` emits the chunks on the thread that subscribes, then fails with `error`, or
  /// completes.
  public init(_ response: Response, chunks: some Sequence<Data>, error: NetworkError? = nil) {
    var head = response
    head.body = Data()
    let buffer = BodyBuffer(ImmediateScheduler.instance)
    for chunk in chunks { _ = buffer.push(chunk) }
    buffer.finish(error, response.metrics, trailers: response.trailers)
    self.init(head, BodyReader(buffer))
  }
}
