import PortableFoundation

/// The parser of the three date formats of HTTP (RFC 9110 §5.6.7).
package enum HTTPDate {
  /// Returns the seconds since 1 January 2001 for `text`; `nil` if it is not a valid date. A two-digit year is at most
  /// 50 years after `now`.
  package static func seconds(_ text: String, now: Double) -> Double? {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
    guard words.count == 5 || words.count == 6, let weekday = words.first, weekdays.contains(weekday.prefix(3)) else {
      return nil
    }
    // Sun Nov  6 08:49:37 1994 / Sun, 06 Nov 1994 08:49:37 GMT / Sunday, 06-Nov-94 08:49:37 GMT
    let isC = words.count == 5
    guard isC || words[5] == "GMT" || words[5] == "UTC" else { return nil }
    let (day, month, year, time) =
      isC ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
    guard let index = months.firstIndex(of: month), let day = number(day, 1...2), let written = number(year, 2...4),
      let clock = clock(time)
    else { return nil }
    let full = year.count == 2 ? century(written, now: now) : written
    guard year.count != 3, let date = GregorianDay(year: full, month: index + 1, day: day) else { return nil }
    return Double(date.daysSince2001) * 86400 + Double(clock)
  }

  private static let weekdays: Set<Substring> = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ text: Substring, _ digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.isDigits else { return nil }
    return Int(text)
  }

  private static func clock(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2...2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24, minute < 60,
      second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private static func century(_ year: Int, now: Double) -> Int {
    let current = 2001 + Int(now / (365.2425 * 86400))
    let near = current - current % 100 + year
    return near > current + 50 ? near - 100 : near
  }
}
