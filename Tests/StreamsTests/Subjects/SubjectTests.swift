import Foundation
import Streams
import StreamsTesting
import XCTest

final class SubjectTests: StreamsTestCase {
  func test_observersReceiveElementsSentAfterTheySubscribed() {
    let subject = PublishSubject<Int>()
    let first = Log<Int>()
    let second = Log<Int>()
    let bag = DisposeBag()
    subject.onNext(0)
    subject.subscribe(onNext: { first.add($0) }).disposed(by: bag)
    subject.onNext(1)
    subject.subscribe(onNext: { second.add($0) }).disposed(by: bag)
    subject.onNext(2)
    XCTAssertEqual(first.all, [1, 2])
    XCTAssertEqual(second.all, [2])
  }

  func test_disposedObserverReceivesNoEventsThoughOthersDo() {
    let subject = PublishSubject<Int>()
    let logs = (0..<5).map { _ in Log<Int>() }
    let subscriptions = logs.map { log in subject.subscribe(onNext: { log.add($0) }) }
    subscriptions[2].dispose()
    subject.onNext(1)
    XCTAssertEqual(logs.map(\.count), [1, 1, 0, 1, 1])
    for subscription in subscriptions { subscription.dispose() }
    XCTAssertFalse(subject.hasObservers)
  }

  func test_deallocatingASubjectReleasesItsObservers() {
    var token: Token? = Token()
    weak var seen: Token?
    seen = token
    var subject: PublishSubject<Int>? = PublishSubject<Int>()
    _ = subject?.subscribe(onNext: { [token] _ in _ = token })
    token = nil
    XCTAssertNotNil(seen)
    subject = nil
    XCTAssertNil(seen)
  }

  func test_behaviorSubjectStoresItsLastElement() throws {
    let subject = BehaviorSubject(value: 1)
    XCTAssertEqual(try subject.value(), 1)
    subject.onNext(2)
    XCTAssertEqual(try subject.value(), 2)
    let log = Log<Int>()
    let subscription = subject.subscribe(onNext: { log.add($0) })
    XCTAssertEqual(log.all, [2])
    XCTAssertTrue(subject.hasObservers)
    subscription.dispose()
    XCTAssertFalse(subject.hasObservers)
    subject.onError(TestError())
    XCTAssertThrowsError(try subject.value()) { XCTAssertEqual($0 as? TestError, TestError()) }
  }

  func test_subjectsHaveTheOperatorsAndCanBeSubscribed() throws {
    let source = PublishSubject<Int>()
    let relayed = BehaviorSubject(value: "")
    let subscription = source.map { "\($0)" }.filter { $0 != "2" }.subscribe(relayed)
    for value in 1...3 { source.onNext(value) }
    XCTAssertEqual(try relayed.value(), "3")
    subscription.dispose()
  }

  func test_law02_aSenderReturnsWhileAnotherThreadDeliversAndThatThreadDeliversForIt() {
    let publish = PublishSubject<Int>()
    let behavior = BehaviorSubject(value: 0)
    let replay = ReplaySubject<Int>.create(bufferSize: 1)
    for subject in [publish, behavior, replay] as [any SubjectType<Int>] {
      let entered = DispatchSemaphore(value: 0)
      let proceed = DispatchSemaphore(value: 0)
      let threads = Log<ObjectIdentifier>()
      let subscription = subject.asObservable().subscribe(onNext: { value in
        guard value > 0 else { return }
        threads.add(ObjectIdentifier(Thread.current))
        guard value == 1 else { return }
        entered.signal()
        proceed.wait()
      })
      let returned = expectation(description: "the delivering call has returned")
      Thread.detachNewThread {
        subject.onNext(1)
        // Both are delivered before the call returns.
        if threads.count == 3 { returned.fulfill() }
      }
      entered.wait()
      subject.onNext(2)
      subject.onNext(3)
      XCTAssertEqual(threads.count, 1, "the senders have returned, and nothing has been delivered")
      proceed.signal()
      wait(for: [returned], timeout: 20)
      XCTAssertEqual(Set(threads.all).count, 1, "one thread delivers all")
      subscription.dispose()
    }
  }

  func test_relaysNeverComplete() throws {
    let relay = BehaviorRelay(value: 1)
    let log = Log<Int>()
    let subscription = relay.subscribe(onNext: { log.add($0) }, onCompleted: { log.add(-1) })
    relay.accept(2)
    XCTAssertEqual(log.all, [1, 2])
    subscription.dispose()
  }
}
