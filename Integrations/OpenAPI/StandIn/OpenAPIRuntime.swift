// The declarations of swift-openapi-runtime 1.x that NetLayerOpenAPI and its tests use, written from that package's
// documentation. They are compiled only with OPENAPI_STAND_IN=1.
import Foundation
import HTTPTypes
import Synchronization

/// A type that performs the HTTP calls of a generated client.
public protocol ClientTransport: Sendable {
  /// Sends a request whose path and query are relative to `baseURL`.
  func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?)
}

/// The number of times that a sequence can be iterated.
public enum IterationBehavior: Sendable {
  /// Once.
  case single
  /// Any number of times, each from the start.
  case multiple
}

/// A body as an async sequence of chunks.
public final class HTTPBody: AsyncSequence, Sendable {
  /// A chunk.
  public typealias ByteChunk = ArraySlice<UInt8>

  /// The length of the whole body.
  public enum Length: Sendable, Equatable {
    /// Not known.
    case unknown
    /// A number of bytes.
    case known(Int64)
  }

  /// The error of a second iteration of a body that can be iterated once.
  public struct SecondIteration: Error {}

  /// The length of the whole body.
  public let length: Length
  /// The number of times that the body can be iterated.
  public let iterationBehavior: IterationBehavior
  private let open: @Sendable () -> Iterator
  /// Set by the first iteration, on any thread.
  private let isTaken = Atomic(false)

  /// Creates a body of the chunks of `sequence`.
  public init<Bytes: AsyncSequence & Sendable>(
    _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
  ) where Bytes.Element == ByteChunk {
    self.length = length
    self.iterationBehavior = iterationBehavior
    open = {
      var iterator = sequence.makeAsyncIterator()
      return Iterator { try await iterator.next() }
    }
  }

  /// Creates a body of `bytes`.
  public convenience init(_ bytes: some Collection<UInt8> & Sendable) {
    let chunks = AsyncStream<ByteChunk> { continuation in
      continuation.yield(ArraySlice(bytes))
      continuation.finish()
    }
    self.init(chunks, length: .known(Int64(bytes.count)), iterationBehavior: .single)
  }

  /// Starts to read. The first step of a second iterator throws if the body can be iterated once.
  public func makeAsyncIterator() -> Iterator {
    guard iterationBehavior == .multiple || !isTaken.exchange(true, ordering: .relaxed) else {
      return Iterator { throw SecondIteration() }
    }
    return open()
  }

  /// An iterator over the chunks.
  public struct Iterator: AsyncIteratorProtocol {
    let step: () async throws -> ByteChunk?

    /// Returns the next chunk, or `nil` at the end.
    public mutating func next() async throws -> ByteChunk? { try await step() }
  }
}
