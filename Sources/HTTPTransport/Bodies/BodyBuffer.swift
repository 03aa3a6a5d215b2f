import PortableFoundation
import Streams

/// What stands between a transport that hands out chunks and a consumer who takes them at its own pace.
///
/// It asks the transport to pause when `limit` bytes wait, and to go on when half of that has been taken.
package final class BodyBuffer: Sendable {
  /// Enough that a fast consumer never waits for the socket, little enough that a thousand streams fit into memory.
  static let highWater = 256 << 10

  package enum Step {
    case chunk(Data)
    case end(NetworkError?)
    /// Nothing is there; the waiter will be called.
    case wait
  }

  private struct State {
    var chunks: [Data] = []
    var head = 0
    var bytes = 0
    var isPaused = false
    /// Whether there was room again before there was a control to say so to.
    var resumesLate = false
    var end: NetworkError??
    var metrics: TransferMetrics?
    var trailers = HTTPHeaders()
    var control: (any StreamControl)?
    /// Called, once, on the mapping scheduler when there is something to take.
    var waiter: (@Sendable () -> Void)?
    var isTaken = false
    /// Whether the transport is done with it, or its consumer has left.
    var isOver = false
    /// Called then.
    var listeners: [@Sendable () -> Void] = []

    mutating func endListening() -> [@Sendable () -> Void] {
      isOver = true
      defer { listeners = [] }
      return listeners
    }
  }

  private let scheduler: any ImmediateSchedulerType
  private let limit: Int
  /// Taken by the transport's thread and the reader; control, waiter and listeners are called behind it.
  private let state = Locked(State())

  package init(_ scheduler: any ImmediateSchedulerType, limit: Int = highWater) {
    (self.scheduler, self.limit) = (scheduler, limit)
  }

  /// Takes the right to consume; `false` when someone has it already.
  package func claim() -> Bool {
    state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// The transport's control; disposed at once if nobody wants the body any more.
  package func attach(_ control: any StreamControl) {
    let (isOver, resumes) = state.withLock { state in
      if state.end == nil { state.control = control }
      return (state.end != nil, state.resumesLate)
    }
    if isOver { control.dispose() } else if resumes { control.resume() }
  }

  /// Calls `listener`, once, when the transport is done with the body or its consumer has left; at once if that is so.
  package func whenOver(_ listener: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.listeners.append(listener) }
      return state.isOver
    }
    if isOver { listener() }
  }

  /// Keeps `chunk`; says whether there is room for another.
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

  /// What the transport measured, when it is done.
  package var metrics: TransferMetrics? { state.withLock { $0.metrics } }

  /// The fields that came behind the body, when it has come.
  package var trailers: HTTPHeaders { state.withLock { $0.trailers } }

  /// Notes the end, behind the chunks that are there.
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

  /// The consumer has left: the transport is stopped, and what has come is dropped.
  package func cancel() {
    let (chunks, control, waiter, listeners) = state.withLock { state in
      // Also behind the end, when not all has been read: what was cut off must not look complete.
      if state.end == nil || state.head < state.chunks.count {
        state.end = .some(NetworkError(kind: .cancelled, reason: "the reader of the body has left"))
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

  /// Calls `work` where waiters are called.
  package func schedule(_ work: @escaping @Sendable () -> Void) { _ = scheduler.schedule(work) }

  /// The next chunk, or the end; where there is neither yet, `ready` is called when there is. By one consumer.
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
