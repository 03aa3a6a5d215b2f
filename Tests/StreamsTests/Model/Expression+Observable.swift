import Foundation
import Streams
import StreamsTesting

/// The same expression with the real operators.
extension Expression {
  func observable(_ time: TestScheduler) -> Observable<Int> {
    switch self {
    case .source(let source): source.observable(time)
    case .unary(let unary, let source): unary.observable(source.observable(time), time)
    case .several(let several, let sources): several.observable(sources.map { $0.observable(time) }, time)
    // Each element gets its own stream, because two observers of `share` would receive the same events.
    case .flat(let flat, let source, let inners):
      flat.observable(source.observable(time)) { inners[abs($0) % inners.count].observable(time) }
    }
  }
}

extension ModelEvent {
  init(_ event: Event<Int>) {
    switch event {
    case .next(let element): self = .next(element)
    case .completed: self = .completed
    case .error(let error): self = .failed(Self.code(of: error))
    }
  }

  var event: Event<Int> {
    switch self {
    case .next(let element): .next(element)
    case .completed: .completed
    case .failed(let code): .error(Closures.Failure(code: code))
    }
  }

  static func code(of error: any Error) -> Int {
    switch error {
    case let failure as Closures.Failure: failure.code
    case StreamError.timeout: Closures.timeout
    case StreamError.noElements: Closures.noElements
    case StreamError.moreThanOneElement: Closures.severalElements
    default: -1
    }
  }
}

extension Expression.Source {
  func observable(_ time: TestScheduler) -> Observable<Int> {
    switch self {
    case .cold(let events):
      time.createColdObservable(events.map { Recorded(time: $0.time, value: $0.event.event) }).asObservable()
    case .of(let elements): .from(elements)
    case .just(let element): .just(element)
    case .range(let start, let count): .range(start: start, count: count)
    case .empty: .empty()
    case .never: .never()
    case .error(let code): .error(Closures.Failure(code: code))
    case .timer(let wait): .timer(.seconds(wait), scheduler: time)
    case .interval(let period): .interval(.seconds(period), scheduler: time)
    case .repeated(let element, let count): .repeatElement(element).take(count)
    }
  }
}

extension Expression.Unary {
  func observable(_ source: Observable<Int>, _ time: TestScheduler) -> Observable<Int> {
    switch self {
    case .map: source.map(Closures.map)
    case .mapThrowing: source.map { try Closures.mapThrowing($0) }
    case .filter: source.filter(Closures.filter)
    case .compactMap: source.compactMap { $0 % 2 == 0 ? $0 / 2 : nil }
    case .scan: source.scan(1, accumulator: Closures.join)
    case .reduce: source.reduce(1, accumulator: Closures.join)
    case .toArray: source.toArray().asObservable().map(Closures.fold)
    case .enumerated: source.enumerated().map { Closures.join($0.index, $0.element) }
    case .pairwise: source.pairwise().map(Closures.join)
    case .materialize:
      source.materialize().map { event in
        switch event {
        case .next(let element): element
        case .error: -5
        case .completed: -6
        }
      }
    case .ignoreElements: source.ignoreElements().andThen(Observable<Int>.empty())
    case .distinctUntilChanged: source.distinctUntilChanged()
    case .first: source.first().asObservable().map { $0 ?? -1 }
    case .asSingle: source.asSingle().asObservable()
    case .mapError: source.mapError { Closures.Failure(code: ModelEvent.code(of: $0) + 100) }
    case .catchErrorJustReturn: source.catchErrorJustReturn(77)
    case .identity(let identity): identity.observable(source)
    case .take(let count): source.take(count)
    case .skip(let count): source.skip(count)
    case .takeLast(let count): source.takeLast(count)
    case .takeWhile(let bound): source.takeWhile { $0 < bound }
    case .skipWhile(let bound): source.skipWhile { $0 < bound }
    case .elementAt(let index): source.elementAt(index)
    case .startWith(let element): source.startWith(element)
    case .ifEmpty(let element): source.ifEmpty(default: element)
    case .bufferOfCount(let count):
      source.buffer(timeSpan: .zero, count: count, scheduler: time).map(Closures.fold)
    case .retry(let count): source.retry(count)
    case .delay(let wait): source.delay(.seconds(wait), scheduler: time)
    case .delaySubscription(let wait): source.delaySubscription(.seconds(wait), scheduler: time)
    case .debounce(let wait): source.debounce(.seconds(wait), scheduler: time)
    case .throttle(let period, let latest): source.throttle(.seconds(period), latest: latest, scheduler: time)
    case .timeout(let wait): source.timeout(.seconds(wait), scheduler: time)
    case .buffer(let span, let count):
      source.buffer(timeSpan: .seconds(span), count: count, scheduler: time).map(Closures.fold)
    case .takeFor(let duration): source.take(for: .seconds(duration), scheduler: time)
    case .skipFor(let duration): source.skip(for: .seconds(duration), scheduler: time)
    case .retryWhen(let pause, let times):
      source.retryWhen { errors in
        errors.take(times).flatMap { _ in Observable<Int>.timer(.seconds(pause), scheduler: time) }
      }
    }
  }
}

extension Expression.Identity {
  func observable(_ source: Observable<Int>) -> Observable<Int> {
    switch self {
    case .share: source.share()
    case .shareReplay: source.share(replay: 2)
    case .refCount: source.publish().refCount()
    case .create: .create { observer in source.subscribe(observer) }
    case .deferred: .deferred { source }
    case .using: .using({ SerialDisposable() }) { _ in source }
    case .doNothing: source.do(onNext: { _ in })
    case .serialize: source.serialize()
    case .subscribeOn: source.subscribeOn(ImmediateScheduler.instance)
    case .observeOn: source.observeOn(ImmediateScheduler.instance)
    }
  }
}

extension Expression.Several {
  func observable(_ sources: [Observable<Int>], _ time: TestScheduler) -> Observable<Int> {
    let (first, second) = (sources[0], sources.count > 1 ? sources[1] : .never())
    switch self {
    case .concat: return .concat(sources)
    case .merge: return .merge(sources)
    case .zip:
      if sources.count == 2 { return .zip(first, second) { Closures.fold([$0, $1]) } }
      return .zip(first, second, sources[2]) { Closures.fold([$0, $1, $2]) }
    case .combineLatest:
      if sources.count == 2 { return .combineLatest(first, second) { Closures.fold([$0, $1]) } }
      return .combineLatest(first, second, sources[2]) { Closures.fold([$0, $1, $2]) }
    case .zipOfArray: return .zip(sources).map(Closures.fold)
    case .combineLatestOfArray: return .combineLatest(sources).map(Closures.fold)
    case .amb: return .amb(sources)
    case .withLatestFrom: return first.withLatestFrom(second, resultSelector: Closures.join)
    case .takeUntil: return first.takeUntil(second)
    case .skipUntil: return first.skipUntil(second)
    case .sample: return first.sample(second)
    case .catchError: return first.catchError { _ in second }
    case .ifEmpty: return first.ifEmpty(switchTo: second)
    case .timeoutOther(let wait): return first.timeout(.seconds(wait), other: second, scheduler: time)
    }
  }
}

extension Expression.Flat {
  func observable(
    _ source: Observable<Int>, _ select: @escaping @Sendable (Int) -> Observable<Int>
  ) -> Observable<Int> {
    switch self {
    case .flatMap: source.flatMap(select)
    case .concatMap: source.concatMap(select)
    case .flatMapLatest: source.flatMapLatest(select)
    case .flatMapFirst: source.flatMapFirst(select)
    case .mergeOfTwo: source.map(select).merge(maxConcurrent: 2)
    }
  }
}
