import XCTest

@testable import Demo

final class BenchTests: XCTestCase {
  func test_report_countsEveryRequest() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("bench", "\(server.url)/cart", "-n", "300", "-c", "7", "--json")
    XCTAssertEqual(result.code, 0, result.errors)
    let line = try object(result.lines.first)
    XCTAssertEqual(line["requests"] as? Int, 300)
    XCTAssertEqual(line["failed"] as? Int, 0)
    XCTAssertEqual(line["outcomes"] as? [String: Int], ["200": 300])
    let times = try XCTUnwrap(line["milliseconds"] as? [String: Double])
    let ascending = ["min", "p50", "p90", "p99", "p99.9", "max"].compactMap { times[$0] }
    XCTAssertEqual(ascending.count, 6)
    XCTAssertEqual(ascending, ascending.sorted())
    for name in ["seconds", "requestsPerSecond", "cpuMicrosecondsPerRequest"] {
      XCTAssertGreaterThan(line[name] as? Double ?? 0, 0, name)
    }
  }

  func test_report_countsFailuresByKind() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("bench", "\(server.url)/nothing", "-n", "5")
    XCTAssertEqual(result.code, 1)
    XCTAssertTrue(result.lines.first?.contains("5 × 404") == true, "\(result.lines)")
  }

  func test_histogram_putsEachNumberInOneBucket() {
    let numbers = (1...1000).map { Double($0) / 10 }
    let buckets = numbers.histogram(buckets: 10)
    XCTAssertEqual(buckets.map(\.count).reduce(0, +), 1000)
    XCTAssertEqual(buckets.first?.from, 0.1)
    XCTAssertEqual(buckets.last?.to, 100)
    XCTAssertEqual([2.0, 2, 2].histogram(buckets: 10).map(\.count), [3])
    XCTAssertTrue([Double]().histogram(buckets: 10).isEmpty)
    XCTAssertEqual([numbers.percentile(0.5), numbers.percentile(0.99), numbers.percentile(1)], [50, 99, 100])
  }
}
