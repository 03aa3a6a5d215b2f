import Streams
import StreamsTesting
import XCTest

final class ZipTests: OperatorTestCase {
  func test_pairsInOrder() {
    check("a-b-c|", "-w-x|", until: 4) { source, time in
      .zip(source, time.cold("-1-2|")) { _, number in number == "1" ? "w" : "x" }
    }
  }

  func test_tuplesOfManySources() throws {
    let letters = Observable.of("a", "b", "c")
    let zipped = Observable.zip(letters, Observable.of(1, 2), Observable.of(true, false), Single.just(0.5))
    let results = try zipped.toBlocking().toArray()
    XCTAssertEqual(results.count, 1)
    XCTAssertEqual(results[0].0, "a")
    XCTAssertEqual(results[0].1, 1)
    XCTAssertEqual(results[0].2, true)
    XCTAssertEqual(results[0].3, 0.5)
  }

  func test_closuresOfThreeAndFour() throws {
    let one = Observable.of(1, 2)
    let three: Observable<Int> = .zip(one, one, one) { $0 + $1 + $2 }
    let four: Observable<Int> = .zip(one, one, one, one) { $0 + $1 + $2 + $3 }
    XCTAssertEqual(try three.toBlocking().toArray(), [3, 6])
    XCTAssertEqual(try four.toBlocking().toArray(), [4, 8])
  }

  func test_sourcesOnManyThreadsLoseNoElements() {
    for _ in 0..<100 {
      let left = PublishSubject<Int>()
      let right = PublishSubject<Int>()
      let two = Referee<Int>()
      let three = Referee<Int>()
      let subscriptions = CompositeDisposable([
        two.watch(Observable<Int>.zip(left, right) { $0 * 1000 + $1 }),
        three.watch(Observable.zip(left, right, left).map { $0.0 * 1000 + $0.1 + $0.2 - $0.0 }),
      ])
      onThreads(2) { index in
        let subject = index == 0 ? left : right
        for value in 0..<100 { subject.onNext(value) }
        subject.onCompleted()
      }
      for referee in [two, three] {
        referee.check()
        XCTAssertEqual(referee.elements.all, (0..<100).map { $0 * 1000 + $0 })
        XCTAssertEqual(referee.ends.all, ["completed"])
      }
      subscriptions.dispose()
    }
  }
}

extension ZipTests {
  func test_collections() throws {
    let sources = [Observable.of(1, 2, 3), .of(10, 20), .of(100, 200, 300)]
    XCTAssertEqual(try Observable.zip(sources).toBlocking().toArray(), [[1, 10, 100], [2, 20, 200]])
    XCTAssertEqual(try Observable.zip(sources) { $0.reduce(0, +) }.toBlocking().toArray(), [111, 222])
    XCTAssertEqual(try Observable<Int>.zip([Observable<Int>]()).toBlocking().toArray(), [])
  }

  func test_law11_anyNumberCompletesWithTheLastElementOfACompletedSource() {
    for packs in [true, false] {
      let (second, third) = (PublishSubject<Int>(), PublishSubject<Int>())
      let events = Log<Event<[Int]>>()
      let first = Observable.just(1)
      let zipped =
        packs
        ? Observable.zip(first, second, third).map { [$0.0, $0.1, $0.2] }
        : Observable.zip([first, second.asObservable(), third.asObservable()])
      let subscription = zipped.subscribe { events.add($0) }
      second.onNext(2)
      XCTAssertEqual(events.all, [], "packs: \(packs)")
      third.onNext(3)
      XCTAssertEqual(events.all, [.next([1, 2, 3]), .completed], "packs: \(packs)")
      XCTAssertFalse(second.hasObservers, "packs: \(packs)")
      subscription.dispose()
    }
  }
}
