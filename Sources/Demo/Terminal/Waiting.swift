import Dispatch
import Streams

/// The end of a stream that a command waited for.
enum Ending: Sendable {
  case completed
  case failed(any Error)
  /// Ctrl-C.
  case interrupted
  /// The output was closed, as by `| head -1`, which is not an error.
  case unread
}

extension Observable {
  /// Subscribes and waits for the end of the stream or for Ctrl-C, then disposes of the subscription.
  ///
  /// - Parameter onNext: Called for each element; returns `false` if the output is closed.
  func wait(onNext: @escaping @Sendable (Element) -> Bool) -> Ending {
    // Shared by the thread of the stream, the interrupt thread and the main thread. The first end is returned.
    let ending = Locked<Ending?>(nil)
    let over = DispatchSemaphore(value: 0)
    @Sendable func end(_ how: Ending) {
      let isFirst = ending.withLock { ending in
        defer { ending = ending ?? how }
        return ending == nil
      }
      if isFirst { over.signal() }
    }
    let subscription = subscribe(
      onNext: { if !onNext($0) { end(.unread) } }, onError: { end(.failed($0)) }, onCompleted: { end(.completed) })
    Interrupt.handle { end(.interrupted) }
    over.wait()
    // Closes a partial file, so that the next run can resume the download.
    subscription.dispose()
    return ending.withLock { $0 } ?? .completed
  }
}
