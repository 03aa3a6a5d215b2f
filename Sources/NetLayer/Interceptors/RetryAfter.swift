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

extension Response {
  /// The delay that the response requests with `Retry-After` (RFC 9110 §10.2.3); `nil` without such a field.
  ///
  /// A date is relative to the response's `Date`, or else to the clock of this system.
  public var retryAfter: Duration? { RetryAfter(headers, now: Date())?.pause }
}

extension NetworkError {
  /// The delay after which the same request may succeed: that of an error of kind `unavailable`, or that of its response; `nil`
  /// if it is unknown.
  public var retryAfter: Duration? {
    get { retryAfter(now: Date()) }
    set { context[RequestedPause.self] = newValue }
  }

  package func retryAfter(now: Date) -> Duration? {
    context[RequestedPause.self] ?? response.flatMap { RetryAfter($0.headers, now: now)?.pause }
  }
}

private enum RequestedPause: ContextKey { static var defaultValue: Duration? { nil } }
