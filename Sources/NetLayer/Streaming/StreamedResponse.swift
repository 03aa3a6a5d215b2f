import PortableFoundation
import Streams

/// An answer whose body is still coming in: for bodies without end, or larger than memory.
///
/// The body is read once, as `body` or as `chunks`, in pieces as they come. Who reads slowly makes the server wait: no more
/// than 256 KB gather here. Who lets go of this without reading, or stops reading, ends the request.
public struct StreamedResponse: Sendable {
  /// Status and header fields; its body is empty.
  public let response: Response
  private let reader: BodyReader

  init(_ response: Response, _ reader: BodyReader) {
    self.response = response
    self.reader = reader
  }

  /// What the exchange took; `nil` until the transport is done with the body, or where it measures nothing.
  public var metrics: TransferMetrics? { reader.buffer.metrics }

  /// The fields behind the body (RFC 9110 §6.5); empty until the transport is done with the body.
  public var trailers: HTTPHeaders { reader.buffer.trailers }

  /// The chunks of the body, delivered on the backend's `mapping` scheduler, the next when the last has been dealt with and,
  /// in a loop over `values()`, when the loop asks for it.
  ///
  /// Backpressure ends at operators that hold elements for another time or thread: behind an `observeOn`, chunks gather there.
  public var body: Observable<Data> {
    let (reader, response) = (reader, response)
    return Observable(push: { subscription, next in
      guard reader.buffer.claim() else { return subscription.fail(Self.claimedTwice(response)) }
      subscription.own(Disposables.create { reader.buffer.cancel() })
      reader.pump(response, into: subscription, next)
    })
  }

  /// The pieces of the body for a `for try await` loop, each read when the loop asks for it. Cancelling the loop's task ends
  /// the request, and the loop with an error of kind `cancelled`.
  public var chunks: Chunks { Chunks(reader: reader, response: response) }

  /// The pieces of a body as an async sequence.
  public struct Chunks: AsyncSequence, Sendable {
    let reader: BodyReader
    let response: Response

    /// Begins to read; the first step of a second iterator throws, as a body can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(reader: reader, response: response, isOwner: reader.buffer.claim())
    }

    /// Reads one piece after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let reader: BodyReader
      let response: Response
      let isOwner: Bool

      /// The next piece, `nil` at the end.
      ///
      /// - Throws: `NetworkError`: that of the transfer, or of kind `cancelled` or `other`.
      public mutating func next() async throws -> Data? {
        guard isOwner else { throw claimedTwice(response) }
        return try await reader.next(response)
      }
    }
  }

  /// Ends the request, whoever reads.
  func cancel() { reader.buffer.cancel() }

  fileprivate static func claimedTwice(_ response: Response) -> NetworkError {
    NetworkError(
      kind: .other, reason: "the body of a streamed answer can be read once; open the endpoint again",
      response: response)
  }
}

extension Response {
  /// An error of the body with what is known from the head.
  func explaining(_ error: NetworkError) -> NetworkError {
    var error = context[ResponseContext.self]?.translated(error) ?? error
    error.request = error.request ?? request
    error.response = error.response ?? self
    return error
  }
}
