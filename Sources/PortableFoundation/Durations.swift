extension Duration {
  /// Creates a duration of `seconds`, at most 146 billion years in either direction. NaN is zero.
  package init(clampingSeconds seconds: Double) {
    // The conversion of the standard library traps outside of its range.
    let limit = Double(Int64.max / 2)
    self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -limit), limit))
  }

  /// The duration in seconds, with fractions.
  package var inSeconds: Double { self / .seconds(1) }

  /// The duration in seconds for Dispatch, whose times overflow: at most 30 years.
  package var dispatchSeconds: Double { min(inSeconds, 1e9) }

  /// The duration in nanoseconds, rounded up: 0 for a negative one, and `UInt64.max` from 570 years on.
  package var inNanoseconds: UInt64 {
    guard self > .zero else { return 0 }
    guard self < .seconds(18_000_000_000) else { return .max }
    let (seconds, attoseconds) = components
    return UInt64(seconds) * 1_000_000_000 + UInt64((attoseconds + 999_999_999) / 1_000_000_000)
  }

  /// The duration for error messages, such as `0.5 s`.
  package var text: String { "\(inSeconds) s" }
}

extension Duration? {
  /// The limit for error messages; `none` for no limit.
  package var text: String { self?.text ?? "none" }
}
