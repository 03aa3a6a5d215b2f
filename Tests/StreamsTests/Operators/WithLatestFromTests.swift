import Streams
import StreamsTesting
import XCTest

final class WithLatestFromTests: OperatorTestCase {
  func test_combinesEachElementWithTheLatestOfTheOther() {
    let time = TestScheduler()
    let second = time.cold("-1---2---|")
    let source = time.cold("a-b---c|")
    XCTAssertEqual(
      time.record(source.withLatestFrom(second) { $0 + $1 }), [.next(2, "b1"), .next(6, "c2"), .completed(7)])
    XCTAssertEqual(second.subscriptions, [TestSubscription(0, 7)], "law 16: disposed with the source")
  }

  func test_withoutClosureEmitsTheOtherElement() {
    check("-a|", "-x|", until: 2) { source, time in source.withLatestFrom(time.cold("x|")) }
  }

  func test_errorOfTheOther() {
    check("a----|", "--#", until: 2) { source, time in source.withLatestFrom(time.cold("--#")) }
  }

  func test_throwingClosure() {
    check("-a|", "-#", until: 1) { source, time in source.withLatestFrom(time.cold("x|")) { _, _ in throw TestError() }
    }
  }

  func test_elementsOfTheOtherDoNotWaitForABusyObserver() {
    let source = PublishSubject<Int>()
    let other = PublishSubject<Numbered>()
    let released = Log<Int>()
    let subscription = source.withLatestFrom(other) { first, _ in first }.subscribe(
      onNext: { _ in
        other.onNext(Numbered(1, released))
        other.onNext(Numbered(2, released))
        XCTAssertEqual(released.all.suffix(1), [1], "replaced immediately")
      })
    other.onNext(Numbered(0, released))
    source.onNext(1)
    XCTAssertEqual(released.count, 2)
    subscription.dispose()
  }

  func test_sourcesOnManyThreadsLoseNoElements() {
    for _ in 0..<50 {
      let source = PublishSubject<Int>()
      let other = PublishSubject<Int>()
      let referee = Referee<Int>()
      let subscription = referee.watch(source.withLatestFrom(other) { first, _ in first })
      other.onNext(0)
      onThreads(8) { index in
        for value in 0..<50 { index < 4 ? source.onNext(value) : other.onNext(value) }
      }
      source.onCompleted()
      other.onCompleted()
      referee.check()
      XCTAssertEqual(referee.elements.count, 200)
      subscription.dispose()
    }
  }

  func test_theSecondStreamIsSubscribedBeforeTheSource() throws {
    XCTAssertEqual(
      try Observable.of(1, 2).withLatestFrom(Observable.just("x")).toBlocking().toArray(), ["x", "x"])
  }
}
