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

  func test_toBlockingOnAnotherThreadDoesNotRunTheMainQueue() throws {
    let ran = Locked<[Bool]>([])
    DispatchQueue.main.async { ran.withLock { $0.append(Thread.isMainThread) } }
    let done = DispatchSemaphore(value: 0)
    let result = Locked<[Int]?>(nil)
    Thread.detachNewThread {
      let ticks = Observable<Int>.interval(.milliseconds(5), scheduler: SerialDispatchQueueScheduler(qos: .default))
      let elements = try? ticks.take(3).toBlocking(timeout: .seconds(20)).toArray()
      result.withLock { $0 = elements }
      done.signal()
    }
    done.wait()
    XCTAssertEqual(result.withLock { $0 }, [0, 1, 2])
    XCTAssertEqual(ran.withLock { $0 }, [])
  }

  func test_toBlockingInsideAnItemOfTheMainQueueWaitsForOtherThreads() throws {
    let results = Locked<[[Int]]>([])
    DispatchQueue.main.async {
      let ticks = Observable<Int>.interval(.milliseconds(20), scheduler: SerialDispatchQueueScheduler(qos: .default))
      let elements = try? ticks.take(3).toBlocking(timeout: .seconds(20)).toArray()
      results.withLock { $0.append(elements ?? []) }
    }
    let deadline = Date().addingTimeInterval(20)
    while results.withLock({ $0.isEmpty }), Date() < deadline {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    XCTAssertEqual(results.withLock { $0 }, [[0, 1, 2]])
  }
}
