import Streams
import StreamsTesting
import XCTest

final class SubjectTests: StreamsTestCase {
  func test_observersGetWhatIsSentAfterTheySubscribed() {
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

  func test_disposedObserverGetsNothingMoreThoughTheOthersDo() {
    let subject = PublishSubject<Int>()
    let logs = (0..<5).map { _ in Log<Int>() }
    let subscriptions = logs.map { log in subject.subscribe(onNext: { log.add($0) }) }
    subscriptions[2].dispose()
    subject.onNext(1)
    XCTAssertEqual(logs.map(\.count), [1, 1, 0, 1, 1])
    for subscription in subscriptions { subscription.dispose() }
    XCTAssertFalse(subject.hasObservers)
  }

  func test_subjectThatGoesAwayReleasesItsObservers() {
    final class Token: Sendable {}
    var token: Token? = Token()
    weak let seen = token
    var subject: PublishSubject<Int>? = PublishSubject<Int>()
    _ = subject?.subscribe(onNext: { [token] _ in _ = token })
    token = nil
    XCTAssertNotNil(seen)
    subject = nil
    XCTAssertNil(seen)
  }

  func test_behaviorSubjectRemembersItsLastElement() throws {
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
}
