import PortableFoundation

/// The date in the `Expires` attribute of a cookie.
enum CookieDate {
  /// Parses a date by RFC 6265 §5.1.1: a time, a day, a month and a year in any order. What follows the digits of a word,
  /// or the three letters of a month, does not count. A day that does not exist is not a valid date.
  static func parse(_ text: String) -> Date? {
    var (time, day, month, year): ([Int]?, Int?, Int?, Int?) = (nil, nil, nil, nil)
    for word in text.utf8.split(whereSeparator: isDelimiter) {
      if time == nil, let found = clock(word) {
        time = found
      } else if day == nil, let found = number(word, 1...2) {
        day = found
      } else if month == nil, let found = months.firstIndex(where: { Substring(word.prefix(3)).lowercased() == $0 }) {
        month = found + 1
      } else if year == nil, let found = number(word, 2...4) {
        year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
      }
    }
    guard let time, let day, let month, let year, year >= 1601, time[0] < 24, time[1] < 60, time[2] < 60,
      let date = GregorianDay(year: year, month: month, day: day)
    else { return nil }
    let seconds = time[0] * 3600 + time[1] * 60 + time[2]
    return Date(timeIntervalSinceReferenceDate: Double(date.daysSince2001) * 86400 + Double(seconds))
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Returns the number at the start of `word`, whose digits must be that many.
  private static func number(_ word: Substring.UTF8View, _ digits: ClosedRange<Int>) -> Int? {
    let start = word.prefix { $0.isDigit }
    return digits.contains(start.count) ? Int(Substring(start)) : nil
  }

  /// Returns the hour, minute and second of one or two digits each at the start of `word`.
  private static func clock(_ word: Substring.UTF8View) -> [Int]? {
    let parts = word.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[..<2].allSatisfy({ $0.allSatisfy { $0.isDigit } }) else { return nil }
    let numbers = parts.prefix(3).compactMap { number($0, 1...2) }
    return numbers.count == 3 ? numbers : nil
  }
}
