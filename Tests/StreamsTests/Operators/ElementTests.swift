import Streams
import StreamsTesting
import XCTest

final class ElementTests: OperatorTestCase {
  func test_elementAt() {
    check("abc|", "-(b|)", until: 1) { source, _ in source.elementAt(1) }
    let time = TestScheduler()
    XCTAssertEqual(time.record(time.cold("a|").elementAt(1)), [.error(1, StreamError.noElements)])
  }

  func test_first() throws {
    check("-ab|", "-(a|)", until: 1) { source, _ in source.first().map { $0 ?? "nil" }.asObservable() }
    XCTAssertNil(try Observable<Int>.empty().first().toBlocking().single())
  }

  func test_single() {
    check("a-|", "--(a|)", until: 2) { source, _ in source.single() }
    check("ab|", "--(b|)", until: 2) { source, _ in source.single { $0 == "b" } }
    let time = TestScheduler()
    XCTAssertEqual(time.record(time.cold("ab|").single()), [.error(1, StreamError.moreThanOneElement)])
  }

  func test_ignoreElements() {
    check("ab|", "--|", until: 2) { source, _ in source.ignoreElements().andThen(Observable<String>.empty()) }
    check("ab#", "--#", until: 2) { source, _ in source.ignoreElements().andThen(Observable<String>.empty()) }
  }

  func test_ifEmpty() {
    check("--|", "--(x|)", until: 2) { source, _ in source.ifEmpty(default: "x") }
    check("a-|", "a-|", until: 2) { source, _ in source.ifEmpty(default: "x") }
    check("--|", "---y|", until: 2) { source, time in source.ifEmpty(switchTo: time.cold("-y|").asObservable()) }
    check("--#", "--#", until: 2) { source, _ in source.ifEmpty(default: "x") }
  }

  func test_elementAt_ofANegativeIndexFails() {
    for index in [-1, -5, Int.min] {
      XCTAssertThrowsError(try Observable.of(10, 20).elementAt(index).toBlocking().toArray()) {
        XCTAssertEqual($0 as? StreamError, .noElements)
      }
    }
  }
}
