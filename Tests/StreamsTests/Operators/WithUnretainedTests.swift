import Streams
import StreamsTesting
import XCTest

final class WithUnretainedTests: StreamsTestCase {
  func test_withUnretainedCompletesWhenTheObjectIsDeallocated() {
    let log = Log<String>()
    var owner: Owner? = Owner(log)
    let subject = PublishSubject<Int>()
    let ends = Log<String>()
    let subscription = owner.map { owner in
      subject.withUnretained(owner).subscribe(
        onNext: { owner, value in owner.log.add("\(value)") }, onCompleted: { ends.add("completed") })
    }
    subject.onNext(1)
    owner = nil
    subject.onNext(2)
    XCTAssertEqual(log.all, ["1"])
    XCTAssertEqual(ends.all, ["completed"])
    XCTAssertFalse(subject.hasObservers)
    subscription?.dispose()
  }
}
