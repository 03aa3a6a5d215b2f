import Dispatch
import PortableFoundation

/// Blocks the calling thread until a stream has ended: what `toBlocking()` and synchronous calls share.
package enum BlockingWait {
  /// Where limits are reached: never blocked.
  private static let limits = DispatchQueue(label: "Streams.blocking.limits")

  /// The elements of `source` when it has ended; `nil` when `limit` has passed first.
  ///
  /// - Parameter mainLoop: waits for the semaphore instead, on the main thread, and runs what is on the main queue meanwhile,
  ///   so that a stream which ends there can end; an empty item on that queue wakes it.
  /// - Throws: the stream's error.
  package static func elements<Element: Sendable>(
    of source: Observable<Element>, within limit: Duration?, mainLoop: ((DispatchSemaphore) -> Void)? = nil
  ) throws -> [Element]? {
    // The stream's threads write, the waiting one reads behind the semaphore.
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
    // A timer wakes this thread, as timed waits of semaphores follow the wall clock on Linux, and last longer when that is
    // set back.
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
