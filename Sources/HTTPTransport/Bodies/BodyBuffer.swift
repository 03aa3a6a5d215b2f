import PortableFoundation
import Streams

/// The buffer between a transport that delivers the chunks of a body and their consumer.
package final class BodyBuffer: FlowBuffer<Data, NetworkError?, any StreamControl>, @unchecked Sendable {
  /// Large enough that a fast consumer never waits for the socket, and small enough that a thousand streams fit into
  /// memory.
  package static let highWater = 256 << 10

  /// The measurements and trailer fields, which the transport's thread sets at the end and the reader reads.
  private let ending = Locked<(metrics: TransferMetrics?, trailers: HTTPHeaders)>((nil, HTTPHeaders()))

  package init(_ scheduler: any ImmediateSchedulerType, limit: Int = highWater) {
    super.init(scheduler, limit: limit, cost: \.count, asControl: { $0 })
  }

  package var metrics: TransferMetrics? { ending.withLock { $0.metrics } }

  package var trailers: HTTPHeaders { ending.withLock { $0.trailers } }

  /// Marks the end, after the buffered chunks.
  package func finish(_ error: NetworkError?, _ metrics: TransferMetrics? = nil, trailers: HTTPHeaders = HTTPHeaders())
  {
    ending.withLock { $0 = (metrics, trailers) }
    end(with: error)
  }

  /// Stops the transport and drops the buffered chunks, because the consumer has stopped.
  package func cancel() { cancel(with: NetworkError(kind: .cancelled, reason: "the caller stopped reading the body")) }
}
