extension Driver {
  /// Transforms each element.
  public func map<Result: Sendable>(_ transform: @escaping @MainActor (Element) -> Result) -> Driver<Result> {
    Driver<Result>(trusted: shared.map { element in MainActor.assumeIsolated { transform(element) } })
  }

  /// Emits only the elements that satisfy `predicate`.
  public func filter(_ predicate: @escaping @MainActor (Element) -> Bool) -> Driver<Element> {
    Driver(trusted: shared.filter { element in MainActor.assumeIsolated { predicate(element) } })
  }

  /// Emits the elements of the driver that `selector` returns for the latest element (contract, law 14).
  public func flatMapLatest<Result>(
    _ selector: @escaping @MainActor (Element) -> Driver<Result>
  ) -> Driver<Result> {
    Driver<Result>(
      trusted: shared.flatMapLatest { element in MainActor.assumeIsolated { selector(element) }.shared })
  }

  /// Transforms each element, and drops those for which `transform` returns `nil`.
  public func compactMap<Result: Sendable>(
    _ transform: @escaping @MainActor (Element) -> Result?
  ) -> Driver<Result> {
    Driver<Result>(trusted: shared.compactMap { element in MainActor.assumeIsolated { transform(element) } })
  }

  /// Emits the results of combining each element with the previous result, or with `seed` at first.
  public func scan<Result: Sendable>(
    _ seed: Result, accumulator: @escaping @MainActor (Result, Element) -> Result
  ) -> Driver<Result> {
    Driver<Result>(
      trusted: shared.scan(seed) { result, element in MainActor.assumeIsolated { accumulator(result, element) } })
  }

  /// Drops the first `count` elements.
  public func skip(_ count: Int) -> Driver<Element> { Driver(trusted: shared.skip(count)) }

  /// Emits an element if no other element follows within `dueTime`.
  public func debounce(_ dueTime: Duration) -> Driver<Element> { debounce(dueTime, scheduler: MainScheduler.instance) }

  func debounce(_ dueTime: Duration, scheduler: any SchedulerType) -> Driver<Element> {
    Driver(trusted: shared.debounce(dueTime, scheduler: scheduler))
  }

  /// Emits an element, and then at most one in each `dueTime`: the latest.
  public func throttle(_ dueTime: Duration) -> Driver<Element> { throttle(dueTime, scheduler: MainScheduler.instance) }

  func throttle(_ dueTime: Duration, scheduler: any SchedulerType) -> Driver<Element> {
    Driver(trusted: shared.throttle(dueTime, scheduler: scheduler))
  }

  /// Emits each element after `dueTime`.
  public func delay(_ dueTime: Duration) -> Driver<Element> { delay(dueTime, scheduler: MainScheduler.instance) }

  func delay(_ dueTime: Duration, scheduler: any SchedulerType) -> Driver<Element> {
    Driver(trusted: shared.delay(dueTime, scheduler: scheduler))
  }

  /// Drops elements whose key is equal to that of the previous element.
  public func distinctUntilChanged<Key: Equatable & Sendable>(
    _ key: @escaping @MainActor (Element) -> Key
  ) -> Driver<Element> {
    Driver(trusted: shared.distinctUntilChanged { element in MainActor.assumeIsolated { key(element) } })
  }

  /// Emits `element` before the elements of this driver.
  public func startWith(_ element: Element) -> Driver<Element> { Driver(trusted: shared.startWith(element)) }

  /// Combines each element with the latest element of `second`; elements that arrive before `second` has emitted are
  /// dropped.
  public func withLatestFrom<Second: Sendable, Result: Sendable>(
    _ second: Driver<Second>, resultSelector: @escaping @MainActor (Element, Second) -> Result
  ) -> Driver<Result> {
    Driver<Result>(
      trusted: shared.withLatestFrom(second.shared) { first, second in
        MainActor.assumeIsolated { resultSelector(first, second) }
      })
  }

  /// Emits the latest element of `second` for each element; elements that arrive before `second` has emitted are
  /// dropped.
  public func withLatestFrom<Second: Sendable>(_ second: Driver<Second>) -> Driver<Second> {
    withLatestFrom(second) { $1 }
  }

  /// Calls `onNext` for each element, and emits the element unchanged.
  public func `do`(onNext: @escaping @MainActor (Element) -> Void) -> Driver<Element> {
    Driver(trusted: shared.do(onNext: { element in MainActor.assumeIsolated { onNext(element) } }))
  }

  /// Emits the elements of all `drivers` in order of arrival.
  public static func merge(_ drivers: Driver<Element>...) -> Driver<Element> {
    Driver(trusted: .merge(drivers.map(\.shared)))
  }

  /// Combines the latest elements of all `drivers` whenever one of them emits, once all have emitted.
  public static func combineLatest<each Source: Sendable>(
    _ drivers: repeat Driver<each Source>, resultSelector: @escaping @MainActor (repeat each Source) -> Element
  ) -> Driver<Element> {
    Driver(
      trusted: Observable<Never>.combineLatest(repeat (each drivers).shared).map { elements in
        MainActor.assumeIsolated { resultSelector(repeat each elements) }
      })
  }
}

extension Driver where Element: Equatable {
  /// Drops elements that are equal to the previous element.
  public func distinctUntilChanged() -> Driver<Element> { Driver(trusted: shared.distinctUntilChanged()) }
}

extension Driver where Element == Never {
  /// Emits the latest elements of all `drivers` as a tuple whenever one of them emits, once all have emitted.
  public static func combineLatest<each Source: Sendable>(
    _ drivers: repeat Driver<each Source>
  ) -> Driver<(repeat each Source)> {
    Driver<(repeat each Source)>(trusted: Observable<Never>.combineLatest(repeat (each drivers).shared))
  }
}
