extension Driver {
  /// Transforms each element.
  public func map<Result: Sendable>(_ transform: @escaping @MainActor (Element) -> Result) -> Driver<Result> {
    Driver<Result>(trusted: shared.map { element in MainActor.assumeIsolated { transform(element) } })
  }

  /// Emits only the elements for which `predicate` holds.
  public func filter(_ predicate: @escaping @MainActor (Element) -> Bool) -> Driver<Element> {
    Driver(trusted: shared.filter { element in MainActor.assumeIsolated { predicate(element) } })
  }

  /// Emits what the driver that `selector` makes of the latest element emits (law 14).
  public func flatMapLatest<Result>(
    _ selector: @escaping @MainActor (Element) -> Driver<Result>
  ) -> Driver<Result> {
    Driver<Result>(
      trusted: shared.flatMapLatest { element in MainActor.assumeIsolated { selector(element) }.shared })
  }

  /// Emits `element` first.
  public func startWith(_ element: Element) -> Driver<Element> { Driver(trusted: shared.startWith(element)) }

  /// Emits what `resultSelector` makes of each element and the last one of `second`, if there is one yet.
  public func withLatestFrom<Second: Sendable, Result: Sendable>(
    _ second: Driver<Second>, resultSelector: @escaping @MainActor (Element, Second) -> Result
  ) -> Driver<Result> {
    Driver<Result>(
      trusted: shared.withLatestFrom(second.shared) { first, second in
        MainActor.assumeIsolated { resultSelector(first, second) }
      })
  }

  /// Emits the last element of `second`, if there is one yet, at each element.
  public func withLatestFrom<Second: Sendable>(_ second: Driver<Second>) -> Driver<Second> {
    withLatestFrom(second) { $1 }
  }

  /// Lets `onNext` watch the elements without changing them.
  public func `do`(onNext: @escaping @MainActor (Element) -> Void) -> Driver<Element> {
    Driver(trusted: shared.do(onNext: { element in MainActor.assumeIsolated { onNext(element) } }))
  }

  /// Emits what all `drivers` emit, as it comes.
  public static func merge(_ drivers: Driver<Element>...) -> Driver<Element> {
    Driver(trusted: .merge(drivers.map(\.shared)))
  }

  /// Emits what `resultSelector` makes of the last elements of all `drivers`, when each has one, and at each new one.
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
  /// Leaves out elements that are equal to the one before.
  public func distinctUntilChanged() -> Driver<Element> { Driver(trusted: shared.distinctUntilChanged()) }
}

extension Driver where Element == Never {
  /// Emits the last elements of all `drivers` as a tuple, when each has one, and at each new one.
  public static func combineLatest<each Source: Sendable>(
    _ drivers: repeat Driver<each Source>
  ) -> Driver<(repeat each Source)> {
    Driver<(repeat each Source)>(trusted: Observable<Never>.combineLatest(repeat (each drivers).shared))
  }
}
