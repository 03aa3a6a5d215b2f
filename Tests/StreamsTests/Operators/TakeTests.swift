import Streams
import StreamsTesting
import XCTest

final class TakeTests: OperatorTestCase {
  func test_completesAndDisposesAfterTheLastElement() {
    check("a-b-c|", "a-(b|)", until: 2) { source, _ in source.take(2) }
  }

  func test_shorterSourceCompletes() { check("a-|", "a-|", until: 2) { source, _ in source.take(2) } }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.take(2) } }

  func test_zeroDoesNotSubscribe() {
    let time = TestScheduler()
    let source = time.cold("a|")
    XCTAssertEqual(time.record(source.take(0)), [.completed(0)])
    XCTAssertEqual(source.subscriptions, [])
  }

  func test_reentrantElementsAreNotCountedTwice() {
    let subject = PublishSubject<Int>()
    let log = Log<Int>()
    _ = subject.take(2).subscribe(onNext: { value in
      log.add(value)
      subject.onNext(value + 1)
    })
    subject.onNext(1)
    XCTAssertEqual(log.all, [1, 2])
    XCTAssertFalse(subject.hasObservers)
  }

  func test_forCompletesAfterTheTime() {
    check("a--b--c|", "a--b|", until: 4) { source, time in source.take(for: .seconds(4), scheduler: time) }
  }

  func test_forForwardsTerminalEvents() {
    checkPassThrough { source, time in source.take(for: .seconds(2000), scheduler: time) }
  }
}
