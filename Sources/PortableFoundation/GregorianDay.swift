/// A day of the proleptic Gregorian calendar, the calendar of ISO 8601 and HTTP, in any year from 0 to 9999.
///
/// Foundation's calendar is Julian before 15 October 1582.
package struct GregorianDay: Equatable {
  package var year: Int
  package var month: Int
  package var day: Int

  /// Creates the day; `nil` if the month does not exist or does not have the day.
  @inlinable
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...Self.length(ofMonth: month, year)).contains(day) else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Creates the day that is `days` after 1 January 2001; `nil` outside of the years 0 to 9999.
  package init?(daysSince2001 days: Int64) {
    guard (-730_851..<2_921_574).contains(days) else { return nil }
    // Days since 1 March of the year -400.
    let shifted = Int(days) + 876_888
    let (era, ofEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * ofYear + 2) / 153
    day = ofYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 - 400 + (month < 3 ? 1 : 0)
  }

  /// The days since 1 January 2001.
  @inlinable
  package var daysSince2001: Int {
    // Years begin in March, so that the leap day is the last day. Shifted by 400 years, which is a whole number of leap
    // cycles, so that no value is negative.
    let shifted = (month < 3 ? year - 1 : year) + 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 876_888
  }

  @inlinable
  static func length(ofMonth month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
