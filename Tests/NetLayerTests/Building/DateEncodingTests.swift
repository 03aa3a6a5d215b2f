import Foundation
import XCTest

@testable import HTTPTransport
@testable import JSONText
@testable import NetLayer

final class DateEncodingTests: XCTestCase {
  private func body(_ date: Date, _ dates: JSONParameterEncoder.DateEncoding) throws -> String {
    try JSONParameterEncoder(dates: dates).line(of: date)
  }

  /// Proleptic Gregorian, like ISO 8601 and the reader.
  func test_iso8601_isGregorianInAllYears() throws {
    let cases: [(Double, String)] = [
      (-62_135_596_800, "0001-01-01T00:00:00Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
      (-62_162_121_600, "0000-02-29T00:00:00Z"), (-59_006_361_600, "0100-03-01T00:00:00Z"),
      (-59_006_448_000, "0100-02-28T00:00:00Z"), (-30_610_224_000, "1000-01-01T00:00:00Z"),
      (-14_831_769_600, "1500-01-01T00:00:00Z"), (-12_219_379_200, "1582-10-14T00:00:00Z"),
      (-12_219_292_801, "1582-10-14T23:59:59Z"), (-12_219_292_800, "1582-10-15T00:00:00Z"),
      (-2_203_891_200, "1900-03-01T00:00:00Z"), (-2_203_977_600, "1900-02-28T00:00:00Z"),
      (-1, "1969-12-31T23:59:59Z"), (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
      (978_307_199, "2000-12-31T23:59:59Z"), (1_709_251_199, "2024-02-29T23:59:59Z"),
      (253_402_300_799, "9999-12-31T23:59:59Z"),
    ]
    for (seconds, text) in cases {
      let date = Date(timeIntervalSince1970: seconds)
      XCTAssertEqual(try body(date, .iso8601), "\"\(text)\"")
      XCTAssertEqual(Date(iso8601: text), date)
      XCTAssertEqual(
        try URLParameterEncoder(dates: .iso8601).pairs(of: ["at": date]).map(\.value), [text], "a form")
    }
  }

  func test_iso8601_keepsAFraction() throws {
    let cases: [(String, String)] = [
      ("2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20.123Z"), ("2023-11-14T22:13:20.5Z", "2023-11-14T22:13:20.500Z"),
      ("2023-11-14T22:13:20.000Z", "2023-11-14T22:13:20Z"), ("2023-11-14T22:13:20.001Z", "2023-11-14T22:13:20.001Z"),
      ("2023-11-14T22:13:20.123456Z", "2023-11-14T22:13:20.123456Z"),
      ("2023-11-14T22:13:20.999999Z", "2023-11-14T22:13:20.999999Z"),
      ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
      ("1582-10-14T01:00:00.25+01:00", "1582-10-14T00:00:00.250Z"),
      ("0001-01-01T00:00:00.125Z", "0001-01-01T00:00:00.125Z"),
      ("2023-11-14T22:13:20.1230000Z", "2023-11-14T22:13:20.1230000Z"),
      ("2023-11-14T22:13:20.1234567Z", "2023-11-14T22:13:20.1234567Z"),
      ("2023-11-14T22:13:20.123456789Z", "2023-11-14T22:13:20.1234568Z"),
    ]
    for (read, written) in cases {
      XCTAssertEqual(try body(try XCTUnwrap(Date(iso8601: read)), .iso8601), "\"\(written)\"")
    }
    for milliseconds in 0..<1000 {
      let date = Date(timeIntervalSince1970: 1_700_000_000 + Double(milliseconds) / 1000)
      let fraction = milliseconds == 0 ? "" : "." + String(1000 + milliseconds).dropFirst()
      XCTAssertEqual(try body(date, .iso8601), "\"2023-11-14T22:13:20\(fraction)Z\"")
      XCTAssertEqual(Date(iso8601: "2023-11-14T22:13:20\(fraction)Z"), date)
    }
    // Less than a nanosecond is rounded, also up to the next second.
    XCTAssertEqual(try body(Date(timeIntervalSinceReferenceDate: -1e-12), .iso8601), #""2001-01-01T00:00:00Z""#)
    XCTAssertEqual(
      try body(Date(timeIntervalSinceReferenceDate: 1.1e-8), .iso8601), #""2001-01-01T00:00:00.000000011Z""#)
  }

  func test_iso8601_isAnErrorOutsideOfFourDigitYears() throws {
    for seconds in [
      253_402_300_800, -62_167_219_200.5, -62_167_219_201, 1e13, -1e13, .greatestFiniteMagnitude, .infinity, .nan,
    ] {
      XCTAssertThrowsError(
        try JSONParameterEncoder(dates: .iso8601).line(of: ["at": Date(timeIntervalSince1970: seconds)])
      ) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
        XCTAssertEqual((error as? NetworkError)?.codingPath, ["at"])
        XCTAssertTrue((error as? NetworkError)?.reason.contains("0000 to 9999") == true, "\(error)")
      }
    }
  }

  func test_dateOnAWholeSecondOrMillisecond_isAnInteger() throws {
    let cases: [(JSONParameterEncoder.DateEncoding, Double, String)] = [
      (.secondsSince1970, 1_700_000_000, "1700000000"), (.secondsSince1970, 0, "0"), (.secondsSince1970, -1, "-1"),
      (.secondsSince1970, -62_135_596_800, "-62135596800"), (.secondsSince1970, 1_700_000_000.5, "1700000000.5"),
      (.secondsSince1970, 1_700_000_000.123, "1700000000.123"), (.secondsSince1970, 1.001, "1.001"),
      (.millisecondsSince1970, 1_700_000_000, "1700000000000"),
      (.millisecondsSince1970, 1_700_000_000.123, "1700000000123"),
      (.millisecondsSince1970, 1_700_000_000.001, "1700000000001"), (.millisecondsSince1970, 1.001, "1001"),
      (.millisecondsSince1970, -0.001, "-1"), (.millisecondsSince1970, 253_402_300_799.999, "253402300799999"),
      (.deferred, 978_307_200, "0"), (.deferred, 0, "-978307200"), (.deferred, 978_307_200.25, "0.25"),
    ]
    for (format, seconds, text) in cases {
      let date = Date(timeIntervalSince1970: seconds)
      let form = URLParameterEncoder(destination: .body, dates: format)
      XCTAssertEqual(try body(date, format), text)
      XCTAssertEqual(try JSONParameterEncoder(dates: format).line(of: [date]), "[\(text)]")
      XCTAssertEqual(try JSONParameterEncoder(dates: format).line(of: ["at": Date?.some(date)]), "{\"at\":\(text)}")
      XCTAssertEqual(try form.text(of: ["at": date]), "at=\(text)")
      let parts = try MultipartForm(["at": date]).fields(over: [:], as: form).map(\.value)
      XCTAssertEqual(parts, [text])
    }
    XCTAssertEqual(try JSONParameterEncoder(dates: .secondsSince1970).line(of: 1.0), "1.0", "a Double stays one")
  }

  func test_everyMillisecond_isAnIntegerAndReadBack() throws {
    let decoder = JSONModelDecoder { $0.dateDecodingStrategy = .millisecondsSince1970 }
    for start in [0, 1_000_000_000_000, 1_700_000_000_000, -62_135_596_800_000] {
      for milliseconds in start..<start + 1000 {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        let text = try body(date, .millisecondsSince1970)
        XCTAssertEqual(text, String(milliseconds))
        XCTAssertEqual(try JSON(parsing: "[\(text)]").decode([Date].self, using: decoder), [date])
        // The same time, calculated since another date.
        let other = Date(timeIntervalSinceReferenceDate: Double(milliseconds - 978_307_200_000) / 1000)
        XCTAssertEqual(try body(other, .millisecondsSince1970), String(milliseconds))
      }
    }
  }

  func test_numberThatIsNotFinite_isAnError() {
    for format: JSONParameterEncoder.DateEncoding in [.deferred, .secondsSince1970, .millisecondsSince1970] {
      for seconds in [Double.nan, .infinity] {
        XCTAssertThrowsError(try body(Date(timeIntervalSinceReferenceDate: seconds), format)) { error in
          XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
        }
      }
    }
  }
}
