import Streams
import StreamsTesting
import XCTest

final class MergeTests: OperatorTestCase {
  func test_emitsInOrderOfArrival() {
    check("a--b|", "ax-b-y|", until: 4) { source, time in .merge(source, time.cold("-x---y|").asObservable()) }
  }

  func test_ofNoSourcesCompletes() throws { XCTAssertEqual(try Observable<Int>.merge([]).toBlocking().toArray(), []) }

  func test_limitOfOneIsConcat() throws {
    let inners = Observable.of(Observable.of(1, 2), .of(3), .empty(), .just(4))
    XCTAssertEqual(try inners.merge(maxConcurrent: 1).toBlocking().toArray(), [1, 2, 3, 4])
  }

  func test_limitHoldsOnManyThreads() {
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    for _ in 0..<50 {
      let running = Log<Int>()
      let most = Log<Int>()
      let referee = Referee<Int>()
      let subscription = referee.watch(
        Observable.range(start: 0, count: 60).map { value in
          Observable.of(value).subscribeOn(scheduler).do(
            onCompleted: { running.add(-1) },
            onSubscribe: {
              running.add(1)
              most.add(running.all.reduce(0, +))
            })
        }.merge(maxConcurrent: 3))
      waitUntil("it has ended") { referee.ends.count == 1 }
      referee.check()
      XCTAssertEqual(referee.elements.all.sorted(), Array(0..<60))
      XCTAssertLessThanOrEqual(most.all.max() ?? 0, 3)
      subscription.dispose()
    }
  }
}
