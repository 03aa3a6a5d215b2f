import Streams
import StreamsTesting
import XCTest

final class SampleTests: OperatorTestCase {
  func test_emitsTheLatestElementAtEachSample() {
    check("ab--c-d|", "--b--c--(d|)", until: 7) { source, time in source.sample(time.cold("--x--x--x-x|")) }
  }

  func test_law16_completesWithTheSampler() {
    check("a------|", "---(a|)", until: 3) { source, time in source.sample(time.cold("---|")) }
  }

  func test_errorOfEitherFailsIt() {
    check("a-#", "--#", until: 2) { source, time in source.sample(time.cold("----x|")) }
    check("a----|", "--#", until: 2) { source, time in source.sample(time.cold("--#")) }
  }

  func test_elementsOfTheSourceDoNotWaitForABusyObserver() {
    let source = PublishSubject<Numbered>()
    let sampler = PublishSubject<Int>()
    let released = Log<Int>()
    let events = Log<String>()
    let subscription = source.sample(sampler).subscribe(
      onNext: { element in
        events.add("\(element.number)")
        guard element.number == 0 else { return }
        source.onNext(Numbered(1, released))
        source.onNext(Numbered(2, released))
        XCTAssertEqual(released.all, [1], "replaced immediately")
        // This sample waits for the observer.
        sampler.onNext(2)
        source.onCompleted()
      }, onCompleted: { events.add("|") })
    source.onNext(Numbered(0, released))
    sampler.onNext(1)
    XCTAssertEqual(events.all, ["0", "2", "|"])
    subscription.dispose()
  }

  func test_aSampleWithoutANewElementEmitsNothing() {
    check("a----b---", "-a----b|", until: 7) { source, time in source.sample(time.cold("-xx---x|")) }
  }
}
