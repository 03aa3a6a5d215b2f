import Streams
import StreamsTesting
import XCTest

final class SubscribeOnMainTests: StreamsTestCase {
  func test_law31_subscribeOnMainRunsOnTheMainActor() async {
    let done = expectation(description: "done")
    let log = Log<String>()
    let subscription = Observable.of(1, 2).subscribeOn(ConcurrentDispatchQueueScheduler(qos: .default))
      .subscribeOnMain(
        onNext: { value in
          MainActor.assertIsolated()
          log.add("\(value)")
        },
        onCompleted: {
          MainActor.assertIsolated()
          done.fulfill()
        })
    await fulfillment(of: [done], timeout: 20)
    XCTAssertEqual(log.all, ["1", "2"])
    subscription.dispose()
  }

  func test_law31_closuresMadeOnTheMainActorDoNotTrapElsewhere() async {
    let done = expectation(description: "done")
    // Written on the main actor, run on another thread: it would trap if it inherited the actor.
    let subscription = await MainActor.run {
      Observable.of(1, 2).observeOn(ConcurrentDispatchQueueScheduler(qos: .default))
        .map { $0 + 1 }.filter { $0 > 0 }.do(onNext: { _ in })
        .subscribe(onNext: { _ in }, onCompleted: { done.fulfill() })
    }
    await fulfillment(of: [done], timeout: 20)
    subscription.dispose()
  }
}
