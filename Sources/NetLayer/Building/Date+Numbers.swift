import PortableFoundation

extension Date {
  /// The seconds since 2001, as an integer if it is one.
  var secondsSince2001: any Encodable { Self.number(timeIntervalSinceReferenceDate) }

  /// The seconds since 1970, as an integer if the date is on a whole second.
  var secondsSince1970: any Encodable { Self.number(wholeMilliseconds.map { $0 / 1000 } ?? timeIntervalSince1970) }

  /// The milliseconds since 1970, as an integer if the date is on a whole millisecond.
  var millisecondsSince1970: any Encodable { Self.number(wholeMilliseconds ?? timeIntervalSince1970 * 1000) }

  /// The milliseconds since 1970, if the date is on a whole one, except for the precision of a `Date`.
  private var wholeMilliseconds: Double? {
    let seconds = timeIntervalSince1970
    let milliseconds = (seconds * 1000).rounded()
    let precision = max(seconds.ulp, timeIntervalSinceReferenceDate.ulp)
    let isOnMillisecond = abs(milliseconds / 1000 - seconds) <= precision
    return isOnMillisecond ? milliseconds : nil
  }

  /// Servers read times into integers, so a whole number has no `.0`.
  private static func number(_ value: Double) -> any Encodable {
    guard value == value.rounded(), abs(value) < 0x1p53 else { return value }
    return Int64(value)
  }
}
