import PortableFoundation
import Streams
import Synchronization

/// The response of a body's consumer to a chunk.
public enum BodyFlow: Sendable {
  /// The consumer accepts the next chunk.
  case `continue`
  /// The consumer has taken this chunk, and accepts the next one only after `StreamControl.resume()`.
  case pause
}

/// A control of a streamed response. Disposing it cancels the request.
public protocol StreamControl: Disposable {
  /// Continues the delivery of chunks after a `pause`. May be called from any thread, even within the call that returns
  /// `pause`. Has no effect without a pause.
  func resume()
}

/// The flow control of a consumer, based on its return values and on `resume()`. A consumer may call `resume()` before
/// it returns the `pause` that the call cancels.
package final class FlowGate: Sendable {
  private static let open: UInt8 = 0
  private static let paused: UInt8 = 1
  /// Resumed since the last chunk was delivered, so that a concurrent pause is ignored.
  private static let resumed: UInt8 = 2

  /// Set by the thread that delivers chunks, and by any thread that resumes.
  private let state = Atomic<UInt8>(open)

  package init() {}

  package var isPaused: Bool { state.load(ordering: .acquiring) == Self.paused }

  /// Delivers `chunk` to `take`. Returns `true` if the next chunk may follow. Called by one thread at a time, and never
  /// while paused.
  package func deliver<Chunk>(_ chunk: Chunk, to take: (Chunk) -> BodyFlow) -> Bool {
    state.store(Self.open, ordering: .releasing)
    guard take(chunk) == .pause else { return true }
    return !state.compareExchange(expected: Self.open, desired: Self.paused, ordering: .acquiringAndReleasing).exchanged
  }

  /// Returns `true` if the call ended a pause, so that the transport must continue.
  package func resume() -> Bool { state.exchange(Self.resumed, ordering: .acquiringAndReleasing) == Self.paused }
}
