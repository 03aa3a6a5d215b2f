import Dispatch
import Foundation
import Streams
import XCTest

func number(_ text: String) throws -> Int {
  guard let number = Int(text) else { throw Outage() }
  return number
}

struct Outage: Error {}

/// A source that fails `failing` times and then succeeds.
private struct Attempts {
  private let count = BehaviorRelay(value: 0)
  let failing: Int

  init(failing: Int) { self.failing = failing }

  func load() -> Observable<String> {
    .deferred { [count, failing] in
      count.accept(count.value + 1)
      print("attempt \(count.value)")
      return count.value > failing ? .just("loaded") : .error(Outage())
    }
  }
}

func pages(of book: [String]) -> Observable<String> {
  .create { observer in
    for page in book { observer.onNext(page) }
    observer.onCompleted()
    return Disposables.create { print("closed the book") }
  }
}

final class StreamsArticleSamples: XCTestCase {
  func test_gettingStarted() throws {
    let page = "GettingStartedWithStreams"
    let bag = DisposeBag()
    Observable.of("Ada", "Grace", "Alan")
      .map { "hello, \($0)" }
      .subscribe(onNext: { print($0) }, onCompleted: { print("that was all") })
      .disposed(by: bag)
    try assertPrinted(asIn: page, 0)

    let counter = BehaviorRelay(value: 0)
    counter.map { "count: \($0)" }.subscribe(onNext: { print($0) }).disposed(by: bag)
    counter.accept(counter.value + 1)
    try assertPrinted(asIn: page, 1)

    pages(of: ["one", "two", "three"]).take(2).subscribe(onNext: { print($0) }).disposed(by: bag)
    try assertPrinted(asIn: page, 2)

    let names = Observable.of("Ada", "Grace")
    let years = Observable.of(1815, 1906)
    Observable.zip(names, years).subscribe(onNext: { print("\($0.0), born \($0.1)") }).disposed(by: bag)
    try assertPrinted(asIn: page, 3)
  }

  func test_threads() throws {
    let bag = DisposeBag()
    let done = DispatchSemaphore(value: 0)
    let work = SerialDispatchQueueScheduler(internalSerialQueueName: "sorting")
    Observable.of([3, 1, 2])
      .observeOn(work)
      .map { $0.sorted() }
      .subscribe(onNext: { print($0) }, onCompleted: { done.signal() })
      .disposed(by: bag)
    XCTAssertEqual(done.wait(timeout: .now() + 10), .success)
    try assertPrinted(asIn: "ThreadsAndSchedulers")
  }

  func test_errors() throws {
    let bag = DisposeBag()
    let flaky = Attempts(failing: 2)
    flaky.load()
      .retry(3)
      .subscribe(onNext: { print($0) }, onError: { print("gave up: \($0)") })
      .disposed(by: bag)
    try assertPrinted(asIn: "HandlingErrorsInStreams", 0)

    Observable.of("1", "x", "3")
      .flatMap { text in
        Observable.just(text).map { try number($0) }.catchErrorJustReturn(0)
      }
      .subscribe(onNext: { print($0) })
      .disposed(by: bag)
    try assertPrinted(asIn: "HandlingErrorsInStreams", 1)
  }
}
