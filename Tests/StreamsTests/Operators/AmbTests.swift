import Streams
import StreamsTesting
import XCTest

final class AmbTests: OperatorTestCase {
  func test_law16_mirrorsTheFirstAndDisposesTheOtherImmediately() {
    let time = TestScheduler()
    let slow = time.cold("---a|")
    let quick = time.cold("-1--2|")
    XCTAssertEqual(time.record(slow.amb(quick)), Marbles.parse("-1--2|"))
    XCTAssertEqual(slow.subscriptions, [TestSubscription(0, 1)])
    XCTAssertEqual(quick.subscriptions, [TestSubscription(0, 5)])
  }

  func test_aTerminalEventAlsoWins() {
    check("--a|", "-|", until: 1) { source, time in source.amb(time.cold("-|")) }
    check("--a|", "-#", until: 1) { source, time in source.amb(time.cold("-#")) }
  }

  func test_sourceThatEmitsImmediatelyKeepsTheOthersUnsubscribed() throws {
    let time = TestScheduler()
    let late = time.cold("a|")
    XCTAssertEqual(try Observable.amb([.just("x"), late.asObservable()]).toBlocking().toArray(), ["x"])
    XCTAssertEqual(late.subscriptions, [])
  }

  func test_forwardsTerminalEvents() { checkPassThrough { source, _ in source.amb(Observable.never()) } }

  func test_oneWinnerWhenThreadsRace() {
    for _ in 0..<100 {
      let subjects = (0..<8).map { _ in PublishSubject<Int>() }
      let referee = Referee<Int>()
      let subscription = referee.watch(Observable.amb(subjects.map { $0.asObservable() }))
      onThreads(8) { index in
        for _ in 0..<10 { subjects[index].onNext(index) }
        subjects[index].onCompleted()
      }
      referee.check()
      XCTAssertEqual(Set(referee.elements.all).count, 1)
      XCTAssertEqual(referee.elements.count, 10)
      subscription.dispose()
    }
  }

  func test_law16_aLoserThatEmitsDuringTheDisposalOfTheLosersIsIgnored() {
    let subjects = (0..<3).map { _ in PublishSubject<Int>() }
    let last = subjects[2]
    let second = subjects[1].do(onDispose: { last.onNext(3) })
    let seen = Log<Int>()
    let subscription = Observable.amb([subjects[0].asObservable(), second, last.asObservable()])
      .subscribe(onNext: { seen.add($0) })
    subjects[0].onNext(1)
    subscription.dispose()
    XCTAssertEqual(seen.all, [1])
  }
}
