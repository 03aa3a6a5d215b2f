import Foundation
import Streams
import StreamsTesting
import XCTest

// Code as RxSwift 5 users write it, with the import changed. Other changes are marked with "differs".

/// Search as you type.
private final class SearchViewModel: Sendable {
  let query = BehaviorRelay<String>(value: "")
  let results: Observable<[String]>

  init(search: @escaping @Sendable (String) -> Single<[String]>, scheduler: any SchedulerType) {
    results =
      query
      .filter { !$0.isEmpty }
      .distinctUntilChanged()
      .debounce(.milliseconds(300), scheduler: scheduler)
      .flatMapLatest { query in
        search(query).catchErrorJustReturn([])
      }
      .share(replay: 1, scope: .whileConnected)
  }
}

/// A form whose button is enabled when all fields are valid.
private struct SignUpViewModel {
  let isEnabled: Observable<Bool>

  init(name: Observable<String>, password: Observable<String>, repeated: Observable<String>) {
    let validName = name.map { $0.count >= 3 }
    let validPassword = Observable.combineLatest(password, repeated) { $0 == $1 && $0.count >= 6 }
    isEnabled = Observable.combineLatest(validName, validPassword) { $0 && $1 }
      .distinctUntilChanged()
      .startWith(false)
  }
}

/// The same form with RxCocoa's drivers, after its sign-up example.
private struct SignUpDrivers {
  let isEnabled: Driver<Bool>
  let signedIn: Driver<String>

  init(
    name: Driver<String>, password: Driver<String>, taps: Driver<Void>,
    signUp: @escaping @Sendable (String) -> Single<String>
  ) {
    isEnabled = Driver.combineLatest(name, password) { name, password in name.count >= 3 && password.count >= 6 }
      .distinctUntilChanged()
    let form = Driver.combineLatest(name, password) { (name: $0, password: $1) }
    signedIn = taps.withLatestFrom(form)
      .flatMapLatest { form in signUp(form.name).asDriver(onErrorJustReturn: "failed") }
  }
}

private enum APIError: Error, Equatable {
  case offline
  case server(Int)
}

private struct API {
  func user(_ id: Int) -> Single<String> {
    return Single.create { single in
      if id > 0 {
        single(.success("user \(id)"))
      } else {
        single(.error(APIError.server(404)))
      }
      return Disposables.create()
    }
  }

  func friends(of user: String) -> Observable<[String]> {
    return Observable.just(["\(user)'s friend"])
  }
}

final class RxSwiftSnippetsTests: StreamsTestCase {
  func test_searchAsYouType() {
    let time = TestScheduler(resolution: .milliseconds(1))
    let model = SearchViewModel(search: { .just([$0]) }, scheduler: time)
    let observer = time.createObserver([String].self)
    let disposeBag = DisposeBag()
    model.results.subscribe(observer).disposed(by: disposeBag)
    time.scheduleAt(10) { model.query.accept("s") }
    time.scheduleAt(100) { model.query.accept("sw") }
    time.scheduleAt(900) { model.query.accept("swift") }
    time.start()
    XCTAssertEqual(observer.events, [.next(400, ["sw"]), .next(1200, ["swift"])])
  }

  func test_formValidation() {
    let name = BehaviorSubject(value: "")
    let password = BehaviorSubject(value: "")
    let repeated = PublishSubject<String>()
    let model = SignUpViewModel(
      name: name.asObservable(), password: password.asObservable(), repeated: repeated.asObservable())
    let log = Log<Bool>()
    let disposeBag = DisposeBag()
    model.isEnabled
      .subscribe(onNext: { enabled in
        log.add(enabled)
      })
      .disposed(by: disposeBag)
    name.onNext("Ada")
    password.onNext("secret")
    repeated.onNext("secre")
    repeated.onNext("secret")
    XCTAssertEqual(log.all, [false, false, true], "startWith stands behind distinctUntilChanged")
    for subject in [name, password] { subject.onCompleted() }
    repeated.onCompleted()
  }

  func test_chainedRequests() throws {
    let api = API()
    let friends = api.user(1)
      .asObservable()
      .flatMap { user in
        api.friends(of: user)
      }
      .map { $0.joined() }
    XCTAssertEqual(try friends.toBlocking().single(), "user 1's friend")
  }

  func test_parallelRequests() throws {
    let api = API()
    let names = Observable.zip(api.user(1).asObservable(), api.user(2).asObservable()) { first, second in
      return "\(first), \(second)"
    }
    XCTAssertEqual(try names.toBlocking().first(), "user 1, user 2")
  }

  func test_errorsAreReplaced() throws {
    let api = API()
    let name = api.user(-1)
      .asObservable()
      .catchError { error -> Observable<String> in
        guard case APIError.server(let code) = error else { return .error(error) }
        return .just("error \(code)")
      }
    XCTAssertEqual(try name.toBlocking().single(), "error 404")
  }

  func test_retryWithDelay() {
    let time = TestScheduler()
    let source = time.cold("#")
    let maxAttempts = 3
    let retried = source.retryWhen { errors in
      errors.enumerated().flatMap { attempt, error -> Observable<Int> in
        guard attempt + 1 < maxAttempts else { return Observable.error(error) }
        return Observable<Int>.timer(.seconds(Int64(attempt + 1)), scheduler: time)
      }
    }
    XCTAssertEqual(time.record(retried), [.error(3)])
    XCTAssertEqual(source.subscriptions.map(\.subscribe), [0, 1, 3])
  }

  func test_customObservable() {
    let log = Log<String>()
    let ticks = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.on(.next(2))
      observer.onCompleted()
      return Disposables.create {
        log.add("disposed")
      }
    }
    _ = ticks.subscribe { event in
      switch event {
      case .next(let value): log.add("\(value)")
      case .error(let error): log.add("\(error)")
      case .completed: log.add("completed")
      }
    }
    XCTAssertEqual(log.all, ["1", "2", "completed", "disposed"])
  }

  func test_countdown() {
    let time = TestScheduler()
    let countdown = Observable<Int>.interval(.seconds(1), scheduler: time)
      .map { 3 - $0 }
      .takeUntil(Observable<Int>.timer(.seconds(10), scheduler: time))
      .takeWhile { $0 > 0 }
    XCTAssertEqual(time.record(countdown), [.next(1, 3), .next(2, 2), .next(3, 1), .completed(4)])
  }

  func test_pagination() throws {
    @Sendable func load(page: Int) -> Observable<[Int]> { page < 3 ? .just([page]) : .just([]) }
    @Sendable func pages(from page: Int) -> Observable<[Int]> {
      load(page: page).flatMap { items -> Observable<[Int]> in
        guard !items.isEmpty else { return Observable.empty() }
        return Observable.just(items).concat(pages(from: page + 1))
      }
    }
    let all = pages(from: 0).reduce([]) { $0 + $1 }
    XCTAssertEqual(try all.toBlocking().single(), [0, 1, 2])
  }

  func test_buttonTaps() {
    let tap = PublishRelay<Void>()
    let state = BehaviorRelay(value: 0)
    let disposeBag = DisposeBag()
    tap.withLatestFrom(state)
      .map { $0 + 1 }
      .bind(to: state)
      .disposed(by: disposeBag)
    tap.accept(())
    tap.accept(())
    XCTAssertEqual(state.value, 2)
  }

  func test_sharedTimerAndScan() {
    let time = TestScheduler()
    let shared = Observable<Int>.interval(.seconds(1), scheduler: time)
      .scan(0, accumulator: { $0 + $1 })
      .publish()
      .refCount()
    let first = time.createObserver(Int.self)
    let second = time.createObserver(Int.self)
    let disposeBag = DisposeBag()
    shared.take(3).subscribe(first).disposed(by: disposeBag)
    shared.skip(1).take(1).subscribe(second).disposed(by: disposeBag)
    time.advanceTo(10)
    XCTAssertEqual(first.events, [.next(1, 0), .next(2, 1), .next(3, 3), .completed(3)])
    XCTAssertEqual(second.events, [.next(2, 1), .completed(2)])
  }

  func test_activityIndicator() {
    let loading = BehaviorRelay(value: false)
    let log = Log<Bool>()
    let disposeBag = DisposeBag()
    loading.distinctUntilChanged().subscribe(onNext: { log.add($0) }).disposed(by: disposeBag)
    Observable.just(1)
      .do(onSubscribe: { loading.accept(true) }, onDispose: { loading.accept(false) })
      .subscribe()
      .disposed(by: disposeBag)
    XCTAssertEqual(log.all, [false, true, false])
  }

  func test_collectingResults() throws {
    let ids = [3, 1, 2]
    let names = try Observable.from(ids)
      .concatMap { id in API().user(id) }
      .toArray()
      .toBlocking()
      .single()
    XCTAssertEqual(names, ["user 3", "user 1", "user 2"])
  }

  func test_materializedErrors() throws {
    let source = Observable.of(1, -1).concatMap { id in API().user(id).asObservable().materialize() }
    let errors = source.compactMap { $0.error }.map { "\($0)" }
    let elements = source.compactMap { $0.element }
    XCTAssertEqual(try errors.toBlocking().toArray(), ["server(404)"])
    XCTAssertEqual(try elements.toBlocking().toArray(), ["user 1"])
  }

  func test_driversOfAForm() {
    MainActor.assumeIsolated {
      let name = BehaviorRelay(value: "")
      let password = BehaviorRelay(value: "")
      let taps = PublishRelay<Void>()
      let disposeBag = DisposeBag()
      let log = Log<String>()
      let model = SignUpDrivers(
        name: name.asDriver(), password: password.asDriver(), taps: taps.asDriver(onErrorJustReturn: ()),
        signUp: { name in name == "ann" ? .just("hello \(name)") : .error(APIError.offline) })
      model.isEnabled.drive(onNext: { log.add("enabled \($0)") }).disposed(by: disposeBag)
      model.signedIn.drive(onNext: { log.add($0) }).disposed(by: disposeBag)
      password.accept("secret")
      name.accept("ann")
      runMainLoop(until: "the button is enabled") { log.all.last == "enabled true" }
      taps.accept(())
      runMainLoop(until: "ann is greeted") { log.count == 3 }
      drainMain()
      name.accept("bob")
      taps.accept(())
      runMainLoop(until: "bob is refused") { log.count == 4 }
      XCTAssertEqual(log.all, ["enabled false", "enabled true", "hello ann", "failed"])
    }
  }

  /// The idiom of ReactiveX's documentation: RxSwift runs the last attempt to its end.
  func test_retryWhenWithARange_losesItsLastAttempt_andTheRemediesDoNot() {
    func events(_ retried: (Observable<Int>, TestScheduler) -> Observable<Int>) -> String {
      let scheduler = TestScheduler()
      let log = Log<String>()
      let attempts = Log<Void>()
      let source = Observable<Int>.deferred {
        attempts.add(())
        return attempts.count < 4 ? .error(APIError.offline) : .timer(.seconds(1), scheduler: scheduler)
      }
      let subscription = retried(source, scheduler).subscribe(
        onNext: { log.add("\($0)") }, onError: { _ in log.add("#") }, onCompleted: { log.add("|") })
      scheduler.start()
      subscription.dispose()
      return "\(attempts.count) " + log.all.joined()
    }
    func paused(_ count: Int) -> (Observable<Int>, TestScheduler) -> Observable<Int> {
      { source, scheduler in
        source.retryWhen { errors in
          Observable.zip(errors, Observable.range(start: 1, count: count)).flatMap { _, pause in
            Observable<Int>.timer(.seconds(pause), scheduler: scheduler)
          }
        }
      }
    }
    XCTAssertEqual(events(paused(3)), "4 |")
    XCTAssertEqual(events(paused(4)), "4 0|")
    XCTAssertEqual(
      events { $0.retry(RetryPolicy(attempts: 4, jitter: \.upperBound, scheduler: $1)) }, "4 0|")
  }
}
