import Foundation
import Streams
import Synchronization

/// A run that keeps a number of requests in flight until the time is over.
final class Race: Sendable {
  typealias Send = @Sendable (_ done: @escaping @Sendable (Bool) -> Void) -> Void

  private let inFlight: Int
  private let end: ContinuousClock.Instant
  private let send: Send
  private let done = Atomic<Int>(0)
  private let failed = Atomic<Int>(0)
  private let running: Atomic<Int>
  private let finished = DispatchSemaphore(value: 0)

  init(_ inFlight: Int, until end: ContinuousClock.Instant, _ send: @escaping Send) {
    self.inFlight = inFlight
    self.end = end
    self.send = send
    running = Atomic(inFlight)
  }

  /// Returns the number of requests that succeeded, or `nil` if any failed.
  func run() -> Int? {
    for _ in 0..<inFlight { next() }
    finished.wait()
    return failed.load(ordering: .sequentiallyConsistent) == 0 ? done.load(ordering: .sequentiallyConsistent) : nil
  }

  private func next() {
    send { [self] success in
      if success { done.add(1, ordering: .relaxed) } else { failed.add(1, ordering: .relaxed) }
      if success, ContinuousClock.now < end {
        next()
      } else if running.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
        finished.signal()
      }
    }
  }
}
