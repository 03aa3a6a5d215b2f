/// A `BehaviorSubject` that never ends: for the state of a view model.
///
/// To change the state, use `update(_:)`: reading `value` and accepting what was made of it are two steps, and what
/// another thread accepts between them is overwritten.
public final class BehaviorRelay<Element: Sendable>: ObservableType {
  @usableFromInline let core: SubjectCore<Element>
  private let initial: Element

  /// A relay that remembers `value`.
  public init(value: Element) {
    core = SubjectCore([value], capacity: 1)
    initial = value
  }

  /// The element accepted last, even if a thread has yet to deliver it (contract, law 32).
  public var value: Element { core.latest.element ?? initial }

  /// Remembers `element` and sends it to all observers (laws 2 and 3).
  ///
  /// `value` shows it immediately. If another thread is delivering, or this call comes from inside an observer, that
  /// delivery sends it, and this call returns before. Otherwise this call delivers, and it also delivers what other
  /// threads accept meanwhile before it returns.
  @inlinable
  public func accept(_ element: Element) { core.onNext(element) }

  /// Changes the value in one step: passes it to `change` and accepts the result.
  ///
  /// If an element is accepted while `change` runs, `change` runs again with that element, so that no change is lost:
  /// each result is based on the element accepted just before it. Thus `change` may run several times; it must have no
  /// side effects and must not accept anything on this relay itself. No lock is held while it runs. If it throws,
  /// nothing is accepted.
  ///
  ///     state.update { $0.cart += 1 }
  ///
  /// - Parameter change: the change to the value, made in place.
  /// - Returns: what `change` returned the last time it ran.
  @discardableResult
  public func update<Result>(_ change: (inout Element) throws -> Result) rethrows -> Result {
    while true {
      let (element, number, _) = core.latest
      var changed = element ?? initial
      let result = try change(&changed)
      if core.accept(changed, after: number) { return result }
    }
  }

  /// The relay as a stream that cannot be fed: the value first, then what is accepted later (law 25).
  @inlinable
  public func asObservable() -> Observable<Element> { core.asObservable() }
}
