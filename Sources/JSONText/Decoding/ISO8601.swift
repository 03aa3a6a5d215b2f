import PortableFoundation

extension Date {
  /// Parses a date in the format of RFC 3339 §5.6, `2019-12-28T01:02:03.456+08:00`, also with `+0800` or `+08`.
  ///
  /// Returns `nil` for any other text, including days that the month does not have, hours above 23 and minutes above
  /// 59. Second 60 is valid only at the end of a day in UTC, where leap seconds occur. All years are Gregorian.
  package init?(iso8601 text: String) {
    var text = text
    guard let date = text.withUTF8({ Date(iso8601: $0) }) else { return nil }
    self = date
  }

  init?(iso8601 text: UnsafeBufferPointer<UInt8>) {
    var reader = ISO8601Reader(text: text)
    guard let seconds = reader.seconds() else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

private struct ISO8601Reader {
  let text: UnsafeBufferPointer<UInt8>
  var at = 0
  /// The number of digits of the fraction.
  var digits = 0

  /// Returns the seconds since 2001 in UTC.
  mutating func seconds() -> Double? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
      take("T") || take("t"),
      let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
      let fraction = fraction(), let offset = offset(), at == text.count
    else { return nil }
    guard let date = GregorianDay(year: year, month: month, day: day), hour < 24, minute < 60 else { return nil }
    // Where `Int` has 32 bits, its seconds span only 68 years.
    let whole = Int64(date.daysSince2001) * 86_400 + Int64(hour * 3_600 + minute * 60 + second - offset)
    guard second < 60 || (second == 60 && whole % 86_400 == 0) else { return nil }
    return Date.secondsSince2001(whole, fraction, digits: digits)
  }

  private mutating func number(_ count: Int) -> Int? {
    guard at + count <= text.count else { return nil }
    var value = 0
    for _ in 0..<count {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  private mutating func digit() -> Int? {
    guard at < text.count, text[at] &- 48 < 10 else { return nil }
    at += 1
    return Int(text[at - 1] - 48)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard at < text.count, text[at] == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  /// Returns 0 if there is no fraction, and `nil` for a point without digits.
  private mutating func fraction() -> Double? {
    guard take(".") else { return 0 }
    let start = at
    var (value, divisor): (Int64, Double) = (0, 1)
    while let digit = digit() {
      // Digits beyond the precision of a date are skipped.
      guard divisor < 1e15 else { continue }
      value = value * 10 + Int64(digit)
      divisor *= 10
    }
    digits = at - start
    return digits > 0 ? Double(value) / divisor : nil
  }

  /// Returns the offset from UTC in seconds; positive if ahead.
  private mutating func offset() -> Int? {
    if take("Z") || take("z") { return 0 }
    let isAhead = take("+")
    guard isAhead || take("-"), let hours = number(2) else { return nil }
    // ISO 8601 allows omitting the minutes, as PostgreSQL does.
    let hasMinutes = take(":") || at < text.count
    guard let minutes = hasMinutes ? number(2) : 0, hours < 24, minutes < 60 else { return nil }
    return (isAhead ? 1 : -1) * (hours * 3_600 + minutes * 60)
  }
}
