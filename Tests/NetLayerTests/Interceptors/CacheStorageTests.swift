import Streams
import StreamsTesting
import XCTest

@testable import NetLayer

/// What may not be kept, replaced or brought back, in virtual time.
final class CacheStorageTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  func test_aRefusalThatComesLateLeavesANewerAnswerAlone() throws {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    fixture.get(.networkOnly)
    let observer = fixture.scheduler.createObserver(Response.self)
    let subscription = fixture.network.responses(Call(Plain(cachePolicy: .cacheOnly))).subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    fixture.get(.networkOnly)
    try XCTUnwrap(observer.events.first?.value.element?.cached).refuse()
    XCTAssertEqual(fixture.get(.cacheFirst(seconds: 10)).bodies, ["2"])
  }

  func test_whatNobodyStoredFailsOnTheMappingSchedulerToo() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    for method in [HTTPMethod.get, .post] {
      let observer = fixture.scheduler.createObserver(Response.self)
      let call = fixture.network.responses(Call(Plain(method: method, cachePolicy: .cacheOnly)))
      let subscription = call.subscribe(observer)
      XCTAssertEqual(observer.events.count, 0, "not from within subscribe")
      fixture.scheduler.start()
      XCTAssertEqual((observer.events.first?.value.error as? NetworkError)?.kind, .notCached)
      subscription.dispose()
    }
  }
}
