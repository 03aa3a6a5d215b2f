/// A time without elements that starts again with each element, and has a single timer. A timer for each element would cost more
/// than the element.
struct Silence {
  private var end = Duration.zero
  /// The end for which the timer is set; `nil` if it is not.
  private var armed: Duration?

  var isTimed: Bool { armed != nil }

  /// Starts again at `now`, for `length`. A timer that is set keeps running.
  mutating func begin(at now: Duration, for length: Duration) { end = now + length }

  /// Notes that the timer is set for the end, or is not set.
  mutating func setTimer(_ isSet: Bool) { armed = isSet ? end : nil }

  /// Returns the time for which the timer, which has fired, is set again; `nil` if the silence is over.
  mutating func rest(at now: Duration, of length: Duration) -> Duration? {
    // A late timer for the present end is due, whatever the clock says.
    guard armed != end, now < end else {
      armed = nil
      return nil
    }
    // Setting the clock back must not extend the wait.
    end = Swift.min(end, now + length)
    armed = end
    return end - now
  }
}
