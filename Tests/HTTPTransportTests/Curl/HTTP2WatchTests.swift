#if canImport(CCurl)
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  final class HTTP2WatchTests: XCTestCase {
    func test_goawayExcludesTheStreamsAfterTheLowestLastStream() {
      var watch = HTTP2Watch()
      XCTAssertFalse(watch.excludes(9, on: 1))
      XCTAssertFalse(watch.isRetired(1))
      watch.noteGoaway(1, lastStream: 5)
      XCTAssertTrue(watch.isRetired(1))
      XCTAssertFalse(watch.excludes(5, on: 1))
      XCTAssertTrue(watch.excludes(7, on: 1))
      // A later GOAWAY must not raise the last stream (RFC 9113 §6.8).
      watch.noteGoaway(1, lastStream: 9)
      XCTAssertTrue(watch.excludes(7, on: 1))
      watch.noteGoaway(1, lastStream: 3)
      XCTAssertTrue(watch.excludes(5, on: 1))
      XCTAssertFalse(watch.excludes(7, on: 2), "of another connection")
    }

    func test_oldConnectionsAreRemoved() {
      var watch = HTTP2Watch()
      for number in 1...10_000 as ClosedRange<UInt64> { watch.noteRetired(number) }
      XCTAssertFalse(watch.isRetired(1))
      XCTAssertTrue(watch.isRetired(10_000))
      XCTAssertTrue(watch.isRetired(9_800))
    }
  }
#endif
