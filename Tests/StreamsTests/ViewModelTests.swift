import Foundation
import Observation
import StreamsTesting
import XCTest

@testable import Streams

/// Tests of what a view model on the main actor writes: no cast, no `Task`, no `assumeIsolated` in its code.
final class ViewModelTests: StreamsTestCase {
  @MainActor
  private final class Search {
    var results: [String] = []
    var failure: String?
    var isDone = false
    let query = PublishRelay<String>()
    let bag = DisposeBag()

    init(_ work: @escaping @Sendable (String) async throws -> [String]) {
      query.flatMapLatest { try await work($0) }
        .subscribeOnMain(
          with: self, onNext: { me, results in me.results = results }, onError: { me, error in me.failure = "\(error)" }
        )
        .disposed(by: bag)
    }
  }

  @MainActor
  private final class Screen {
    var texts: [String] = []
    var count = 0
    var isDone = false
  }

  func test_aViewModelReceivesTheResultsOfAsyncWork() {
    MainActor.assumeIsolated {
      let model = Search { query in
        await Task.yield()
        return [query, query]
      }
      model.query.accept("a")
      runMainLoop(until: "the results are there") { model.results == ["a", "a"] }
      let failing = Search { _ in throw TestError() }
      failing.query.accept("a")
      runMainLoop(until: "the error is there") { failing.failure != nil }
    }
  }

  func test_formsWithAnObjectRunOnTheMainActor_andHoldItWeakly() throws {
    MainActor.assumeIsolated {
      drainMain()
      let bag = DisposeBag()
      let source = PublishSubject<String>()
      var screen: Screen? = Screen()
      weak let weakScreen = screen
      guard let shown = screen else { return }
      source.subscribeOnMain(with: shown, onNext: { $0.texts.append($1) }, onCompleted: { $0.isDone = true })
        .disposed(by: bag)
      source.bind(with: shown) { screen, text in screen.texts.append("bound \(text)") }.disposed(by: bag)
      source.asDriver(onErrorJustReturn: "").drive(with: shown, onNext: { $0.texts.append("driven \($1)") })
        .disposed(by: bag)
      source.map(\.count).bind(to: shown, \.count).disposed(by: bag)
      Single.just("single").subscribeOnMain(with: shown, onSuccess: { $0.texts.append($1) }).disposed(by: bag)
      source.onNext("x")
      XCTAssertEqual(shown.texts, ["single", "x", "bound x", "driven x"])
      XCTAssertEqual(shown.count, 1)
      source.onCompleted()
      XCTAssertTrue(shown.isDone)
      _ = consume shown
      screen = nil
      XCTAssertNil(weakScreen)
    }
    let owner = Owner(Log<String>())
    _ = Single.just("value").subscribe(with: owner, onSuccess: { $0.log.add($1) })
    _ = Single<String>.error(TestError()).subscribe(with: owner, onError: { owner, _ in owner.log.add("error") })
    XCTAssertEqual(owner.log.all, ["value", "error"])
  }

  // MARK: Async closures

  func test_law14_theNextElementCancelsTheTaskOfTheFormer() {
    let source = PublishSubject<Int>()
    let log = Log<String>()
    let subscription = source.flatMapLatest { element -> Int in
      guard element == 1 else { return element }
      await withTaskCancellationHandler {
        await Never.value()
      } onCancel: {
        log.add("cancelled \(element)")
      }
      return element
    }
    .subscribe(onNext: { log.add("\($0)") })
    source.onNext(1)
    source.onNext(2)
    MainActor.assumeIsolated {
      runMainLoop(until: "the second has arrived") { Set(log.all) == ["cancelled 1", "2"] }
    }
    subscription.dispose()
  }

  func test_concatMapKeepsTheOrderOfAsyncWork_andFlatMapRunsAllOfIt() throws {
    let elements = Observable.from(Array(1...20))
    @Sendable func work(_ element: Int) async throws -> Int {
      for _ in 0..<(20 - element) { await Task.yield() }
      return element
    }
    let ordered = try elements.concatMap { try await work($0) }.toBlocking(timeout: .seconds(20)).toArray()
    XCTAssertEqual(ordered, Array(1...20))
    let all = try elements.flatMap { try await work($0) }.toBlocking(timeout: .seconds(20)).toArray()
    XCTAssertEqual(all.sorted(), Array(1...20))
    let failing = elements.flatMap { element -> Int in
      await Task.yield()
      throw TestError()
    }
    XCTAssertThrowsError(try failing.toBlocking(timeout: .seconds(20)).toArray()) { XCTAssert($0 is TestError) }
  }

  func test_flatMapFirstDropsElementsWhileAsyncWorkRuns() {
    let source = PublishSubject<Int>()
    let (gate, opening) = AsyncStream<Never>.makeStream()
    let log = Log<String>()
    let subscription = source.flatMapFirst { element -> Int in
      for await _ in gate {}
      return element
    }
    .subscribe(onNext: { log.add("\($0)") }, onCompleted: { log.add("|") })
    for element in 1...3 { source.onNext(element) }
    opening.finish()
    source.onCompleted()
    MainActor.assumeIsolated { runMainLoop(until: "it has completed") { log.all.last == "|" } }
    XCTAssertEqual(log.all, ["1", "|"])
    subscription.dispose()
  }

  // MARK: Driver

  func test_driverHasTheOperatorsOfUserInterfaces() {
    MainActor.assumeIsolated {
      drainMain()
      let time = TestScheduler()
      let relay = PublishRelay<Int>()
      let log = Log<String>()
      let driver = relay.asDriver()
      let bag = DisposeBag()
      @MainActor func show<Element>(_ name: String, _ driver: Driver<Element>) {
        driver.drive(onNext: { log.add("\(name) \($0) @\(time.clock)") }).disposed(by: bag)
      }
      show("compact", driver.compactMap { $0 > 1 ? $0 : nil })
      show("scan", driver.scan(0) { $0 + $1 })
      show("skip", driver.skip(1))
      show("distinct", driver.distinctUntilChanged { $0 / 10 })
      show("debounce", driver.debounce(.seconds(2), scheduler: time))
      show("throttle", driver.throttle(.seconds(2), scheduler: time))
      show("delay", driver.delay(.seconds(5), scheduler: time))
      relay.accept(1)
      time.advanceTo(1)
      relay.accept(2)
      time.start()
      XCTAssertEqual(
        log.all,
        [
          "scan 1 @0", "distinct 1 @0", "throttle 1 @0", "compact 2 @1", "scan 3 @1", "skip 2 @1", "throttle 2 @2",
          "debounce 2 @3", "delay 1 @5", "delay 2 @6",
        ])
    }
  }

  // MARK: Observation

  @Observable @MainActor
  fileprivate final class Model {
    var query = ""
    var unused = 0
  }

  func test_anObservedPropertyIsEmittedAfterEachChange_onceForAllChangesOfATurn() {
    MainActor.assumeIsolated {
      drainMain()
      let model = Model()
      let log = Log<String>()
      let subscription = Observable.observing { model.query }.subscribe(onNext: { log.add($0) })
      XCTAssertEqual(log.all, [""])
      model.query = "a"
      model.query = "ab"
      model.unused = 1
      runMainLoop(until: "the change has arrived") { log.count > 1 }
      model.query = "abc"
      runMainLoop(until: "the next change has arrived") { log.count > 2 }
      XCTAssertEqual(log.all, ["", "ab", "abc"])
      subscription.dispose()
      model.query = "after"
      drainMain()
      XCTAssertEqual(log.count, 3)
    }
  }
}

extension Never {
  /// Waits until the task is cancelled.
  fileprivate static func value() async {
    let stream = AsyncStream<Never> { _ in }
    for await _ in stream {}
  }
}
