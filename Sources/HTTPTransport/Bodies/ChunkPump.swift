import PortableFoundation
import Streams

/// Reads a generated body during the upload, a few chunks ahead, on its own queue or in its own task, because the
/// source may block.
final class ChunkPump: Sendable {
  enum Step {
    case bytes(Int)
    /// No chunk is available. `wake` will be called.
    case wait
    case end
    case failure(NetworkError)
  }

  /// The number of bytes to read ahead, exceeded by at most one chunk.
  private static let highWater = 1 << 18
  /// The queue that checks the limits of silence. It is never blocked, even if a source blocks.
  private static let limits = DispatchQueue(label: "NetLayer.Upload.limits")

  private struct State {
    var reader: Request.BodyStream.Reader?
    /// The queue of the reader. Each round has a new one, because an abandoned reader may block the previous one
    /// forever.
    var queue: DispatchQueue?
    /// The task that iterates the sequence.
    var task: Task<Void, Never>?
    /// The continuation of that task while it waits for room.
    var room: CheckedContinuation<Bool, Never>?
    var chunks: [Data] = []
    var bytes = 0
    /// The number of bytes of the first chunk that have been sent.
    var offset = 0
    /// The number of bytes that have been sent in total.
    var sent: Int64 = 0
    /// The number of the round. A rewind starts a new round, which invalidates the results of earlier sources.
    var round = 0
    var isMaking = false
    var hasEnded = false
    /// The time since which the transport has been waiting for a chunk; `nil` if it is not waiting.
    var awaitedSince: DispatchTime?
    /// Whether a check of that wait is scheduled.
    var isWatched = false
    var failure: NetworkError?

    var wantsMore: Bool { !hasEnded && failure == nil && bytes < highWater }
  }

  private enum Start {
    case reader(Int, DispatchQueue, @Sendable () throws -> Request.BodyStream.Reader)
    case sequence(Int, Request.BodyStream.Pull)
    case proceed(CheckedContinuation<Bool, Never>)
  }

  private let stream: Request.BodyStream
  private let wake: @Sendable () -> Void
  /// The state, used by the threads of the transport, the source and the time limits. Sources,
  /// continuations and `wake` are called outside the lock.
  private let state = Locked(State())

  /// Creates a pump. It calls `wake` on one of its threads when a `wait` is over.
  init(_ stream: Request.BodyStream, wake: @escaping @Sendable () -> Void) {
    self.stream = stream
    self.wake = wake
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    let (step, look) = state.withLock { state -> (Step, DispatchTime?) in
      guard !state.chunks.isEmpty else {
        if let failure = state.failure { return (.failure(failure), nil) }
        guard state.hasEnded else { return (.wait, noteWait(&state)) }
        if let count = stream.count, state.sent != count {
          return (
            .failure(Self.failure("the body ended after \(state.sent) bytes, but BodyStream.count is \(count)")), nil
          )
        }
        return (.end, nil)
      }
      return (.bytes(Self.copy(&state, into: buffer)), nil)
    }
    if let look { watch(at: look) }
    makeMore()
    return step
  }

  /// Copies as many chunks as fit, because they may be many and small.
  private static func copy(_ state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var length = 0
    var taken = 0
    while length < buffer.count, taken < state.chunks.count {
      let chunk = state.chunks[taken]
      let count = Swift.min(buffer.count - length, chunk.count - state.offset)
      let start = chunk.startIndex + state.offset
      chunk.copyBytes(
        to: UnsafeMutableRawBufferPointer(rebasing: buffer[length...]), from: start..<(start + count))
      length += count
      state.offset += count
      guard state.offset == chunk.count else { break }
      taken += 1
      state.bytes -= chunk.count
      state.offset = 0
    }
    state.chunks.removeFirst(taken)
    state.sent += Int64(length)
    return length
  }

  /// Rewinds the body. Returns `false` if it can be sent only once and some of it has been sent.
  func rewind() -> Bool {
    let (isPossible, old) = state.withLock { state -> (Bool, State?) in
      if state.sent == 0 { return (true, nil) }
      guard stream.isRepeatable else { return (false, nil) }
      let old = state
      state = State(round: old.round + 1, isWatched: old.isWatched)
      return (true, old)
    }
    if let old { abandon(old) }
    return isPossible
  }

  /// Stops the source without waiting for it, and releases it.
  func stop() {
    let old = state.withLock { state in
      let old = state
      state = State(round: old.round + 1, hasEnded: true, isWatched: old.isWatched)
      return old
    }
    abandon(old)
  }

  private func abandon(_ old: State) {
    old.task?.cancel()
    old.room?.resume(returning: false)
  }

  // MARK: Producing

  private func makeMore() {
    let start = state.withLock { state -> Start? in
      guard state.wantsMore else { return nil }
      if let room = state.room {
        state.room = nil
        return .proceed(room)
      }
      guard !state.isMaking else { return nil }
      state.isMaking = true
      switch stream.maker {
      case .reader(let open):
        let queue = state.queue ?? DispatchQueue(label: "NetLayer.Upload", qos: .utility)
        state.queue = queue
        return .reader(state.round, queue, open)
      case .sequence(let pull): return .sequence(state.round, pull)
      }
    }
    switch start {
    case nil: break
    case .proceed(let room): room.resume(returning: true)
    case .reader(let round, let queue, let open): queue.async { self.fill(round, open) }
    case .sequence(let round, let pull):
      let task = Task.detached(priority: .utility) { await self.iterate(round, pull) }
      let isStopped = state.withLock { state in
        guard state.round == round else { return true }
        state.task = task
        return false
      }
      if isStopped { task.cancel() }
    }
  }

  /// Calls the reader until enough bytes are available.
  private func fill(_ round: Int, _ open: () throws -> Request.BodyStream.Reader) {
    var (isCurrent, reader) = state.withLock { ($0.round == round, $0.reader) }
    while isCurrent {
      let result: Result<Data?, any Error>
      do {
        let opened = try reader ?? open()
        reader = opened
        result = .success(try opened())
      } catch {
        result = .failure(error)
      }
      isCurrent = take(result, round) { [reader] state in
        state.reader = reader
        state.isMaking = state.wantsMore
        return state.wantsMore
      }
    }
  }

  /// Iterates the sequence to its end, or until its round is over.
  private func iterate(_ round: Int, _ pull: Request.BodyStream.Pull) async {
    // The round may have ended before this task started.
    guard state.withLock({ $0.round == round }) else { return }
    do {
      try await pull { chunk in
        guard self.take(.success(chunk), round, { $0.failure == nil }) else { return false }
        return await self.roomForMore(round)
      }
      _ = take(.success(nil), round) { _ in false }
    } catch {
      _ = take(.failure(error), round) { _ in false }
    }
  }

  /// Waits until there is room. Returns `false` if the task must stop.
  private func roomForMore(_ round: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state -> Bool? in
        guard state.round == round, !state.hasEnded, state.failure == nil else { return false }
        if state.bytes < Self.highWater { return true }
        state.room = continuation
        return nil
      }
      if let hasRoom { continuation.resume(returning: hasRoom) }
    }
  }

  /// Adds a result of the source of `round`, and returns the result of `then`; `false` if that round is over.
  private func take(
    _ result: Result<Data?, any Error>, _ round: Int, _ then: (inout State) -> Bool
  ) -> Bool {
    let (continues, isAwaited) = state.withLock { state -> (Bool, Bool) in
      guard state.round == round, state.failure == nil, !state.hasEnded else { return (false, false) }
      switch result {
      case .success(let chunk?):
        if let count = stream.count, Int64(chunk.count) > count - state.sent - Int64(state.bytes - state.offset) {
          state.failure = Self.failure("the body has more bytes than BodyStream.count (\(count))")
        } else if !chunk.isEmpty {
          state.chunks.append(chunk)
          state.bytes += chunk.count
        }
      case .success(nil): state.hasEnded = true
      case .failure(let error): state.failure = Self.failure("the body can't be read: \(error)", error)
      }
      let isOver = !state.chunks.isEmpty || state.hasEnded || state.failure != nil
      let isAwaited = state.awaitedSince != nil && isOver
      if isAwaited { state.awaitedSince = nil }
      return (then(&state), isAwaited)
    }
    if isAwaited { wake() }
    return continues
  }

  // MARK: The limit of silence

  /// Records that the transport waits. Returns the time of the check to schedule, unless a check is already scheduled.
  private func noteWait(_ state: inout State) -> DispatchTime? {
    guard state.awaitedSince == nil else { return nil }
    let now = DispatchTime.now()
    state.awaitedSince = now
    guard !state.isWatched, let limit = stream.chunkTimeout else { return nil }
    state.isWatched = true
    return now + limit.dispatchSeconds
  }

  private func watch(at point: DispatchTime) {
    Self.limits.asyncAfter(deadline: point) { [weak self] in self?.look() }
  }

  /// Fails the body if its source has been silent for too long, and abandons the source.
  private func look() {
    let (next, silent) = state.withLock { state -> (DispatchTime?, Task<Void, Never>??) in
      guard let since = state.awaitedSince, let limit = stream.chunkTimeout else {
        state.isWatched = false
        return (nil, nil)
      }
      let end = since + limit.dispatchSeconds
      guard DispatchTime.now() >= end else { return (end, nil) }
      state.isWatched = false
      state.awaitedSince = nil
      state.failure = NetworkError(
        kind: .timeout,
        reason:
          "the request body stream produced no data for \(limit.text) (BodyStream.chunkTimeout); raise the limit, or "
          + "set nil for no limit")
      return (nil, .some(state.task))
    }
    if let next { return watch(at: next) }
    guard let silent else { return }
    silent?.cancel()
    wake()
  }

  private static func failure(_ reason: String, _ underlying: (any Error)? = nil) -> NetworkError {
    (underlying as? NetworkError) ?? NetworkError(kind: .invalidRequest, reason: reason, underlying: underlying)
  }
}
