import PortableFoundation

/// The pause that a `Retry-After` asks for (RFC 9110 §10.2.3): seconds, or a date.
struct RetryAfter {
  let pause: Duration

  /// `nil` where `headers` have none that is a number or a date. A date that is past is no pause; others count from the
  /// response's own `Date`, as the server's clock has set both, and from `now` where there is none.
  init?(_ headers: HTTPHeaders, now: Date) {
    guard let value = headers.values(of: "Retry-After").first else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // More seconds than there are numbers for is longer than anybody waits.
      pause = .seconds(Int64(value) ?? .max)
    } else if let date = HTTPDate.seconds(value, now: now.timeIntervalSinceReferenceDate) {
      let clock = now.timeIntervalSinceReferenceDate
      let sent = headers.values(of: "Date").first.flatMap { HTTPDate.seconds($0, now: clock) }
      pause = .seconds(max(0, date - (sent ?? clock)))
    } else {
      return nil
    }
  }
}
