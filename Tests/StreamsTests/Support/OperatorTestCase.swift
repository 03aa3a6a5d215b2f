import Streams
import StreamsTesting
import XCTest

/// A test case that compares an operator with marble diagrams: its source, its result and the subscriptions to the
/// source.
class OperatorTestCase: StreamsTestCase {
  /// Checks one operator on one cold source.
  ///
  /// - Parameters:
  ///   - source: The marbles of the source, from time 0.
  ///   - expected: The marbles of the result.
  ///   - until: The time by which the source must have been disposed.
  ///   - disposed: The time at which the result is disposed.
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

  /// Checks an operator that forwards errors, completion and silence: with an error, an empty source, silence, and
  /// disposal before and during the stream.
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
