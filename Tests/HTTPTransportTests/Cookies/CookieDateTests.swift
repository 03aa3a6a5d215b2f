import Foundation
import XCTest

@testable import HTTPTransport

/// Dates of cookies (RFC 6265 §5.1.1).
final class CookieDateTests: XCTestCase {
  private func seconds(_ text: String) -> Int? { CookieDate.parse(text).map { Int($0.timeIntervalSince1970) } }

  func test_datesInEveryFormOfTheRFC_areRead() {
    let noon = 784_111_777  // 6 November 1994, 08:49:37
    let cases: [(String, Int?)] = [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 01 Jan 1970 00:00:00GMT", 0), ("Thu, 01 Jan 1970 00:00:01Z", 1),
      ("Thu, 01 Jan 1970 00:00:00UTC", 0), ("Thu, 01 Jan 1970 0:0:0x", 0), ("Thu, 01 Jan 1970 00:00:00:00 GMT", 0),
      ("Thu, 01 Jan 1970 00:00:00.123 GMT", 0), ("Thu, 01 Jan 1970 00:00:00\u{E9}", 0),
      ("Sun, 06 Nov 1994 08:49:37 GMT", noon), ("Sunday, 06-Nov-94 08:49:37 GMT", noon),
      ("Sun Nov  6 08:49:37 1994", noon), ("Sun, 06-Nov-1994 8:49:37", noon), ("1994 nov 6th 08:49:37z", noon),
      ("08:49:37 6 NOVEMBER 94", noon), ("6x November 1994abc 08:49:37+01", noon), ("06/Nov/1994 08:49:37", noon),
      ("6 Nov 0094 08:49:37", noon), ("Mon, 29 Feb 2016 00:00:00 GMT", 1_456_704_000),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("1 Jan 69 00:00:00", 3_124_224_000),
      ("1 Jan 70 00:00:00", 0), ("1 Jan 1601 00:00:00", -11_644_473_600),
      // Days, times and years that do not exist, and texts without one of the four.
      ("30 Feb 2030 00:00:00", nil), ("31 Apr 2030 00:00:00", nil), ("29 Feb 2023 00:00:00", nil),
      ("29 Feb 1900 00:00:00", nil), ("0 Jan 2030 00:00:00", nil), ("32 Jan 2030 00:00:00", nil),
      ("1 Jan 1600 00:00:00", nil), ("1 Jan 2030 24:00:00", nil), ("1 Jan 2030 00:60:00", nil),
      ("1 Jan 2030 00:00:60", nil), ("1 Jan 2030 00:00", nil), ("1 Jan 2030 00:00:", nil),
      ("1 Jan 2030 000:00:00", nil), ("1 Jan 2030 00:00:000", nil), ("1 Jan 2030 x00:00:00", nil),
      ("1 Jan 2030 -1:00:00 00", 1_893_459_600), ("1 Jan 20300 00:00:00", nil), ("1 Jan 203 00:00:00", nil),
      ("1 J\u{E4}n 2030 00:00:00", nil), ("Jan 2030 00:00:00", nil), ("1 2030 00:00:00", nil), ("", nil),
      ("\u{661} Jan 2030 00:00:00", nil), ("1 Jan 2030 00::00:00", nil), ("tomorrow", nil),
    ]
    for (text, expected) in cases { XCTAssertEqual(seconds(text), expected, text) }
  }

  /// Every combination of words, compared with regular expressions that repeat the grammar of the RFC.
  func test_datesAreRead_asByTheGrammar() throws {
    let times = ["00:00:00", "1:2:3", "23:59:59Z", "10:11:12:13", "10:11", "10:11:123", "24:00:00", "10:11:12x9"]
    let days = ["1", "31", "30th", "29", "0", "32", "001", "7"]
    let months = ["Jan", "feb", "FEBRUARY", "Apr", "apri", "Ja", "december"]
    let years = ["1970", "70", "69", "2024", "1600", "1601", "024", "20245", "2023x", "3"]
    for time in times {
      for day in days {
        for month in months {
          for year in years {
            for text in [
              "\(day) \(month) \(year) \(time)", "\(time), \(month)-\(day)-\(year) GMT",
              "\(year)/\(month) \(time) \(day)",
            ] {
              XCTAssertEqual(seconds(text), try Self.oracle(text), text)
            }
          }
        }
      }
    }
  }

  private static func oracle(_ text: String) throws -> Int? {
    var (time, day, month, year): ([Int]?, Int?, Int?, Int?) = (nil, nil, nil, nil)
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    for token in text.split(whereSeparator: { " ,-/".contains($0) }).map({ $0.lowercased() }) {
      func groups(_ pattern: String) throws -> [Int]? {
        let expression = try NSRegularExpression(pattern: "\\A\(pattern)(?![0-9])")
        guard let match = expression.firstMatch(in: token, range: NSRange(token.startIndex..., in: token)) else {
          return nil
        }
        return (1..<match.numberOfRanges).compactMap {
          Range(match.range(at: $0), in: token).flatMap { Int(token[$0]) }
        }
      }
      if time == nil, let found = try groups("([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})") { time = found; continue }
      if day == nil, let found = try groups("([0-9]{1,2})") { day = found[0]; continue }
      if month == nil, let found = names.firstIndex(where: token.hasPrefix) { month = found + 1; continue }
      if year == nil, let found = try groups("([0-9]{2,4})") { year = found[0] }
    }
    guard let time, let day, let month, var year else { return nil }
    year += year < 70 ? 2000 : year < 100 ? 1900 : 0
    guard year >= 1601, time[0] < 24, time[1] < 60, time[2] < 60 else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try XCTUnwrap(TimeZone(secondsFromGMT: 0))
    let parts = DateComponents(year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2])
    guard let date = calendar.date(from: parts) else { return nil }
    let found = calendar.dateComponents([.year, .month, .day], from: date)
    guard found.year == year, found.month == month, found.day == day else { return nil }
    return Int(date.timeIntervalSince1970)
  }
}
