import PortableFoundation

/// The delay that a `Retry-After` field requests (RFC 9110 §10.2.3), in seconds or as a date.
package struct RetryAfter {
  package let pause: Duration

  /// Parses `headers`; returns `nil` without a number or a date. A past date is a delay of zero. A date is relative to
  /// the response's `Date`, because both come from the server's clock, or else to `now`. Some servers send a fraction, such as
  /// `0.5`, which is rounded up to milliseconds.
  package init?(_ headers: HTTPHeaders, now: Date) {
    guard let value = headers.values(of: "Retry-After").first else { return nil }
    if value.isDigits {
      // A number that exceeds the range is longer than any wait.
      pause = .seconds(Int64(value) ?? .max)
    } else if value.contains("."), value.allSatisfy({ $0 == "." || $0.isASCII && $0.isNumber }),
      let seconds = Double(value)
    {
      pause = .milliseconds(Int64((min(seconds, 1e9) * 1_000).rounded(.up)))
    } else if let date = HTTPDate.seconds(value, now: now.timeIntervalSinceReferenceDate) {
      let clock = now.timeIntervalSinceReferenceDate
      let sent = headers.values(of: "Date").first.flatMap { HTTPDate.seconds($0, now: clock) }
      pause = .seconds(max(0, date - (sent ?? clock)))
    } else {
      return nil
    }
  }
}
