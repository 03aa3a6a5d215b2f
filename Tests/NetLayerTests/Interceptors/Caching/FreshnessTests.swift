import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The rules of RFC 9111 by section. Times are in seconds since 1 January 2001, 00:00 UTC.
final class FreshnessTests: XCTestCase {
  private static let midnight = "Mon, 01 Jan 2001 00:00:00 GMT"

  private func freshness(
    _ headers: HTTPHeaders, status: Int = 200, asked: Double = 0, came: Double = 0, hasQuery: Bool = false
  ) -> Freshness {
    Freshness(status: status, headers: headers, requestedAt: asked, receivedAt: came, hasQuery: hasQuery)
  }

  private func isStorable(
    _ status: Int, _ headers: HTTPHeaders = [:], requested: HTTPHeaders = [:], line: UInt = #line
  ) -> Bool { Freshness.isStorable(status: status, headers: headers, requested: CacheControl(requested)) }

  func test_section3_storableResponses() {
    for status in [200, 203, 204, 300, 404, 405, 410, 414, 501] {
      XCTAssertTrue(isStorable(status), "\(status) without a word")
    }
    for status in [201, 202, 400, 401, 403, 418, 429, 500, 502, 503, 504] {
      XCTAssertFalse(isStorable(status), "\(status) without a word")
      for words in ["max-age=1", "public", "private"] {
        XCTAssertTrue(isStorable(status, ["Cache-Control": words]), "\(status) with \(words)")
      }
      XCTAssertTrue(isStorable(status, ["Expires": Self.midnight]), "\(status) with Expires")
    }
    for status in [100, 101, 206, 301, 302, 303, 304, 307, 308] {
      XCTAssertFalse(isStorable(status, ["Cache-Control": "max-age=1, public"]), "\(status)")
    }
    XCTAssertFalse(isStorable(201, ["Cache-Control": "s-maxage=10"]), "s-maxage is for shared caches")
  }

  func test_section5_2_noStore_preventsStoring() {
    XCTAssertFalse(isStorable(200, ["Cache-Control": "no-store"]))
    XCTAssertFalse(isStorable(200, ["Cache-Control": "max-age=9, no-store"]))
    XCTAssertFalse(isStorable(200, [:], requested: ["Cache-Control": "no-store"]))
    XCTAssertTrue(isStorable(200, ["Cache-Control": "no-store, must-understand"]), "§5.2.2.3")
    XCTAssertFalse(isStorable(299, ["Cache-Control": "no-store, must-understand, max-age=9"]), "an unknown status")
    XCTAssertFalse(isStorable(299, ["Cache-Control": "must-understand, max-age=9"]), "an unknown status")
    XCTAssertTrue(isStorable(299, ["Cache-Control": "max-age=9"]))
    XCTAssertTrue(isStorable(200, ["Cache-Control": "no-cache"]), "no-cache may be kept")
    XCTAssertTrue(isStorable(200, ["Cache-Control": "private"]), "this is a private cache")
  }

  func test_section4_2_1_lifetime() {
    let (date, later) = (Self.midnight, "Mon, 01 Jan 2001 00:10:00 GMT")
    let table: [(HTTPHeaders, Double, String)] = [
      (["Cache-Control": "max-age=5", "Expires": later, "Date": date], 5, "max-age before Expires"),
      (["Cache-Control": "s-maxage=5, max-age=7"], 7, "s-maxage is for shared caches"),
      (["Expires": later, "Date": date], 600, "Expires less Date"),
      (["Expires": later], 600, "Expires less the time of arrival"),
      (["Expires": date, "Date": later], 0, "expired from the start"),
      (["Expires": "0", "Date": date], 0, "what is no date"),
      (
        ["Expires": "-1", "Last-Modified": "Sun, 31 Dec 2000 00:00:00 GMT", "Date": date], 0,
        "no heuristic beside Expires"
      ),
      (["Cache-Control": "max-age=x"], 0, "what is no number"),
      ([:], 0, "nothing"),
    ]
    for (headers, seconds, what) in table { XCTAssertEqual(freshness(headers).lifetime, seconds, what) }
  }

  func test_section4_2_2_heuristic() {
    let headers: HTTPHeaders = ["Date": Self.midnight, "Last-Modified": "Sun, 31 Dec 2000 00:00:00 GMT"]
    XCTAssertEqual(freshness(headers).lifetime, 8640, "a tenth of a day")
    XCTAssertEqual(freshness(headers, hasQuery: true).lifetime, 0, "not for URLs with a query")
    XCTAssertEqual(freshness(headers, status: 201).lifetime, 0, "not for a status that needs words")
    XCTAssertEqual(
      freshness(headers.merging(["Cache-Control": "public"]), status: 201).lifetime, 8640, "unless it is public")
    XCTAssertEqual(
      freshness(["Date": Self.midnight, "Last-Modified": "Tue, 02 Jan 2001 00:00:00 GMT"]).lifetime, 0,
      "changed in the future")
  }

  func test_section4_2_3_age() {
    XCTAssertEqual(freshness([:], asked: 100, came: 100).age(at: 130), 30, "the time here")
    XCTAssertEqual(freshness(["Age": "20"], came: 100).age(at: 100), 120, "the time in other caches and on the way")
    XCTAssertEqual(freshness(["Age": "20"], asked: 97, came: 100).age(at: 110), 33)
    XCTAssertEqual(freshness(["Date": Self.midnight], asked: 99, came: 100).age(at: 100), 100, "the server's clock")
    XCTAssertEqual(
      freshness(["Date": "Mon, 01 Jan 2001 01:00:00 GMT"], asked: 100, came: 100).age(at: 100), 0,
      "a clock ahead of ours makes it no younger than nothing")
    XCTAssertEqual(freshness(["Age": "x"], asked: 100, came: 100).age(at: 100), 0)
    XCTAssertEqual(freshness([:], asked: 100, came: 100).age(at: 40), 60, "a clock that was set back makes it older")
  }

  func test_section4_2_4_and_5_2_usableResponses() {
    typealias Row = (reply: String, requested: String, age: Double, verdict: Freshness.Verdict)
    let table: [Row] = [
      ("max-age=60", "", 59, .fresh),
      ("max-age=60", "", 60, .validate),
      ("max-age=60", "", 61, .validate),
      // §5.2.1.1 max-age of the request
      ("max-age=60", "max-age=10", 9, .fresh),
      ("max-age=60", "max-age=10", 11, .validate),
      ("max-age=60", "max-age=100", 61, .validate),
      ("max-age=60", "max-age=0", 0, .validate),
      // §5.2.1.2 max-stale
      ("max-age=60", "max-stale", 9999, .stale),
      ("max-age=60", "max-stale=10", 70, .stale),
      ("max-age=60", "max-stale=10", 71, .validate),
      ("max-age=60", "max-age=10, max-stale=5", 15, .stale),
      ("max-age=60", "max-age=10, max-stale=5", 16, .validate),
      // §5.2.1.3 min-fresh
      ("max-age=60", "min-fresh=10", 50, .fresh),
      ("max-age=60", "min-fresh=10", 51, .validate),
      ("max-age=60, stale-while-revalidate=99", "min-fresh=10", 55, .validate),
      // §5.2.1.4 no-cache of the request
      ("max-age=60", "no-cache", 1, .validate),
      ("max-age=60", "no-cache, max-stale", 1, .validate),
      // §5.2.2.2 must-revalidate
      ("max-age=60, must-revalidate", "", 59, .fresh),
      ("max-age=60, must-revalidate", "max-stale", 61, .validate),
      ("max-age=60, must-revalidate, stale-while-revalidate=99", "", 61, .validate),
      // §5.2.2.4 no-cache of the response
      ("max-age=60, no-cache", "", 1, .validate),
      ("max-age=60, no-cache=\"set-cookie\"", "", 1, .validate),
      ("max-age=60, no-cache", "max-stale", 1, .validate),
      // §5.2.2.8 proxy-revalidate is for shared caches
      ("max-age=60, proxy-revalidate", "max-stale", 61, .stale),
      // RFC 5861 §3
      ("max-age=60, stale-while-revalidate=10", "", 59, .fresh),
      ("max-age=60, stale-while-revalidate=10", "", 70, .staleWhileRevalidate),
      ("max-age=60, stale-while-revalidate=10", "", 71, .validate),
      ("max-age=60, stale-while-revalidate=10", "max-age=30", 61, .validate),
    ]
    for row in table {
      let kept = freshness(["Cache-Control": row.reply])
      XCTAssertEqual(
        kept.verdict(for: CacheControl(["Cache-Control": row.requested]), at: row.age), row.verdict,
        "\(row.reply) | \(row.requested) | \(row.age)")
    }
  }

  func test_rfc5861_section4_staleIfError() {
    let table: [(reply: String, requested: String, age: Double, standsIn: Bool)] = [
      ("max-age=60", "", 61, false),
      ("max-age=60, stale-if-error=10", "", 70, true),
      ("max-age=60, stale-if-error=10", "", 71, false),
      ("max-age=60", "stale-if-error=10", 70, true),
      ("max-age=60, stale-if-error=1", "stale-if-error=10", 70, true),
      ("max-age=60, must-revalidate, stale-if-error=10", "", 61, false),
      ("max-age=60, no-cache, stale-if-error=10", "", 61, false),
    ]
    for row in table {
      let kept = freshness(["Cache-Control": row.reply])
      XCTAssertEqual(
        kept.standsIn(for: CacheControl(["Cache-Control": row.requested]), at: row.age), row.standsIn,
        "\(row.reply) | \(row.requested) | \(row.age)")
    }
  }

  func test_section4_3_1_revalidation_sendsAllValidators() {
    func entry(_ headers: HTTPHeaders) -> CacheEntry {
      CacheEntry(status: 200, headers: headers, body: Data(), requestedAt: 0, receivedAt: 0)
    }
    XCTAssertEqual(entry([:]).validators.count, 0)
    let both = entry(["ETag": "W/\"a\"", "Last-Modified": Self.midnight]).validators
    XCTAssertEqual(both["If-None-Match"], "W/\"a\"")
    XCTAssertEqual(both["If-Modified-Since"], Self.midnight)
  }

  func test_section4_3_4_and_3_2_a304_updatesFields_exceptThoseOfTheBody() {
    let kept = CacheEntry(
      status: 200,
      headers: [
        "ETag": "\"a\"", "Cache-Control": "max-age=1", "Content-Type": "application/json", "Content-Length": "4",
        "X-Old": "1", "Age": "40",
      ], body: Data("body".utf8), requestedAt: 0, receivedAt: 0, expiresAt: 77)
    let renewed = kept.confirmed(
      by: ["etag": "W/\"a\"", "Cache-Control": "max-age=60", "Content-Length": "0", "Content-Type": "text/plain"],
      requestedAt: 90, receivedAt: 100)
    XCTAssertEqual(renewed.headers["Cache-Control"], "max-age=60")
    XCTAssertEqual(renewed.headers["Content-Type"], "application/json")
    XCTAssertEqual(renewed.headers["Content-Length"], "4")
    XCTAssertEqual(renewed.headers["X-Old"], "1")
    XCTAssertEqual(renewed.body, Data("body".utf8))
    XCTAssertEqual(renewed.expiresAt, 77)
    XCTAssertEqual(renewed.age(at: 100), 10, "the time on the way; what other caches had said before is over")
    XCTAssertTrue(kept.isConfirmed(by: ["ETag": "W/\"a\""]))
    XCTAssertTrue(kept.isConfirmed(by: [:]))
    XCTAssertFalse(kept.isConfirmed(by: ["ETag": "\"b\""]))
  }
}
