import PortableFoundation
import Streams
import Synchronization

/// What the consumer of a streamed body answers to a chunk.
public enum BodyFlow: Sendable {
  /// It takes the next chunk as soon as there is one.
  case `continue`
  /// It has taken this one, and takes no other before `StreamControl.resume()`.
  case pause
}

/// Steers a response that streams in; disposing it cancels the request.
public protocol StreamControl: Disposable {
  /// Lets chunks come again after a `pause`; from any thread, also from within the chunk's own call, before its `pause` is
  /// returned. Calls while nothing is paused do nothing.
  func resume()
}

/// What hears of a response while it comes in.
struct ResponseReceiver: Sendable {
  let head: @Sendable (Response) -> Void
  let chunk: @Sendable (Data) -> BodyFlow
}

/// Whether a consumer takes chunks, as told by its answers and by `resume()`, which may overtake the answer it takes back.
final class FlowGate: Sendable {
  private static let open: UInt8 = 0
  private static let paused: UInt8 = 1
  /// Resumed since the last chunk was handed out: the pause that may be on its way counts no more.
  private static let resumed: UInt8 = 2

  /// Set by the thread that hands out chunks, and by whoever resumes.
  private let state = Atomic<UInt8>(open)

  var isPaused: Bool { state.load(ordering: .acquiring) == Self.paused }

  /// Hands `chunk` to `take`; `true` when the next one may follow. By one thread at a time, and never while paused.
  func deliver<Chunk>(_ chunk: Chunk, to take: (Chunk) -> BodyFlow) -> Bool {
    state.store(Self.open, ordering: .releasing)
    guard take(chunk) == .pause else { return true }
    return !state.compareExchange(expected: Self.open, desired: Self.paused, ordering: .acquiringAndReleasing).exchanged
  }

  /// `true` when this has ended a pause, so that the transport must go on.
  func resume() -> Bool { state.exchange(Self.resumed, ordering: .acquiringAndReleasing) == Self.paused }
}
