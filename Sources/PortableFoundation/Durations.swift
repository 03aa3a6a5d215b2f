extension Duration {
  /// Creates a duration of `seconds`, at most 292 billion years in either direction. NaN is zero.
  package init(clampingSeconds seconds: Double) {
    // The conversion of the standard library traps outside of the range.
    let limit = Double(Int64.max / 2)
    self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -limit), limit))
  }

  /// The duration in seconds, with fractions.
  package var inSeconds: Double { self / .seconds(1) }
}
