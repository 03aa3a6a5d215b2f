import PortableFoundation
import XCTest

final class DurationsTests: XCTestCase {
  private let enormous: [Duration] = [.seconds(Int64.max), .seconds(Int64.max) * 10]

  func test_nanoseconds_areRoundedUp_andDoNotOverflow() {
    let second = Duration.seconds(1)
    for (duration, nanoseconds) in [
      (second, 1_000_000_000), (.milliseconds(1500), 1_500_000_000), (second / 1_000_000_000_000, 1), (.zero, 0),
      (second + second / 1_000_000_000_000, 1_000_000_001), (.zero - second, 0), (.seconds(Int64.min), 0),
      (.seconds(17_999_999_999), 17_999_999_999_000_000_000), (.seconds(18_000_000_000), .max),
    ] as [(Duration, UInt64)] {
      XCTAssertEqual(duration.inNanoseconds, nanoseconds, "\(duration)")
    }
    for duration in enormous { XCTAssertEqual(duration.inNanoseconds, .max) }
  }

  func test_seconds_areTheNearestNumber() {
    for seconds in [0.1, 0.25, 0.3, 3.2, 0.001, 15, -0.5] {
      XCTAssertEqual(Duration.seconds(seconds).inSeconds, seconds)
      XCTAssertEqual(Duration.seconds(seconds).text, "\(seconds) s")
    }
    for duration in enormous { XCTAssertEqual(duration.dispatchSeconds, 1e9) }
  }

  func test_everyNumberOfSecondsIsADuration() {
    XCTAssertEqual(Duration(clampingSeconds: 1.5), .milliseconds(1500))
    XCTAssertEqual(Duration(clampingSeconds: .nan), .zero)
    for seconds in [1e19, 1e300, .infinity] {
      XCTAssertGreaterThan(Duration(clampingSeconds: seconds), .seconds(4_000_000_000_000_000_000))
      XCTAssertLessThan(Duration(clampingSeconds: -seconds), .seconds(-4_000_000_000_000_000_000))
    }
  }
}
