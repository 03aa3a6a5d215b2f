import XCTest

@testable import JSONText

final class ISO8601Tests: XCTestCase {
  private func seconds(_ text: String) -> Double? { Date(iso8601: text)?.timeIntervalSince1970 }

  func test_datesOfAllYearsAreRead() {
    XCTAssertEqual(seconds("1970-01-01T00:00:00Z"), 0)
    XCTAssertEqual(seconds("2001-01-01T00:00:00Z"), 978_307_200)
    XCTAssertEqual(seconds("2024-02-29T23:59:59Z"), 1_709_251_199)
    XCTAssertEqual(seconds("2000-02-29T00:00:00Z"), 951_782_400)
    XCTAssertEqual(seconds("1900-03-01T00:00:00Z"), -2_203_891_200)
    XCTAssertEqual(seconds("0001-01-01T00:00:00Z"), -62_135_596_800)
    XCTAssertEqual(seconds("9999-12-31T23:59:59Z"), 253_402_300_799)
    XCTAssertEqual(seconds("0000-01-01T00:00:00Z"), -62_167_219_200)
  }

  func test_fractionsAndOffsetsCount() throws {
    XCTAssertEqual(seconds("1970-01-01T00:00:00.5Z"), 0.5)
    XCTAssertEqual(seconds("1970-01-01T00:00:01.2500000000000000000000001Z"), 1.25)
    XCTAssertEqual(seconds("1970-01-01T01:00:00+01:00"), 0)
    XCTAssertEqual(seconds("1969-12-31T18:30:00-0530"), 0)
    XCTAssertEqual(seconds("1970-01-01T00:00:00-00:00"), 0)
    XCTAssertEqual(seconds("1970-01-01T08:00:00+08"), 0)
    XCTAssertEqual(seconds("1970-01-01t00:00:00z"), 0, "RFC 3339 §5.6 allows both")
    XCTAssertEqual(try XCTUnwrap(seconds("2023-12-31T18:30:00.123456-05:30")), 1_704_067_200.123456, accuracy: 1e-6)
  }

  func test_aLeapSecondIsTheNextDay() {
    XCTAssertEqual(seconds("2016-12-31T23:59:60Z"), 1_483_228_800)
    XCTAssertEqual(seconds("2017-01-01T05:29:60+05:30"), 1_483_228_800)
    XCTAssertNil(seconds("2016-12-31T23:58:60Z"))
    XCTAssertNil(seconds("2016-12-31T23:59:61Z"))
  }

  func test_whatNoCalendarOrClockHasIsNoDate() {
    for text in [
      "2023-02-29T00:00:00Z", "2023-02-30T00:00:00Z", "1900-02-29T00:00:00Z", "2023-04-31T00:00:00Z",
      "2023-13-01T00:00:00Z", "2023-01-01T00:00:00.", "2023-01-01T00:00:00.1", "2023-01-01T00:00:00+", "",
      "2023-00-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-01-32T00:00:00Z",
      "2023-01-01T24:00:00Z", "2023-01-01T25:00:00Z", "2023-01-01T00:60:00Z", "2023-01-01T00:00:00+24:00",
      "2023-01-01T00:00:00+00:60", "2023-1-1T00:00:00Z", "12023-01-01T00:00:00Z", "2023-01-01 00:00:00Z",
      "2023-01-01T00:00:00", "2023-01-01T00:00:00.Z", "2023-01-01T00:00:00+", "2023-01-01T00:00:00+1",
      "2023-01-01T00:00:00+01:",
      "2023-01-01T00:00:00+010", "",
    ] { XCTAssertNil(seconds(text), text) }
  }

  func test_badDatesAreErrorsInBothStrategiesWithBothDecoders() throws {
    for strategy: JSONDecoder.DateDecodingStrategy in [.iso8601, .iso8601WithOrWithoutFractions] {
      let own = JSONModelDecoder { $0.dateDecodingStrategy = strategy }
      for text in ["2023-02-30T00:00:00Z", "2023-01-01T25:00:00Z", "2023-01-01T00:00:00Zx", "soon"] {
        XCTAssertThrowsError(try JSON(parsing: #"{"at":["\#(text)"]}"#).decode([String: [Date]].self, using: own)) {
          error in
          guard case DecodingError.dataCorrupted(let context) = error else { return XCTFail("\(error)") }
          XCTAssertEqual(context.codingPath.map(\.stringValue), ["at", "Index 0"])
          XCTAssertTrue(context.debugDescription.contains("\"\(text)\" is not an ISO 8601 date"))
        }
      }
      let escaped = try JSON(parsing: #"["\u0031970-01-01T00:00:00Z"]"#).decode([Date].self, using: own)
      XCTAssertEqual(escaped, [Date(timeIntervalSince1970: 0)])
    }
    let foundation = JSONDecoder()
    foundation.dateDecodingStrategy = .iso8601WithOrWithoutFractions
    XCTAssertEqual(
      try JSON(parsing: #"["1970-01-01T00:00:00.5Z"]"#).decode([Date].self, using: foundation),
      [Date(timeIntervalSince1970: 0.5)])
    XCTAssertThrowsError(try JSON(parsing: #"["2023-02-30T00:00:00Z"]"#).decode([Date].self, using: foundation))
  }
}
