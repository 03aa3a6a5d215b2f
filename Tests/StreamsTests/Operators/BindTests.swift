import Streams
import StreamsTesting
import XCTest

final class BindTests: StreamsTestCase {
  func test_bindPassesElementsToRelaysAndObservers() throws {
    let subject = PublishSubject<Int>()
    let relay = BehaviorRelay(value: 0)
    let published = PublishRelay<Int>()
    let log = Log<Int>()
    let other = BehaviorSubject(value: 0)
    let bag = DisposeBag()
    published.subscribe(onNext: { log.add($0) }).disposed(by: bag)
    subject.bind(to: relay).disposed(by: bag)
    subject.bind(to: published).disposed(by: bag)
    subject.bind(to: other).disposed(by: bag)
    subject.bind(onNext: { log.add($0 * 10) }).disposed(by: bag)
    subject.onNext(7)
    XCTAssertEqual(relay.value, 7)
    XCTAssertEqual(try other.value(), 7)
    XCTAssertEqual(log.all, [7, 70])
    subject.onCompleted()
    relay.accept(8)
    XCTAssertEqual(relay.value, 8, "a relay does not end with what it was bound to")
  }
}
