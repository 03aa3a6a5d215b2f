import Streams
import StreamsTesting
import XCTest

final class DoTests: OperatorTestCase {
  func test_hooksRunAroundEachEventInOrder() {
    let log = Log<String>()
    func watched(_ source: Observable<Int>) -> Observable<Int> {
      source.do(
        onNext: { log.add("next \($0)") }, afterNext: { log.add("after \($0)") }, onError: { _ in log.add("error") },
        afterError: { _ in log.add("afterError") }, onCompleted: { log.add("completed") },
        afterCompleted: { log.add("afterCompleted") }, onSubscribe: { log.add("subscribe") },
        onSubscribed: { log.add("subscribed") }, onDispose: { log.add("dispose") })
    }
    let subject = PublishSubject<Int>()
    _ = watched(subject.asObservable()).subscribe(
      onNext: { log.add("got \($0)") }, onCompleted: { log.add("got completed") })
    subject.onNext(1)
    subject.onCompleted()
    XCTAssertEqual(
      log.all,
      [
        "subscribe", "subscribed", "next 1", "got 1", "after 1", "completed", "got completed", "dispose",
        "afterCompleted",
      ])
    let failing = Log<String>()
    _ = Observable<Int>.error(TestError()).do(
      onError: { _ in failing.add("error") }, afterError: { _ in failing.add("afterError") }
    ).subscribe(onError: { _ in failing.add("got error") })
    XCTAssertEqual(failing.all, ["error", "got error", "afterError"])
  }

  func test_throwingHookFailsTheStream() {
    check("a-b|", "a-#", until: 2) { source, _ in source.do(onNext: { if $0 == "b" { throw TestError() } }) }
    check("a-|", "a-#", until: 2) { source, _ in source.do(onCompleted: { throw TestError() }) }
  }

  func test_onDisposeRunsOnceWhenDisposed() {
    let log = Log<Int>()
    let subscription = Observable<Int>.never().do(onDispose: { log.add(1) }).subscribe()
    XCTAssertEqual(log.all, [])
    subscription.dispose()
    subscription.dispose()
    XCTAssertEqual(log.all, [1])
  }

  func test_forwardsTerminalEvents() {
    checkPassThrough { source, _ in source.do(onNext: { _ in }, onError: { _ in }) }
  }

  func test_law05_onDisposeRunsAfterUpstreamIsReleasedForAnyTermination() {
    for ending in ["completed", "error", "dispose"] {
      let log = Log<String>()
      let observers = Log<AnyObserver<Int>>()
      let source = Observable<Int>.create { observer in
        observers.add(observer)
        return Disposables.create { log.add("released") }
      }
      let subscription = source.do(onDispose: { log.add("upper") }).map { $0 }.do(onDispose: { log.add("lower") })
        .subscribe(
          onError: { _ in log.add("error") }, onCompleted: { log.add("completed") },
          onDisposed: { log.add("disposed") })
      switch ending {
      case "completed": observers.all.first?.onCompleted()
      case "error": observers.all.first?.onError(TestError())
      default: subscription.dispose()
      }
      let end = ending == "dispose" ? [] : [ending]
      XCTAssertEqual(log.all, end + ["released", "upper", "lower", "disposed"])
    }
  }

  func test_law05_aFlatMappedSingleReleasesItsSourceBeforeItsSubscriber() {
    for fails in [false, true] {
      let log = Log<String>()
      let observers = Log<@Sendable (SingleEvent<Int>) -> Void>()
      let source = Single<Int>.create { observer in
        observers.add(observer)
        return Disposables.create { log.add("released") }
      }
      let subscription = source.asObservable().do(onDispose: { log.add("upper") }).asSingle()
        .flatMap { fails ? Single<Int>.error(TestError()) : .just($0) }
        .subscribe(onSuccess: { _ in }, onError: { _ in }, onDisposed: { log.add("disposed") })
      observers.all.first?(.success(1))
      XCTAssertEqual(log.all, ["released", "upper", "disposed"])
      subscription.dispose()
    }
  }
}
