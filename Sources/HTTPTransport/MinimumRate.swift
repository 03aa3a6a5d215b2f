import PortableFoundation

/// The rate below which a response that is received as a whole, or into a file, ends with kind `timeout`. It applies if no
/// `Timeouts.attempt` ends a server that keeps a call open by a byte from time to time.
package struct MinimumRate: ContextKey, Sendable {
  /// 1 KB in 60 s, a thousandth of the slowest mobile network. The time is that of `Timeouts.idle`.
  package static let defaultValue = MinimumRate(bytes: 1 << 10, span: .seconds(60))

  let bytes: Int64
  let span: Duration
}

/// The mark of a request whose streamed response goes into a file, so that the rate applies to it, too.
package enum IsDownload: ContextKey { package static var defaultValue: Bool { false } }

/// The check of one response's rate, in consecutive spans.
struct RateCheck {
  private let bytes: Int64
  /// In nanoseconds; `never` if the rule does not apply.
  private let span: UInt64
  /// The span that is checked, and the number of bytes at its start.
  private var current: (end: UInt64, count: Int64, isHead: Bool)?

  init(_ request: Request, isStreamed: Bool) {
    let rule = request.context[MinimumRate.self]
    let isWhole = !isStreamed || request.context[IsDownload.self]
    let applies = isWhole && request.timeouts.attempt == nil
    bytes = rule.bytes
    // Silence within `idle` is allowed.
    span = applies ? Deadline.span(request.timeouts.idle.map { Swift.max($0, rule.span) }) : Deadline.never
  }

  /// Returns the time at which the rate is too low, which has passed if it is.
  ///
  /// - Parameters:
  ///   - count: The number of bytes so far, of both bodies; `nil` while the server may be silent, or the client pauses.
  ///   - isHead: Whether they precede the end of the head, which is allowed a span of its own.
  mutating func deadline(_ count: Int64?, isHead: Bool, at now: UInt64) -> UInt64 {
    guard let count, span != Deadline.never else {
      current = nil
      return Deadline.never
    }
    if let current, current.isHead == isHead, count >= current.count {
      if now < current.end || count - current.count < bytes { return current.end }
    }
    let end = Deadline.after(span, from: now)
    current = (end, count, isHead)
    return end
  }

  /// Begins again, after a pause or with another attempt.
  mutating func restart() { current = nil }

  func error(_ transfer: TransferState) -> NetworkError {
    NetworkError(
      kind: .timeout,
      reason:
        "\(transfer.hostAndPort) sent fewer than \(bytes) bytes of the response in \(Duration.nanoseconds(span).text); raise "
        + "Timeouts.idle, which allows more time, or check the server", request: transfer.request)
  }
}
