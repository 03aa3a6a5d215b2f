import Streams
import StreamsTesting
import XCTest

final class MaterializeTests: OperatorTestCase {
  func test_emitsEveryEventAsAnElement() throws {
    let events = try Observable.of(1).concat(Observable.error(TestError())).materialize().toBlocking().toArray()
    XCTAssertEqual(events, [.next(1), .error(TestError())])
    XCTAssertEqual(try Observable<Int>.empty().materialize().toBlocking().toArray(), [.completed])
  }

  func test_dematerializeIsItsInverse() {
    checkPassThrough { source, _ in source.materialize().dematerialize() }
    check("a-b|", "a-b|", until: 3) { source, _ in source.materialize().dematerialize() }
  }

  func test_dematerialize_completesAtACompletedElementThoughTheSourceContinues() throws {
    let source = Observable<Event<Int>>.of(.next(1), .completed, .next(2)).concat(Observable<Event<Int>>.never())
    XCTAssertEqual(try source.dematerialize().toBlocking().toArray(), [1])
  }
}
