import PortableFoundation

extension Date {
  /// Returns the date in the format of RFC 3339 §5.6, `2019-12-28T01:02:03.456Z`, which `init(iso8601:)` reads; `nil`
  /// outside of the years 0000 to 9999. All years are Gregorian.
  ///
  /// - Parameter digits: The number of digits of the fraction, at most 9; `nil` for the fewest of 0, 3, 6, 7, 8 and 9 that
  ///   are read as the same date. Many parsers expect milliseconds or microseconds.
  package func iso8601Text(digits: Int? = nil) -> String? {
    let seconds = timeIntervalSinceReferenceDate
    // Beyond all years; NaN is, too.
    guard abs(seconds) < 1e12 else { return nil }
    var whole = seconds.rounded(.down)
    var (fraction, count, scale) = (0.0, 0, 1.0)
    for digits in digits.map({ [$0] }) ?? [0, 3, 6, 7, 8, 9] {
      (count, scale) = (digits, (0..<digits).reduce(1) { scale, _ in scale * 10 })
      fraction = ((seconds - whole) * scale).rounded()
      if Self.secondsSince2001(Int64(whole), fraction / scale, digits: digits) == seconds { break }
    }
    if fraction == scale { (whole, fraction) = (whole + 1, 0) }
    if digits == nil, fraction == 0 { count = 0 }
    let days = (whole / 86_400).rounded(.down)
    guard let day = GregorianDay(daysSince2001: Int64(days)) else { return nil }
    let time = Int(whole - days * 86_400)
    var text: [UInt8] = []
    func append(_ number: Int, _ digits: Int) {
      var divisor = (1..<digits).reduce(1) { divisor, _ in divisor * 10 }
      while divisor > 0 {
        text.append(48 + UInt8(number / divisor % 10))
        divisor /= 10
      }
    }
    append(day.year, 4)
    for (separator, number) in [
      ("-", day.month), ("-", day.day), ("T", time / 3_600), (":", time / 60 % 60), (":", time % 60),
    ] as [(Unicode.Scalar, Int)] {
      text.append(UInt8(ascii: separator))
      append(number, 2)
    }
    if count > 0 {
      text.append(UInt8(ascii: "."))
      append(Int(fraction), count)
    }
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the seconds since 2001 of a date with a fraction of `digits` digits.
  ///
  /// Up to microseconds, it is rounded like `Date(timeIntervalSince1970:)`, so that a date made from a UNIX time is read
  /// back. The date of a clock has one more bit.
  static func secondsSince2001(_ whole: Int64, _ fraction: Double, digits: Int) -> Double {
    let since1970 = Date.timeIntervalBetween1970AndReferenceDate
    return digits > 6 ? Double(whole) + fraction : (Double(whole) + since1970 + fraction) - since1970
  }
}
