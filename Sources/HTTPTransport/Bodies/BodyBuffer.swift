import PortableFoundation
import Streams

/// A buffer between a transport that delivers chunks and a consumer that takes them at its own pace.
///
/// It pauses the transport when it holds `limit` bytes, and resumes it when half of them have been taken.
package final class BodyBuffer: Sendable {
  /// Large enough that a fast consumer never waits for the socket, small enough that a thousand streams fit into
  /// memory.
  static let highWater = 256 << 10

  package enum Step {
    case chunk(Data)
    case end(NetworkError?)
    /// The buffer is empty. The waiter will be called.
    case wait
  }

  private struct State {
    var chunks: [Data] = []
    var head = 0
    var bytes = 0
    var isPaused = false
    /// Whether the buffer had room again before a control was attached.
    var resumesLate = false
    var end: NetworkError??
    var metrics: TransferMetrics?
    var trailers = HTTPHeaders()
    var control: (any StreamControl)?
    /// Called once on the mapping scheduler when the buffer is no longer empty.
    var waiter: (@Sendable () -> Void)?
    var isTaken = false
    /// Whether the transport has finished, or the consumer has stopped.
    var isOver = false
    /// The closures to call at that time.
    var listeners: [@Sendable () -> Void] = []

    mutating func endListening() -> [@Sendable () -> Void] {
      isOver = true
      defer { listeners = [] }
      return listeners
    }
  }

  private let scheduler: any ImmediateSchedulerType
  private let limit: Int
  /// The state of the buffer, used by the transport's thread and the reader. Control, waiter and listeners are called
  /// outside the lock.
  private let state = Locked(State())

  package init(_ scheduler: any ImmediateSchedulerType, limit: Int = highWater) {
    (self.scheduler, self.limit) = (scheduler, limit)
  }

  /// Claims the right to consume. Returns `false` if it has been claimed before.
  package func claim() -> Bool {
    state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// Attaches the transport's control, and disposes it immediately if the body has ended.
  package func attach(_ control: any StreamControl) {
    let (isOver, resumes) = state.withLock { state in
      if state.end == nil { state.control = control }
      return (state.end != nil, state.resumesLate)
    }
    if isOver { control.dispose() } else if resumes { control.resume() }
  }

  /// Calls `listener` once, when the transport has finished or the consumer has stopped; immediately if that has
  /// already happened.
  package func whenOver(_ listener: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.listeners.append(listener) }
      return state.isOver
    }
    if isOver { listener() }
  }

  /// Appends `chunk`. Returns `pause` if the buffer is full.
  package func push(_ chunk: Data) -> BodyFlow {
    let (waiter, flow) = state.withLock { state -> ((@Sendable () -> Void)?, BodyFlow) in
      guard state.end == nil else { return (nil, .continue) }
      state.chunks.append(chunk)
      state.bytes += chunk.count
      state.isPaused = state.bytes >= limit
      return (state.waiter.take(), state.isPaused ? .pause : .continue)
    }
    if let waiter { _ = scheduler.schedule(waiter) }
    return flow
  }

  /// The measurements of the transport, available at the end.
  package var metrics: TransferMetrics? { state.withLock { $0.metrics } }

  /// The trailer fields, available at the end.
  package var trailers: HTTPHeaders { state.withLock { $0.trailers } }

  /// Marks the end, after the buffered chunks.
  package func finish(_ error: NetworkError?, _ metrics: TransferMetrics? = nil, trailers: HTTPHeaders = HTTPHeaders())
  {
    let (waiter, control, listeners) = state.withLock {
      state -> ((@Sendable () -> Void)?, (any StreamControl)?, [@Sendable () -> Void]) in
      state.metrics = metrics
      state.trailers = trailers
      let listeners = state.endListening()
      guard state.end == nil else { return (nil, nil, listeners) }
      state.end = .some(error)
      return (state.waiter.take(), state.control.take(), listeners)
    }
    withExtendedLifetime(control) {}  // released outside the lock
    for listener in listeners { listener() }
    if let waiter { _ = scheduler.schedule(waiter) }
  }

  /// Stops the transport and drops the buffered chunks, because the consumer has stopped.
  package func cancel() {
    let (chunks, control, waiter, listeners) = state.withLock { state in
      // This also applies after the end if chunks are left, because a truncated body must not look complete.
      if state.end == nil || state.head < state.chunks.count {
        state.end = .some(NetworkError(kind: .cancelled, reason: "the reader of the body has stopped"))
      }
      defer {
        state.chunks = []
        state.head = 0
        state.bytes = 0
      }
      return (state.chunks, state.control.take(), state.waiter.take(), state.endListening())
    }
    withExtendedLifetime(chunks) {}  // released outside the lock
    control?.dispose()
    for listener in listeners { listener() }
    if let waiter { _ = scheduler.schedule(waiter) }
  }

  /// Calls `work` on the scheduler of the waiters.
  package func schedule(_ work: @escaping @Sendable () -> Void) { _ = scheduler.schedule(work) }

  /// Returns the next chunk or the end. If there is neither, `ready` is called when there is. Only for one consumer.
  package func take(orCall ready: @escaping @Sendable () -> Void) -> Step {
    let (step, control) = state.withLock { state -> (Step, (any StreamControl)?) in
      guard state.head < state.chunks.count else {
        if let end = state.end { return (.end(end), nil) }
        state.waiter = ready
        return (.wait, nil)
      }
      let chunk = state.chunks[state.head]
      state.chunks[state.head] = Data()
      state.head += 1
      state.bytes -= chunk.count
      if state.head == state.chunks.count || state.head >= 1024 {
        state.chunks.removeFirst(state.head)
        state.head = 0
      }
      guard state.isPaused, state.bytes <= limit / 2 else { return (.chunk(chunk), nil) }
      state.isPaused = false
      if state.control == nil { state.resumesLate = true }
      return (.chunk(chunk), state.control)
    }
    control?.resume()
    return step
  }
}
