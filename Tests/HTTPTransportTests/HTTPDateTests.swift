import Foundation
import HTTPTransport
import NetLayer
import XCTest

final class HTTPDateTests: XCTestCase {
  /// 6 November 1994, 08:49:37 UTC, the example date of RFC 9110.
  private let date = 784_111_777.0 - Date.timeIntervalBetween1970AndReferenceDate

  func test_theThreeFormatsOfRFC9110AreParsed() {
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 UTC",
    ] {
      XCTAssertEqual(HTTPDate.seconds(text, now: 0), date, text)
    }
    XCTAssertEqual(HTTPDate.seconds("Mon, 01 Jan 2001 00:00:00 GMT", now: 0), 0)
    XCTAssertEqual(HTTPDate.seconds("Thu, 29 Feb 2024 23:59:60 GMT", now: 0), 730_944_000)
  }

  func test_aYearOfTwoDigitsIsAtMostFiftyYearsAhead() {
    let now = 20 * 365.2425 * 86400  // 2021
    XCTAssertEqual(
      HTTPDate.seconds("Sunday, 06-Nov-60 08:49:37 GMT", now: now),
      HTTPDate.seconds("Sun, 06 Nov 2060 08:49:37 GMT", now: now))
    XCTAssertEqual(HTTPDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: now), date)
  }

  func test_invalidDatesReturnNil() {
    for text in [
      "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Nov 1994 08:49:37 GMT",
      "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 06 Nov 994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:4x:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
    ] {
      XCTAssertNil(HTTPDate.seconds(text, now: 0), text)
    }
  }

  func test_datesOf400YearsMatchTheCalendar() throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    for day in stride(from: -110_000, to: 36_000, by: 37) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86400 + 3723)
      XCTAssertEqual(HTTPDate.seconds(format.string(from: date), now: 0), date.timeIntervalSinceReferenceDate)
    }
  }
}
