import Foundation
import Synchronization

/// The factor for the rounds of tests of races, from the environment variable `NETLAYER_ROUNDS`.
package let roundFactor = ProcessInfo.processInfo.environment["NETLAYER_ROUNDS"].flatMap { Int($0) } ?? 1

/// Runs two closures at the same time, again and again, each on its own thread.
///
/// Rounds on threads that already run meet within a fraction of a microsecond, and so find races that threads started
/// for each round do not. `NETLAYER_ROUNDS` multiplies the rounds. `prepare` and `check` run alone, before and after each round.
///
/// - Returns: The number of rounds whose `check` returned `false`; the first one ends the run.
package func failures(
  inRounds rounds: Int, prepare: @escaping @Sendable () -> Void, _ first: @escaping @Sendable () -> Void,
  _ second: @escaping @Sendable () -> Void, check: @escaping @Sendable () -> Bool
) -> Int {
  let rounds = rounds * roundFactor
  let arrived = Atomic<Int>(0)
  let failures = Atomic<Int>(0)
  /// Waits until both threads have called it `count` times.
  @Sendable func meet(_ count: Int) {
    arrived.add(1, ordering: .sequentiallyConsistent)
    var spins = 0
    while arrived.load(ordering: .sequentiallyConsistent) < 2 * count {
      spins += 1
      if spins % 200 == 0 { sched_yield() }
    }
  }
  let done = DispatchSemaphore(value: 0)
  for thread in 0...1 {
    Thread.detachNewThread {
      for round in 0..<rounds where failures.load(ordering: .relaxed) == 0 {
        if thread == 0 { prepare() }
        meet(3 * round + 1)
        // One of the two starts a little later, by another amount in each round.
        for _ in 0..<(round % 512) where (round / 512) % 2 == thread { _ = arrived.load(ordering: .relaxed) }
        if thread == 0 { first() } else { second() }
        meet(3 * round + 2)
        if thread == 0, !check() { failures.add(1, ordering: .relaxed) }
        meet(3 * round + 3)
      }
      done.signal()
    }
  }
  for _ in 0...1 { done.wait() }
  return failures.load(ordering: .relaxed)
}
