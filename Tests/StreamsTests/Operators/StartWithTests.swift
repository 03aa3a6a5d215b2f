import Streams
import StreamsTesting
import XCTest

final class StartWithTests: OperatorTestCase {
  func test_emitsFirst() { check("-a|", "(xy)a|", until: 2) { source, _ in source.startWith("x", "y") } }

  func test_errorFollows() { check("-#", "x#", until: 1) { source, _ in source.startWith("x") } }

  func test_elementsAfterTheTerminalEventAreNotEmitted() {
    let seen = Log<Int>()
    let events = Log<Event<Int>>()
    let source = Observable.of(9).startWith(1, 2, 3).do(onNext: { seen.add($0) })
    _ = source.take(1).subscribe { events.add($0) }
    XCTAssertEqual(events.all, [.next(1), .completed])
    XCTAssertEqual(seen.all, [1])
  }
}
