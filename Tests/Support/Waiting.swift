import Foundation

/// Returns whether `condition` holds within `seconds`; other threads make it true.
package func holds(within seconds: Double = 20, _ condition: () -> Bool) -> Bool {
  let limit = ContinuousClock.now + .seconds(seconds)
  while !condition() {
    guard ContinuousClock.now < limit else { return condition() }
    usleep(200)
  }
  return true
}

/// Returns whether `value` is the same in so many consecutive reads, a millisecond apart, within 20 s. No other sign
/// shows that a peer has stopped.
package func standsStill(reads: Int = 50, _ value: () -> Int) -> Bool {
  var (last, unchanged) = (value(), 0)
  return holds {
    usleep(1000)
    let now = value()
    unchanged = now == last ? unchanged + 1 : 0
    last = now
    return unchanged == reads
  }
}
