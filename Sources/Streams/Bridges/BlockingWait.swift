import Dispatch
import PortableFoundation

/// A wait that blocks the calling thread until a stream has terminated, for `toBlocking()` and synchronous calls.
package enum BlockingWait {
  /// The queue of the timers for time limits; it is never blocked.
  private static let limits = DispatchQueue(label: "Streams.blocking.limits")

  /// Returns the elements of `source` after it has completed, or `nil` if `limit` passes first.
  ///
  /// - Parameter mainLoop: A replacement for the wait on the main thread. It runs the main queue, so that streams that
  ///   emit there can complete. An empty item on that queue wakes it.
  /// - Throws: The error of the stream.
  package static func elements<Element: Sendable>(
    of source: Observable<Element>, within limit: Duration?, mainLoop: ((DispatchSemaphore) -> Void)? = nil
  ) throws -> [Element]? {
    // Written by the threads of the stream, and read by the waiting thread after the semaphore.
    let state = Locked((elements: [Element](), end: Result<Void, any Error>?.none))
    let done = DispatchSemaphore(value: 0)
    let runsMainLoop = mainLoop != nil
    let subscription = source.subscribe(
      onNext: { element in state.withLock { $0.elements.append(element) } },
      onError: { error in state.withLock { $0.end = .failure(error) } },
      onCompleted: { state.withLock { $0.end = .success(()) } },
      onDisposed: {
        done.signal()
        if runsMainLoop { DispatchQueue.main.async {} }
      })
    defer { subscription.dispose() }
    // A timer wakes this thread. On Linux, timed semaphore waits follow the wall clock and last longer if it is set
    // back.
    let timer = DispatchWorkItem { done.signal() }
    defer { timer.cancel() }
    if let limit, limit < .seconds(1e9) { limits.asyncAfter(deadline: .now() + limit / .seconds(1), execute: timer) }
    if let mainLoop { mainLoop(done) } else { done.wait() }
    return try state.withLock { state in
      try state.end.map { end in
        try end.get()
        return state.elements
      }
    }
  }
}
