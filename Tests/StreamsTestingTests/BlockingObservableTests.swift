import Foundation
import Streams
import StreamsTesting
import XCTest

final class BlockingObservableTests: XCTestCase {
  func test_toBlockingOnTheMainThreadRunsTheMainQueue() throws {
    XCTAssertTrue(Thread.isMainThread)
    let ticks = Observable<Int>.interval(.milliseconds(1), scheduler: MainScheduler.instance).take(3)
    XCTAssertEqual(try ticks.toBlocking(timeout: .seconds(20)).toArray(), [0, 1, 2])
    XCTAssertThrowsError(
      try Observable<Int>.never().toBlocking(timeout: .milliseconds(5)).toArray()
    ) { XCTAssertEqual($0 as? StreamError, .timeout) }
  }
}
