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

  func test_elementsThatEndTheStreamDoNotSubscribeTheSource() {
    let subscriptions = Log<Int>()
    let source = Observable<Int>.deferred {
      subscriptions.add(1)
      return .just(9)
    }
    for chain in [source.startWith(1), source.startWith(1, 2)] {
      let events = Log<Event<Int>>()
      _ = chain.take(1).subscribe { events.add($0) }
      XCTAssertEqual(events.all, [.next(1), .completed])
      let failed = Log<Event<Int>>()
      _ = chain.map { _ in throw TestError() }.subscribe { failed.add($0) }
      XCTAssertEqual(failed.all.count, 1)
      XCTAssertEqual(failed.all.first?.error is TestError, true)
    }
    XCTAssertEqual(subscriptions.all, [])
  }
}
