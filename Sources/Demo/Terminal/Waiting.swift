import Dispatch
import Streams

/// How a stream that a command waited for has ended.
enum Ending: Sendable {
  case completed
  case failed(any Error)
  /// Ctrl-C.
  case interrupted
  /// Nobody reads the output any more: an ordinary end, `| head -1` for example.
  case unread
}

extension Observable {
  /// Subscribes and waits for the end, or for Ctrl-C, which disposes.
  ///
  /// - Parameter onNext: gives false if nobody reads any more.
  func wait(onNext: @escaping @Sendable (Element) -> Bool) -> Ending {
    // The stream's thread, the interrupt thread and main; the first reason counts.
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
    // What has been written of a file is let go of here, for the next run to go on with.
    subscription.dispose()
    return ending.withLock { $0 } ?? .completed
  }
}
