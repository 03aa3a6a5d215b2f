import Streams
import StreamsTesting
import XCTest

final class ReplaySubjectTests: StreamsTestCase {
  func test_storesTheLastElements() throws {
    let subject = ReplaySubject<Int>.create(bufferSize: 2)
    for value in 1...3 { subject.onNext(value) }
    let log = Log<Int>()
    let subscription = subject.subscribe(onNext: { log.add($0) })
    subject.onNext(4)
    XCTAssertEqual(log.all, [2, 3, 4])
    subscription.dispose()
    XCTAssertFalse(subject.hasObservers)
  }

  func test_unboundedStoresAll() throws {
    let subject = ReplaySubject<Int>.createUnbounded()
    for value in 1...1000 { subject.onNext(value) }
    subject.onCompleted()
    XCTAssertEqual(try subject.toBlocking().toArray(), Array(1...1000))
  }

  func test_elementsOfAReplay_areReleasedAfterIt() {
    final class Item: Sendable {}
    final class Weak: @unchecked Sendable {  // only this thread uses it
      weak var item: Item?

      init(_ item: Item) { self.item = item }
    }
    let subject = ReplaySubject<Item>.create(bufferSize: 1)
    subject.onNext(Item())
    let items = Log<Weak>()
    let subscription = subject.subscribe(onNext: { item in
      items.add(Weak(item))
      if items.all.count < 5 { subject.onNext(Item()) }
    })
    XCTAssertEqual(items.all.count, 5)
    for _ in 0..<3 { subject.onNext(Item()) }
    XCTAssertEqual(items.all.filter { $0.item != nil }.count, 1)
    subscription.dispose()
  }

  func test_replaySubjectWithoutBufferIsAPublishSubject() {
    let subject = ReplaySubject<Int>.create(bufferSize: 0)
    subject.onNext(1)
    let log = Log<Int>()
    let subscription = subject.subscribe(onNext: { log.add($0) })
    subject.onNext(2)
    XCTAssertEqual(log.all, [2])
    subscription.dispose()
  }

  func test_law26_aTerminatedReplaySubjectReplaysTheBufferAndTheTerminalEvent() {
    for ending in [Event<Int>.completed, .error(TestError())] {
      let subject = ReplaySubject<Int>.create(bufferSize: 1)
      subject.onNext(1)
      subject.onNext(2)
      subject.on(ending)
      subject.onNext(3)
      let events = Log<Event<Int>>()
      _ = subject.subscribe { events.add($0) }
      XCTAssertEqual(events.all, [.next(2), ending])
    }
  }

  func test_law25_noLossOrDuplicatesWhenSubscribingRacesWithSending() {
    for _ in 0..<100 {
      let subject = ReplaySubject<Int>.createUnbounded()
      let logs = (0..<4).map { _ in Log<Int>() }
      let bag = DisposeBag()
      onThreads(5) { index in
        if index == 4 {
          for value in 0..<200 { subject.onNext(value) }
        } else {
          subject.subscribe(onNext: { logs[index].add($0) }).disposed(by: bag)
        }
      }
      for log in logs { XCTAssertEqual(log.all, Array(0..<200)) }
      subject.onCompleted()
    }
  }
}
