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

  /// Calls `onNext` for each element, which passes unchanged.
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
