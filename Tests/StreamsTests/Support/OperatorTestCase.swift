import Streams
import StreamsTesting
import XCTest

/// Draws what an operator does: its source as marbles, what comes out, and how long the source was subscribed.
class OperatorTestCase: StreamsTestCase {
  /// Checks one operator on one cold source.
  ///
  /// - Parameters:
  ///   - source: the source's marbles, from time 0.
  ///   - expected: the result's marbles.
  ///   - until: when the source must have been disposed.
  ///   - disposed: when the result is disposed.
  func check(
    _ source: String, _ expected: String, until: TestTime, disposed: TestTime = TestScheduler.disposed,
    file: StaticString = #filePath, line: UInt = #line,
    _ operation: @escaping @Sendable (Observable<String>, TestScheduler) -> Observable<String>
  ) {
    let time = TestScheduler()
    let cold = time.cold(source)
    let events = time.record(disposed: disposed, operation(cold.asObservable(), time))
    XCTAssertEqual(events, Marbles.parse(expected), "of \(source)", file: file, line: line)
    XCTAssertEqual(
      cold.subscriptions, [TestSubscription(0, until)], "life of \(source)", file: file, line: line)
  }

  /// Checks what every operator owes that passes errors, completion and silence through: on error, of nothing, of
  /// silence, when disposed before and during.
  func checkPassThrough(
    file: StaticString = #filePath, line: UInt = #line,
    _ operation: @escaping @Sendable (Observable<String>, TestScheduler) -> Observable<String>
  ) {
    check("---#", "---#", until: 3, file: file, line: line, operation)
    check("---|", "---|", until: 3, file: file, line: line, operation)
    check("----", "----", until: TestScheduler.disposed, file: file, line: line, operation)
    check("---|", "", until: 2, disposed: 2, file: file, line: line, operation)
  }
}
