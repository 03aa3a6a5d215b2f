/// The end of a chain that a loop pulls from: what has come and was not taken yet, and whoever waits for more.
///
/// It says to the sources above it that can wait whether the loop has asked for an element.
final class Pull<Element: Sendable>: Subscription, @unchecked Sendable {  // safe: what varies is behind the lock
  private typealias Reader = CheckedContinuation<Element?, any Error>

  private struct State {
    var elements = Queue<Element>()
    /// The end, behind the elements that are there.
    var end: Result<Void, any Error>?
    /// The loop, while it waits.
    var reader: Reader?
    /// Lets the sources go on that wait for the loop.
    var resumes: [@Sendable () -> Void] = []
  }

  private let policy: PullPolicy
  private let onDropped: (@Sendable (Element) -> Void)?
  // The stream's threads, the loop's task and whoever cancels it; the reader and the sources are resumed behind it.
  private let state = Locked(State())

  init(_ policy: PullPolicy, _ onDropped: (@Sendable (Element) -> Void)?) {
    (self.policy, self.onDropped) = (policy, onDropped)
  }

  // MARK: The stream

  /// Takes one element; called serially.
  func receive(_ element: Element) {
    let (reader, dropped) = state.withLock { state -> (Reader?, Element?) in
      if let reader = state.reader.take() { return (reader, nil) }
      guard state.end == nil else { return (nil, nil) }
      return (nil, state.elements.keep(element, policy))
    }
    reader?.resume(returning: element)
    if let dropped { onDropped?(dropped) }
  }

  override func terminated(_ error: (any Error)?) { end(error.map { .failure($0) } ?? .success(())) }

  override func released() {
    // Disposed, it has not ended before.
    end(.success(()), dropsElements: true)
    let resumes = state.withLock { state in
      defer { state.resumes = [] }
      return state.resumes
    }
    withExtendedLifetime(resumes) {}  // released outside the lock
  }

  private func end(_ result: Result<Void, any Error>, dropsElements: Bool = false) {
    let (reader, elements) = state.withLock { state -> (Reader?, Queue<Element>) in
      guard state.end == nil else { return (nil, Queue()) }
      let reader = state.reader.take()
      // Who waits takes the end at once, and whoever asks again finds that nothing follows it.
      state.end = reader == nil ? result : .success(())
      defer { if dropsElements { state.elements = Queue() } }
      return (reader, state.elements)
    }
    withExtendedLifetime(elements) {}  // released outside the lock
    reader?.resume(with: result.map { nil })
  }

  override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.reader != nil { return true }
      // Behind the end, nobody would release it.
      if !isStopped { state.resumes.append(resume) }
      return false
    }
  }

  // MARK: The loop

  /// The next element, `nil` at the end or when the task is cancelled, which disposes.
  func next(isolation: isolated (any Actor)?) async throws -> Element? {
    if Task.isCancelled { cancel() }
    if let element = state.withLock({ $0.elements.popFirst() }) { return element }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { ask($0) }
    } onCancel: {
      cancel()
    }
  }

  /// Drops what has come, also an error, and disposes.
  private func cancel() {
    let (reader, elements) = state.withLock { state -> (Reader?, Queue<Element>) in
      state.end = .success(())
      defer { state.elements = Queue() }
      return (state.reader.take(), state.elements)
    }
    withExtendedLifetime(elements) {}  // released outside the lock
    reader?.resume(returning: nil)
    dispose()
  }

  private func ask(_ reader: Reader) {
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
    precondition(other == nil, "two tasks ask one iterator of values(); make an iterator for each")
    if let result { reader.resume(with: result) }
    for resume in resumes { resume() }
  }
}

/// Which elements a `Pull` keeps: the policy of `AsyncThrowingStream`, which is not `Sendable` in older toolchains.
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
  /// Keeps `element` as `policy` says; returns the one that is dropped for it.
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
