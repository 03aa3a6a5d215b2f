/// The end of a chain from which a loop pulls elements: the buffer, and the continuation of the waiting loop.
///
/// It tells the sources that support backpressure whether the loop has requested an element.
final class Pull<Element: Sendable>: Subscription, @unchecked Sendable {  // safe: the lock guards all mutable state
  private typealias Reader = CheckedContinuation<Element?, any Error>

  private struct State {
    var elements = Queue<Element>()
    /// The terminal event, which follows the buffered elements.
    var end: Result<Void, any Error>?
    /// The continuation of the loop while it waits.
    var reader: Reader?
    /// Closures that resume the paused sources.
    var resumes: [@Sendable () -> Void] = []
  }

  private let policy: PullPolicy
  private let onDropped: (@Sendable (Element) -> Void)?
  // Guards the state against the threads of the stream, the task of the loop and its canceller. Continuations and
  // sources are resumed outside the lock.
  private let state = Locked(State())

  init(_ policy: PullPolicy, _ onDropped: (@Sendable (Element) -> Void)?) {
    (self.policy, self.onDropped) = (policy, onDropped)
  }

  // MARK: The stream

  func receive(_ element: Element) {
    let (reader, dropped) = state.withLock { state -> (Reader?, Element?) in
      if let reader = state.reader.take() { return (reader, nil) }
      return (nil, state.elements.keep(element, policy))
    }
    reader?.resume(returning: element)
    if let dropped { onDropped?(dropped) }
  }

  override func terminated(_ error: (any Error)?) { end(error.map { .failure($0) } ?? .success(())) }

  override func released() {
    // No effect if the stream has terminated before.
    end(.success(()), dropsElements: true)
    state.release { exchange(&$0.resumes, with: []) }
  }

  private func end(_ result: Result<Void, any Error>, dropsElements: Bool = false) {
    let reader = state.take { state -> (Reader?, Queue<Element>) in
      guard state.end == nil else { return (nil, Queue()) }
      let reader = state.reader.take()
      // A waiting loop receives the terminal event immediately; later calls return `nil`.
      state.end = reader == nil ? result : .success(())
      defer { if dropsElements { state.elements = Queue() } }
      return (reader, state.elements)
    }
    reader?.resume(with: result.map { nil })
  }

  override var loop: Subscription? { self }

  override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.reader != nil { return true }
      // After the terminal event, nothing would release the closure.
      if !isStopped { state.resumes.append(resume) }
      return false
    }
  }

  // MARK: The loop

  /// Returns the next element, or `nil` after completion or when the task is cancelled, which also disposes.
  func next(isolation: isolated (any Actor)?) async throws -> Element? {
    if Task.isCancelled { cancel() }
    if let element = state.withLock({ $0.elements.popFirst() }) { return element }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { request($0) }
    } onCancel: {
      cancel()
    }
  }

  /// Disposes, so that no element follows, and drops all buffered elements and the error.
  private func cancel() {
    dispose()
    let reader = state.take { state -> (Reader?, Queue<Element>) in
      state.end = .success(())
      defer { state.elements = Queue() }
      return (state.reader.take(), state.elements)
    }
    reader?.resume(returning: nil)
  }

  private func request(_ reader: Reader) {
    let (result, resumes, other) = state.withLock {
      state -> (Result<Element?, any Error>?, [@Sendable () -> Void], Reader?) in
      if let element = state.elements.popFirst() { return (.success(element), [], nil) }
      if let end = state.end {
        state.end = .success(())
        return (end.map { nil }, [], nil)
      }
      defer { (state.reader, state.resumes) = (reader, []) }
      return (nil, state.resumes, state.reader)
    }
    precondition(other == nil, "two tasks use one iterator of values concurrently; create an iterator for each task")
    if let result { reader.resume(with: result) }
    for resume in resumes { resume() }
  }
}

/// The elements that a `Pull` buffers, as in the policy of `AsyncThrowingStream`, which is not `Sendable` in older
/// toolchains.
enum PullPolicy {
  case all
  case oldest(Int)
  case newest(Int)

  init<Element>(_ policy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy) {
    switch policy {
    case .unbounded: self = .all
    case .bufferingOldest(let limit): self = .oldest(limit)
    case .bufferingNewest(let limit): self = .newest(limit)
    @unknown default: self = .all
    }
  }
}

extension Queue where Element: Sendable {
  /// Appends `element` as `policy` specifies, and returns the element that was dropped instead.
  fileprivate mutating func keep(_ element: Element, _ policy: PullPolicy) -> Element? {
    switch policy {
    case .oldest(let limit) where count >= limit: return element
    case .newest(let limit) where limit <= 0: return element
    case .newest(let limit) where count >= limit: return rotate(element)
    default:
      append(element)
      return nil
    }
  }
}
