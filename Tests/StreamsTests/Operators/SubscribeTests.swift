import Streams
import StreamsTesting
import XCTest

final class SubscribeTests: StreamsTestCase {
  func test_subscribeWithDropsEventsWhenTheObjectIsDeallocated() {
    let log = Log<String>()
    var owner: Owner? = Owner(log)
    let subject = PublishSubject<Int>()
    let subscription = owner.map { owner in
      subject.subscribe(with: owner, onNext: { owner, value in owner.log.add("\(value)") })
    }
    subject.onNext(1)
    owner = nil
    subject.onNext(2)
    XCTAssertEqual(log.all, ["1"])
    subscription?.dispose()
  }
}
